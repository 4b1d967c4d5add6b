//! A model rewrites nodes, while no caller waits.
//!
//! A compression writes its nodes itself, at once. After it, if the session has a summarizer that calls a model or a
//! program, that summarizer writes a better text of each node, newest first, one at a time. Its text becomes a new node
//! that replaces the older one from the next compression on. Until then the list stays as it is. A node that can't be
//! written is postponed, each time for longer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use herma_archive::node::{KeptNode, NodeRow, Stands};
use herma_context::Engine;
use herma_context::lossless::{Node, OWN, RewriteError, RewriteSource, Rewriting, TextLength};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::{CompressionService, parse};
use crate::data::error::Outcome;
use crate::data::summarizer_kind::Kind;
use crate::owners::archive::nodes;
use crate::owners::blocking::blocking;
use crate::owners::summarizer::Call;
use crate::service::session::Session;

/// The pause after the first failure of a node.
const PAUSE: Duration = Duration::from_secs(5);
/// Each further failure multiplies the pause by this factor.
const GROWS: u32 = 4;
/// How often a node is tried. After that it stays as it is until the daemon restarts.
const TRIES: u32 = 6;

/// The rewriting tasks.
#[derive(Debug, Default)]
pub(crate) struct Rewriters {
    /// The sessions whose nodes are being rewritten.
    sessions: Mutex<HashMap<String, Running>>,
    /// Held while a node is written: only one at a time.
    turn: tokio::sync::Mutex<()>,
    /// Notifies waiting tasks that there may be new nodes.
    more: Notify,
    /// The number of runs so far, which distinguishes a run from a later one of the same session.
    runs: AtomicU64,
}

/// A task that rewrites nodes of a session.
#[derive(Debug)]
struct Running {
    run: u64,
    /// Whether there may be new nodes since its last look.
    has_more: bool,
    task: Option<AbortHandle>,
}

/// The only run of a session. Dropping this ends the run.
struct Run {
    service: Arc<CompressionService>,
    session: String,
    run: u64,
}

impl Rewriters {
    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run of a removed session, so that no model gets its messages from now on.
    fn end(&self, session: &str) {
        if let Some(Running { task: Some(task), .. }) = self.sessions().remove(session) {
            task.abort();
        }
    }
}

impl Run {
    /// Begins a run, or notifies the current one that there is more to do.
    fn begin(service: &Arc<CompressionService>, session: &str) -> Option<Self> {
        let mut sessions = service.rewriters.sessions();
        if let Some(running) = sessions.get_mut(session) {
            running.has_more = true;
            return None;
        }
        let run = service.rewriters.runs.fetch_add(1, Ordering::Relaxed);
        sessions.insert(session.to_owned(), Running { run, has_more: false, task: None });
        Some(Self { service: Arc::clone(service), session: session.to_owned(), run })
    }

    /// Ends the run if there is nothing more to do. Returns whether it ended.
    fn is_over(&self) -> bool {
        let mut sessions = self.service.rewriters.sessions();
        let has_more = self.own(&mut sessions).is_some_and(|running| std::mem::take(&mut running.has_more));
        if !has_more {
            self.leave(&mut sessions);
        }
        !has_more
    }

    fn own<'a>(&self, sessions: &'a mut HashMap<String, Running>) -> Option<&'a mut Running> {
        sessions.get_mut(&self.session).filter(|running| running.run == self.run)
    }

    fn leave(&self, sessions: &mut HashMap<String, Running>) {
        if self.own(sessions).is_some() {
            sessions.remove(&self.session);
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.leave(&mut self.service.rewriters.sessions());
    }
}

/// A postponed node.
#[derive(Debug, Clone, Copy)]
struct PutOff {
    tries: u32,
    until: Instant,
}

impl PutOff {
    /// Returns the state of a node that is not tried again.
    fn for_good(now: Instant) -> Self {
        Self { tries: TRIES, until: now }
    }

    fn again(before: Option<&Self>, now: Instant) -> Self {
        let tries = before.map_or(0, |before| before.tries);
        Self { tries: tries + 1, until: now + PAUSE * GROWS.pow(tries) }
    }
}

impl CompressionService {
    /// Starts to rewrite the nodes of a session, if there is a summarizer for it and no run is in progress.
    pub(super) fn rewrite_nodes(self: &Arc<Self>, session: &Arc<Session>) {
        let is_lossless = session.settings().in_force(&self.defaults).is_ok_and(|used| used.engine == Engine::Lossless);
        if !is_lossless || self.writers_of(session).is_empty() {
            return;
        }
        self.rewriters.more.notify_waiters();
        let Some(run) = Run::begin(self, &session.id) else { return };
        let (id, number) = (session.id.clone(), run.run);
        let (service, session) = (Arc::clone(self), Arc::clone(session));
        let task = tokio::spawn(async move {
            if let Err(error) = service.rewrite_all(&session, &run).await {
                tracing::debug!(session = session.id, "nodes were not rewritten: {error}");
            }
        });
        if let Some(running) = self.rewriters.sessions().get_mut(&id).filter(|running| running.run == number) {
            running.task = Some(task.abort_handle());
        }
    }

    /// Drops the prepared runs of a removed session, and ends its rewriting.
    pub(in crate::service) fn end(&self, session: &str) {
        self.forget(session);
        self.rewriters.end(session);
    }

