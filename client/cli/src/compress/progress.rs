//! The progress of a compression on a terminal.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use herma_base::CliContext;
use herma_base::out::{self, CLEAR_LINE};
use herma_client::Client;
use herma_client::protocol::Notification;
use herma_client::protocol::daemon::SubscribeParams;
use herma_client::protocol::notification::{CompressionProgress, Topic};

use crate::watch;

/// Prints the phases of a compression until it is dropped. It prints nothing if standard error is not a terminal.
pub(super) struct Progress {
    is_over: Option<Arc<AtomicBool>>,
}

impl Progress {
    /// Listens on its own connection. If it can't connect, it prints nothing.
    pub(super) fn start(context: &CliContext<'_>, id: &str) -> Self {
        let is_seen = std::io::stderr().is_terminal() && context.common.shows_progress();
        let listening = is_seen.then(|| context.connect().ok()).flatten().and_then(subscribed);
        let is_over = listening.map(|client| {
            let (is_over, id) = (Arc::new(AtomicBool::new(false)), id.to_owned());
            let seen = Arc::clone(&is_over);
            std::thread::spawn(move || report(client, &id, &seen));
            is_over
        });
        Self { is_over }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(is_over) = &self.is_over {
            is_over.store(true, Ordering::Relaxed);
            drop(write!(std::io::stderr(), "{CLEAR_LINE}"));
        }
    }
}

fn subscribed(mut client: Client) -> Option<Client> {
    let topics = vec![Topic::CompressionProgress.name().to_owned()];
    client.subscribe(SubscribeParams { topics }).ok()?;
    client.set_timeout(None).ok()?;
    Some(client)
}

fn report(mut client: Client, id: &str, is_over: &AtomicBool) {
    while let Ok(notification) = client.next_notification() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        if let Notification::CompressionProgress(progress) = notification
            && progress.session == id
        {
            drop(write!(std::io::stderr(), "{CLEAR_LINE}{}", line(&progress)));
        }
    }
}

fn line(progress: &CompressionProgress) -> String {
    format!("{:3.0} %  {} {}", progress.done * 100.0, watch::phase(progress.phase), out::ellipsis())
}
