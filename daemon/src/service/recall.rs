//! Recall: finds and returns content that left a context.

mod ask;
mod expand;
mod period;
mod prompt;
mod remote;
mod state;

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use herma_archive::handle::{Handle, Source};
use herma_archive::node::NodeRow;
use herma_archive::removed::Compression;
use herma_archive::search::{Found, Hit, Nearby};
use herma_archive::snippet::{Snippet, snippet};
use herma_guard::{Policy, Scope};
use herma_shared::messages::RemoteMatches;
use herma_spill::Outputs;
use herma_spill::page::Part;
use jiff::Zoned;
use tokio::sync::Semaphore;

pub(crate) use self::ask::{AskAnswer, Question};
pub(crate) use self::expand::Wanted;
use self::remote::{RemoteHit, handle_of};
pub(crate) use self::state::{SessionTopics, StateQuery};
use super::caller::Caller;
use super::recall_index::RecallIndexer;
use super::sessions::SessionService;
use super::spilled_outputs::SpilledOutputs;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::{to_u64, to_usize};
use crate::owners::archive::{ArchiveHandle, RecallQuery};
use crate::owners::blocking::blocking;
use crate::owners::sharing::Sharing;
use crate::owners::summarizer::Summarizers;

/// Replaces a change that the model must not see.
const BLOCKED: &str = "[BLOCKED: an entry of a store is not shown, for the guard refuses it]";

/// The largest number of searches at the same time, because other work uses the same threads.
const SEARCHES: usize = 3;

static SEARCHING: Semaphore = Semaphore::const_new(SEARCHES);

/// Finds and returns archived messages, spilled outputs and earlier memories.
#[derive(Debug)]
pub(crate) struct RecallService {
    pub archive: Arc<ArchiveHandle>,
    pub sessions: Arc<SessionService>,
    pub outputs: Arc<SpilledOutputs>,
    pub indexer: Arc<RecallIndexer>,
    pub policy: Arc<Policy>,
    pub summarizers: Arc<Summarizers>,
    /// Whether secrets are masked before a summarizer sees them.
    pub redact: bool,
    /// Access to the messages of other hosts.
    pub sharing: Arc<Sharing>,
    /// Whether a search for a prompt finds anything.
    pub at_prompt: bool,
    /// How long a search waits for the vector of its query.
    pub wait: Duration,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The places, best first.
    pub places: Vec<Place>,
    /// Whether there are more.
    pub more: bool,
    /// A notice about the search for the caller.
    pub notice: Option<String>,
}

/// A place in the search result.
#[derive(Debug)]
pub(crate) struct Place {
    /// The handle of its text.
    pub handle: String,
    /// The kind of the place.
    pub kind: PlaceKind,
    /// The hit in the index.
    pub hit: Hit,
    /// The text at the place, with the position of the words in it.
    pub snippet: Snippet,
    /// For a message: the leaf that covers it, if there is one.
    pub node: Option<String>,
    /// For a message of another host: that host.
    pub host: Option<String>,
    /// The messages right before a message.
    pub before: Vec<NearbyMessage>,
    /// The messages right after it.
    pub after: Vec<NearbyMessage>,
}

/// A message next to a hit.
#[derive(Debug, Clone)]
pub(crate) struct NearbyMessage {
    pub handle: String,
    pub role: Option<String>,
    /// Its text; in a place, the part of it that fits the query best.
    pub text: String,
}

impl NearbyMessage {
    fn local(Nearby { id, role, text }: Nearby) -> Self {
        Self { handle: Handle::Message(id).to_string(), role, text }
    }
}

/// The kind of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// A message.
    Message,
    /// A tool output.
    Output,
    /// An earlier text of a store.
    Memory,
}

/// The content that left a session's list.
#[derive(Debug)]
pub(crate) struct SessionDescription {
    /// Its compressions, oldest first.
    pub compressions: Vec<Compression>,
    /// The nodes that no other node covers, oldest first.
    pub map: Vec<NodeRow>,
    /// The nodes that are open in its list.
    pub open: Vec<String>,
}

impl RecallService {
    /// Returns the best places. With `is_everywhere`, includes other hosts.
    pub(crate) async fn search(&self, mut query: RecallQuery, is_everywhere: bool) -> Outcome<Places> {
        let (vector, notice) = self.vector(&query.words).await;
        query.vector = vector;
        query.period = period::named_in(&query.words, &Zoned::now()).map(|period| (period.start, period.end));
        let mut notices: Vec<String> = notice.into_iter().collect();
        let is_of_some = query.agent.is_some() || query.folder.is_some();
        if is_everywhere && is_of_some {
            notices.push("only this host knows the agents and the folders of sessions, so no other was asked".into());
        }
        // Other searches run meanwhile, because a database may be slow.
        let RemoteMatches { remote, keys } = if is_everywhere && !is_of_some && query.kinds.messages {
            self.remote(&query, &mut notices).await
        } else {
            RemoteMatches::default()
        };
        query.remote = (!keys.is_empty()).then_some(remote);
        let limit = query.limit;
        if query.remote.is_some() && query.around > 0 {
            // Which messages of other hosts are of one place is known only when they have been read.
            query.limit = limit.saturating_mul(2);
        }
        let turn = SEARCHING.acquire().await.map_err(|_| Error::internal("recall.search"))?;
        let late = self.indexer.catch_up(&query.words, query.profile.as_deref()).await?;
        notices.extend(missing(late));
        let (words, profile, around) = (query.words.clone(), query.profile.clone(), query.around);
        let Found { mut hits, more, instead } = self.archive.search(query).await?;
        drop(turn);
        let mut names = self.tell(&mut hits, &keys, profile.as_deref(), &mut notices).await;
        self.add_surroundings(&mut names, profile.as_deref(), around, &mut notices).await;
        let (outputs, policy) = (Arc::clone(&self.outputs.kept), Arc::clone(&self.policy));
        let mut found = blocking("recall.search", move || {
            let mut covered = HashSet::new();
            let places = hits.into_iter().filter_map(|hit| place(&outputs, &policy, (&words, &instead), hit, &names));
            let mut places: Vec<Place> = places.filter(|place| is_first_of_place(place, &mut covered)).collect();
            let more = more || places.len() > limit;
            places.truncate(limit);
            Ok(Places { places, more, notice: notices.into_iter().reduce(|all, more| format!("{all}; {more}")) })
        })
        .await?;
        self.name_leaves(&mut found.places).await?;
        Ok(found)
    }

