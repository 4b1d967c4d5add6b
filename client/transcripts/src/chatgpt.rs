//! The export of ChatGPT: `conversations.json`, a list of conversations. Each conversation is a tree of messages.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::parts::{self, string};
use crate::{Session, Tally, TimedMessage, time};

/// The content types of the model's thinking.
const THOUGHTS: [&str; 2] = ["thoughts", "reasoning_recap"];

/// Reads a conversation: the messages on the path from its root to its current message. Returns `None` if the value is
/// not a conversation.
pub fn read(conversation: &Value, tally: &mut Tally) -> Option<Session> {
    let id = string(conversation, "conversation_id").or_else(|| string(conversation, "id"))?;
    let mapping = conversation.get("mapping")?.as_object()?;
    let mut transcript = Session::new(id);
    transcript.title = string(conversation, "title").filter(|title| !title.is_empty()).map(str::to_owned);
    transcript.model = string(conversation, "default_model_slug").map(str::to_owned);
    let parents = parents(mapping);
    let last = string(conversation, "current_node").filter(|id| mapping.contains_key(*id));
    let mut next = last.or_else(|| newest(mapping, &parents));
    let (mut way, mut seen) = (Vec::new(), HashSet::new());
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        way.extend(mapping[id].get("message").filter(|message| !message.is_null()));
        next = parents.get(id).copied();
    }
    let elsewhere = mapping.iter().filter(|(id, node)| {
        !seen.contains(id.as_str()) && node.get("message").is_some_and(|message| !message.is_null())
    });
    elsewhere.for_each(|_| tally.add("message of another branch"));
    for message in way.into_iter().rev() {
        let time = message.get("create_time").and_then(time::read);
        if let Some(text) = said(message, tally) {
            transcript.push(TimedMessage { time, message: text });
        }
        if let Some(model) = message.pointer("/metadata/model_slug").and_then(Value::as_str) {
            transcript.model = Some(model.to_owned());
        }
    }
    Some(transcript)
}

/// Returns the parent of each node: the parent it names, or else the node that lists it as a child. Parents that are
/// missing in the export are ignored.
fn parents(mapping: &Map<String, Value>) -> HashMap<&str, &str> {
    let children = mapping.iter().flat_map(|(id, node)| {
        let children = node.get("children").and_then(Value::as_array).into_iter().flatten();
        children.filter_map(Value::as_str).map(move |child| (child, id.as_str()))
    });
    let named = mapping.iter().filter_map(|(id, node)| Some((id.as_str(), string(node, "parent")?)));
    children
        .chain(named)
        .filter(|(child, parent)| mapping.contains_key(*child) && mapping.contains_key(*parent))
        .collect()
}

/// Returns the newest leaf, for a conversation without a current message. If the nodes form a ring, returns the newest
/// node.
fn newest<'a>(mapping: &'a Map<String, Value>, parents: &HashMap<&str, &str>) -> Option<&'a str> {
    let followed: HashSet<&str> = parents.values().copied().collect();
    let at = |node: &Value| node.pointer("/message/create_time").and_then(time::read).unwrap_or(0.0);
    let is_last = |id: &str| !followed.contains(id);
    let newest = mapping
        .iter()
        .max_by(|one, other| is_last(one.0).cmp(&is_last(other.0)).then(at(one.1).total_cmp(&at(other.1))));
    newest.map(|(id, _)| id.as_str())
}

