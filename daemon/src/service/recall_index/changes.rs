//! Indexing of changes of the stores.

use std::collections::{BTreeMap, HashSet};

use herma_memory::render::shown;
use herma_memory::{LogQuery, Row, Target};
use tokio::time::Instant;

use super::{LATEST, QUIET, RecallIndexer};
use crate::data::error::Outcome;
use crate::data::event::{Event, MemoryChange};
use crate::owners::events::Subscription;

/// The number of journal rows that are read at once.
const ROWS: usize = 500;

/// Indexes changes of the stores as they happen.
pub(super) async fn file_changes(indexer: &RecallIndexer, mut changes: Subscription) {
    while let Some(change) = next_change(&mut changes).await {
        let mut stores = BTreeMap::from([((change.profile, change.target.name()), change.target)]);
        // Like outputs, changes wait, because current writers should have the disk. A search does not depend on this.
        let latest = Instant::now() + LATEST;
        loop {
            let quiet = (Instant::now() + QUIET).min(latest);
            match tokio::time::timeout_at(quiet, next_change(&mut changes)).await {
                Ok(Some(change)) => drop(stores.insert((change.profile, change.target.name()), change.target)),
                Ok(None) | Err(_) => break,
            }
        }
        for ((profile, _), target) in stores {
            if let Err(error) = file_store(indexer, &profile, target).await {
                tracing::warn!(profile, %target, "changes that can't be found by recall: {error}");
            }
        }
    }
}

async fn next_change(changes: &mut Subscription) -> Option<MemoryChange> {
    loop {
        if let Event::MemoryChanged(change) = changes.next().await? {
            return Some(change);
        }
    }
}

/// Indexes the missing changes of the stores of one profile, or of all that are in use.
pub(super) async fn file_stores(indexer: &RecallIndexer, profile: Option<&str>) {
    let in_use = indexer.stores.in_use().into_iter();
    for (profile, target) in in_use.filter(|(name, _)| profile.is_none_or(|profile| name == profile)) {
        // A store that can't be read must not prevent other results.
        if let Err(error) = file_store(indexer, &profile, target).await {
            tracing::debug!(profile, %target, "changes that can't be found by recall: {error}");
        }
    }
}

async fn file_store(indexer: &RecallIndexer, profile: &str, target: Target) -> Outcome<()> {
    if !indexer.archive.is_in_use() {
        return Ok(());
    }
    let revision = indexer.stores.get(profile, target)?.view().await?.revision;
    if indexer.notes.filed(profile, target).is_some_and(|filed| filed >= revision) {
        return Ok(());
    }
    let all = indexer.archive.indexed_stores().await?;
    let newest = all.into_iter().find(|(of, store, _)| of == profile && store == target.name());
    let indexed = newest.map(|(_, _, revision)| revision);
    let store = indexer.stores.get(profile, target)?;
    let (mut before, mut texts) = (None, Vec::new());
    loop {
        let log = store.log(LogQuery { before, limit: ROWS, ..LogQuery::default() }).await?;
        let is_new = |row: &Row| indexed.is_none_or(|indexed| row.revision > indexed);
        let oldest = log.rows.last().map(|row| row.revision);
        let all_new = log.rows.iter().all(is_new);
        let rows = log.rows.into_iter().filter(is_new);
        texts.extend(rows.filter_map(|row| text(indexer, target, &row).map(|text| (row, text))));
        match oldest {
            Some(oldest) if all_new && log.more => before = Some(oldest),
            _ => break,
        }
    }
    if !texts.is_empty() {
        indexer.archive.index_changes(profile.to_owned(), target, texts).await?;
    }
    indexer.notes.set_filed(profile, target, revision);
    Ok(())
}

/// Returns the text that a change added, else the text that it removed, as a model may see it.
fn text(indexer: &RecallIndexer, target: Target, row: &Row) -> Option<String> {
    let only = |of: &[herma_memory::Entry], other: &[herma_memory::Entry]| {
        let others: HashSet<&str> = other.iter().map(|entry| &**entry).collect();
        let own = of.iter().filter(|entry| !others.contains(&***entry));
        own.map(|entry| shown(&indexer.policy, target, entry)).collect::<Vec<_>>()
    };
    let brought = only(&row.after, &row.before);
    let entries = if brought.is_empty() { only(&row.before, &row.after) } else { brought };
    (!entries.is_empty()).then(|| entries.join("\n"))
}
