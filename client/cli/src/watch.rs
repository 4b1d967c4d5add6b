//! `herma watch`.

use std::path::Path;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::daemon::SubscribeParams;
use herma_client::protocol::ledger::ChangeKind;
use herma_client::protocol::memory::LogParams;
use herma_client::protocol::notification::{
    Cause, CompressionDone, CompressionProgress, FilesChanged, MemoryChanged, MemoryRefused, MessagesAppended,
    OutputExpired, OutputSpilled, Phase, SessionChange, SessionChanged, SessionExpired, Topic, UnknownTopic,
    WindowChanged,
};
use herma_client::protocol::{ErrorKind, Notification};
use herma_client::{Client, ClientError};
use serde::Serialize;

use super::memory;
use crate::output;

// Prints a line for each thing that happens.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Topics: memory.changed, memory.refused, files.changed, session.changed, session.expired, messages.appended, output.spilled, output.expired, window.changed, compression.progress, compression.done. Without one all are printed except messages.appended and compression.progress.\n\nIt goes on until ^C, or until the daemon goes away: exit code 3. With --profile, only what happens in that profile. --timeout does not count while it waits.\n\nExamples:\n  herma watch\n  herma watch memory.changed memory.refused\n  herma watch --json | while read -r event; do echo \"$event\"; done"
)]
pub(super) struct Arguments {
    /// Only these topics
    #[arg(value_name = "TOPIC", value_parser = topic)]
    topics: Vec<Topic>,
}

fn topic(name: &str) -> Result<Topic, UnknownTopic> {
    Topic::from_name(name)
}

/// The most columns of a session's title.
const TITLE: usize = 60;

/// A notification as one line of JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    topic: &'static str,
    #[serde(flatten)]
    notification: &'a Notification,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let mut journals = Journals { context, client: None };
    let profile = context.common.profile.as_deref();
    subscribe(&mut client, &topics(&arguments.topics, profile)?)?;
    client.set_timeout(None)?;
    loop {
        let notification = match client.next_notification() {
            Ok(notification) => notification,
            Err(ClientError::Lost(_)) => return Err(Failure::Gone),
            Err(error) => return Err(error.into()),
        };
        if !is_wanted(&notification, profile) {
            continue;
        }
        if context.common.json {
            out::line(&json(&notification)?)?;
            continue;
        }
        let change = journals.change(&notification).map(|words| format!("  {words}")).unwrap_or_default();
        out::line(&format!("{}{change}", describe(&notification, &out::now())))?;
    }
}

/// The journals of the stores, which say what changed. They have a connection of their own, because notifications come
/// between the answers of the other one.
struct Journals<'a> {
    context: &'a CliContext<'a>,
    client: Option<Client>,
}

impl Journals<'_> {
    /// Returns what a new revision of a store changed, in a few words. `None` if that can't be read.
    fn change(&mut self, notification: &Notification) -> Option<String> {
        let Notification::MemoryChanged(MemoryChanged { profile, target, revision, .. }) = notification else {
            return None;
        };
        let client = match self.client.take() {
            Some(client) => client,
            None => self.context.connect_only().ok()?,
        };
        let mut client = client.with_profile(Some(profile.clone()));
        let before = Some(revision.saturating_add(1));
        let asked = LogParams { target: Some(*target), limit: Some(1), before, ..LogParams::default() };
        let row = client.memory_log(asked).ok()?.rows.into_iter().find(|row| row.revision == *revision);
        self.client = Some(client);
        Some(memory::change_summary(&row?, Some(0)))
    }
}

/// The topics that came with updates, the newest first.
const NEWER: [&[Topic]; 3] = [
    &[Topic::SessionChanged, Topic::MessagesAppended, Topic::OutputSpilled, Topic::MemoryRefused, Topic::WindowChanged],
    &[Topic::FilesChanged],
    &[Topic::SessionExpired],
];

/// The topics that are only printed on request, because they come too often.
const FREQUENT: [Topic; 2] = [Topic::MessagesAppended, Topic::CompressionProgress];

/// Returns the topics that people look at.
pub(super) fn usual() -> Vec<Topic> {
    Topic::ALL.into_iter().filter(|topic| !FREQUENT.contains(topic)).collect()
}