fn said(message: &Value, tally: &mut Tally) -> Option<String> {
    if message.pointer("/metadata/is_visually_hidden_from_conversation") == Some(&Value::Bool(true)) {
        tally.add("hidden message");
        return None;
    }
    let role = message.pointer("/author/role").and_then(Value::as_str).unwrap_or_default();
    let content = message.get("content").unwrap_or(&Value::Null);
    let kind = string(content, "content_type").unwrap_or_default();
    if THOUGHTS.contains(&kind) {
        tally.add("thinking");
        return None;
    }
    let mut text = String::new();
    for field in ["title", "url", "parts", "text", "result", "summary"] {
        parts::push(&mut text, &parts::text(content.get(field).unwrap_or(&Value::Null), tally));
    }
    match role {
        _ if text.is_empty() => None,
        "user" => Some(parts::message("user", &text)),
        "assistant" => {
            let to = string(message, "recipient").filter(|recipient| *recipient != "all");
            let Some(tool) = to else { return parts::assistant(&text, Vec::new()) };
            let id = string(message, "id").unwrap_or_default();
            parts::assistant("", vec![parts::call(id, tool, &text.as_str().into())])
        }
        "tool" => {
            let tool = message.pointer("/author/name").and_then(Value::as_str);
            Some(parts::result(string(message, "id").unwrap_or_default(), tool, &text))
        }
        other => {
            tally.add(&format!("{other} message"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(parent: Option<&str>, role: &str, text: &str, at: f64) -> Value {
        let content = json!({ "content_type": "text", "parts": [text] });
        json!({ "parent": parent, "children": [], "message": { "author": { "role": role }, "create_time": at, "content": content } })
    }

    fn texts(transcript: &mut Session) -> Vec<(Option<f64>, Value)> {
        let messages = transcript.take().1.into_iter();
        messages
            .map(|said| (said.time, serde_json::from_str::<Value>(&said.message).unwrap()["content"].take()))
            .collect()
    }

    #[test]
    fn the_way_to_the_current_message_is_the_conversation() {
        let mapping = json!({
            "root": { "parent": null, "children": ["a"], "message": null },
            "a": node(Some("root"), "user", "which bird?", 1.0),
            "b": node(Some("a"), "assistant", "a heron", 2.0),
            "c": node(Some("a"), "assistant", "a stork", 3.0),
            "s": node(Some("c"), "system", "be kind", 4.0),
        });
        for (current, expect, elsewhere) in [
            (json!("b"), vec![(Some(1.0), json!("which bird?")), (Some(2.0), json!("a heron"))], 2),
            (json!("c"), vec![(Some(1.0), json!("which bird?")), (Some(3.0), json!("a stork"))], 2),
            (json!("nowhere"), vec![(Some(1.0), json!("which bird?")), (Some(3.0), json!("a stork"))], 1),
        ] {
            let conversation = json!({ "id": "x", "title": "Birds", "current_node": current, "mapping": mapping });
            let mut tally = Tally::default();
            let mut transcript = read(&conversation, &mut tally).unwrap();
            assert_eq!(texts(&mut transcript), expect);
            assert_eq!(transcript.title.as_deref(), Some("Birds"));
            assert_eq!(tally.iter().find(|(kind, _)| kind.contains("branch")).map(|(_, count)| count), Some(elsewhere));
        }
    }

    #[test]
    fn a_node_that_names_one_that_is_not_there_loses_no_message() {
        let with = |mut node: Value, children: &[&str]| {
            node["children"] = json!(children);
            node
        };
        let mapping = json!({
            "root": { "parent": null, "children": ["a"], "message": null },
            "a": with(node(Some("root"), "user", "which bird?", 1.0), &["b", "c"]),
            "b": with(node(Some("a"), "assistant", "a heron", 2.0), &["not there"]),
            // It names a different parent than the node that lists it as a child.
            "c": with(node(Some("not there"), "assistant", "a stork", 3.0), &["not there"]),
        });
        let (heron, stork) = (["which bird?", "a heron"], ["which bird?", "a stork"]);
        for (current, expected) in
            [(json!("b"), heron), (json!("c"), stork), (json!("not there"), stork), (Value::Null, stork)]
        {
            let conversation = json!({ "id": "x", "current_node": current, "mapping": mapping });
            let found = texts(&mut read(&conversation, &mut Tally::default()).unwrap());
            assert_eq!(found.iter().map(|(_, text)| text.as_str().unwrap()).collect::<Vec<_>>(), expected, "{current}");
        }
    }

    #[test]
    fn a_ring_of_messages_ends() {
        let mapping = json!({ "a": node(Some("b"), "user", "1", 1.0), "b": node(Some("a"), "user", "2", 2.0) });
        let conversation = json!({ "id": "x", "current_node": "a", "mapping": mapping });
        assert_eq!(texts(&mut read(&conversation, &mut Tally::default()).unwrap()).len(), 2);
    }

    #[test]
    fn what_is_no_conversation_is_none() {
        for value in [json!(7), json!({}), json!({ "id": "x", "mapping": 7 }), json!({ "mapping": {} })] {
            assert_eq!(read(&value, &mut Tally::default()), None, "{value}");
        }
    }

    #[test]
    fn every_kind_of_content_has_its_words() {
        let with = |role: &str, content: Value, recipient: &str| {
            let message = json!({ "id": "m", "author": { "role": role, "name": "python" }, "recipient": recipient, "content": content });
            let conversation = json!({ "id": "x", "current_node": "a", "mapping": { "a": { "message": message } } });
            let (_, mut said) = read(&conversation, &mut Tally::default()).unwrap().take();
            said.pop().map(|said| serde_json::from_str::<Value>(&said.message).unwrap())
        };
        let code = json!({ "content_type": "code", "language": "python", "text": "1 + 1" });
        let call = with("assistant", code, "python").unwrap();
        assert_eq!(call["tool_calls"][0]["function"], json!({ "name": "python", "arguments": "1 + 1" }));
        let output = json!({ "content_type": "execution_output", "text": "2" });
        assert_eq!(with("tool", output, "all").unwrap()["content"], "2");
        let quote = json!({ "content_type": "tether_quote", "title": "T", "url": "u", "text": "q" });
        assert_eq!(with("tool", quote, "all").unwrap()["content"], "T\nu\nq");
        let images =
            json!({ "content_type": "multimodal_text", "parts": [{ "content_type": "image_asset_pointer" }, "look"] });
        assert_eq!(with("user", images, "all").unwrap()["content"], "[image]\nlook");
        assert_eq!(with("assistant", json!({ "content_type": "thoughts", "thoughts": [] }), "all"), None);
        assert_eq!(with("assistant", json!({ "content_type": "unheard of" }), "all"), None);
    }
}
