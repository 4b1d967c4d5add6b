//! The thread that waits for `memory.changed`, on its own connection.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use herma_base::Settings;
use herma_client::protocol::Notification;
use herma_client::protocol::daemon::SubscribeParams;
use herma_client::protocol::memory::{ListParams, Target};
use herma_client::protocol::notification::Topic;
use herma_client::{Client, ClientError, Codec};
use tokio::sync::broadcast::Sender;

use super::super::resources::Readable;

/// The pause between two attempts to reach a daemon that stopped. A subscription doesn't start a new daemon, but a call
/// does.
const PAUSE: Duration = Duration::from_millis(100);

/// The name of the profile if the settings name none.
const PROFILE: &str = "default";

/// Reports new revisions, also those that were written while no daemon ran.
#[derive(Debug)]
pub(super) struct Watch {
    settings: Settings,
    sender: Sender<Readable>,
    /// The newest known revision of each store.
    memory: Option<u64>,
    user: Option<u64>,
}

impl Watch {
    /// Creates a watch that knows no revision yet.
    pub(super) const fn new(settings: Settings, sender: Sender<Readable>) -> Self {
        Self { settings, sender, memory: None, user: None }
    }

    /// Watches until the process ends. `ready` is dropped after the first attempt.
    pub(super) fn run(mut self, ready: SyncSender<()>) {
        let mut ready = Some(ready);
        loop {
            let subscribed = self.subscribed();
            drop(ready.take());
            if let Ok(mut client) = subscribed {
                while let Ok(message) = client.next_notification() {
                    self.note(&message);
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn subscribed(&mut self) -> Result<Client, ClientError> {
        let client = herma_client::connect(&self.settings.place, Codec::Bincode)?;
        let mut client = client.with_profile(self.settings.profile.clone());
        client.set_timeout(Some(self.settings.timeout))?;
        client.subscribe(SubscribeParams { topics: vec![Topic::MemoryChanged.name().into()] })?;
        let stores = client.memory_list(ListParams::default())?;
        for (target, store) in [(Target::Memory, stores.memory), (Target::User, stores.user)] {
            if let Some(store) = store {
                self.see(target, store.revision);
            }
        }
        client.set_timeout(None)?;
        Ok(client)
    }

    fn note(&mut self, message: &Notification) {
        let profile = self.settings.profile.as_deref().unwrap_or(PROFILE);
        match message {
            Notification::MemoryChanged(changed) if changed.profile == profile => {
                self.see(changed.target, changed.revision);
            }
            _ => {}
        }
    }

    /// Reports a revision that is newer than the known one.
    fn see(&mut self, target: Target, revision: u64) {
        let known = match target {
            Target::Memory => &mut self.memory,
            Target::User => &mut self.user,
        };
        let before = known.replace(revision);
        if before.is_some_and(|before| before < revision) {
            // There may be no subscriber left.
            drop(self.sender.send(Readable::Store(target)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use herma_client::Place;
    use herma_client::protocol::notification::{Cause, MemoryChanged};

    use super::*;

    #[test]
    fn each_new_revision_is_told_once() {
        let (sender, mut message) = tokio::sync::broadcast::channel(8);
        let place = Place { home: PathBuf::new(), socket: PathBuf::new() };
        let timeout = Duration::from_secs(1);
        let settings = Settings { place, profile: None, timeout, connect: herma_client::connect };
        let mut watch = Watch::new(settings, sender);
        let mut changed = |profile: &str, revision| {
            watch.note(&Notification::MemoryChanged(MemoryChanged {
                profile: profile.into(),
                target: Target::User,
                revision,
                cause: Cause::Write,
                session: None,
                agent: None,
            }));
            message.try_recv().ok()
        };
        let user = Some(Readable::Store(Target::User));
        for (profile, revision, expected) in
            [("default", 3, None), ("default", 4, user), ("default", 4, None), ("work", 9, None), ("default", 6, user)]
        {
            assert_eq!(changed(profile, revision), expected, "{profile} {revision}");
        }
    }
}
