//! Notifications: converts the daemon's events for a connection that subscribed to them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use herma_memory::Action;
use herma_memory::files::FileAction;
use herma_protocol::context::Report;
use herma_protocol::daemon::{SubscribeParams, SubscribeResult};
use herma_protocol::frame::Codec;
use herma_protocol::notification::{
    Cause, CompressionDone, CompressionProgress, FilesChanged, MemoryChanged, MemoryRefused, OutputExpired,
    Phase as WirePhase, SessionExpired,
};
use herma_protocol::{Method, Notification, Reply, RpcError, Topic, jsonrpc};
use tokio::time::Instant;

use super::codec::encode_notification;
use super::{Connection, OUT};
use crate::data::error::{Error, Outcome};
use crate::data::event::{Event, Phase};
use crate::owners::events::Subscription;
use crate::wire::handler::memory::wire_target;
use crate::wire::handler::output::reason;
use crate::wire::rpc_error::Answer;

/// How long the daemon waits for a subscriber that does not read when it stops.
const STOP_PATIENCE: Duration = Duration::from_millis(500);

/// The largest number of paths in one notification.
const PATHS: usize = 1_000;

/// The subscription of a connection.
#[derive(Debug)]
pub(super) struct Subscribed {
    topics: BTreeSet<Topic>,
    events: Subscription,
}

impl Subscribed {
    fn wants(&self, event: &Event) -> bool {
        self.topics.contains(&topic(event))
    }

    fn next_now(&mut self) -> Option<Event> {
        loop {
            let event = self.events.next_now()?;
            if self.wants(&event) {
                return Some(event);
            }
        }
    }
}

impl Connection {
    pub(super) fn notify(&mut self, event: Event) {
        let notification = notification(event);
        match self.decoder.codec() {
            Some(Codec::Bincode) => self.answer(|out| encode_notification(&notification, out)),
            Some(Codec::Json) | None => self.answer(|out| {
                out.extend(jsonrpc::write_notification(&notification));
                out.push(b'\n');
            }),
        }
    }

    /// Sets the topics of this connection, in place of earlier ones.
    pub(super) fn subscribe(&mut self, params: &SubscribeParams) -> Answer<Reply> {
        let started = Instant::now();
        let topics =
            params.topics.iter().map(|name| Topic::from_name(name).map_err(|error| Error::param("topics", error)));
        let outcome = topics.collect::<Outcome<BTreeSet<Topic>>>().map(|topics| {
            if topics.contains(&Topic::MemoryChanged) {
                self.services.stores.serve_all();
            }
            if topics.contains(&Topic::FilesChanged) {
                self.services.files.files().serve_all();
            }
            let names = topics.iter().map(|topic| topic.name().to_owned()).collect();
            let events = &self.services.events;
            let with_appends = topics.contains(&Topic::MessagesAppended);
            let events = if with_appends { events.subscribe_with_appends() } else { events.subscribe() };
            self.subscription = (!topics.is_empty()).then_some(Subscribed { topics, events });
            Reply::Subscribe(SubscribeResult { topics: names })
        });
        self.services.connections.metrics.record(Method::Subscribe, started.elapsed(), outcome.is_err());
        outcome.map_err(RpcError::from)
    }

    /// Sends the remaining notifications. Waits less for a peer that does not read them than it would for answers to
    /// requests.
    pub(super) fn end_subscription(&mut self) {
        if let Some(mut subscription) = self.subscription.take() {
            while self.out.len() < OUT
                && let Some(event) = subscription.next_now()
            {
                self.notify(event);
            }
            self.patience = STOP_PATIENCE;
        }
    }
}

/// Waits for the next event of a subscription, if there is a subscription.
pub(super) async fn next_event(subscription: &mut Option<Subscribed>) -> Option<Event> {
    let subscription = subscription.as_mut()?;
    loop {
        let event = subscription.events.next().await?;
        if subscription.wants(&event) {
            return Some(event);
        }
    }
}

