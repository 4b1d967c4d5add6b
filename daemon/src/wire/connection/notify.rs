//! What a connection is told without asking.

use std::collections::BTreeSet;
use std::time::Duration;

use herma_protocol::daemon::{SubscribeParams, SubscribeResult};
use herma_protocol::frame::Codec;
use herma_protocol::{Method, Notification, Reply, RpcError, Topic, jsonrpc};
use tokio::time::Instant;

use super::codec::encode_notification;
use super::{Connection, OUT};
use crate::data::error::{Error, Outcome};
use crate::owners::events::Subscription;
use crate::wire::rpc_error::Answer;

/// How long a subscriber that reads nothing is waited for when the daemon stops.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Connection {
    pub(super) fn tell(&mut self, notification: Notification) {
        match self.decoder.codec() {
            Some(Codec::Bincode) => self.answer(|out| encode_notification(&notification, out)),
            Some(Codec::Json) | None => self.answer(|out| {
                out.extend(jsonrpc::write_notification(&notification));
                out.push(b'\n');
            }),
        }
    }

    /// What this connection is told from now on, in place of what it was told.
    pub(super) fn subscribe(&mut self, params: &SubscribeParams) -> Answer<Reply> {
        let started = Instant::now();
        let topics =
            params.topics.iter().map(|name| Topic::from_name(name).map_err(|error| Error::param("topics", error)));
        let outcome = topics.collect::<Outcome<BTreeSet<Topic>>>().map(|topics| {
            if topics.contains(&Topic::MemoryChanged) {
                self.state.serve_all();
            }
            let names = topics.iter().map(|topic| topic.name().to_owned()).collect();
            self.subscription = (!topics.is_empty()).then(|| self.state.events.subscribe(topics));
            Reply::Subscribe(SubscribeResult { topics: names })
        });
        self.state.metrics.record(Method::Subscribe, started.elapsed(), outcome.is_err());
        outcome.map_err(RpcError::from)
    }

    /// Tells what there is still to tell. A peer that doesn't read it is not waited
    /// for as long as for the answers that somebody asked for.
    pub(super) fn end_subscription(&mut self) {
        if let Some(mut subscription) = self.subscription.take() {
            while self.out.len() < OUT
                && let Some(notification) = subscription.next_now()
            {
                self.tell(notification);
            }
            self.patience = LAST_WORDS;
        }
    }
}

/// The next notification of a subscription, if there is one.
pub(super) async fn told(subscription: &mut Option<Subscription>) -> Option<Notification> {
    match subscription {
        Some(subscription) => subscription.next().await,
        None => None,
    }
}