/// Subscribes to topics. A daemon from before an update doesn't know that update's topics, so these are left out, one
/// update after the other.
pub(super) fn subscribe(client: &mut Client, topics: &[Topic]) -> Result<(), ClientError> {
    let mut topics = topics.to_vec();
    let mut newer = NEWER.into_iter();
    loop {
        let params = SubscribeParams { topics: topics.iter().map(|topic| topic.name().into()).collect() };
        match (client.subscribe(params), newer.next()) {
            (Err(ClientError::Rpc(error)), Some(newest)) if error.kind == ErrorKind::InvalidParams => {
                topics.retain(|topic| !newest.contains(topic));
            }
            (subscribed, _) => return subscribed.map(drop),
        }
    }
}

/// The topics whose notifications name a profile. Outputs, windows and compressions belong to none.
const OF_PROFILES: [Topic; 4] =
    [Topic::MemoryChanged, Topic::MemoryRefused, Topic::FilesChanged, Topic::SessionChanged];

/// Returns the topics to subscribe to.
fn topics(named: &[Topic], profile: Option<&str>) -> Result<Vec<Topic>, Failure> {
    let topics = if named.is_empty() { usual() } else { named.to_vec() };
    let Some(profile) = profile else { return Ok(topics) };
    match named.iter().find(|topic| !OF_PROFILES.contains(topic)) {
        Some(topic) => {
            let words = format!("{} belongs to no profile; leave out --profile {profile}", topic.name());
            Err(Failure::Usage(words))
        }
        None => Ok(topics.into_iter().filter(|topic| OF_PROFILES.contains(topic)).collect()),
    }
}

fn is_wanted(notification: &Notification, profile: Option<&str>) -> bool {
    let of = match notification {
        Notification::MemoryChanged(changed) => &changed.profile,
        Notification::FilesChanged(changed) => &changed.profile,
        Notification::MemoryRefused(refused) => &refused.profile,
        Notification::SessionChanged(changed) => &changed.profile,
        Notification::OutputExpired(_)
        | Notification::OutputSpilled(_)
        | Notification::SessionExpired(_)
        | Notification::MessagesAppended(_)
        | Notification::WindowChanged(_)
        | Notification::CompressionProgress(_)
        | Notification::CompressionDone(_) => return profile.is_none(),
    };
    profile.is_none_or(|wanted| wanted == of)
}

fn json(notification: &Notification) -> Result<String, Failure> {
    let line = Line { topic: notification.topic().name(), notification };
    serde_json::to_string(&line).map_err(|error| Failure::File(error.to_string()))
}

pub(super) fn describe(notification: &Notification, time: &str) -> String {
    let words = match notification {
        Notification::MemoryChanged(changed) => change(changed),
        Notification::MemoryRefused(refused) => refusal(refused),
        Notification::FilesChanged(changed) => files_change(changed),
        Notification::OutputSpilled(spilled) => spill(spilled),
        Notification::OutputExpired(expired) => expiry(expired),
        Notification::SessionChanged(changed) => session_change(changed),
        Notification::SessionExpired(expired) => session_expiry(expired),
        Notification::MessagesAppended(appended) => appends(appended),
        Notification::WindowChanged(changed) => window(changed),
        Notification::CompressionProgress(progress) => progressed(progress),
        Notification::CompressionDone(done) => compressed(done),
    };
    format!("{time}  {words}")
}

fn progressed(progress: &CompressionProgress) -> String {
    let CompressionProgress { session, phase: of, done } = progress;
    format!("compression of {session}  {}, {:.0} %", phase(*of), done * 100.0)
}

/// Describes a phase of a compression.
pub(super) const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Prune => "pruning",
        Phase::Summarise => "summarising",
        Phase::Check => "checking the summary",
        Phase::Assemble => "assembling",
    }
}

fn compressed(done: &CompressionDone) -> String {
    let report = &done.report;
    if !report.compressed {
        let why = report.reason.as_deref().or(report.error.as_deref()).unwrap_or("nothing to do");
        return format!("compression of {}  left it as it was: {why}", done.session);
    }
    format!(
        "compression of {}  {} to {} messages, {:.0} % saved, by {}",
        done.session, report.messages_before, report.messages_after, report.savings_pct, report.summarizer
    )
}

fn change(changed: &MemoryChanged) -> String {
    let MemoryChanged { profile, target, revision, cause, session, agent } = changed;
    let by = by(agent.as_deref(), session.as_deref());
    format!("{profile}/{}  {}{by}", memory::name(*target), came(*revision, *cause))
}

fn refusal(refused: &MemoryRefused) -> String {
    let MemoryRefused { profile, target, session, agent, error } = refused;
    let store = target.map_or("memory tool", memory::name);
    format!("{profile}/{store}  refused{}: {error}", by(agent.as_deref(), session.as_deref()))
}

