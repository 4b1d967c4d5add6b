//! `herma proxy`: a proxy between an agent and its model that answers compactions without the model.

use std::net::SocketAddr;
use std::path::Path;

use herma_base::{Settings, out};
use herma_proxy::codex::Compaction;
use herma_proxy::{Proxy, Settings as Way};
use tokio::signal::unix::{SignalKind, signal};

use crate::codex::Codex;
use crate::hook::{proxy, unix_now};

/// The default address to listen on.
const LISTEN: &str = "127.0.0.1:8765";

#[derive(Debug, clap::Args)]
#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
pub struct Arguments {
    #[command(subcommand)]
    agent: For,
}

// An agent that has a proxy.
#[derive(Debug, clap::Subcommand)]
enum For {
    /// Answer Codex's compactions with herma's handoff, and forward everything else to the model
    Codex(ForCodex),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "It runs until it is ended, and says what base_url has to be in Codex's config.toml. Codex's hooks have to be there too: `herma hooks install codex --trust`. Where herma has no handoff the model is asked as ever.\n\nExample:\n  herma proxy codex --upstream https://openrouter.ai/api/v1"
)]
struct ForCodex {
    /// The URL to forward requests to: the base_url without the proxy
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// The address to listen on, on this machine; port 0 selects a free one
    #[arg(long, value_name = "ADDRESS", default_value = LISTEN)]
    listen: SocketAddr,
}

/// Serves until a signal ends it.
///
/// # Errors
/// The reason why the proxy can't start, for people.
pub fn run(settings: &Settings, arguments: &Arguments) -> Result<(), String> {
    let For::Codex(ForCodex { upstream, listen }) = &arguments.agent;
    let home = settings.place.home.clone();
    // The URL may contain a secret, so errors don't show it.
    let upstream: url::Url = upstream.parse().map_err(|error| format!("--upstream is no URL: {error}"))?;
    let mut way = Way { listen: *listen, key: String::new(), upstream: upstream.clone() };
    way.check().map_err(|error| error.to_string())?;
    way.key = proxy::key(&home, &Codex)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("no threads: {error}"))?;
    runtime.block_on(async move {
        let answers = move |compaction: &Compaction| answer(&home, compaction);
        let started = Proxy::listen(way, answers).await.map_err(|error| error.to_string())?;
        let mut end = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        out::say(&format!("base_url = \"{}\"", started.base_url()));
        out::error(&format!("requests go to {upstream}; Ctrl-C ends it"));
        tokio::select! {
            () = started.serve() => {}
            _ = end.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        Ok(())
    })
}

/// Returns the text of a summary, if a hook has made it.
fn answer(home: &Path, compaction: &Compaction) -> Option<String> {
    let Compaction { session, window } = compaction;
    let (text, words) = match proxy::text(home, &Codex, session, window.as_deref(), unix_now()) {
        Ok(Some(text)) => {
            let words = format!("is answered with {} chars", text.chars().count());
            (Some(text), words)
        }
        Ok(None) => (None, "has no handoff; the model is asked".to_owned()),
        Err(error) => (None, format!("can't be answered ({error}); the model is asked")),
    };
    // The id comes from the agent, so it is cleaned before it is printed.
    let session: String = session.chars().filter(|char| !char.is_control()).take(64).collect();
    out::error(&format!("a compaction of {session} {words}"));
    text
}
