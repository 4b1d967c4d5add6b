//! Episodes: sub-tasks that an agent opens and closes. Their messages leave the list once they are done.

use herma_archive::episode::EpisodeRow;
use herma_context::episodes::{Anchors, Episodes};
use herma_context::fingerprint::Fingerprint;
use herma_context::{Message, tokens};

use super::discards::in_one_line;
use super::{CompressionService, parse, wishes};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The longest title, in chars.
const TITLE: usize = 120;
/// The longest outcome, in chars.
const OUTCOME: usize = 300;
/// The longest list of titles in an error, in chars.
const NAMED: usize = 600;

/// An agent's statement about a sub-task.
#[derive(Debug)]
pub(crate) struct EpisodeStep {
    /// The title of the sub-task.
    pub title: String,
    /// Its end, if it is done.
    pub done: Option<Done>,
    /// The current list, as JSON texts; `None` for the transcript.
    pub messages: Option<Vec<String>>,
}

/// The end of a sub-task.
#[derive(Debug)]
pub(crate) struct Done {
    /// The outcome of the sub-task.
    pub outcome: Option<String>,
}

/// The result of a step.
#[derive(Debug, Default)]
pub(crate) struct EpisodeState {
    /// The stored title.
    pub title: String,
    /// The number of messages that leave the list with the next compression.
    pub messages: usize,
    /// Their estimated tokens.
    pub tokens: u64,
    /// The titles of the open episodes, oldest first.
    pub open: Vec<String>,
}

/// The current list.
struct Now {
    messages: Vec<Message>,
    /// The fingerprint of its last message.
    last: Option<Fingerprint>,
}

impl CompressionService {
    /// Opens or closes an episode.
    pub(crate) async fn episode(&self, session: &Session, step: EpisodeStep) -> Outcome<EpisodeState> {
        let title = in_one_line(&step.title, TITLE);
        if title.is_empty() {
            return Err(Error::param("title", "say in a few words what the episode is about"));
        }
        let now = self.now(session, step.messages).await?;
        let (messages, tokens) = match step.done {
            None => {
                self.open_episode(session, &title, now).await?;
                (0, 0)
            }
            Some(done) => self.close_episode(session, &title, done, now).await?,
        };
        let rows = self.archive.episodes(session.id.clone()).await?;
        Ok(EpisodeState { title, messages, tokens, open: open(rows) })
    }

    async fn open_episode(&self, session: &Session, title: &str, now: Now) -> Outcome<()> {
        let row = EpisodeRow {
            number: 0,
            title: title.to_owned(),
            outcome: None,
            after: now.last.map(|last| Anchors::behind(Some(last)).to_string()),
            last: None,
            at: unix_now(),
        };
        if self.archive.open_episode(session.id.clone(), row).await? {
            Ok(())
        } else {
            Err(Error::param("title", format!("{title:?} is open already; close it first, or take another title")))
        }
    }

    /// Closes an episode. Returns the number of its messages and their tokens, which will leave the list.
    async fn close_episode(&self, session: &Session, title: &str, done: Done, now: Now) -> Outcome<(usize, u64)> {
        let Some(last) = now.last else {
            return Err(Error::param("messages", "an episode ends behind a message, and the list has none"));
        };
        let outcome = done.outcome.map(|outcome| in_one_line(&outcome, OUTCOME)).filter(|outcome| !outcome.is_empty());
        let id = session.id.clone();
        let closed = self.archive.close_episode(id.clone(), title.to_owned(), outcome, last.to_string()).await?;
        let Some(row) = closed else {
            let open = open(self.archive.episodes(id.clone()).await?);
            return Err(Error::NotFound(not_open(&id, title, &open)));
        };
        self.forget(&session.id);
        blocking("context.episode", move || {
            let found = Episodes::from_iter(wishes::episode(row)).ranges(&now.messages).into_iter().next();
            let inside = found.and_then(|range| now.messages.get(range)).unwrap_or_default();
            Ok((inside.len(), tokens::estimate_messages(inside)))
        })
        .await
    }

    async fn now(&self, session: &Session, list: Option<Vec<String>>) -> Outcome<Now> {
        let texts = match list {
            Some(list) => list,
            None => match self.archive.transcript(session.id.clone()).await? {
                Some((_, texts)) if !texts.is_empty() => texts,
                _ => {
                    let words =
                        "nothing was appended to the session: give the list as it is now, an empty one if need be";
                    return Err(Error::param("messages", words));
                }
            },
        };
        blocking("context.episode", move || {
            let messages = parse(texts);
            let last = messages.last().map(Fingerprint::of);
            Ok(Now { messages, last })
        })
        .await
    }
}

/// Returns the titles of the open episodes.
fn open(rows: Vec<EpisodeRow>) -> Vec<String> {
    rows.into_iter().filter(|row| row.last.is_none()).map(|row| row.title).collect()
}

fn not_open(session: &str, title: &str, open: &[String]) -> String {
    if open.is_empty() {
        return format!("no episode of {session:?} is open");
    }
    let all: Vec<String> = open.iter().rev().map(|title| format!("{title:?}")).collect();
    let named: String = all.join(", ").chars().take(NAMED).collect();
    format!("{title:?} is no open episode of {session:?}; open are: {named}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_open_names_what_is() {
        assert_eq!(not_open("s", "x", &[]), r#"no episode of "s" is open"#);
        let named = not_open("s", "x", &["a".to_owned(), "b".to_owned()]);
        assert_eq!(named, r#""x" is no open episode of "s"; open are: "b", "a""#);
        let many: Vec<String> = (0..200).map(|at| format!("title {at}")).collect();
        assert!(not_open("s", "x", &many).chars().count() < NAMED + 100);
    }
}
