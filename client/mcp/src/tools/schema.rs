//! The function schemas of the tools for which the daemon has none.

use serde_json::{Value, json};

/// Returns the schemas of `memory_read`, `output_read`, `output_search` and `admit_output`.
pub(super) fn own() -> [Value; 4] {
    [memory(), read(), search(), admit()]
}

fn memory() -> Value {
    json!({
        "name": "memory_read",
        "description": "Read what is remembered beyond this conversation: the entries about the user (user) and the \
            notes about the work (memory). Read it when you begin, unless it is in your context already.",
        "parameters": {
            "type": "object",
            "properties": {
                "target": { "type": "string", "enum": ["memory", "user"], "description": "One of the two; both when left out." }
            }
        }
    })
}

fn read() -> Value {
    json!({
        "name": "output_read",
        "description": "Read a tool output that was too long for the conversation, page by page. Name the output by its \
            handle or its path, and say which part: lines (line, lines), chars (offset, limit) or the end (tail). The \
            answer's `next` says where to go on.",
        "parameters": {
            "type": "object",
            "properties": {
                "handle": { "type": "string", "description": "The output's handle, out_…; it may end in :LINE, where to begin." },
                "path": { "type": "string", "description": "Where the output is, instead of its handle." },
                "line": { "type": "integer", "minimum": 1, "description": "The first line, from 1." },
                "lines": { "type": "integer", "minimum": 1, "description": "How many lines; 200 when left out." },
                "offset": { "type": "integer", "minimum": 0, "description": "The first char, from 0, instead of a line." },
                "limit": { "type": "integer", "minimum": 1, "description": "How many chars; 20,000 when left out." },
                "tail": { "type": "integer", "minimum": 1, "description": "That many last lines, instead." },
                "view": { "type": "string", "enum": ["raw", "json"], "description": "json shows JSON indented; raw when left out." }
            }
        }
    })
}

fn search() -> Value {
    json!({
        "name": "output_search",
        "description": "Find the lines with a text in tool outputs that were too long for the conversation: in one \
            output, in those of a session, or in all. Each match has its handle and line for output_read.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "The text to look for, exactly as it is; up to 1,000 chars." },
                "regex": { "type": "boolean", "description": "Take the query as a regular expression, matched line by line." },
                "handle": { "type": "string", "description": "Look only in this output." },
                "session": { "type": "string", "description": "Look only in the outputs of the session with this id." },
                "context": { "type": "integer", "minimum": 0, "maximum": 20, "description": "Lines before and after each match; none when left out." },
                "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "description": "How many matches; 50 when left out." }
            },
            "required": ["query"]
        }
    })
}

fn admit() -> Value {
    json!({
        "name": "admit_output",
        "description": "Put a long text aside instead of keeping it in the conversation. A text over the limit goes to \
            disk as a whole, and `content` of the answer is what should stand in its place: a preview, with the handle \
            that output_read, output_search and recall_expand take. A shorter text comes back as it is.",
        "parameters": {
            "type": "object",
            "properties": {
                "content": { "type": "string", "description": "The text." },
                "tool": { "type": "string", "description": "The tool that it comes from, which decides about the limit." },
                "id": { "type": "string", "description": "The id of the call that it comes from; a new one when left out." }
            },
            "required": ["content"]
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use herma_client::protocol::Method;

    use super::super::{Tool, params};
    use super::*;

    #[test]
    fn every_property_is_a_param_of_its_method() {
        for (schema, known) in [
            (
                read(),
                json!({ "handle": "h", "path": "p", "line": 1, "lines": 1, "offset": 0, "limit": 1, "tail": 1, "view": "json" }),
            ),
            (search(), json!({ "query": "q", "regex": true, "handle": "h", "session": "s", "context": 1, "limit": 1 })),
        ] {
            let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&schema["parameters"]["properties"]), names(&known));
            let Some(Tool::Read(method)) = Tool::from_name(schema["name"].as_str().unwrap()) else {
                panic!("{schema}")
            };
            assert!(params(method, known.as_object().unwrap()).is_ok(), "{schema}");
        }
        assert_eq!(Tool::from_name("output_read"), Some(Tool::Read(Method::OutputRead)));
    }

    #[test]
    fn descriptions_are_one_paragraph() {
        for schema in own() {
            assert!(!schema.to_string().contains("  "), "{schema}");
        }
    }
}
