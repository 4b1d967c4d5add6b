//! `herma proxy`: a proxy between an agent and its model that keeps the conversation and answers compactions without
//! the model.
//!
//! * `keeper` takes what passes, on a thread of its own. `sessions` maps conversations to the daemon's sessions, and
//!   `saved` are the files by which the next proxy knows them.
//! * `run` starts a program behind a proxy, and ends with it.

mod keeper;
mod run;
mod saved;
mod sessions;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use herma_base::{Failure, Settings, out};
use herma_proxy::{Proxy, Settings as ProxySettings};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use url::Url;

use crate::codex::Codex;
use crate::hook;
use keeper::Keeper;

/// The endpoints of the two APIs' own providers.
const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";

/// Prints or logs a line for people.
type Report = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Debug, clap::Args)]
#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
pub struct Arguments {
    #[command(subcommand)]
    command: ProxyCommand,
}

// The endpoints that a proxy forwards to.
#[derive(Debug, clap::Subcommand)]
enum ProxyCommand {
    /// Forward to an endpoint with Anthropic's messages, keep what passes, and answer compactions
    #[command(
        after_help = "It runs until it is ended, and prints the variable that an agent needs. Bytes pass unchanged, but for a compaction: where herma knows the agent's request for a summary, it answers with its handoff. On any doubt the model is asked as ever.\n\nExamples:\n  herma proxy anthropic\n  herma proxy anthropic --upstream https://my.gateway/anthropic --shadow"
    )]
    Anthropic(ForApi),
    /// Forward to an endpoint with OpenAI's responses or chat completions, keep what passes, and answer compactions
    #[command(
        after_help = "It runs until it is ended, and prints the variable that an agent needs. Bytes pass unchanged, but for a compaction: where herma knows the agent's request for a summary, it answers with its handoff. On any doubt the model is asked as ever. Codex is served as by `herma proxy codex`.\n\nExamples:\n  herma proxy openai --upstream https://openrouter.ai/api/v1\n  herma proxy openai --upstream http://127.0.0.1:11434/v1 --shadow"
    )]
    Openai(ForApi),
    /// Answer Codex's compactions with herma's handoff, and forward everything else to the model
    #[command(
        after_help = "It runs until it is ended, and says what base_url has to be in Codex's config.toml. Codex's hooks have to be there too: `herma hooks install codex --trust`. Where herma has no handoff the model is asked as ever.\n\nExample:\n  herma proxy codex --upstream https://openrouter.ai/api/v1"
    )]
    Codex(ForCodex),
    /// Start a program behind proxies for both APIs, and end with it
    Run(run::Arguments),
}

#[derive(Debug, clap::Args)]
struct ForApi {
    /// The URL to forward requests to: the agent's base URL without the proxy [default: the API's own provider]
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// The address to listen on, on this machine; port 0 selects a free one [default: 127.0.0.1:8766, and 8767 for OpenAI]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Change nothing and keep nothing; say what each compaction cost
    #[arg(long)]
    shadow: bool,
}

#[derive(Debug, clap::Args)]
struct ForCodex {
    /// The URL to forward requests to: the base_url without the proxy
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// The address to listen on, on this machine; port 0 selects a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    listen: SocketAddr,
}

/// Serves until a signal ends it, or the program that it started.
///
/// # Errors
/// The proxy or the program can't start. `Failure::Ended` has the program's exit code.
pub fn run(settings: &Settings, arguments: &Arguments) -> Result<(), Failure> {
    let usual = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (options, said) = match &arguments.command {
        ProxyCommand::Run(arguments) => return run::run(settings, arguments),
        ProxyCommand::Anthropic(given) => {
            (given.options(ApiFamily::Anthropic, ANTHROPIC, usual(8766)), "ANTHROPIC_BASE_URL=")
        }
        ProxyCommand::Openai(given) => (given.options(ApiFamily::Openai, OPENAI, usual(8767)), "OPENAI_BASE_URL="),
        ProxyCommand::Codex(ForCodex { upstream, listen }) => {
            (ProxyOptions { api: ApiFamily::Openai, upstream, listen: *listen, is_shadow: false }, "base_url = ")
        }
    };
    serve(settings, &options, said).map_err(Failure::File)
}

impl ForApi {
    fn options<'a>(&'a self, api: ApiFamily, upstream: &'a str, listen: SocketAddr) -> ProxyOptions<'a> {
        ProxyOptions {
            api,
            upstream: self.upstream.as_deref().unwrap_or(upstream),
            listen: self.listen.unwrap_or(listen),
            is_shadow: self.shadow,
        }
    }
}

/// The two families of APIs. Each has its own variable for the address of the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ApiFamily {
    Anthropic,
    Openai,
}

/// The options of a proxy.
#[derive(Debug)]
struct ProxyOptions<'a> {
    api: ApiFamily,
    upstream: &'a str,
    listen: SocketAddr,
    is_shadow: bool,
}

impl ProxyOptions<'_> {
    /// Returns the settings of the proxy.
    fn settings(&self, home: &Path) -> Result<ProxySettings, String> {
        // The URL may contain a secret, so errors don't show it.
        let upstream: Url = self.upstream.parse().map_err(|error| format!("the upstream is no URL: {error}"))?;
        let mut settings = ProxySettings { listen: self.listen, key: String::new(), upstream };
        settings.check().map_err(|error| error.to_string())?;
        settings.key = match self.api {
            ApiFamily::Anthropic => hook::proxy::key(&saved::folder(home))?,
            // Codex's hooks see by its key whether there is a proxy.
            ApiFamily::Openai => hook::proxy::key(&hook::proxy::folder_of(home, &Codex))?,
        };
        Ok(settings)
    }
}

fn serve(settings: &Settings, options: &ProxyOptions<'_>, said: &str) -> Result<(), String> {
    let of_proxy = options.settings(&settings.place.home)?;
    let upstream = of_proxy.upstream.clone();
    let keeper = Keeper::start(settings, None, options.is_shadow, Arc::new(out::error))?;
    let watcher = Arc::clone(&keeper);
    let served = runtime()?.block_on(async move {
        let started = Proxy::listen(of_proxy, watcher).await.map_err(|error| error.to_string())?;
        let mut end = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        out::say(&format!("{said}\"{}\"", started.base_url()));
        out::error(&format!("requests go to {upstream}; Ctrl-C ends it"));
        tokio::select! {
            () = started.serve() => {}
            _ = end.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        Ok(())
    });
    keeper.end();
    served
}

fn runtime() -> Result<Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("no threads: {error}"))
}
