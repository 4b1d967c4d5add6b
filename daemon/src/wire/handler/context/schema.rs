//! `context.schema`: the tools with which a model discards outputs and marks episodes.

use herma_context::constants::{CONTEXT_DISCARD, CONTEXT_EPISODE};
use herma_protocol::Json;
use herma_protocol::context::schema::SchemaResult;
use serde_json::{Value, json};

use crate::data::error::{Error, Outcome};

pub(in crate::wire::handler) fn schema() -> Outcome<SchemaResult> {
    let tools: Result<Vec<Json>, _> = [discard(), episode()].iter().map(Json::from_value).collect();
    Ok(SchemaResult { tools: tools.map_err(|_| Error::internal("context.schema"))? })
}

fn discard() -> Value {
    json!({
        "name": CONTEXT_DISCARD,
        "description": "Say which tool outputs you are done with: a log that you have read, a page that did not help, a \
            file that you have read again since. Nothing changes at once. When your context is shortened next, each is \
            replaced by one line, and the room is there for what you still work on; recall_expand gives the whole back. \
            Use it when an output was long and you have taken from it what you need; not for short outputs, and not for \
            one that you may have to quote or edit from.",
        "parameters": {
            "type": "object",
            "properties": {
                "calls": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "What the calls were about, exactly as in their arguments: a path, a \
                        command, a query. Each call that has it in its arguments is meant, so be as exact as you can."
                },
                "handles": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Handles of outputs that were kept elsewhere, such as out_20261121_5f2a."
                },
                "reason": { "type": "string", "description": "Why, in a few words; the line that stays has it." }
            },
            "required": ["reason"]
        }
    })
}

fn episode() -> Value {
    json!({
        "name": CONTEXT_EPISODE,
        "description": "Say where a sub-task begins and where it is done, such as the search for a cause, the reading of a \
            library, one of several changes. Nothing changes at once. When your context is shortened next, all that was \
            said between the two leaves it, and a line with the title and the outcome stays; recall_search and \
            recall_expand give the rest back. Open one when a piece of work begins whose details you will not need once \
            it is done, and close it as soon as you have its result. Write into the outcome what must not be lost: what \
            was decided, exact names, paths and values, and what is left to do.",
        "parameters": {
            "type": "object",
            "properties": {
                "action": { "type": "string", "enum": ["open", "close"], "description": "Whether it begins or is done." },
                "title": { "type": "string", "description": "What it is about, in at most 120 chars; the same when it is closed." },
                "outcome": { "type": "string", "description": "What came of it, in at most 300 chars; when it is closed." }
            },
            "required": ["action", "title"]
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn every_param_is_described_in_plain_sentences() {
        for tool in schema().unwrap().tools {
            let tool: Value = serde_json::from_str(tool.get()).unwrap();
            let parameters = &tool["parameters"];
            for name in parameters["required"].as_array().unwrap() {
                assert!(parameters["properties"][name.as_str().unwrap()].is_object(), "{tool}");
            }
            let described = parameters["properties"].as_object().unwrap().values().map(|one| &one["description"]);
            for text in described.chain([&tool["description"]]) {
                assert!(text.as_str().is_some_and(|text| !text.contains("  ")), "{tool}");
            }
        }
    }
}
