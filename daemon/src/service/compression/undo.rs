//! Undoing compressions: the list as it was, and what was said since.

use std::sync::Arc;

use herma_archive::session::ENDED_BY_COMPRESSION;
use herma_archive::undo::{NoUndo, Undone};
use herma_context::forms::{Read, Translation};
use herma_context::{Message, tokens};

use super::commit::handle;
use super::compress::alone;
use super::{CompressionService, list};
use crate::data::error::{Error, Outcome};
use crate::data::event::Size;
use crate::data::numbers::{narrow, wide};
use crate::owners::archive::EarlierList;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// What is to be brought back.
#[derive(Debug, Clone, Default)]
pub(crate) struct EarlierGeneration {
    /// The generation whose list is wanted; that before the newest compression when absent. The current
    /// one can be looked at.
    pub generation: Option<u64>,
    /// The list by now; what was appended to the session where there is none.
    pub list: Option<Read>,
    /// Only to look: nothing changes.
    pub is_look: bool,
}

/// A list that came back, or would.
#[derive(Debug)]
pub(crate) struct Restored {
    /// The session's generation by now.
    pub generation: u64,
    /// The generation whose list it is.
    pub restored: u64,
    /// Handles of the compressions that are undone, newest first.
    pub undone: Vec<String>,
    /// Names what left the list by it, with the number of its messages; nothing left by a look.
    pub archived: Option<(String, u64)>,
    /// The list.
    pub messages: Vec<Message>,
    /// How many of its last messages were said since.
    pub since: u64,
    /// What it takes.
    pub size: Size,
    /// Tokens from which compression is due, and of the window, where the session knows its window.
    pub limits: Option<(u64, u64)>,
}

impl CompressionService {
    /// Brings back the list of a session before its newest compression, or of an earlier generation.
    pub(crate) async fn undo(self: &Arc<Self>, session: &Arc<Session>, wanted: EarlierGeneration) -> Outcome<Restored> {
        let EarlierGeneration { generation: to, list, is_look } = wanted;
        let list = list.map(|list| Self::in_form(session, list));
        let (mut messages, translation) = list.map_or((None, None), |list| (Some(list.messages), list.translation));
        // What is opened in the list is no part of what was said.
        if messages.is_some() {
            self.open_list(session, &mut messages).await?;
        }
        if is_look {
            let found = self.archive.undone(session.id.clone(), to, messages).await?;
            return match found {
                Ok(undone) => self.restored(session, undone, None, translation).await,
                Err(why) => Err(self.refused(session, why).await?),
            };
        }
        let running = alone(session)?;
        let archived = handle(session, session.generation());
        let (kept, live, service) = (Arc::clone(session), Arc::clone(session), Arc::clone(self));
        let done = self.archive.undo(EarlierList {
            session: session.id.clone(),
            to,
            list: messages,
            handle: archived.clone(),
            engine: Box::new(move |before| {
                let mut next = kept.record().clone();
                next.undo(before);
                next.row()
            }),
            then: Box::new(move |undone: Undone| {
                live.set_generation(undone.generation);
                live.record().undo(undone.engine.clone());
                service.forget(&live.id);
                // No compression of the session runs until here.
                drop(running);
                undone
            }),
        });
        match done.await? {
            Ok(undone) => self.restored(session, undone, Some(archived), translation).await,
            Err(why) => Err(self.refused(session, why).await?),
        }
    }

    async fn restored(
        &self,
        session: &Arc<Session>,
        undone: Undone,
        archived: Option<String>,
        translation: Option<Arc<Translation>>,
    ) -> Outcome<Restored> {
        let Undone { generation, restored, handles, list, since, left, .. } = undone;
        let (messages, since, size) = blocking("context.undo", move || {
            let messages = list::parse(list);
            let measure = tokens::Measure::of_all(&messages);
            let (messages, since) = match translation {
                Some(translation) => of_items(&messages, since, &translation),
                None => (messages, since),
            };
            let size = Size { messages: messages.len(), chars: measure.chars, tokens: measure.tokens() };
            Ok((messages, since, size))
        })
        .await?;
        // A session that never said its window has no threshold, and can be undone all the same.
        let settings = session.settings().in_force(&self.defaults).ok();
        let limits = settings.map(|settings| (settings.budgets().threshold_tokens, settings.context_length));
        let archived = archived.map(|handle| (handle, left));
        Ok(Restored { generation, restored, undone: handles, archived, messages, since, size, limits })
    }

    async fn refused(&self, session: &Session, why: NoUndo) -> Outcome<Error> {
        let id = &session.id;
        Ok(match why {
            NoUndo::NoList => Error::param("messages", why),
            NoUndo::OtherList { .. } => Error::Conflict(format!("session {id:?}: {why}")),
            NoUndo::NotThere { .. } | NoUndo::NotKept { .. } | NoUndo::Gone { .. } => {
                Error::NotFound(format!("session {id:?}: {why}"))
            }
            NoUndo::Nothing => Error::NotFound(match self.goes_on_for(session).await? {
                Some(parent) => format!(
                    "session {id:?}: {why}; it goes on for {parent:?}, which ended with one: undo that there, with this \
                     session's list as `messages`, and go on in {parent:?}"
                ),
                None => format!("session {id:?}: {why}"),
            }),
        })
    }

    /// The session that ended with a compression which this one came out of.
    async fn goes_on_for(&self, session: &Session) -> Outcome<Option<String>> {
        let kept = self.archive.session(session.id.clone()).await?;
        let Some(parent) = kept.and_then(|(row, _)| row.parent) else { return Ok(None) };
        let before = self.archive.session(parent.clone()).await?;
        let is_ended = before.and_then(|(row, _)| row.end_reason).is_some_and(|reason| reason == ENDED_BY_COMPRESSION);
        Ok(is_ended.then_some(parent))
    }
}

/// A list in the form of the one that was given, and how many of its last items were said since.
fn of_items(messages: &[Message], since: u64, translation: &Translation) -> (Vec<Message>, u64) {
    let length = narrow(since).min(messages.len());
    let (before, _) = messages.split_at(messages.len() - length);
    let said = translation.last(length);
    (translation.write(before).into_iter().chain(said.iter().cloned()).collect(), wide(said.len()))
}
