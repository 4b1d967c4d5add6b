//! `herma watch`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::daemon::SubscribeParams;
use herma_client::protocol::notification::{
    Cause, CompressionDone, CompressionProgress, FilesChanged, MemoryChanged, OutputExpired, Phase, SessionExpired,
    Topic,
};
use herma_client::protocol::{ErrorKind, Notification};
use herma_client::{Client, ClientError};
use serde::Serialize;

use super::memory;
use crate::output;

// Prints a line for each change of a store or a memory file, each compression, and each removed output or session.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It goes on until ^C, or until the daemon goes away: exit code 3. With --profile, only changes of that profile's stores. --timeout does not count while it waits.\n\nExamples:\n  herma watch\n  herma watch --json | while read -r event; do echo \"$event\"; done"
)]
pub(super) struct Arguments {}

/// A notification as one line of JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    topic: &'static str,
    #[serde(flatten)]
    notification: &'a Notification,
}

pub(super) fn run(context: &CliContext<'_>) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let profile = context.common.profile.as_deref();
    subscribe(&mut client, topics(profile))?;
    client.set_timeout(None)?;
    loop {
        let notification = match client.next_notification() {
            Ok(notification) => notification,
            Err(ClientError::Lost(_)) => return Err(Failure::Gone),
            Err(error) => return Err(error.into()),
        };
        if is_wanted(&notification, profile) {
            out::line(&if context.common.json { json(&notification)? } else { describe(&notification, &out::now()) })?;
        }
    }
}

/// The topics that came with updates, the newest first.
const NEWER: [Topic; 2] = [Topic::FilesChanged, Topic::SessionExpired];

/// Subscribes to topics. A daemon from before an update doesn't know that update's topics, so these are left out one by
/// one.
pub(super) fn subscribe(client: &mut Client, topics: &[Topic]) -> Result<(), ClientError> {
    let mut topics = topics.to_vec();
    let mut newer = NEWER.into_iter();
    loop {
        let params = SubscribeParams { topics: topics.iter().map(|topic| topic.name().into()).collect() };
        match (client.subscribe(params), newer.next()) {
            (Err(ClientError::Rpc(error)), Some(newest)) if error.kind == ErrorKind::InvalidParams => {
                topics.retain(|topic| *topic != newest);
            }
            (subscribed, _) => return subscribed.map(drop),
        }
    }
}

/// Returns the topics of a profile. Outputs and compressions belong to no profile.
const fn topics(profile: Option<&str>) -> &'static [Topic] {
    match profile {
        None => &Topic::ALL,
        Some(_) => &[Topic::MemoryChanged, Topic::FilesChanged],
    }
}

fn is_wanted(notification: &Notification, profile: Option<&str>) -> bool {
    match notification {
        Notification::MemoryChanged(changed) => profile.is_none_or(|wanted| wanted == changed.profile),
        Notification::FilesChanged(changed) => profile.is_none_or(|wanted| wanted == changed.profile),
        Notification::OutputExpired(_)
        | Notification::SessionExpired(_)
        | Notification::CompressionProgress(_)
        | Notification::CompressionDone(_) => profile.is_none(),
    }
}

fn json(notification: &Notification) -> Result<String, Failure> {
    let line = Line { topic: notification.topic().name(), notification };
    serde_json::to_string(&line).map_err(|error| Failure::File(error.to_string()))
}

pub(super) fn describe(notification: &Notification, time: &str) -> String {
    match notification {
        Notification::MemoryChanged(changed) => format!("{time}  {}", change(changed)),
        Notification::FilesChanged(changed) => format!("{time}  {}", files_change(changed)),
        Notification::OutputExpired(expired) => format!("{time}  {}", expiry(expired)),
        Notification::SessionExpired(expired) => format!("{time}  {}", session_expiry(expired)),
        Notification::CompressionProgress(progress) => format!("{time}  {}", progressed(progress)),
        Notification::CompressionDone(done) => format!("{time}  {}", compressed(done)),
    }
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
    let MemoryChanged { profile, target, revision, cause, session } = changed;
    format!("{profile}/{}  {}", memory::name(*target), came(*revision, *cause, session.as_deref()))
}

fn files_change(changed: &FilesChanged) -> String {
    let FilesChanged { profile, revision, cause, paths, session } = changed;
    let first = paths.first().map(String::as_str).unwrap_or_default();
    let more = paths.len().saturating_sub(1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{profile}/files  {}: {first}{more}", came(*revision, *cause, session.as_deref()))
}

/// Describes the cause of a revision.
fn came(revision: u64, cause: Cause, session: Option<&str>) -> String {
    let cause = match cause {
        Cause::Write => "written",
        Cause::External => "changed by another program",
        Cause::Undo => "undone",
        Cause::Restore => "restored",
    };
    let by = session.map_or(String::new(), |session| format!(", session {session}"));
    format!("revision {revision}, {cause}{by}")
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
    format!(
        "session {session}  gone, {reason}: {}, {}",
        out::count_noun(usize::try_from(*messages).unwrap_or(usize::MAX), "message", "messages"),
        out::size(*bytes)
    )
}

#[cfg(test)]
mod tests {
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
            assert_eq!(topics(profile).contains(&Topic::OutputExpired), output);
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
