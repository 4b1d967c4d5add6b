//! Pins: messages that a compression must leave in the list, and the limits for them.

use std::ops::Range;

use herma_archive::pin::PinRow;
use herma_context::fingerprint::Fingerprint;
use herma_context::forms::{self, Read, Translation};
use herma_context::pins::Pins;
use herma_context::{Message, Redaction, tokens};

use super::{CompressionService, parse};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The prefix of the names of pins. The fingerprint of the message follows it.
const PREFIX: &str = "pin_";
/// Separates the fingerprints of messages that are one item in the form of their list.
const AND: &str = "_";
/// The largest number of pins of a session.
const MOST: usize = 64;
/// The share of the threshold that all pinned messages may take, in percent.
const SHARE: u64 = 20;
/// The number of chars that a list of pins shows of the beginning of a message.
const SHOWN: usize = 200;
/// The number of chars that are shown of a role, which is any text that the client chose.
const ROLE: usize = 40;
/// The latest end of a pin, in Unix seconds: the year 9999.
const LATEST: f64 = 253_402_300_799.0;

/// The message to pin.
#[derive(Debug)]
pub(crate) enum Pinned {
    /// The message at this position of the transcript.
    Position(u64),
    /// The newest message of the transcript that contains this handle.
    Handle(String),
    /// This message, as JSON texts. There are several if one item of its form has several messages.
    Message(Vec<String>),
}

/// The pins of a session.
#[derive(Debug)]
pub(crate) struct PinList {
    /// The pins in force, oldest first.
    pub pins: Vec<PinRow>,
    /// The number of tokens that they may take together, if the session's window is known.
    pub most_tokens: Option<u64>,
}

impl CompressionService {
    /// Returns a session's pins in the form for the engine.
    pub(in crate::service) async fn pinned(&self, session: &Session) -> Outcome<Pins> {
        let rows = self.archive.pins(session.id.clone()).await?;
        Ok(rows.iter().flat_map(|row| fingerprints(&row.id)).collect())
    }

    /// Returns the pins of a session that are in force.
    pub(crate) async fn pins(&self, session: &Session) -> Outcome<PinList> {
        let pins = self.archive.pins(session.id.clone()).await?;
        Ok(PinList { pins, most_tokens: self.most_pinned(session) })
    }

    /// Pins a message.
    pub(crate) async fn pin(&self, session: &Session, which: Pinned, until: Option<f64>) -> Outcome<PinRow> {
        let now = unix_now();
        if let Some(until) = until.filter(|until| !(*until > now && *until <= LATEST)) {
            return Err(Error::param("until", format!("{until} is not a time to come, in Unix seconds")));
        }
        let row = PinRow { at: now, until, ..self.row(session, which).await? };
        let (most, tokens, own) = (self.most_pinned(session), row.tokens, row.id.clone());
        let allowed = move |there: &[PinRow]| refusal(there.iter().filter(|pin| pin.id != own), tokens, most);
        if let Some(words) = self.archive.add_pin(session.id.clone(), row.clone(), allowed).await? {
            return Err(Error::TooLarge(words));
        }
        self.forget(&session.id);
        Ok(row)
    }

    /// Removes a pin.
    pub(crate) async fn unpin(&self, session: &Session, pin: &str) -> Outcome<()> {
        if !self.archive.remove_pin(session.id.clone(), pin.to_owned()).await? {
            let shown: String = pin.chars().take(64).collect();
            let id = &session.id;
            return Err(Error::NotFound(format!("session {id:?} has no pin {shown:?}; context.pins has those it has")));
        }
        self.forget(&session.id);
        Ok(())
    }

    /// Returns the number of tokens that a session's pinned messages may take, if its window is known.
    fn most_pinned(&self, session: &Session) -> Option<u64> {
        let settings = session.settings().in_force(&self.defaults).ok()?;
        Some(settings.budgets().threshold_tokens * SHARE / 100)
    }

    /// Returns the row of a message, with the tokens of all messages that stay because of it.
    async fn row(&self, session: &Session, which: Pinned) -> Outcome<PinRow> {
        let appended = match &which {
            Pinned::Message(_) => Vec::new(),
            _ => self.archive.transcript(session.id.clone()).await?.map_or_else(Vec::new, |(_, texts)| texts),
        };
        let id = session.id.clone();
        blocking("context.pin", move || {
            let (messages, places) = match which {
                Pinned::Message(texts) => {
                    let messages = parse(texts);
                    let places = 0..messages.len();
                    (messages, places)
                }
                which => {
                    let Read { messages, translation } = forms::read_kept(appended);
                    let (messages, translation) = (parse(messages), translation.as_deref());
                    let places = places(&id, &messages, translation, which)?;
                    (messages, places)
                }
            };
            let pinned = messages.get(places).unwrap_or_default();
            check(pinned)?;
            let message = pinned.first().ok_or_else(|| Error::internal("context.pin"))?;
            let names: Vec<Fingerprint> = pinned.iter().map(Fingerprint::of).collect();
            let pins: Pins = names.iter().copied().collect();
            let group: Vec<Message> =
                pins.positions(&messages).into_iter().filter_map(|at| messages.get(at).cloned()).collect();
            let text = Redaction::On.apply(&message.text()).chars().take(SHOWN).collect();
            let names: Vec<String> = names.iter().map(Fingerprint::to_string).collect();
            Ok(PinRow {
                id: format!("{PREFIX}{}", names.join(AND)),
                role: message.role().as_str().chars().take(ROLE).collect(),
                text,
                tokens: tokens::estimate_messages(&group),
                at: 0.0,
                until: None,
            })
        })
        .await
    }
}

