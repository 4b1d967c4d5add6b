//! Undoing compressions: restores the earlier list, with the messages since then.

use std::sync::Arc;

use herma_archive::session::ENDED_BY_COMPRESSION;
use herma_archive::undo::{RestoredList, UndoRejection};
use herma_context::forms::{Read, Translation};
use herma_context::{Message, tokens};

use super::commit::handle;
use super::compress::alone;
use super::{CompressionService, list};
use crate::data::error::{Error, Outcome};
use crate::data::numbers::{to_u64, to_usize};
use crate::owners::archive::EarlierList;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The list to restore.
#[derive(Debug, Clone, Default)]
pub(crate) struct EarlierGeneration {
    /// The generation whose list is wanted; `None` for the generation before the newest compression. The current one
    /// can only be previewed.
    pub generation: Option<u64>,
    /// The current list; `None` for the session's transcript.
    pub list: Option<Read>,
    /// Whether this is only a preview, which changes nothing.
    pub is_look: bool,
}

/// A list that was restored, or would be.
#[derive(Debug)]
pub(crate) struct Restored {
    /// The session's current generation.
    pub generation: u64,
    /// The generation whose list it is.
    pub restored: u64,
    /// The handles of the undone compressions, newest first.
    pub undone: Vec<String>,
    /// The handle of the messages that left the list with the undo, and their number; `None` for a preview.
    pub archived: Option<(String, u64)>,
    /// The list.
    pub messages: Vec<Message>,
    /// The number of its last messages that are newer than that generation.
    pub since: u64,
    /// The number of its chars.
    pub chars: usize,
    /// Its estimated tokens.
    pub tokens: u64,
    /// The tokens from which a compression is due, and of the window, if the session's window is known.
    pub limits: Option<(u64, u64)>,
}

impl CompressionService {
    /// Restores the list of a session before its newest compression, or of an earlier generation.
    pub(crate) async fn undo(self: &Arc<Self>, session: &Arc<Session>, wanted: EarlierGeneration) -> Outcome<Restored> {
        let EarlierGeneration { generation: to, list, is_look } = wanted;
        let list = list.map(|list| Self::in_form(session, list));
        let (mut messages, translation) = list.map_or((None, None), |list| (Some(list.messages), list.translation));
        // Opened parts of the list are not part of the transcript.
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
            then: Box::new(move |undone: RestoredList| {
                live.set_generation(undone.generation);
                live.record().undo(undone.engine.clone());
                service.forget(&live.id);
                // Until here, no other compression of the session runs.
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
        undone: RestoredList,
        archived: Option<String>,
        translation: Option<Arc<Translation>>,
    ) -> Outcome<Restored> {
        let RestoredList { generation, restored, handles, list, since, left, .. } = undone;
        let (messages, since, measure) = blocking("context.undo", move || {
            let messages = list::parse(list);
            let measure = tokens::Measure::of_all(&messages);
            let (messages, since) = match translation {
                Some(translation) => of_items(&messages, since, &translation),
                None => (messages, since),
            };
            Ok((messages, since, measure))
        })
        .await?;
        // A session without a known window has no threshold, but can be undone.
        let settings = session.settings().in_force(&self.defaults).ok();
        let limits = settings.map(|settings| (settings.budgets().threshold_tokens, settings.context_length));
        let archived = archived.map(|handle| (handle, left));
        let (chars, tokens) = (measure.chars, measure.tokens());
        Ok(Restored { generation, restored, undone: handles, archived, messages, since, chars, tokens, limits })
    }

    async fn refused(&self, session: &Session, why: UndoRejection) -> Outcome<Error> {
        let id = &session.id;
        Ok(match why {
            UndoRejection::NoList => Error::param("messages", why),
            UndoRejection::OtherList { .. } => Error::Conflict(format!("session {id:?}: {why}")),
            UndoRejection::NotThere { .. } | UndoRejection::NotKept { .. } | UndoRejection::Gone { .. } => {
                Error::NotFound(format!("session {id:?}: {why}"))
            }
            UndoRejection::Nothing => Error::NotFound(match self.goes_on_for(session).await? {
                Some(parent) => format!(
                    "session {id:?}: {why}; it goes on for {parent:?}, which ended with one: undo that there, with this \
                     session's list as `messages`, and go on in {parent:?}"
                ),
                None => format!("session {id:?}: {why}"),
            }),
        })
    }

    /// Returns the session that ended with the compression that created this one.
    async fn goes_on_for(&self, session: &Session) -> Outcome<Option<String>> {
        let kept = self.archive.session(session.id.clone()).await?;
        let Some(parent) = kept.and_then(|(row, _)| row.parent) else { return Ok(None) };
        let before = self.archive.session(parent.clone()).await?;
        let is_ended = before.and_then(|(row, _)| row.end_reason).is_some_and(|reason| reason == ENDED_BY_COMPRESSION);
        Ok(is_ended.then_some(parent))
    }
}

/// Converts a list into the form of the caller's list, and the number of its newer messages.
fn of_items(messages: &[Message], since: u64, translation: &Translation) -> (Vec<Message>, u64) {
    let length = to_usize(since).min(messages.len());
    let (before, _) = messages.split_at(messages.len() - length);
    let said = translation.last(length);
    (translation.write(before).into_iter().chain(said.iter().cloned()).collect(), to_u64(said.len()))
}
