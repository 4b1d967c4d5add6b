//! The same conversation in each form.

use proptest::prelude::*;
use serde_json::{Value, json};

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    FunctionCall,
    Anthropic,
    Responses,
    Gemini,
}

/// One turn: the user's text, and the assistant's steps until its answer.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) ask: String,
    pub(super) steps: Vec<Step>,
    pub(super) answer: String,
    pub(super) has_picture: bool,
}

/// Simultaneous calls, with their results.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) thought: Option<String>,
    pub(super) text: Option<String>,
    /// The number of each function, and its result.
    pub(super) calls: Vec<(usize, String)>,
    /// The user's text with the results.
    pub(super) remark: Option<String>,
}

fn words(most: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (1..most.max(2)).prop_map(|n| "some words of it ".repeat(n)),
        1 => (1..most.max(2)).prop_map(|n| "中文字 ".repeat(n)),
        1 => Just("plain".to_owned()),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let calls = prop::collection::vec((0_usize..3, words(120)), 1..4);
    (prop::option::of(words(20)), prop::option::of(words(9)), calls, prop::option::weighted(0.2, words(9)))
        .prop_map(|(thought, text, calls, remark)| Step { thought, text, calls, remark })
}

pub(super) fn turn() -> impl Strategy<Value = Turn> {
    (words(60), prop::collection::vec(step(), 0..3), words(60), prop::bool::weighted(0.1))
        .prop_map(|(ask, steps, answer, has_picture)| Turn { ask, steps, answer, has_picture })
}

impl Form {
    pub(super) fn list(self, turns: &[Turn]) -> Vec<Value> {
        let mut list = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            list.push(self.ask(turn));
            for (number, step) in turn.steps.iter().enumerate() {
                self.step(&format!("{at}-{number}"), step, &mut list);
            }
            list.push(match self {
                Self::FunctionCall | Self::Anthropic => json!({ "role": "assistant", "content": turn.answer }),
                Self::Responses => json!({
                    "type": "message", "role": "assistant", "id": format!("msg_{at}"), "status": "completed",
                    "content": [{ "type": "output_text", "text": turn.answer, "annotations": [] }],
                }),
                Self::Gemini => {
                    json!({ "role": "model", "parts": [{ "text": turn.answer, "thoughtSignature": "c2ln" }] })
                }
            });
        }
        list
    }

    fn ask(self, turn: &Turn) -> Value {
        let (ask, data) = (&turn.ask, "iVBORw0KGgo".repeat(40));
        match (self, turn.has_picture) {
            (Self::FunctionCall | Self::Anthropic, false) => json!({ "role": "user", "content": ask }),
            (Self::FunctionCall, true) => json!({ "role": "user", "content": [
                { "type": "text", "text": ask }, { "type": "image_url", "image_url": { "url": data } }] }),
            (Self::Anthropic, true) => json!({ "role": "user", "content": [{ "type": "text", "text": ask },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }] }),
            (Self::Responses, false) => json!({ "role": "user", "content": [{ "type": "input_text", "text": ask }] }),
            (Self::Responses, true) => json!({ "type": "message", "role": "user", "content": [
                { "type": "input_text", "text": ask }, { "type": "input_image", "image_url": data }] }),
            (Self::Gemini, false) => json!({ "role": "user", "parts": [{ "text": ask }] }),
            (Self::Gemini, true) => json!({ "role": "user", "parts": [
                { "text": ask }, { "inlineData": { "mimeType": "image/png", "data": data } }] }),
        }
    }

    fn step(self, mark: &str, step: &Step, list: &mut Vec<Value>) {
        let name = |function: usize| format!("tool_{function}");
        let arguments = json!({ "path": format!("/srv/{mark}.txt"), "text": "long ".repeat(80) });
        let ids: Vec<String> = (0..step.calls.len()).map(|call| format!("call_{mark}_{call}")).collect();
        let calls = || step.calls.iter().zip(&ids).enumerate();
        match self {
            // This form has one call at a time.
            Self::FunctionCall => {
                for (function, result) in &step.calls {
                    let call = json!({ "name": name(*function), "arguments": arguments.to_string() });
                    list.push(json!({ "role": "assistant", "content": step.text, "function_call": call }));
                    list.push(json!({ "role": "function", "name": name(*function), "content": result }));
                }
            }
            Self::Anthropic => {
                let mut blocks: Vec<Value> = Vec::new();
                blocks.extend(
                    step.thought
                        .iter()
                        .map(|thought| json!({ "type": "thinking", "thinking": thought, "signature": "s" })),
                );
                blocks.extend(step.text.iter().map(|text| json!({ "type": "text", "text": text })));
                blocks.extend(calls().map(|(_, ((function, _), id))| {
                    json!({ "type": "tool_use", "id": id, "name": name(*function), "input": arguments })
                }));
                list.push(json!({ "role": "assistant", "content": blocks }));
                let result = |(at, ((_, result), id)): (usize, (&(usize, String), &String))| match at % 2 {
                    0 => json!({ "type": "tool_result", "tool_use_id": id, "content": result }),
                    _ => {
                        json!({ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": [{ "type": "text", "text": result }] })
                    }
                };
                let mut blocks: Vec<Value> = calls().map(result).collect();
                blocks.extend(step.remark.iter().map(|remark| json!({ "type": "text", "text": remark })));
                list.push(json!({ "role": "user", "content": blocks }));
            }
            Self::Responses => {
                list.extend(step.thought.iter().map(|thought| {
                    json!({ "type": "reasoning", "id": format!("rs_{mark}"), "summary": [{ "type": "summary_text", "text": thought }], "encrypted_content": "gAAA" })
                }));
                list.extend(step.text.iter().map(|text| {
                    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
                }));
                list.extend(calls().map(|(_, ((function, _), id))| match function {
                    0 => json!({ "type": "custom_tool_call", "call_id": id, "name": name(0), "input": "*** Begin Patch" }),
                    1 => json!({ "type": "local_shell_call", "call_id": id, "action": { "type": "exec", "command": ["ls"] } }),
                    _ => json!({ "type": "function_call", "call_id": id, "id": "fc_1", "name": name(*function), "arguments": arguments.to_string(), "status": "completed" }),
                }));
                list.extend(calls().map(|(_, ((function, result), id))| {
                    let kind =
                        ["custom_tool_call_output", "local_shell_call_output", "function_call_output"][*function];
                    json!({ "type": kind, "call_id": id, "output": result })
                }));
            }
            Self::Gemini => {
                let mut parts: Vec<Value> = Vec::new();
                parts.extend(step.thought.iter().map(|thought| json!({ "text": thought, "thought": true })));
                parts.extend(step.text.iter().map(|text| json!({ "text": text })));
                parts.extend(calls().map(|(at, ((function, _), _))| {
                    let call = json!({ "name": name(*function), "args": arguments });
                    if at == 0 && *function == 2 {
                        json!({ "function_call": call })
                    } else if at == 0 {
                        json!({ "functionCall": call, "thoughtSignature": "c2ln" })
                    } else {
                        json!({ "functionCall": call })
                    }
                }));
                list.push(json!({ "role": "model", "parts": parts }));
                let mut parts: Vec<Value> = calls()
                    .map(|(at, ((function, result), _))| {
                        let response = if at % 2 == 0 {
                            json!({ "output": result })
                        } else {
                            json!({ "lines": 3, "text": result })
                        };
                        json!({ "functionResponse": { "name": name(*function), "response": response } })
                    })
                    .collect();
                parts.extend(step.remark.iter().map(|remark| json!({ "text": remark })));
                list.push(json!({ "role": "user", "parts": parts }));
            }
        }
    }
}
