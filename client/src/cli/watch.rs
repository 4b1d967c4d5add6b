//! `herma watch`.

use herma_client::ClientError;
use herma_client::protocol::Notification;
use herma_client::protocol::daemon::SubscribeParams;
use herma_client::protocol::notification::{Cause, MemoryChanged, Topic};
use serde::Serialize;

use super::exit::Failure;
use super::{Session, memory, out};

/// Prints a line for each change of a store.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It goes on until ^C, or until the daemon goes away: exit code 3. With --profile, only changes of that profile. --timeout does not count while it waits.\n\nExamples:\n  herma watch\n  herma watch --json | while read -r change; do echo \"$change\"; done"
)]
pub(super) struct Arguments {}

/// A notification as one line of JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    topic: &'static str,
    #[serde(flatten)]
    notification: &'a Notification,
}

pub(super) fn run(session: &Session<'_>) -> Result<(), Failure> {
    let mut client = session.connect()?;
    client.subscribe(SubscribeParams { topics: vec![Topic::MemoryChanged.name().into()] })?;
    client.set_timeout(None)?;
    loop {
        let notification = match client.next_notification() {
            Ok(notification) => notification,
            Err(ClientError::Lost(_)) => return Err(Failure::Gone),
            Err(error) => return Err(error.into()),
        };
        let Notification::MemoryChanged(changed) = &notification else { continue };
        if session.common.profile.as_ref().is_some_and(|wanted| *wanted != changed.profile) {
            continue;
        }
        out::line(&if session.common.json { json(&notification)? } else { told(changed, &out::now()) })?;
    }
}

fn json(notification: &Notification) -> Result<String, Failure> {
    let line = Line { topic: notification.topic().name(), notification };
    serde_json::to_string(&line).map_err(|error| Failure::File(error.to_string()))
}

fn told(changed: &MemoryChanged, time: &str) -> String {
    let cause = match changed.cause {
        Cause::Write => "written",
        Cause::External => "changed by another program",
        Cause::Undo => "undone",
        Cause::Restore => "restored",
    };
    let by = changed.session.as_ref().map_or(String::new(), |session| format!(", session {session}"));
    let store = memory::name(changed.target);
    format!("{time}  {}/{store}  revision {}, {cause}{by}", changed.profile, changed.revision)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::memory::Target;

    use super::*;

    fn changed(session: Option<&str>) -> MemoryChanged {
        MemoryChanged {
            profile: "default".into(),
            target: Target::User,
            revision: 7,
            cause: Cause::Undo,
            session: session.map(str::to_owned),
        }
    }

    #[test]
    fn a_change_is_one_line() {
        assert_eq!(told(&changed(None), "12:00"), "12:00  default/user  revision 7, undone");
        assert_eq!(told(&changed(Some("s1")), "12:00"), "12:00  default/user  revision 7, undone, session s1");
    }

    #[test]
    fn a_change_is_one_line_of_json() {
        assert_eq!(
            json(&Notification::MemoryChanged(changed(None))).unwrap(),
            "{\"topic\":\"memory.changed\",\"profile\":\"default\",\"target\":\"user\",\"revision\":7,\"cause\":\"undo\",\"session\":null}"
        );
    }
}
