//! `recall.schema`: the tools with which a model can call them.

use herma_context::constants::{RECALL_ASK, RECALL_DESCRIBE, RECALL_EXPAND, RECALL_SEARCH, RECALL_STATE};
use herma_protocol::Json;
use herma_protocol::recall::SchemaResult;
use serde_json::{Value, json};

use crate::data::error::{Error, Outcome};
use crate::wire::services::Services;

pub(in crate::wire::handler) fn schema(services: &Services) -> Outcome<SchemaResult> {
    offered(services.recall.can_answer(), services.sharing.is_configured())
}

/// Returns the tools. `ask` needs a model that can answer, and a search of all hosts needs sharing.
fn offered(answers: bool, shares: bool) -> Outcome<SchemaResult> {
    let mut tools = vec![search(shares), expand(), describe(), state()];
    tools.extend(answers.then(ask));
    let tools: Result<Vec<Json>, _> = tools.iter().map(Json::from_value).collect();
    Ok(SchemaResult { tools: tools.map_err(|_| Error::internal("recall.schema"))? })
}

fn search(shares: bool) -> Value {
    let mut tool = json!({
        "name": RECALL_SEARCH,
        "description": "Find text that is not in your context any more: messages that a compression took out, tool \
            outputs that were too long, and earlier versions of your memories. Use it before you say that you don't \
            know what was said or seen earlier. Ask as you would ask a person, or give the words you expect: the \
            best passages come first, whatever form their words have, and what stands in double quotes must occur as \
            it is. Each hit shows the messages right before and after it, and has a handle for recall_expand.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "A question, or the words to look for." },
                "session": { "type": "string", "description": "Look only in the session with this id." },
                "kinds": {
                    "type": "array",
                    "items": { "type": "string", "enum": ["message", "output", "memory"] },
                    "description": "Look only in messages, in tool outputs or in memories; in all when left out."
                },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100, "description": "How many hits; 20 when left out." }
            },
            "required": ["query"]
        }
    });
    let properties = tool.pointer_mut("/parameters/properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties.filter(|_| shares) {
        let scope = json!({
            "type": "string",
            "enum": ["here", "everywhere"],
            "description": "Look also through what was said on the other machines that share this memory: everywhere; on this one when left out."
        });
        properties.insert("scope".to_owned(), scope);
    }
    tool
}

fn expand() -> Value {
    json!({
        "name": RECALL_EXPAND,
        "description": "Get the exact text behind a handle, with what stood around it. Takes the handle of a hit of \
            recall_search, of a spilled output, the one that a handoff summary names for the messages it stands for, or \
            the id of a part of its map. The answer is a page: `about` picks the page of a long text, and when the answer \
            has `next`, expanding that goes on.",
        "parameters": {
            "type": "object",
            "properties": {
                "handle": { "type": "string", "description": "The handle, exactly as it was given." },
                "about": { "type": "string", "description": "What you look for in it, for a part of a map or a long message." },
                "before": { "type": "integer", "minimum": 0, "maximum": 100, "description": "Messages or lines before it; 2 when left out." },
                "after": { "type": "integer", "minimum": 0, "maximum": 100, "description": "Messages or lines after it; 2 when left out." },
                "tokens": { "type": "integer", "minimum": 1, "description": "The longest answer, in tokens; 2,000 when left out." }
            },
            "required": ["handle"]
        }
    })
}

fn describe() -> Value {
    json!({
        "name": RECALL_DESCRIBE,
        "description": "List what the compressions of a session took out of its context: when, how much, under which \
            handle, and the summary that took its place.",
        "parameters": {
            "type": "object",
            "properties": { "session": { "type": "string", "description": "The session's id." } },
            "required": ["session"]
        }
    })
}

fn state() -> Value {
    json!({
        "name": RECALL_STATE,
        "description": "Look up what a session is about by exact names: orders, people, files, tests and other things, each \
            with the newest of what is known of it, what it was before, and the handle of the message that says so. \
            Use it when you need an id, a path or a value that is not in your context any more.",
        "parameters": {
            "type": "object",
            "properties": {
                "session": { "type": "string", "description": "The session's id." },
                "entity": { "type": "string", "description": "A name, a part of one, or a kind such as file or order; all when left out." },
                "limit": { "type": "integer", "minimum": 1, "maximum": 500, "description": "How many; 50 when left out." }
            },
            "required": ["session"]
        }
    })
}

fn ask() -> Value {
    json!({
        "name": RECALL_ASK,
        "description": "Have a question answered from a part of a conversation that is not in your context any more: \
            another model reads the passages that fit it and answers with quotations, each with a handle for \
            recall_expand. Use it when the answer is spread over many messages; to find one place, recall_search is \
            faster. Give either a session or the id of a part of its map.",
        "parameters": {
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "What you want to know, as you would ask a person." },
                "session": { "type": "string", "description": "The id of the session that is asked." },
                "node": { "type": "string", "description": "The id of a part of its map (nod_…), to ask that alone." }
            },
            "required": ["question"]
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn every_required_param_is_described() {
        for tool in offered(true, true).unwrap().tools {
            let tool: Value = serde_json::from_str(tool.get()).unwrap();
            let parameters = &tool["parameters"];
            for name in parameters["required"].as_array().unwrap() {
                assert!(parameters["properties"][name.as_str().unwrap()]["description"].is_string(), "{tool}");
            }
            assert!(!tool["description"].as_str().unwrap().contains("  "), "{tool}");
        }
    }
}
