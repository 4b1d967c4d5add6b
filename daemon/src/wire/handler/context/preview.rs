//! The preview of a list after a compression, for `context.plan`.

use herma_context::Detail;
use herma_context::engine::{CompressRequest, Gain, PlanRequest};
use herma_context::forms::Read;
use herma_protocol::context::{Edits, Preview};

use super::{Whose, answer};
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::data::numbers::to_u64;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::compression::PreviewRequest;
use crate::wire::services::Services;

pub(super) async fn of(
    services: &Services,
    caller: &Caller,
    whose: &Whose,
    list: Read,
    request: PlanRequest,
    detail: Detail,
) -> Outcome<Preview> {
    let PlanRequest { focus, today, previous_summary, range, .. } = request;
    let gain = Gain::Required;
    let request = CompressRequest { focus, today, now: unix_now(), gain, range, ..CompressRequest::default() };
    let Read { messages, translation } = list;
    let wanted = PreviewRequest { messages, translation, request, previous_summary, detail };
    let preview = match whose {
        Whose::Session(id) => services.context.preview_of(caller, id, wanted).await?,
        Whose::Settings(said) => services.context.preview_with((**said).clone(), wanted).await?,
    };
    blocking("context.plan", move || {
        let before = preview.sent.tokens();
        let length = preview.sent.list().len();
        Ok(match preview.outcome {
            Err(reason) => Preview {
                reason: Some(reason),
                edits: Edits { keep: vec![(0, to_u64(length))], ..Edits::default() },
                messages_after: to_u64(length),
                tokens_before: before,
                tokens_after: before,
                ..Preview::default()
            },
            Ok(compressed) => {
                let slots = preview.sent.slots(&compressed.slots);
                Preview {
                    compressed: true,
                    reason: None,
                    edits: answer::edits(&slots, length)?,
                    handoff: compressed.handoff,
                    messages_after: to_u64(slots.len()),
                    tokens_before: before,
                    tokens_after: compressed.numbers.tokens_after,
                }
            }
        })
    })
    .await
}
