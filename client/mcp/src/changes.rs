//! Sends changes to their subscribers: the peer of an `initialize`, and every `subscriptions/listen`.

mod watch;

use std::collections::VecDeque;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use herma_base::Settings;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::Peer;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio::task::AbortHandle;

use super::report;
use super::resources::Readable;
use watch::Watch;

/// The changes that may wait for one subscriber. If there are more, the oldest are dropped.
const WAITING: usize = 64;

/// How long the first subscription waits for the daemon, so that no change after its answer is missed.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Changes of the stores. The server subscribes at the daemon only after a client has subscribed here.
#[derive(Debug)]
pub(super) struct Changes {
    settings: Settings,
    sender: Mutex<Option<Sender<Readable>>>,
    followed: Arc<Mutex<Subscriptions>>,
    /// The receivers of listens that were accepted but have not begun: rmcp sends the acceptance to the client in
    /// between.
    accepted: Mutex<VecDeque<Receiver<Readable>>>,
}

/// The resources that the peer of an `initialize` follows, and the task that sends it their changes.
#[derive(Debug, Default)]
struct Subscriptions {
    all: Vec<Readable>,
    task: Option<AbortHandle>,
}

impl Changes {
    /// Creates changes without subscribers.
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, sender: Mutex::default(), followed: Arc::default(), accepted: Mutex::default() }
    }

    /// Queues every change from now on for the next listen that begins.
    pub(super) fn accept(&self) {
        let receiver = self.subscribe();
        lock(&self.accepted).push_back(receiver);
    }

    /// Returns the receiver that was queued when the listen was accepted.
    pub(super) fn begin(&self) -> Receiver<Readable> {
        let accepted = lock(&self.accepted).pop_front();
        accepted.unwrap_or_else(|| self.subscribe())
    }

    /// Returns a receiver of all store changes from now on. If no daemon runs, changes begin when one starts.
    fn subscribe(&self) -> Receiver<Readable> {
        let mut sender = lock(&self.sender);
        if let Some(sender) = &*sender {
            return sender.subscribe();
        }
        let (started, receiver) = broadcast::channel(WAITING);
        let (ready, watching) = sync_channel(1);
        let watch = Watch::new(self.settings.clone(), started.clone());
        match std::thread::Builder::new().name("changes".into()).spawn(move || watch.run(ready)) {
            // The wait is limited because the daemon may just be stopping.
            Ok(_) => drop(watching.recv_timeout(TIMEOUT)),
            Err(error) => report(&format!("changes can't be followed: {error}")),
        }
        *sender = Some(started);
        receiver
    }

    /// Sends the changes of a resource to a peer from now on.
    pub(super) fn follow(&self, readable: Readable, peer: Peer<RoleServer>) {
        let mut followed = lock(&self.followed);
        if !followed.all.contains(&readable) {
            followed.all.push(readable);
        }
        if followed.task.is_some() {
            return;
        }
        let mut changes = self.subscribe();
        let wanted = Arc::clone(&self.followed);
        let task = tokio::spawn(async move {
            loop {
                let changed = match changes.recv().await {
                    Ok(changed) if lock(&wanted).all.contains(&changed) => changed,
                    Ok(_) | Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                let params = ResourceUpdatedNotificationParam::new(changed.uri());
                if peer.notify_resource_updated(params).await.is_err() {
                    return;
                }
            }
        });
        followed.task = Some(task.abort_handle());
    }

    /// Stops sending the changes of a resource.
    pub(super) fn leave(&self, readable: Readable) {
        lock(&self.followed).all.retain(|followed| *followed != readable);
    }
}

impl Drop for Changes {
    /// Stops the task. It holds a peer, which keeps its connection open.
    fn drop(&mut self) {
        if let Some(task) = lock(&self.followed).task.take() {
            task.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
