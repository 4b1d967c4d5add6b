//! `context.manual`: one of four questions, depending on the parameters.

use herma_context::{Message, manual};
use herma_protocol::Json;
use herma_protocol::context::manual::{ManualParams, ManualResult};

use super::{texts, wire_message};
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::service::compression::parse;

/// The possible questions, for an error.
const QUESTIONS: &str = "give `text`, or `history` and `keep`, or `head` and `tail`, or `before`, `after`, `tokens_before` and `tokens_after`";

pub(in crate::wire::handler) async fn manual(params: ManualParams) -> Outcome<ManualResult> {
    blocking("context.manual", move || answer(params)).await
}

fn answer(params: ManualParams) -> Outcome<ManualResult> {
    match params {
        ManualParams {
            text: Some(text),
            history: None,
            keep: None,
            head: None,
            tail: None,
            before: None,
            after: None,
            tokens_before: None,
            tokens_after: None,
        } => {
            let manual::Arguments { partial, keep, focus } = manual::parse(&text);
            Ok(ManualResult::Parsed { partial, keep, focus })
        }
        ManualParams {
            text: None,
            history: Some(history),
            keep: Some(keep),
            head: None,
            tail: None,
            before: None,
            after: None,
            tokens_before: None,
            tokens_after: None,
        } => {
            let history = parse(texts(history));
            let (head, tail) = manual::split(&history, keep);
            Ok(ManualResult::Split { head: wire(head)?, tail: wire(tail)? })
        }
        ManualParams {
            text: None,
            history: None,
            keep: None,
            head: Some(head),
            tail: Some(tail),
            before: None,
            after: None,
            tokens_before: None,
            tokens_after: None,
        } => Ok(ManualResult::Rejoined { messages: wire(&manual::rejoin(&parse(texts(head)), &parse(texts(tail))))? }),
        ManualParams {
            text: None,
            history: None,
            keep: None,
            head: None,
            tail: None,
            before: Some(before),
            after: Some(after),
            tokens_before: Some(tokens_before),
            tokens_after: Some(tokens_after),
        } => {
            let manual::Feedback { noop, headline, token_line, note } =
                manual::feedback(&parse(texts(before)), &parse(texts(after)), tokens_before, tokens_after);
            Ok(ManualResult::Feedback { noop, headline, token_line, note })
        }
        _ => Err(Error::param("text", QUESTIONS)),
    }
}

fn wire(messages: &[Message]) -> Outcome<Vec<Json>> {
    messages.iter().map(wire_message).collect()
}