    /// Adds to each found message the leaf that covers it.
    async fn name_leaves(&self, places: &mut [Place]) -> Outcome<()> {
        let of = |place: &Place| match place.hit.source {
            Source::Message { id } => Some(id),
            Source::Output { .. } | Source::Memory { .. } | Source::Remote { .. } => None,
        };
        let messages: Vec<u64> = places.iter().filter_map(of).collect();
        let mut leaves = self.archive.leaves_of(messages).await?.into_iter();
        for place in places.iter_mut().filter(|place| of(place).is_some()) {
            place.node = leaves.next().flatten();
        }
        Ok(())
    }

    /// Returns the embedder's vector of a query, if an embedder is configured; if it fails, returns a notice instead.
    async fn vector(&self, words: &str) -> (Option<Vec<f32>>, Option<String>) {
        let Some(embedding) = &self.indexer.embedding else { return (None, None) };
        match embedding.of_query(words, self.wait).await {
            Ok(vector) => (Some(vector), None),
            Err(why) => (None, Some(format!("the embedder failed, so words decided alone: {why}"))),
        }
    }

    /// Returns the compressions of a session, and its map.
    pub(crate) async fn describe(&self, caller: &Caller, session: &str) -> Outcome<SessionDescription> {
        let id = self.sessions.known(caller, session).await?;
        let map = self.archive.map(id.clone()).await?.nodes;
        let open = self.archive.open_nodes(id.clone()).await?;
        Ok(SessionDescription { compressions: self.archive.compressions(id).await?, map, open })
    }
}

/// Returns the notice about outputs that a search can't find yet.
fn missing(outputs: usize) -> Option<String> {
    let words = match outputs {
        0 => return None,
        1 => "1 output that was kept just now is".to_owned(),
        count => format!("{count} outputs that were kept just now are"),
    };
    Some(format!("{words} not in the index yet; a later search finds what they say"))
}

/// Returns the place of a hit. `instead` are the words that were searched instead of the query's own. Returns `None` if
/// an output was removed by hand, or if a message of another host was removed and has no name in `names`.
fn place(
    outputs: &Outputs,
    policy: &Policy,
    (words, instead): (&str, &[String]),
    mut hit: Hit,
    names: &HashMap<usize, RemoteHit>,
) -> Option<Place> {
    let text = match (&hit.source, hit.text.take()) {
        (_, Some(text)) => text,
        (Source::Output { handle, start, chars, .. }, None) => {
            let part = Part::Chars { offset: to_usize(*start), limit: to_usize(*chars).max(1) };
            outputs.peek(handle, part).ok()?.text
        }
        (_, None) => String::new(),
    };
    let text = match hit.source {
        Source::Memory { .. } => shown(policy, &text),
        _ => text,
    };
    let fitting = |text: &str| snippet(text, words, instead);
    let snippet = fitting(&text);
    let mut host = None;
    let mut around = [mem::take(&mut hit.around.before), mem::take(&mut hit.around.after)]
        .map(|side| side.into_iter().map(NearbyMessage::local).collect::<Vec<_>>());
    let (kind, handle) = match &hit.source {
        Source::Message { .. } => (PlaceKind::Message, hit.source.handle()),
        Source::Memory { .. } => (PlaceKind::Memory, hit.source.handle()),
        Source::Remote { at } => {
            let name = names.get(at)?;
            host = Some(name.key.host.clone());
            around = [name.before.clone(), name.after.clone()];
            (PlaceKind::Message, handle_of(&name.key))
        }
        Source::Output { handle, line, .. } => {
            let above = text.chars().take(snippet.before).filter(|char| *char == '\n').count();
            (PlaceKind::Output, format!("{handle}:{}", line.saturating_add(to_u64(above))))
        }
    };
    for message in around.iter_mut().flatten() {
        message.text = fitting(&message.text).text;
    }
    let [before, after] = around;
    Some(Place { handle, kind, hit, snippet, node: None, host, before, after })
}

/// Whether a place is not within an earlier one. The archive sees to it for its own messages; those of another host are
/// known only here.
fn is_first_of_place(place: &Place, covered: &mut HashSet<String>) -> bool {
    if place.host.is_some() {
        if covered.contains(&place.handle) {
            return false;
        }
        covered.extend(place.before.iter().chain(&place.after).map(|message| message.handle.clone()));
    }
    true
}

/// Returns a change of a store as a model may see it under the current rules.
fn shown(policy: &Policy, text: &str) -> String {
    if policy.blocks(text, Scope::Strict).is_empty() { text.to_owned() } else { BLOCKED.to_owned() }
}
