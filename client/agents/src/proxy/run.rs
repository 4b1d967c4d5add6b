//! `herma proxy run`: starts a program behind proxies, and ends with it.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use herma_base::{Failure, Settings, out};
use herma_proxy::Proxy;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::keeper::Keeper;
use super::{ANTHROPIC, ApiFamily, OPENAI, ProxyOptions, runtime};
use crate::hook;

/// The variables with the address of each API's endpoint. The first one says where requests go without the proxy.
const VARIABLES: [(ApiFamily, &[&str], &str); 2] = [
    (ApiFamily::Anthropic, &["ANTHROPIC_BASE_URL"], ANTHROPIC),
    (ApiFamily::Openai, &["OPENAI_BASE_URL", "OPENAI_API_BASE"], OPENAI),
];

/// The exit code if the program is not there, as in shells.
const NOT_FOUND: u8 = 127;

/// The exit code of a program that a signal ended is this and the signal's number, as in shells.
const SIGNAL: i32 = 128;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The program gets ANTHROPIC_BASE_URL, OPENAI_BASE_URL and OPENAI_API_BASE. What they were before is where its requests go; without them to api.anthropic.com and api.openai.com. Its exit code is that of this command. Reports go to herma/hermad.log in the home, because the program has the terminal.\n\nExamples:\n  herma proxy run aider --model sonnet\n  herma proxy run --openai http://127.0.0.1:11434/v1 -- my-agent --task fix.md"
)]
pub(super) struct Arguments {
    /// Where requests of Anthropic's API go
    #[arg(long, value_name = "URL")]
    anthropic: Option<String>,
    /// Where requests of OpenAI's APIs go
    #[arg(long, value_name = "URL")]
    openai: Option<String>,
    /// Change nothing and keep nothing; say what each compaction cost
    #[arg(long)]
    shadow: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn run(settings: &Settings, arguments: &Arguments) -> Result<(), Failure> {
    let Some((program, rest)) = arguments.command.split_first() else { return Ok(()) };
    let home = settings.place.home.clone();
    let log_home = home.clone();
    let report = Arc::new(move |words: &str| hook::log(&log_home, words));
    let agent = Path::new(program).file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let keeper = Keeper::start(settings, agent, arguments.shadow, report).map_err(Failure::File)?;
    let watcher = Arc::clone(&keeper);
    let ran = runtime().map_err(Failure::File)?.block_on(async move {
        let mut command = Command::new(program);
        command.args(rest);
        for (api, names, usual) in VARIABLES {
            let named = match api {
                ApiFamily::Anthropic => arguments.anthropic.clone(),
                ApiFamily::Openai => arguments.openai.clone(),
            };
            let set = || names.iter().find_map(|name| std::env::var(name).ok().filter(|url| !url.is_empty()));
            let upstream = named.or_else(set).unwrap_or_else(|| usual.to_owned());
            let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let options = ProxyOptions { api, upstream: &upstream, listen, is_shadow: arguments.shadow };
            let of_proxy = options.settings(&home).map_err(Failure::File)?;
            let watcher = Arc::clone(&watcher);
            let proxy = Proxy::listen(of_proxy, watcher).await.map_err(|error| Failure::File(error.to_string()))?;
            command.envs(names.iter().map(|name| (name, proxy.base_url())));
            drop(tokio::spawn(proxy.serve()));
        }
        started(command, program).await
    });
    keeper.end();
    match ran?.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Ended(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))),
    }
}

/// Runs a program to its end. Ctrl-C reaches it by itself; a signal to end is passed on.
async fn started(mut command: Command, program: &OsString) -> Result<ExitStatus, Failure> {
    let failed = |error: std::io::Error| Failure::File(error.to_string());
    let mut end = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut child = command.spawn().map_err(|error| {
        out::error(&format!("herma: {} can't be started: {error}", program.display()));
        Failure::Ended(NOT_FOUND)
    })?;
    loop {
        tokio::select! {
            ended = child.wait() => {
                let ended = ended.map_err(failed)?;
                let code = ended.code().or_else(|| Some(SIGNAL + ended.signal()?)).unwrap_or_default();
                return Ok(ExitStatus::from_raw(code << 8));
            }
            _ = end.recv() => {
                let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
                // It may have ended meanwhile.
                let _: Option<Result<(), _>> = id.map(|id| kill_process(id, Signal::TERM));
            }
            _ = interrupt.recv() => {}
        }
    }
}
