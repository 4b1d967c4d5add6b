//! What is known of the capture of each agent: whether hooks are installed, whether events come, what was kept.

use std::time::SystemTime;

use herma_agents::agent::Agent;
use herma_agents::hook;
use herma_agents::known::AGENTS;
use herma_agents::programs::{installed, missing};
use herma_base::{CliContext, left_out, out};
use herma_client::protocol::session::chain::ListParams;
use serde::Serialize;

/// The newest sessions in which the last message of an agent is looked for.
const SESSIONS: u64 = 1_000;

/// How much a transcript may be newer than the last event, in seconds.
const BEHIND: f64 = hook::BEHIND.as_secs() as f64;

/// What is known of the events of one agent.
#[derive(Debug, Default, Serialize)]
pub(super) struct Capture {
    /// The agent.
    pub(super) agent: &'static str,
    /// Whether its settings have hooks of herma.
    pub(super) has_hooks: bool,
    /// A program of herma that the settings start and that is not there.
    pub(super) missing_program: Option<String>,
    /// The time of the last event, in Unix seconds.
    last_event: Option<f64>,
    /// The time of the last message that was kept.
    last_message: Option<f64>,
    /// The time of the newest transcript.
    newest_transcript: Option<f64>,
    /// What was left out, with its number.
    left_out: Vec<(String, u64)>,
}

/// Returns the capture of each agent that has hooks of herma or sent an event.
pub(super) fn all(context: &CliContext<'_>) -> Vec<Capture> {
    let captures = AGENTS.into_iter().map(|agent| Capture::of(context, agent));
    captures.filter(|capture| capture.has_hooks || capture.last_event.is_some()).collect()
}

impl Capture {
    fn of(context: &CliContext<'_>, agent: &dyn Agent) -> Self {
        let home = context.place.home.as_path();
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok().map(|time| time.as_secs_f64());
        Self {
            agent: agent.name(),
            has_hooks: !installed(agent).is_empty(),
            missing_program: missing(agent),
            last_event: hook::last_event(home, agent).and_then(since),
            last_message: last_message(context, agent.name()),
            newest_transcript: hook::newest_transcript(agent).and_then(since),
            left_out: hook::left_out(home, agent).into_iter().collect(),
        }
    }

    /// Returns whether the agent works while none of its events come.
    pub(super) fn is_dead(&self) -> bool {
        let newest = self.newest_transcript;
        newest.zip(self.last_event).is_some_and(|(newest, event)| newest > event + BEHIND)
    }

    /// Returns the state of the hooks in a few words.
    pub(super) fn state(&self) -> &'static str {
        match self {
            Self { missing_program: Some(_), .. } => "its hooks start a program that is not there",
            Self { has_hooks: false, .. } => "no hooks",
            capture if capture.is_dead() => "hooks are installed, and its sessions go on without them",
            _ => "hooks are installed",
        }
    }

    /// Returns the state and the last event, for a line of a page.
    pub(super) fn brief(&self) -> String {
        let event = self
            .last_event
            .map_or_else(|| "no session sent an event yet".to_owned(), |at| format!("last event {}", out::when(at)));
        format!("{}; {event}", self.state())
    }

    /// Returns the times of the last event and message, and what was left out.
    pub(super) fn described(&self) -> String {
        let mut words = self.last_event.map_or_else(
            || "no session sent an event yet".to_owned(),
            |at| format!("the last event came {}", out::local_time(at)),
        );
        if let Some(at) = self.last_message {
            words.push_str(&format!(", the last message kept is of {}", out::local_time(at)));
        }
        let counts = || self.left_out.iter().map(|(kind, count)| (kind.as_str(), *count));
        for (name, kinds) in [("masked", left_out::masked(counts())), ("left out", left_out::described(counts()))] {
            if !kinds.is_empty() {
                words.push_str(&format!("; {name}: {kinds}"));
            }
        }
        words
    }
}

/// Returns when a session of the agent was last active, if a daemon runs.
fn last_message(context: &CliContext<'_>, agent: &str) -> Option<f64> {
    let mut client = context.connect_only().ok()?;
    let listed = client
        .session_list(ListParams {
            limit: Some(SESSIONS),
            agent: Some(agent.to_owned()),
            raw: Some(true),
            ..ListParams::default()
        })
        .ok()?;
    // A daemon of an older version does not choose.
    let own = listed.sessions.iter().filter(|row| row.agent.as_deref() == Some(agent) && row.messages > 0);
    own.map(|row| row.last_active).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_dead_if_transcripts_go_on_without_events() {
        let capture = |last_event, newest_transcript| Capture { last_event, newest_transcript, ..Capture::default() };
        for (event, transcript, is_dead) in [
            (Some(1_000.0), Some(1_000.0 + 2.0 * BEHIND), true),
            (Some(1_000.0), Some(1_000.0 + BEHIND / 2.0), false),
            (Some(1_000.0), None, false),
            // Without any event, the hooks may be new.
            (None, Some(1_000.0), false),
        ] {
            assert_eq!(capture(event, transcript).is_dead(), is_dead, "{event:?} {transcript:?}");
        }
    }

    #[test]
    fn the_worst_is_named_first() {
        let capture = |has_hooks, missing: Option<&str>| Capture {
            has_hooks,
            missing_program: missing.map(str::to_owned),
            last_event: Some(0.0),
            newest_transcript: Some(2.0 * BEHIND),
            ..Capture::default()
        };
        assert!(capture(true, Some("/gone")).state().contains("not there"));
        assert!(capture(true, None).state().contains("without them"));
        assert_eq!(capture(false, None).state(), "no hooks");
    }
}
