//! Import of conversations that other programs stored.

use herma_archive::import::{IMPORTED, Imported};
use herma_archive::session::{SessionRow, SnapshotRow};
use herma_context::{Capture, CaptureCounts};

use super::transcript::captured;
use super::{SessionService, check_id};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::service::caller::Caller;
use crate::service::settings::SessionSettings;

/// A session of another program.
#[derive(Debug)]
pub(crate) struct Importing {
    /// The id that it gets here.
    pub session: String,
    /// The name of the program.
    pub agent: Option<String>,
    /// The program's file.
    pub source: Option<String>,
    /// The folder that the agent worked in.
    pub cwd: Option<String>,
    /// The branch of the folder's repository.
    pub branch: Option<String>,
    /// The session that it continues or branches from.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The model of the conversation.
    pub model: Option<String>,
    /// The model's window in tokens, at least 1.
    pub context_length: Option<u64>,
    /// Whether secrets are masked; `None` means as the configuration says.
    pub redact: Option<bool>,
}

/// Messages of such a session.
#[derive(Debug)]
pub(crate) struct ImportedPart {
    /// The position of the first one.
    pub position: u64,
    /// The messages as JSON texts.
    pub messages: Vec<String>,
    /// The time of each in Unix seconds, as far as it is known; empty if none is.
    pub times: Vec<Option<f64>>,
}

/// The result of an import.
#[derive(Debug)]
pub(crate) struct ImportedMessages {
    /// The position of the next message.
    pub position: u64,
    /// What was left out of the new messages.
    pub left_out: CaptureCounts,
}

impl Importing {
    fn check(&self) -> Outcome<()> {
        check_id(&self.session)?;
        let Self { agent, parent, title, model, branch, .. } = self;
        names::check_all(&[
            ("agent", agent.as_ref()),
            ("parent", parent.as_ref()),
            ("title", title.as_ref()),
            ("model", model.as_ref()),
            ("branch", branch.as_ref()),
        ])?;
        if self.context_length == Some(0) {
            return Err(Error::param("context_length", "must be at least 1"));
        }
        for (param, path) in [("source", &self.source), ("cwd", &self.cwd)] {
            path.as_ref().map_or(Ok(()), |path| names::check_path(param, path))?;
        }
        Ok(())
    }

    /// Returns the row of a session that has ended and has no snapshot.
    fn row(self, profile: &str, started_at: f64, now: f64) -> SessionRow {
        let Self { model, context_length, .. } = self;
        let settings = SessionSettings { model, context_length, ..SessionSettings::default() };
        SessionRow {
            id: self.session,
            profile: profile.to_owned(),
            agent: self.agent,
            parent: self.parent,
            title: self.title,
            generation: 0,
            settings: Some(settings.text()),
            snapshot: SnapshotRow::default(),
            started_at,
            ended_at: Some(now),
            end_reason: Some(IMPORTED.to_owned()),
            source: self.source,
            cwd: self.cwd,
            branch: self.branch,
        }
    }
}

impl SessionService {
    /// Stores messages of another program's session.
    pub(crate) async fn import(&self, caller: &Caller, of: Importing, part: ImportedPart) -> Outcome<ImportedMessages> {
        let ImportedPart { position, messages, times } = part;
        of.check()?;
        if !times.is_empty() && times.len() != messages.len() {
            let words = format!("{} for {} messages; there must be one for each", times.len(), messages.len());
            return Err(Error::param("times", words));
        }
        if times.iter().flatten().any(|time| !time.is_finite() || *time < 0.0) {
            return Err(Error::param("times", "must be Unix seconds"));
        }
        self.profiles.existing(caller.profile())?;
        let now = unix_now();
        let capture = Capture { masks: of.redact.unwrap_or(self.capture.masks) };
        let title = of.title.map(|title| capture.text(&title).into_owned());
        let of = Importing { title, ..of };
        let (messages, left_out) = captured("session.import", capture, messages).await?;
        let messages: Vec<(f64, String)> = at_times(&times, now, messages.len()).into_iter().zip(messages).collect();
        let started_at = messages.first().map_or(now, |(time, _)| *time);
        let id = of.session.clone();
        let row = of.row(caller.profile(), started_at, now);
        match self.archive.import(row, position, messages).await? {
            Imported::Next(position) => {
                self.publish_append(&id, 0, position);
                Ok(ImportedMessages { position, left_out })
            }
            Imported::Gap(next) => {
                let words = format!("session {id:?} goes on at position {next}");
                Err(Error::StalePosition { words, generation: 0, position: next })
            }
            Imported::Taken => {
                Err(Error::Conflict(format!("session {id:?} is an agent's own; nothing can be imported into it")))
            }
            Imported::OtherProfile(profile) => {
                Err(Error::Conflict(format!("session {id:?} belongs to the profile {profile:?}")))
            }
        }
    }
}

/// Returns a time for each message: its own, else that of its predecessor, else the first known one, else `now`.
fn at_times(times: &[Option<f64>], now: f64, messages: usize) -> Vec<f64> {
    let first = times.iter().flatten().next().copied().unwrap_or(now);
    let each = (0..messages).map(|at| times.get(at).copied().flatten());
    each.scan(first, |last, time| {
        *last = time.unwrap_or(*last);
        Some(*last)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_a_time_has_that_of_the_one_before() {
        for (times, expect) in [
            (&[][..], [9.0, 9.0, 9.0]),
            (&[None, None, None], [9.0, 9.0, 9.0]),
            (&[None, Some(2.0), None], [2.0, 2.0, 2.0]),
            (&[Some(1.0), None, Some(3.0)], [1.0, 1.0, 3.0]),
        ] {
            assert_eq!(at_times(times, 9.0, 3), expect, "{times:?}");
        }
    }
}
