//! Looks for changes by other hosts: through notifications of the database, and through polling if one got lost.

use std::sync::Arc;

use herma_memory::Target;
use herma_shared::watch::{self, Hints};
use herma_shared::{Database, LARGEST_REVISION, SharedError};
use tokio::time::sleep;

use super::link::SharedStoreState;
use super::{Sharing, another, key};

impl Sharing {
    /// Polls again and again, as long as the daemon runs. Returns at once if nothing is shared.
    pub(crate) async fn poll(self: Arc<Self>) {
        let Some(Ok(database)) = self.database.clone() else { return };
        let mut hints: Option<Hints> = None;
        let mut comes_back = true;
        loop {
            let looked = self.look(&database, comes_back).await;
            comes_back = looked.is_err();
            match looked {
                Ok(()) => {
                    self.link.answered();
                    if hints.is_none() {
                        hints = database.listen().await.ok();
                    }
                }
                Err(error) => {
                    self.link.failed(&error);
                    hints = None;
                }
            }
            let wait = sleep(self.config.poll);
            tokio::pin!(wait);
            loop {
                let next = async {
                    match &mut hints {
                        Some(hints) => hints.next().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = &mut wait => break,
                    hint = next => match hint {
                        None => break hints = None,
                        Some(hint) => {
                            if let Some((profile, target)) = self.hinted(&hint.store) {
                                self.sync(&profile, target, Some(hint.revision));
                            }
                        }
                    },
                }
            }
        }
    }

    /// Returns the store with this name, if this host shares it.
    fn hinted(&self, store: &str) -> Option<(String, Target)> {
        let space = &self.config.space;
        let is_named = |(profile, target): &(String, Target)| {
            let born = self.joined.birth_id(profile, target.name());
            born.is_some_and(|born| watch::name(&born, space, profile, target.name()) == store)
        };
        let profiles = self.joined.profiles().into_iter();
        profiles.flat_map(|profile| Target::ALL.map(|target| (profile.clone(), target))).find(is_named)
    }

    async fn look(self: &Arc<Self>, database: &Database, comes_back: bool) -> Result<(), SharedError> {
        let profiles = self.joined.profiles();
        let mut known = Vec::new();
        for (profile, target) in profiles.iter().flat_map(|profile| Target::ALL.map(|target| (profile, target))) {
            let Ok(store) = self.stores.get(profile, target) else { continue };
            // The local revisions are read before the database is asked: it must have at least these.
            if let Ok(view) = store.view().await {
                known.push((profile, target, store, view.revision));
            }
        }
        // This also runs before any profile has joined, in order to learn whether the database is reachable.
        let store_revisions = database.store_revisions().await?;
        for (profile, target, store, revision) in known {
            let found = store_revisions.iter().find(|found| found.profile == *profile && found.target == target.name());
            let born = self.joined.birth_id(profile, target.name());
            let trouble = match found {
                None => Some("it is gone"),
                Some(found) if Some(&found.born) != born.as_ref() => Some("another one is in its place"),
                Some(found) if found.revision > LARGEST_REVISION => {
                    Some("it has a revision that no change can have, and the owner of the database has to set it back")
                }
                Some(found) if found.revision < revision => Some("it is at an earlier revision than it was"),
                Some(_) => None,
            };
            // A revision that caught up later would hide the problem.
            let stays =
                found.is_some_and(|found| Some(&found.born) == born.as_ref() && found.revision <= LARGEST_REVISION);
            let trouble = trouble.map(|words| another(&key(profile, target), words));
            let is_troubled = trouble.is_some();
            self.link.troubled(profile, target.name(), trouble, stays && is_troubled);
            let Some(found) = found.filter(|_| !is_troubled) else { continue };
            let holds = store.holds_an_edit().await.unwrap_or(false);
            // After the database comes back, the history is compared again.
            let is_same = found.revision == revision && !holds && !comes_back;
            let standing = SharedStoreState { revision: found.revision, born: found.born.clone() };
            self.link.set_store_state(profile, target.name(), standing, is_same);
            if !is_same {
                self.sync(profile, target, None);
            }
        }
        Ok(())
    }
}