/// Returns the warning about pinned messages that had to leave, with their positions.
pub(super) fn warning(positions: &[usize]) -> Option<String> {
    if positions.is_empty() {
        return None;
    }
    let shown: Vec<String> = positions.iter().take(10).map(usize::to_string).collect();
    let more = if positions.len() > shown.len() { ", …" } else { "" };
    Some(format!(
        "pinned messages left the list ({}{more}): it could not have been sent with them; unpin what is no longer needed",
        shown.join(", ")
    ))
}

/// Returns the fingerprints of the messages of a pin.
fn fingerprints(pin: &str) -> Vec<Fingerprint> {
    let names = pin.strip_prefix(PREFIX).unwrap_or_default().split(AND);
    names.filter_map(|name| name.parse().ok()).collect()
}

/// Returns the positions of the messages to pin in the transcript.
fn places(
    session: &str,
    messages: &[Message],
    translation: Option<&Translation>,
    which: Pinned,
) -> Outcome<Range<usize>> {
    let length = translation.map_or(messages.len(), |translation| translation.items().len());
    let at = match which {
        Pinned::Position(position) => usize::try_from(position).ok().filter(|at| *at < length).ok_or_else(|| {
            Error::param(
                "position",
                match length {
                    0 => format!("nothing was appended to session {session:?}; give the message itself"),
                    _ => format!("{position} is none of the {length} that were appended, 0 to {}", length - 1),
                },
            )
        })?,
        Pinned::Handle(handle) => {
            let names = |message: &Message| !handle.is_empty() && message.text().contains(&handle);
            let found = messages.iter().rposition(names);
            let found = found.map(|at| translation.map_or(at, |translation| translation.item_of(at)));
            found.ok_or_else(|| {
                let shown: String = handle.chars().take(64).collect();
                Error::NotFound(format!("no message that was appended to session {session:?} names {shown:?}"))
            })?
        }
        Pinned::Message(_) => 0,
    };
    Ok(translation.map_or(at..at + 1, |translation| translation.messages_of(at)))
}

/// Checks whether these messages can be pinned.
fn check(messages: &[Message]) -> Outcome<()> {
    if !messages.iter().all(Message::is_object) {
        return Err(Error::param("message", "a message is a JSON object with a role and its content"));
    }
    if messages.iter().all(herma_context::handoff::is_only_handoff) {
        Err(Error::param("position", "that message is a handoff, which the next compression renews"))
    } else {
        Ok(())
    }
}

/// Returns why a message with this number of tokens can't be pinned in addition to others, if it can't.
fn refusal<'a>(there: impl Iterator<Item = &'a PinRow>, tokens: u64, most: Option<u64>) -> Option<String> {
    let (count, sum) = there.fold((0, 0_u64), |(count, sum), pin| (count + 1, sum.saturating_add(pin.tokens)));
    if count >= MOST {
        return Some(format!("{MOST} messages are pinned already; unpin one first"));
    }
    let most = most.filter(|most| sum.saturating_add(tokens) > *most)?;
    Some(format!(
        "the message takes {tokens} tokens and {sum} are pinned already, but pinned messages may take {most} together, \
         {SHARE} % of the threshold"
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    fn pin(tokens: u64) -> PinRow {
        PinRow { id: "pin_1".into(), role: "user".into(), text: String::new(), tokens, at: 0.0, until: None }
    }

    #[test]
    fn pins_are_bounded_by_count_and_by_tokens() {
        let there = vec![pin(100); 3];
        for (tokens, most, is_refused) in
            [(10, None, false), (u64::MAX, None, false), (10, Some(310), false), (10, Some(309), true)]
        {
            assert_eq!(refusal(there.iter(), tokens, most).is_some(), is_refused, "{tokens} {most:?}");
        }
        assert!(refusal(vec![pin(0); MOST - 1].iter(), 0, None).is_none());
        assert!(refusal(vec![pin(0); MOST].iter(), 0, None).is_some());
    }

    #[test]
    fn a_message_is_found_by_position_or_by_a_handle_that_it_names() {
        let of = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
        let list = parse(vec![of("user", "out_1"), of("tool", "see out_1"), of("user", "no")]);
        let position = |session, list: &[Message], which| places(session, list, None, which);
        assert_eq!(position("s", &list, Pinned::Position(2)).unwrap(), 2..3);
        assert_eq!(position("s", &list, Pinned::Handle("out_1".into())).unwrap(), 1..2);
        for (wrong, words) in [
            (Pinned::Position(3), "none of the 3"),
            (Pinned::Handle("out_2".into()), "names \"out_2\""),
            (Pinned::Handle(String::new()), "names"),
        ] {
            let error = position("s", &list, wrong).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(position("s", &[], Pinned::Position(0)).unwrap_err().to_string().contains("nothing was appended"));
    }
}
