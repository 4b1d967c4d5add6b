//! Chat completions before tools: an assistant's `function_call`, and the role `function` with its result.

use super::object::{Object, Writer, items, list};
use super::{ITEM, METADATA_KEY};
use crate::json;
use crate::message::Message;

/// The beginning of the ids of such calls; the function's name follows.
const ID: &str = "function_call/";

/// Reads an item as a message.
pub(super) fn read(item: &str) -> String {
    let object = Object::of(item);
    if object.text("role").as_deref() == Some("function") {
        let id = format!("{ID}{}", object.text("name").unwrap_or_default());
        return Writer::new("role", "tool")
            .put("tool_call_id", &json::encode(&id))
            .put_all(object.without(&["role", "tool_call_id"]))
            .end();
    }
    let function = object.get("function_call").unwrap_or("{}");
    let id = format!("{ID}{}", Object::of(function).text("name").unwrap_or_default());
    let call = Writer::new("id", &id).put("type", "\"function\"").put("function", function).end();
    // An answer may have both; tool calls are the newer form.
    let calls: Vec<&str> = items(object.get("tool_calls").unwrap_or_default()).into_iter().chain([&*call]).collect();
    Writer::empty().put_all(object.without(&["function_call", "tool_calls"])).put("tool_calls", &list(&calls)).end()
}

/// Writes a message as an item.
pub(super) fn write(message: &Message) -> String {
    let object = Object::of(message.raw());
    let is_own = |id: Option<std::borrow::Cow<'_, str>>| id.is_some_and(|id| id.starts_with(ID));
    if is_own(object.text("tool_call_id")) {
        let id = object.text("tool_call_id").unwrap_or_default();
        let name = json::encode(id.strip_prefix(ID).unwrap_or_default());
        let has_name = object.get("name").is_some();
        return Writer::new("role", "function")
            .put_some("name", (!has_name).then_some(name.as_str()))
            .put_all(object.without(&["role", "tool_call_id", ITEM]))
            .end();
    }
    let calls = items(object.get("tool_calls").unwrap_or_default());
    let (own, others): (Vec<&str>, Vec<&str>) = calls.into_iter().partition(|call| is_own(Object::of(call).text("id")));
    let others = (!others.is_empty()).then(|| list(&others));
    let function = own.first().and_then(|call| Object::of(call).get("function"));
    Writer::empty()
        .put_all(object.without(&["tool_calls", METADATA_KEY]))
        .put_some("tool_calls", others.as_deref())
        .put_some("function_call", function)
        .end()
}
