//! Notifications: sends the daemon's events to a connection that subscribed to them.

use std::collections::BTreeSet;
use std::time::Duration;

use herma_protocol::daemon::{SubscribeParams, SubscribeResult};
use herma_protocol::frame::Codec;
use herma_protocol::{Method, Reply, RpcError, Topic, jsonrpc};
use tokio::time::Instant;

use super::codec::encode_notification;
use super::notification::{notification, topic};
use super::{Connection, OUT};
use crate::data::error::{Error, Outcome};
use crate::data::event::Event;
use crate::owners::events::Subscription;
use crate::wire::rpc_error::Answer;

/// How long the daemon waits for a subscriber that does not read when it stops.
const STOP_PATIENCE: Duration = Duration::from_millis(500);

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