fn files_change(changed: &FilesChanged) -> String {
    let FilesChanged { profile, revision, cause, paths, session, agent } = changed;
    let first = paths.first().map(String::as_str).unwrap_or_default();
    let more = paths.len().saturating_sub(1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let by = by(agent.as_deref(), session.as_deref());
    format!("{profile}/files  {}{by}: {first}{more}", came(*revision, *cause))
}

/// Describes the cause of a revision.
fn came(revision: u64, cause: Cause) -> String {
    let cause = match cause {
        Cause::Write => "written",
        Cause::External => "changed by another program",
        Cause::Undo => "undone",
        Cause::Restore => "restored",
    };
    format!("revision {revision}, {cause}")
}

/// Describes who did something, as far as that is known.
fn by(agent: Option<&str>, session: Option<&str>) -> String {
    let agent = agent.map(|agent| format!(" by {agent}")).unwrap_or_default();
    let session = session.map(|session| format!(", session {session}")).unwrap_or_default();
    format!("{agent}{session}")
}

fn session_change(changed: &SessionChanged) -> String {
    let SessionChanged { session, change, agent, title, cwd, .. } = changed;
    let change = match change {
        SessionChange::Opened => "opened",
        SessionChange::Resumed => "resumed",
        SessionChange::Updated => "updated",
        SessionChange::Closed => "closed",
    };
    let folder = cwd.as_deref().map(|cwd| format!(" in {}", out::short(Path::new(cwd)))).unwrap_or_default();
    let title = title.as_deref().map(|title| format!(": {}", out::cut(title, TITLE))).unwrap_or_default();
    format!("session {session}  {change}{}{folder}{title}", by(agent.as_deref(), None))
}

fn appends(appended: &MessagesAppended) -> String {
    let MessagesAppended { session, position, .. } = appended;
    format!("session {session}  has {}", out::count_of(*position, "message"))
}

fn window(changed: &WindowChanged) -> String {
    let changes = changed.changes.iter().map(|change| {
        let what = match change.kind {
            ChangeKind::Definitions => "tools",
            ChangeKind::Context => "context",
            ChangeKind::Tool => "a call of herma",
            ChangeKind::Output => "an output",
            ChangeKind::Compaction => "a compaction",
            ChangeKind::Handover => "a handoff",
            ChangeKind::Summary => "a summary",
        };
        let less = if change.removed > 0 { format!(" -{}", out::thousands(change.removed)) } else { String::new() };
        format!("{what} +{}{less}", out::thousands(change.added))
    });
    let changes: Vec<String> = changes.collect();
    format!("session {}  window: {} tokens", changed.session, changes.join(", "))
}

fn spill(spilled: &OutputSpilled) -> String {
    let OutputSpilled { handle, session, tool, id, chars, .. } = spilled;
    let of = if tool.is_empty() { id.clone() } else { format!("{tool} {id}") };
    format!("output {handle}  spilled: {} chars of {of}, session {session}", out::thousands(*chars))
}

fn expiry(expired: &OutputExpired) -> String {
    let OutputExpired { handle, session, tool, id, .. } = expired;
    let of = if tool.is_empty() { id.clone() } else { format!("{tool} {id}") };
    let reason = output::reason(expired.reason);
    format!("output {handle}  gone, {reason}: {} of {of}, session {session}", out::size(expired.bytes))
}

fn session_expiry(expired: &SessionExpired) -> String {
    let SessionExpired { session, messages, bytes, reason } = expired;
    let reason = output::reason(*reason);
    format!("session {session}  gone, {reason}: {}, {}", out::count_of(*messages, "message"), out::size(*bytes))
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::ledger::Change;
    use herma_client::protocol::memory::Target;
    use herma_client::protocol::output::shelf::Reason;

    use super::*;

    fn changed(session: Option<&str>) -> Notification {
        Notification::MemoryChanged(MemoryChanged {
            profile: "default".into(),
            target: Target::User,
            revision: 7,
            cause: Cause::Undo,
            session: session.map(str::to_owned),
            agent: None,
        })
    }

    fn expired(tool: &str) -> Notification {
        Notification::OutputExpired(OutputExpired {
            handle: "out_1".into(),
            session: "s1".into(),
            tool: tool.into(),
            id: "call_1".into(),
            bytes: 1536,
            sha256: "ab".into(),
            reason: Reason::Ttl,
        })
    }

    #[test]
    fn an_output_that_goes_is_one_line() {
        for (tool, expected) in [
            ("terminal", "12:00  output out_1  gone, too old: 1.5 KiB of terminal call_1, session s1"),
            ("", "12:00  output out_1  gone, too old: 1.5 KiB of call_1, session s1"),
        ] {
            assert_eq!(describe(&expired(tool), "12:00"), expected);
        }
        assert_eq!(
            json(&expired("t")).unwrap(),
            "{\"topic\":\"output.expired\",\"handle\":\"out_1\",\"session\":\"s1\",\"tool\":\"t\",\"id\":\"call_1\",\"bytes\":1536,\"sha256\":\"ab\",\"reason\":\"ttl\"}"
        );
    }

    #[test]
    fn a_session_that_goes_is_one_line() {
        let gone = Notification::SessionExpired(SessionExpired {
            session: "s1".into(),
            messages: 2,
            bytes: 1536,
            reason: Reason::Quota,
        });
        assert_eq!(describe(&gone, "12:00"), "12:00  session s1  gone, over the quota: 2 messages, 1.5 KiB");
        let line =
            "{\"topic\":\"session.expired\",\"session\":\"s1\",\"messages\":2,\"bytes\":1536,\"reason\":\"quota\"}";
        assert_eq!(json(&gone).unwrap(), line);
        assert!(is_wanted(&gone, None) && !is_wanted(&gone, Some("default")));
    }

    #[test]
    fn a_profile_has_stores_and_no_outputs() {
        for (profile, store, output) in
            [(None, true, true), (Some("default"), true, false), (Some("work"), false, false)]
        {
            let wanted = [changed(None), expired("t")].map(|describe| is_wanted(&describe, profile));
            assert_eq!(wanted, [store, output], "{profile:?}");
            assert_eq!(topics(&[], profile).unwrap().contains(&Topic::OutputExpired), output);
        }
    }

    #[test]
    fn topics_that_come_often_are_printed_on_request() {
        assert!(!topics(&[], None).unwrap().contains(&Topic::MessagesAppended));
        assert_eq!(topics(&[Topic::MessagesAppended], None).unwrap(), [Topic::MessagesAppended]);
        let refused = topics(&[Topic::OutputSpilled], Some("work")).unwrap_err();
        assert!(format!("{refused:?}").contains("output.spilled belongs to no profile"), "{refused:?}");
    }

    #[test]
    fn what_sessions_do_is_one_line_each() {
        let session = || "s1".to_owned();
        let changed = |change, agent: Option<&str>| {
            Notification::SessionChanged(SessionChanged {
                session: session(),
                profile: "default".into(),
                change,
                agent: agent.map(str::to_owned),
                title: Some("Fix the\nbuild".into()),
                cwd: Some("/srv/app".into()),
            })
        };
        let change = Change { time: 0.0, kind: ChangeKind::Output, added: 200, removed: 30_000 };
        for (notification, expected) in [
            (changed(SessionChange::Opened, Some("codex")), "session s1  opened by codex in /srv/app: Fix the build"),
            (changed(SessionChange::Closed, None), "session s1  closed in /srv/app: Fix the build"),
            (
                Notification::MessagesAppended(MessagesAppended { session: session(), generation: 0, position: 1 }),
                "session s1  has 1 message",
            ),
            (
                Notification::OutputSpilled(OutputSpilled {
                    handle: "out_1".into(),
                    session: session(),
                    tool: "terminal".into(),
                    id: "call_1".into(),
                    chars: 52_000,
                    sha256: "ab".into(),
                }),
                "output out_1  spilled: 52,000 chars of terminal call_1, session s1",
            ),
            (
                Notification::WindowChanged(WindowChanged { session: session(), changes: vec![change] }),
                "session s1  window: an output +200 -30,000 tokens",
            ),
            (
                Notification::MemoryRefused(MemoryRefused {
                    profile: "default".into(),
                    target: Some(Target::User),
                    session: Some(session()),
                    agent: Some("codex".into()),
                    error: "content is empty".into(),
                }),
                "default/user  refused by codex, session s1: content is empty",
            ),
        ] {
            assert_eq!(describe(&notification, "12:00"), format!("12:00  {expected}"));
        }
    }

    #[test]
    fn a_change_is_one_line() {
        assert_eq!(describe(&changed(None), "12:00"), "12:00  default/user  revision 7, undone");
        assert_eq!(describe(&changed(Some("s1")), "12:00"), "12:00  default/user  revision 7, undone, session s1");
    }

    #[test]
    fn a_change_is_one_line_of_json() {
        assert_eq!(
            json(&changed(None)).unwrap(),
            "{\"topic\":\"memory.changed\",\"profile\":\"default\",\"target\":\"user\",\"revision\":7,\"cause\":\"undo\",\"session\":null}"
        );
    }
}
