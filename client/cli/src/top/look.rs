//! Requests to the daemon for the view.

use std::time::Duration;

use herma_base::{CliContext, out};
use herma_client::protocol::context::StatusParams as ContextParams;
use herma_client::protocol::daemon::{HelloParams, StatusParams};
use herma_client::protocol::memory::{ListParams as StoreParams, LogParams, Target};
use herma_client::protocol::recall::{DescribeParams, Node};
use herma_client::protocol::session::chain::{ListParams, Row, ShowParams};
use herma_client::{Client, ClientError, Codec, Place as Home, connect};

use super::app::{Overview, View};
use crate::context::status::{Map, cache};
use crate::memory;

/// How long an answer may take. After that the daemon counts as busy.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most sessions that are listed, and the number of them whose window use is requested.
const SESSIONS: u64 = 200;
const MEASURED: usize = 20;

/// The most changes that a journal shows.
const CHANGES: u64 = 200;

/// A connection that is made again when it breaks.
pub(super) struct Link {
    home: Home,
    client: Option<Client>,
}

/// Connects to a running daemon. Starts none.
pub(super) fn connected(home: &Home) -> Result<Client, ClientError> {
    let mut client = connect(home, Codec::Bincode)?;
    client.set_timeout(Some(PATIENCE))?;
    Ok(client)
}

impl Link {
    pub(super) fn new(context: &CliContext<'_>) -> Self {
        Self { home: context.place.clone(), client: None }
    }

    fn ask<T>(&mut self, ask: impl FnOnce(&mut Client) -> Result<T, ClientError>) -> Result<T, String> {
        let client = match self.client.take() {
            Some(client) => Ok(client),
            None => connected(&self.home),
        };
        let mut client = client.map_err(|error| error.to_string())?;
        let asked = ask(&mut client);
        // A refusal leaves the connection usable. Any other error may have broken it.
        if matches!(asked, Ok(_) | Err(ClientError::Rpc(_))) {
            self.client = Some(client);
        }
        asked.map_err(|error| error.to_string())
    }

    pub(super) fn overview(&mut self) -> Result<Overview, String> {
        self.ask(|client| {
            let hello = client.hello(HelloParams { client: Some("herma top".into()), protocol: None })?;
            let status = client.status(StatusParams {})?;
            let listed = client.session_list(ListParams { limit: Some(SESSIONS), ..ListParams::default() });
            // Without an archive there is no list.
            let mut rows = listed.map(|list| list.sessions).unwrap_or_default();
            rows.sort_by(|one, other| other.last_active.total_cmp(&one.last_active));
            let sessions = rows.into_iter().enumerate().map(|(at, row)| {
                // A session without a window, such as one that was imported, is not full.
                let is_measured = at < MEASURED && row.context_length.is_some() && row.ended_at.is_none();
                let pressure = is_measured.then(|| pressure(client, &row)).flatten();
                (row, pressure)
            });
            let sessions = sessions.collect();
            Ok(Overview { server: hello.server, home: hello.home, status, sessions })
        })
    }

    /// Returns the lines of a view.
    pub(super) fn detail(&mut self, place: &View) -> Result<Vec<String>, String> {
        match place {
            View::Session(id) => self.ask(|client| session(client, id)),
            View::Store { profile, target } => store(&self.home, profile, *target).map_err(|error| error.to_string()),
            View::Journal { profile, target } => {
                journal(&self.home, profile, *target).map_err(|error| error.to_string())
            }
        }
    }
}

/// Returns the share of its window that a session's last prompt filled.
fn pressure(client: &mut Client, row: &Row) -> Option<f64> {
    let status = client.context_status(ContextParams { session: row.session.clone() }).ok()?;
    if status.last_prompt_tokens > 0 {
        return Some(status.usage_percent / 100.0);
    }
    // An agent with hooks reports its calls, and has an engine of its own.
    let (prompt, window) = row.last_prompt.zip(row.context_length.filter(|window| *window > 0))?;
    Some(prompt as f64 / window as f64)
}