const fn topic(event: &Event) -> Topic {
    match event {
        Event::MemoryChanged(_) => Topic::MemoryChanged,
        Event::FilesChanged(_) => Topic::FilesChanged,
        Event::OutputExpired(_) => Topic::OutputExpired,
        Event::SessionExpired(_) => Topic::SessionExpired,
        Event::CompressionProgress { .. } => Topic::CompressionProgress,
        Event::CompressionDone(_) => Topic::CompressionDone,
        Event::SessionChanged(_) => Topic::SessionChanged,
        Event::MessagesAppended(_) => Topic::MessagesAppended,
        Event::OutputSpilled(_) => Topic::OutputSpilled,
        Event::MemoryRefused(_) => Topic::MemoryRefused,
        Event::WindowChanged(_) => Topic::WindowChanged,
    }
}

fn notification(event: Event) -> Notification {
    match event {
        Event::MemoryChanged(change) => Notification::MemoryChanged(MemoryChanged {
            profile: change.profile,
            target: wire_target(change.target),
            revision: change.revision,
            cause: match change.action {
                Action::External => Cause::External,
                Action::Undo | Action::Revert => Cause::Undo,
                Action::Restore => Cause::Restore,
                _ => Cause::Write,
            },
            session: change.session,
            agent: change.agent,
        }),
        Event::FilesChanged(change) => Notification::FilesChanged(FilesChanged {
            profile: change.profile.clone(),
            revision: change.revision,
            cause: match change.action {
                FileAction::External | FileAction::Found => Cause::External,
                FileAction::Undo => Cause::Undo,
                FileAction::Restore => Cause::Restore,
                _ => Cause::Write,
            },
            paths: change.paths.iter().take(PATHS).map(ToString::to_string).collect(),
            session: change.session.clone(),
            agent: change.agent.clone(),
        }),
        Event::OutputExpired(gone) => Notification::OutputExpired(OutputExpired {
            handle: gone.handle.to_string(),
            session: gone.session.clone(),
            tool: gone.tool.clone(),
            id: gone.id.clone(),
            bytes: gone.bytes,
            sha256: base16ct::lower::encode_string(&gone.sha256),
            reason: reason(gone.reason),
        }),
        Event::SessionExpired(gone) => Notification::SessionExpired(SessionExpired {
            session: gone.session.clone(),
            messages: gone.messages,
            bytes: gone.bytes,
            reason: reason(gone.reason),
        }),
        Event::CompressionProgress { session, phase } => {
            let (phase, done) = match phase {
                Phase::Prune => (WirePhase::Prune, 0.0),
                Phase::Summarise => (WirePhase::Summarise, 0.2),
                Phase::Check => (WirePhase::Check, 0.7),
                Phase::Assemble => (WirePhase::Assemble, 0.8),
            };
            Notification::CompressionProgress(CompressionProgress { session, phase, done })
        }
        Event::CompressionDone(done) => {
            let report = Report::clone(&done);
            Notification::CompressionDone(Box::new(CompressionDone { session: report.session.clone(), report }))
        }
        Event::SessionChanged(change) => Notification::SessionChanged(Arc::unwrap_or_clone(change)),
        Event::MessagesAppended(appended) => Notification::MessagesAppended(Arc::unwrap_or_clone(appended)),
        Event::OutputSpilled(spilled) => Notification::OutputSpilled(Arc::unwrap_or_clone(spilled)),
        Event::MemoryRefused(refused) => Notification::MemoryRefused(MemoryRefused {
            profile: refused.profile.clone(),
            target: refused.target.map(wire_target),
            session: refused.author.session.clone(),
            agent: refused.author.agent.clone(),
            error: refused.refusal.to_string(),
        }),
        Event::WindowChanged(change) => Notification::WindowChanged(Arc::unwrap_or_clone(change)),
    }
}
