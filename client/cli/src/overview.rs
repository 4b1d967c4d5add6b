//! `herma` alone: the current state, on one screen, and what to try. It starts nothing and changes nothing.

use herma_base::out::{self, Align};
use herma_base::{CliContext, Failure};
use herma_client::Client;
use herma_client::protocol::daemon::{StatusParams, StatusResult};
use herma_client::protocol::memory::{PendingParams, Target};
use herma_client::protocol::session::chain::{ListParams, Row};
use serde::Serialize;

use crate::capture::{self, Capture};
use crate::names::session::{folder_name, title};

/// The newest sessions that are shown.
const SESSIONS: u64 = 3;

/// The columns of a session's folder, and those before its title.
const FOLDER: usize = 14;
const TAKEN: usize = 37;

/// The fewest columns of a title.
const LEAST: usize = 10;

/// The current state.
#[derive(Debug, Default, Serialize)]
struct Overview {
    version: &'static str,
    home: String,
    /// What the daemon says; null if none runs.
    daemon: Option<StatusResult>,
    agents: Vec<Capture>,
    /// The newest sessions.
    sessions: Vec<Row>,
    /// The number of writes that wait for approval.
    waiting: usize,
}

pub(super) fn run(context: &CliContext<'_>, version: &'static str) -> Result<(), Failure> {
    let mut overview = Overview {
        version,
        home: context.place.home.display().to_string(),
        agents: capture::all(context),
        ..Overview::default()
    };
    if let Ok(client) = context.connect_only() {
        ask(client, &mut overview)?;
    }
    out::show(context.common, &overview, |overview| text(overview, &out::short(&context.place.home)))
}

fn ask(mut client: Client, overview: &mut Overview) -> Result<(), Failure> {
    overview.daemon = Some(client.status(StatusParams {})?);
    // Without an archive there is no list, and the daemon says so.
    let listed = client.session_list(ListParams { limit: Some(SESSIONS), ..ListParams::default() });
    overview.sessions = listed.map(|listed| listed.sessions).unwrap_or_default();
    overview.waiting = client.memory_pending(PendingParams::default()).map_or(0, |waiting| waiting.pending.len());
    Ok(())
}

fn text(overview: &Overview, home: &str) -> String {
    let Overview { version, daemon, agents, sessions, waiting, .. } = overview;
    let mut rows = vec![("herma", format!("{version}, home {home}"))];
    rows.push(("daemon", daemon.as_ref().map_or_else(stopped, running)));
    for agent in agents {
        rows.push((agent.agent, agent.brief()));
    }
    if let Some(status) = daemon {
        rows.push(("memory", memory(status)));
        rows.push(("sessions", counted(status)));
    }
    if *waiting > 0 {
        let writes = out::count_noun(*waiting, "write waits", "writes wait");
        rows.push(("approval", format!("{writes}: herma memory pending")));
    }
    let mut text = out::columns(&rows);
    let room = out::width().map_or(usize::MAX, |columns| columns.saturating_sub(TAKEN).max(LEAST));
    for (at, row) in sessions.iter().enumerate() {
        let folder = folder_name(row.cwd.as_deref()).unwrap_or("-");
        let folder = out::padded(&out::cut(folder, FOLDER), FOLDER, Align::Left);
        let title = out::fit(title(row), room);
        text.push_str(&format!("  @{}  {:12}  {folder}  {title}\n", at + 1, out::when(row.last_active)));
    }
    text.push_str("\ntry\n");
    text.push_str(&out::columns(&tips(overview)));
    text
}

/// Returns commands that fit the current state.
fn tips(overview: &Overview) -> Vec<(&'static str, String)> {
    let mut tips = Vec::new();
    if overview.agents.iter().all(|agent| !agent.has_hooks) {
        tips.push(("  herma setup", "set up your agents, and import their sessions".to_owned()));
    }
    if overview.sessions.is_empty() {
        tips.push(("  herma memory add user \"TEXT\"", "have your agents remember something".to_owned()));
    } else {
        tips.push(("  herma recall why did we ...", "find what was said, in any agent".to_owned()));
        tips.push(("  herma session read @1", "read the newest conversation".to_owned()));
    }
    tips.push(("  herma --help", "all commands".to_owned()));
    tips
}

fn stopped() -> String {
    "not running; the first command that needs it starts it".to_owned()
}

fn running(status: &StatusResult) -> String {
    let failed = match status.requests.errors {
        0 => String::new(),
        errors => format!(", {}", out::count_of(errors, "failed request")),
    };
    format!("running for {}, {}{failed}", lasted(status.uptime_s), out::size(status.rss_bytes))
}

fn lasted(seconds: f64) -> String {
    match seconds {
        ..60.0 => format!("{seconds:.0} s"),
        ..3_600.0 => format!("{:.0} min", (seconds / 60.0).floor()),
        ..172_800.0 => format!("{:.0} h", (seconds / 3_600.0).floor()),
        _ => format!("{:.0} days", (seconds / 86_400.0).floor()),
    }
}

/// Describes the stores of the first profile, and says how many more there are.
fn memory(status: &StatusResult) -> String {
    let first = status.stores.first().map(|store| store.profile.as_str());
    let of_first = status.stores.iter().filter(|store| Some(store.profile.as_str()) == first);
    let one = |store: &herma_client::protocol::daemon::StoreStatus| {
        let name = match store.target {
            Target::Memory => "MEMORY.md",
            Target::User => "USER.md",
        };
        let entries = out::count_noun(usize::try_from(store.entries).unwrap_or(usize::MAX), "entry", "entries");
        format!("{name} {entries}, {:.0} % full", (100.0 * out::share(store.chars, store.limit)).floor())
    };
    let words = of_first.map(one).collect::<Vec<_>>().join("; ");
    match status.stores.len() / 2 {
        0 | 1 => words,
        profiles => format!("{words}; {profiles} profiles"),
    }
}

fn counted(status: &StatusResult) -> String {
    match status.sessions.total {
        0 => "none yet; they appear when an agent works with herma".to_owned(),
        total => format!("{}, {} open", out::thousands(total), out::thousands(status.sessions.open)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_daemon_it_says_how_to_begin() {
        let overview = Overview { version: "0.1.0", home: "/h".into(), ..Overview::default() };
        let text = text(&overview, "~/h");
        for words in ["herma   0.1.0, home ~/h", "not running", "herma setup", "herma --help"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn sessions_are_shown_with_a_number_and_fit_a_screen() {
        let row = Row {
            title: Some("why does the sync send each order twice? ".repeat(4)),
            cwd: Some("/work/a-folder-with-a-long-name".into()),
            ..Row::default()
        };
        let overview = Overview { sessions: vec![row.clone(), row], waiting: 2, ..Overview::default() };
        let text = text(&overview, "/h");
        assert!(text.contains("  @2  ") && text.contains("2 writes wait: herma memory pending"), "{text}");
        assert!(text.contains("herma session read @1") && text.lines().count() <= 24, "{text}");
    }

    #[test]
    fn a_time_is_said_in_its_largest_unit() {
        for (seconds, expected) in
            [(5.0, "5 s"), (61.0, "1 min"), (7_300.0, "2 h"), (90_000.0, "25 h"), (200_000.0, "2 days")]
        {
            assert_eq!(lasted(seconds), expected);
        }
    }
}
