//! The progress of a compression on a terminal.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use herma_base::CliContext;
use herma_base::out::{self, CLEAR_LINE};
use herma_client::Client;
use herma_client::protocol::Notification;
use herma_client::protocol::daemon::SubscribeParams;
use herma_client::protocol::notification::{CompressionProgress, Topic};

use crate::watch;

/// Prints the phases of a compression until it is dropped. It prints nothing if standard error is not a terminal.
pub(super) struct Progress {
    /// Whether nothing is printed any more. It is locked while something is.
    is_over: Option<Arc<Mutex<bool>>>,
}

impl Progress {
    /// Listens on its own connection. If it can't connect, it prints nothing.
    pub(super) fn start(context: &CliContext<'_>, id: &str) -> Self {
        let is_seen = std::io::stderr().is_terminal() && context.common.shows_progress();
        let listening = is_seen.then(|| context.connect().ok()).flatten().and_then(subscribed);
        let is_over = listening.map(|client| {
            let (is_over, id) = (Arc::new(Mutex::new(false)), id.to_owned());
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
            let mut is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
            *is_over = true;
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

fn report(mut client: Client, id: &str, is_over: &Mutex<bool>) {
    while let Ok(notification) = client.next_notification() {
        let is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_over {
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
