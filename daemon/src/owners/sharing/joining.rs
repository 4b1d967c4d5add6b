//! Moving a profile's stores to the database, and back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use herma_memory::bound::is_bound;
use herma_memory::entries::chars;
use herma_memory::{Action, Author, Entry, Replaced, Row, Target, View};
use herma_shared::stores::{Given, StoreKey, Wanted};

use super::{Sharing, address, key};
use crate::data::error::{Error, Outcome};

/// How often a join is tried again because another client writes to the store meanwhile.
const ATTEMPTS: usize = 8;

/// The result of moving a store to the database.
#[derive(Debug)]
pub(crate) struct JoinedStore {
    /// The store.
    pub target: Target,
    /// Its revision.
    pub revision: u64,
    /// The number of entries that were already there.
    pub found: usize,
    /// Entries of this host that were added there.
    pub brought: Vec<Entry>,
    /// Entries of this host that did not fit.
    pub left_out: Vec<LeftOut>,
}

/// An entry that did not fit.
#[derive(Debug)]
pub(crate) struct LeftOut {
    /// The entry.
    pub entry: Entry,
    /// The size of the store with this entry, in chars.
    pub total: usize,
    /// The limit of the store, in chars.
    pub limit: usize,
}

impl Sharing {
    /// Creates or updates the tables, as the owner that `url` names or as the configured user, and lets a role use the
    /// space. Returns the version that was found; 0 for none.
    pub(crate) async fn init(&self, url: Option<&str>, password: Option<String>, role: Option<&str>) -> Outcome<i32> {
        let database = self.database()?;
        let owner = match url {
            Some(url) => Some(
                address(&self.config, url, password)
                    .map_err(|words| Error::param("url", words.trim_start_matches("`shared.url` ")))?,
            ),
            None => None,
        };
        let found = database.init(owner.as_ref(), role).await.map_err(Error::Shared)?;
        // Earlier errors about the database are obsolete now.
        match database.store_revisions().await {
            Ok(_) => self.link.answered(),
            Err(error) => self.link.failed(&error),
        }
        Ok(found)
    }

    /// Moves a profile's stores to the database. The entries there come first, then those that only this host has, as
    /// far as there is room. A second call changes nothing.
    pub(crate) async fn join(self: &Arc<Self>, profile: &str) -> Outcome<Vec<JoinedStore>> {
        self.database()?;
        if !self.shares(profile) {
            let words = format!("profile {profile:?} is not in `shared.profiles`; put it there and restart the daemon");
            return Err(Error::param("profile", words));
        }
        if let Some(words) = &self.joined.unknown {
            return Err(Error::Unavailable(format!("it is not known which stores are shared: {words}")));
        }
        let mut brought = Vec::new();
        for target in Target::ALL {
            brought.push(self.bring(profile, target).await?);
        }
        let store_revisions = self.database()?.store_revisions().await.map_err(Error::Shared)?;
        let own = store_revisions.into_iter().filter(|standing| standing.profile == profile);
        let born: BTreeMap<String, String> = own.map(|standing| (standing.target, standing.born)).collect();
        self.joined.join(profile, born)?;
        self.joins.fetch_add(1, Ordering::AcqRel);
        self.link.answered();
        for target in Target::ALL {
            self.link.joined(profile, target.name());
            self.sync(profile, target, None);
        }
        Ok(brought)
    }

    /// Whether the store in the database is the one that this host joined.
    async fn is_mine(&self, key: &StoreKey) -> Outcome<bool> {
        let born = self.joined.birth_id(&key.profile, key.target);
        let store_revisions = self.database()?.store_revisions().await.map_err(Error::Shared)?;
        let own = store_revisions.iter().find(|one| one.profile == key.profile && one.target == key.target);
        Ok(own.is_some_and(|own| Some(&own.born) == born.as_ref()))
    }

    async fn bring(&self, profile: &str, target: Target) -> Outcome<JoinedStore> {
        let (database, store, key) = (self.database()?, self.stores.get(profile, target)?, key(profile, target));
        let limit = self.stores.limit(profile, target);
        // A profile that already shares its store adopts new revisions, and adds nothing.
        if self.joined.has(profile) && self.is_mine(&key).await? && self.catch_up(profile, target).await.is_ok() {
            let view = store.view().await?;
            let (revision, found) = (view.revision, of_all(&view).count());
            return Ok(JoinedStore { target, revision, found, brought: Vec::new(), left_out: Vec::new() });
        }
        for _ in 0..ATTEMPTS {
            let view = store.view().await?;
            let held = database.hold(&key, 0, self.revisions, &[], true).await.map_err(Error::Shared)?;
            let found: Arc<[Entry]> = held.rows.last().map(|row| Arc::clone(&row.after)).unwrap_or_default();
            let (mut merged, mut brought, mut left_out) = (found.to_vec(), Vec::new(), Vec::new());
            for entry in of_all(&view).filter(|entry| !found.contains(entry)) {
                merged.push(Arc::clone(entry));
                let total = chars(&merged);
                if total > limit {
                    merged.pop();
                    left_out.push(LeftOut { entry: Arc::clone(entry), total, limit });
                } else {
                    brought.push(Arc::clone(entry))
                }
            }
            let joined = |revision| JoinedStore { target, revision, found: found.len(), brought, left_out };
            let mut rows = held.rows.clone();
            // No revision is given twice, neither here nor in the database.
            let is_behind = view.revision > held.revision && of_all(&view).next().is_some();
            let revision = if *merged != *found || is_behind {
                let revision = held.revision.max(view.revision) + 1;
                let row = Row {
                    revision,
                    time: 0.0,
                    replaced: Replaced::Unknown,
                    action: Action::Join,
                    author: Author { host: Some(self.config.host.clone()), ..Author::default() },
                    before: Arc::clone(&found),
                    after: merged.into(),
                };
                let wanted = Wanted::new(super::writer::new_id(&self.config), row);
                match held.commit(std::slice::from_ref(&wanted)).await.map_err(Error::Shared)? {
                    Given::Late => continue,
                    Given::At(time) => rows.push(Row { time, ..wanted.row }),
                }
                revision
            } else {
                let revision = held.revision;
                held.keep().await.map_err(Error::Shared)?;
                revision
            };
            if store.begin_shared(view.revision, rows).await? {
                return Ok(joined(revision));
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Err(Error::overloaded(&format!("{profile}'s {target}")))
    }

    /// Ends the sharing of a profile's stores. The file and the history stay here as they are, and later changes remain
    /// on this host.
    pub(crate) async fn leave(self: &Arc<Self>, profile: &str) -> Outcome<()> {
        if !self.joined.has(profile) {
            return Err(Error::NotFound(format!("profile {profile:?} shares nothing")));
        }
        // Adopts the latest writes of other hosts, if possible.
        for target in Target::ALL {
            if let Err(error) = self.catch_up(profile, target).await {
                tracing::debug!("{profile}'s {target} is left as it is here: {error}");
            }
        }
        self.joined.leave(profile)?;
        for target in Target::ALL {
            self.stores.get(profile, target)?.end_shared().await?;
        }
        Ok(())
    }
}

/// Returns the entries of a store that are not only for this host.
fn of_all(view: &View) -> impl Iterator<Item = &Entry> {
    view.entries.iter().filter(|entry| !is_bound(entry))
}