    /// Returns the summarizers of a session that call a model or a program without the agent.
    fn writers_of(&self, session: &Session) -> Vec<Kind> {
        let asks = |kind: &Kind| !matches!(kind, Kind::Extractive | Kind::Client);
        self.summarizers_of(session, None).iter().copied().filter(asks).collect()
    }

    /// Runs until all nodes are rewritten, or the remaining ones were tried often enough.
    async fn rewrite_all(&self, session: &Session, run: &Run) -> Outcome<()> {
        let mut put_off: HashMap<String, PutOff> = HashMap::new();
        loop {
            let more = self.rewriters.more.notified();
            let mut more = std::pin::pin!(more);
            more.as_mut().enable();
            let map = self.archive.map(session.id.clone()).await?;
            let own: Vec<NodeRow> = map.nodes.into_iter().rev().filter(|row| row.writer == OWN).collect();
            let tries = |row: &&NodeRow| put_off.get(&row.id).map_or(0, |put_off| put_off.tries);
            let open: Vec<&NodeRow> = own.iter().filter(|row| tries(row) < TRIES).collect();
            let now = Instant::now();
            let until = |row: &NodeRow| put_off.get(&row.id).map_or(now, |put_off| put_off.until);
            let Some(next) = open.into_iter().min_by_key(|row| until(row)) else {
                if run.is_over() {
                    return Ok(());
                }
                continue;
            };
            if until(next) > now {
                tokio::select! {
                    () = tokio::time::sleep_until(until(next)) => {}
                    () = more => {}
                }
                continue;
            }
            let turn = self.rewriters.turn.lock().await;
            let is_settled = self.rewrite(session, &next.id).await?;
            drop(turn);
            let now = Instant::now();
            let put = if is_settled { PutOff::for_good(now) } else { PutOff::again(put_off.get(&next.id), now) };
            put_off.insert(next.id.clone(), put);
        }
    }

    /// Rewrites one node. Returns whether it is settled, which includes nodes that need no work.
    async fn rewrite(&self, session: &Session, id: &str) -> Outcome<bool> {
        // Meanwhile a session that continues this one may have rewritten the node.
        if self.archive.newest_node(id.to_owned()).await? != id {
            return Ok(true);
        }
        let Some((kept, texts)) = self.archive.node_messages(session.id.clone(), id.to_owned()).await? else {
            return Ok(true);
        };
        let older = (id.to_owned(), kept.row.text.clone());
        let below = match &kept.row.of {
            Stands::Nodes(children) => RewriteSource::Nodes(self.children(children).await?),
            Stands::Messages(_) | Stands::Handle(_) => {
                RewriteSource::Messages(blocking("nodes", move || Ok(parse(texts))).await?)
            }
        };
        let KeptNode { row, .. } = kept;
        let rewriting = blocking("nodes", move || Ok(Rewriting::of(nodes::node(row), below))).await?;
        let Some(rewriting) = rewriting.map(Arc::new) else { return Ok(true) };
        for kind in self.writers_of(session) {
            for brevity in TextLength::ALL {
                match self.asked(session, kind, brevity, &rewriting).await? {
                    Ok(node) => {
                        self.health.succeeded(kind);
                        self.archive.save_rewritten(older, node).await?;
                        return Ok(true);
                    }
                    Err(Some(RewriteError::TooLong { .. })) => {}
                    Err(_) => break,
                }
            }
        }
        Ok(false)
    }

    /// Asks for one text. Without a result, returns why the text was unfit, or `None` if there was no text.
    async fn asked(
        &self,
        session: &Session,
        kind: Kind,
        brevity: TextLength,
        rewriting: &Arc<Rewriting>,
    ) -> Outcome<Result<Node, Option<RewriteError>>> {
        let window = self.summarizers.context_length(kind).or(session.window());
        let asks = Arc::clone(rewriting);
        let request = blocking("nodes", move || Ok(asks.request(brevity, window))).await?;
        let Some(request) = request else { return Ok(Err(None)) };
        let main = self.chain(session, None).main;
        let call = Call { prompt: &request.prompt, max_tokens: request.max_tokens, model: None, main: &main };
        let written = match self.summarizers.write(kind, call).await {
            Ok(written) => written,
            Err(failure) => {
                self.health.failed(kind, &failure.text);
                return Ok(Err(None));
            }
        };
        let (policy, reads) = (Arc::clone(&self.policy), Arc::clone(rewriting));
        let read = blocking("nodes", move || Ok(reads.read(&written.text, kind.name(), &policy))).await?;
        if let Err(unfit) = &read {
            tracing::debug!(session = session.id, "what {} wrote of a node does not count: {unfit}", kind.name());
        }
        Ok(read.map_err(Some))
    }

    async fn children(&self, ids: &[String]) -> Outcome<Vec<Node>> {
        let mut children = Vec::with_capacity(ids.len());
        for id in ids {
            children.extend(self.archive.node(id.clone()).await?.map(|kept| nodes::node(kept.row)));
        }
        Ok(children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_off_again_is_put_off_for_longer() {
        let now = Instant::now();
        let mut pauses = Vec::new();
        let mut last = None;
        for _ in 0..TRIES {
            let next = PutOff::again(last.as_ref(), now);
            pauses.push((next.until - now).as_secs());
            last = Some(next);
        }
        assert_eq!(pauses, [5, 20, 80, 320, 1_280, 5_120]);
        assert_eq!(last.map(|last| last.tries), Some(TRIES));
    }
}
