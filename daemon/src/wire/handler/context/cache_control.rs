//! `context.cache_control`.

use herma_context::cache_control::{self, ToolMarks, Ttl};
use herma_protocol::context::cache_control::{CacheControlParams, CacheControlResult, Ttl as WireTtl};

use super::{texts, wire_message};
use crate::data::error::Outcome;
use crate::owners::blocking::blocking;
use crate::service::compression::parse;

pub(in crate::wire::handler) async fn cache_control(params: CacheControlParams) -> Outcome<CacheControlResult> {
    let ttl = match params.ttl.unwrap_or_default() {
        WireTtl::FiveMinutes => Ttl::FiveMinutes,
        WireTtl::OneHour => Ttl::OneHour,
    };
    let tools = if params.native == Some(true) { ToolMarks::Native } else { ToolMarks::None };
    blocking("context.cache_control", move || {
        let marked = cache_control::marked(&parse(texts(params.messages)), ttl, tools);
        Ok(CacheControlResult { messages: marked.iter().map(wire_message).collect::<Outcome<_>>()? })
    })
    .await
}
