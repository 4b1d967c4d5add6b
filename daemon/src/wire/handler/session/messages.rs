//! `session.messages`.

use herma_archive::browse::{ArchivedMessage, MessagePage};
use herma_archive::handle::Source;
use herma_archive::text_of;
use herma_protocol::Json;
use herma_protocol::session::messages::{Kept, MessagesParams, MessagesResult};

use crate::data::error::{Error, Outcome};
use crate::data::numbers::{to_u64, to_usize};
use crate::service::caller::Caller;
use crate::wire::services::Services;

/// The default number of messages.
const DEFAULT: u64 = 50;

/// The largest number of messages in one call.
const MOST: u64 = 1000;

/// The chars of a text that is not requested whole.
const CHARS: usize = 2_000;

pub(in crate::wire::handler) async fn messages(
    services: &Services,
    caller: &Caller,
    params: MessagesParams,
) -> Outcome<MessagesResult> {
    let MessagesParams { session, first, limit, roles, whole } = params;
    let limit = limit.unwrap_or(DEFAULT);
    if !(1..=MOST).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {MOST}")));
    }
    let page = services.sessions.messages(caller, &session, first.unwrap_or(0), to_usize(limit), roles).await?;
    let MessagePage { messages, from: first, total } = page;
    let is_whole = whole == Some(true);
    Ok(MessagesResult { messages: messages.into_iter().map(|message| kept(message, is_whole)).collect(), first, total })
}

fn kept(message: ArchivedMessage, is_whole: bool) -> Kept {
    let mut text = text_of(&message.body);
    let chars = text.chars().count();
    if let Some((end, _)) = text.char_indices().nth(CHARS) {
        text.truncate(end);
    }
    Kept {
        handle: Source::Message { id: message.id }.handle(),
        role: message.role,
        time: message.time,
        text,
        chars: (chars > CHARS).then(|| to_u64(chars)),
        left_by: message.compression,
        message: is_whole.then(|| Json::parse(message.body).ok()).flatten(),
    }
}