fn session(client: &mut Client, id: &str) -> Result<Vec<String>, ClientError> {
    let row = client.session_show(ShowParams { session: id.to_owned() })?;
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let mut rows = vec![
        ("session", row.session.clone()),
        ("agent", text(&row.agent)),
        ("model", text(&row.model)),
        ("title", text(&row.title)),
        ("generation", row.generation.to_string()),
        ("messages", out::thousands(row.messages)),
        ("tool calls", out::thousands(row.tool_calls)),
        ("last active", out::local_time(row.last_active)),
        ("first words", row.preview.clone()),
    ];
    if let Ok(status) = client.context_status(ContextParams { session: id.to_owned() }) {
        let share = status.usage_percent / 100.0;
        rows.push(("window", format!("{} tokens", out::thousands(status.context_length))));
        rows.push((
            "last prompt",
            format!("{} {:.0} %, {} tokens", out::bar(share, 20), status.usage_percent, status.last_prompt_tokens),
        ));
        rows.push(("threshold", format!("{} tokens", out::thousands(status.threshold_tokens))));
        rows.push(("compressions", status.compression_count.to_string()));
        rows.push(("last saved", format!("{:.0} %", status.savings_pct)));
        rows.push(("last error", text(&status.last_error)));
    }
    let described = client.recall_describe(DescribeParams { session: id.to_owned() }).ok();
    rows.extend(described.iter().filter_map(|described| Some(("map", Map::of(&described.map)?.describe()))));
    rows.extend(cache(client, id)?.map(|cache| ("prompt cache", cache.describe())));
    let mut lines: Vec<String> = out::columns(&rows).lines().map(str::to_owned).collect();
    if let Some(described) = described {
        lines.push(String::new());
        if !described.map.is_empty() {
            lines.extend(described.map.iter().map(part));
            lines.push(String::new());
        }
        lines.extend(described.compressions.iter().rev().map(|one| {
            format!(
                "{}  {}  {} messages left the list",
                out::local_time(one.time),
                one.handle,
                out::thousands(one.messages)
            )
        }));
    }
    Ok(lines)
}

/// Describes a node of a map in a line.
fn part(node: &Node) -> String {
    let (first, tokens) = (node.first.saturating_add(1), out::thousands(node.tokens));
    format!("{}  messages {first} to {}, {tokens} tokens, by {}", node.id, node.next, node.writer)
}

fn store(home: &Home, profile: &str, target: Target) -> Result<Vec<String>, ClientError> {
    let mut client = connected(home)?.with_profile(Some(profile.to_owned()));
    let list = client.memory_list(StoreParams { target: Some(target), ..StoreParams::default() })?;
    let view = match target {
        Target::Memory => list.memory,
        Target::User => list.user,
    };
    let Some(view) = view else { return Ok(vec!["it is empty".into()]) };
    let mut lines = vec![format!("{}, revision {}", view.usage, view.revision), String::new()];
    lines.extend(view.entries.iter().enumerate().flat_map(|(at, entry)| {
        let number = at + 1;
        entry
            .lines()
            .enumerate()
            .map(move |(line, text)| match line {
                0 => format!("{number:3}  {text}"),
                _ => format!("     {text}"),
            })
            .collect::<Vec<_>>()
    }));
    Ok(lines)
}

fn journal(home: &Home, profile: &str, target: Target) -> Result<Vec<String>, ClientError> {
    let mut client = connected(home)?.with_profile(Some(profile.to_owned()));
    let log = client.memory_log(LogParams { target: Some(target), limit: Some(CHANGES), ..LogParams::default() })?;
    let mut lines = vec![format!("changes of {profile}/{}, newest first", memory::name(target)), String::new()];
    for row in &log.rows {
        let who = row.agent.as_deref().or(row.session.as_deref()).unwrap_or("-");
        lines.push(format!("{:4}  {}  {:8}  {who}", row.revision, out::local_time(row.time), row.action));
        let gone = row.before.iter().filter(|entry| !row.after.contains(entry)).map(|entry| ('-', entry));
        let new = row.after.iter().filter(|entry| !row.before.contains(entry)).map(|entry| ('+', entry));
        lines.extend(
            gone.chain(new).flat_map(|(mark, entry)| entry.lines().map(move |line| format!("      {mark} {line}"))),
        );
    }
    Ok(lines)
}
