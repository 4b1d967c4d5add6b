//! The memory tool as a model sees it: its schema, the paragraph for the system prompt, and the parser of a model's
//! arguments.

use serde_json::{Map, Value, json};

use crate::bound::MARK;
use crate::change::{Change, Changes, Emptying};
use crate::refusal::Refusal;
use crate::target::Target;

/// Maximum number of operations in one call.
const OPERATIONS: usize = 1000;

/// The arguments that the tool takes.
const ARGUMENTS: [&str; 5] = ["action", "target", "content", "old_text", "operations"];

/// Returns the function schema of the `memory` tool. If stores are shared with other hosts, the schema explains how to
/// keep an entry on this host.
#[must_use]
pub fn schema(shares: bool) -> Value {
    let mut schema = own();
    if shares {
        let words = format!(
            "The text of the entry. Needed for add and replace. Other machines share this memory: begin what holds on \
             this machine only (its paths, devices, installed tools) with {MARK}, and it stays here."
        );
        schema["parameters"]["properties"]["content"]["description"] = words.into();
    }
    schema
}

fn own() -> Value {
    json!({
        "name": "memory",
        "description": "Keep durable notes that every later session will see in its system prompt. \
    Save without being asked, as soon as something worth keeping appears: first of all corrections by the user \
    (\"don't do that again\", \"use X instead\"), then preferences, habits and personal details, then stable facts \
    about the environment, conventions of a project and lessons that will hold next month. \
    Do not save task progress, temporary task state, results of finished work, long data or what is easily found again; \
    for what happened in earlier conversations use session_search instead. \
    Targets: user is who the user is (name, role, preferences, style), memory is your own notes (environment, conventions, lessons). \
    Both are small and bounded in chars: write one compact fact per entry. \
    When a store is full, make room in the same turn: merge related entries with replace, drop stale ones with remove, then try again. \
    Several changes that belong together go into operations: all of them are applied or none, and only the final size counts. \
    A new entry takes effect in the prompt of the next session; this session's prompt does not change.",
        "parameters": {
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["add", "replace", "remove"],
                    "description": "What to do. add appends content; replace puts content in the place of the entry that old_text names; remove deletes that entry. With operations given, the action of each operation counts."
                },
                "target": {
                    "type": "string",
                    "enum": ["memory", "user"],
                    "description": "Which store: memory for your own notes, user for what you know about the user."
                },
                "content": {
                    "type": "string",
                    "description": "The text of the entry. Needed for add and replace."
                },
                "old_text": {
                    "type": "string",
                    "description": "The entry that is meant, or a short part of it that no other entry has. Needed for replace and remove."
                },
                "operations": {
                    "type": "array",
                    "description": "Several changes to one target at once, in order; use it to make room and add in one call.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "action": {"type": "string", "enum": ["add", "replace", "remove"]},
                            "content": {"type": "string"},
                            "old_text": {"type": "string"}
                        },
                        "required": ["action"]
                    }
                }
            },
            "required": ["action", "target"]
        }
    })
}

/// The paragraph for the system prompt.
pub const GUIDANCE: &str = "You have a memory that lasts beyond this conversation, kept with the memory tool and shown above as it was when the session began. \
Save what will still matter in a month: who the user is and how they like things done (target user), and stable facts, conventions and lessons (target memory). \
A correction by the user comes first: save it before you go on. \
Write facts, not orders to yourself, one compact fact per entry. \
Leave out task progress, to-do lists and passing state; past conversations can be found with session_search. \
Space is small: when a store is full, replace or remove what is stale in the same turn and then retry.";

/// A call of the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The store.
    pub target: Target,
    /// The requested changes.
    pub changes: Changes,
}

/// Parses the arguments of a model: an object, or a string that contains one.
///
/// # Errors
/// The arguments are invalid. The refusal explains the problem to the model.
pub fn read(arguments: &str) -> Result<Call, Refusal> {
    let wrong = |words: String| Refusal::Arguments(words);
    let value: Value =
        serde_json::from_str(arguments).map_err(|error| wrong(format!("the arguments are not JSON: {error}")))?;
    let object = match value {
        Value::Object(object) => object,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => object,
            _ => return Err(wrong("the arguments must be a JSON object".into())),
        },
        _ => return Err(wrong("the arguments must be a JSON object".into())),
    };
    if let Some(name) = object.keys().find(|name| !ARGUMENTS.contains(&name.as_str())) {
        let shown: String = name.chars().take(80).collect();
        return Err(wrong(format!("unknown argument {shown:?}; the memory tool takes {}", ARGUMENTS.join(", "))));
    }
    let target = match text(&object, "target")? {
        None => Target::Memory,
        Some(name) => {
            name.parse().map_err(|_| wrong(format!("invalid target {:?}; use \"memory\" or \"user\"", short(name))))?
        }
    };
    let changes = match object.get("operations") {
        None | Some(Value::Null) => Changes::Single(change(&object)?),
        Some(Value::Array(none)) if none.is_empty() && object.contains_key("action") => {
            Changes::Single(change(&object)?)
        }
        Some(Value::Array(operations)) => batch(operations)?,
        Some(_) => return Err(wrong("operations must be a list of objects".into())),
    };
    Ok(Call { target, changes })
}

fn batch(operations: &[Value]) -> Result<Changes, Refusal> {
    if operations.len() > OPERATIONS {
        return Err(Refusal::Arguments(format!(
            "operations has {} items; at most {OPERATIONS} are allowed",
            operations.len()
        )));
    }
    let changes = operations.iter().enumerate().map(|(at, operation)| {
        let read = match operation {
            Value::Object(object) => change(object),
            _ => Err(Refusal::Arguments("an operation must be an object".into())),
        };
        read.map_err(|refusal| refusal.in_operation(at + 1))
    });
    Ok(Changes::Batch { changes: changes.collect::<Result<_, _>>()?, emptying: Emptying::Refused })
}

fn change(object: &Map<String, Value>) -> Result<Change, Refusal> {
    let needed = |action: &str, name: &'static str| match text(object, name)? {
        Some(value) if !value.is_empty() => Ok(value.to_owned()),
        _ => Err(Refusal::Arguments(format!("{name} is required for {action}"))),
    };
    match text(object, "action")? {
        Some("add") => Ok(Change::Add { content: needed("add", "content")? }),
        Some("replace") => {
            let old_text = needed("replace", "old_text")?;
            Ok(Change::Replace { old_text, content: needed("replace", "content")? })
        }
        Some("remove") => Ok(Change::Remove { old_text: needed("remove", "old_text")? }),
        Some(other) => {
            Err(Refusal::Arguments(format!("unknown action {:?}; use add, replace or remove", short(other))))
        }
        None => Err(Refusal::Arguments("action is required: add, replace or remove".into())),
    }
}

fn text<'a>(object: &'a Map<String, Value>, name: &'static str) -> Result<Option<&'a str>, Refusal> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::Arguments(format!("{name} must be a string"))),
    }
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_the_promised_shape() {
        let shared = schema(true);
        let content = &shared["parameters"]["properties"]["content"]["description"];
        assert!(content.as_str().is_some_and(|words| words.contains("[host-bound]")));
        let schema = schema(false);
        assert!(!schema.to_string().contains("[host-bound]"));
        assert_eq!(schema["name"], "memory");
        assert_eq!(schema["parameters"]["required"], json!(["action", "target"]));
        assert_eq!(schema["parameters"]["properties"]["action"]["enum"], json!(["add", "replace", "remove"]));
        assert_eq!(schema["parameters"]["properties"]["target"]["enum"], json!(["memory", "user"]));
        for word in ["allOf", "anyOf", "oneOf", "enum", "not"] {
            assert!(schema["parameters"].get(word).is_none());
        }
        assert!(schema["description"].as_str().is_some_and(|words| words.contains("session_search")));
    }

    #[test]
    fn arguments_of_models_are_read() {
        let add = |target| Call { target, changes: Changes::Single(Change::Add { content: "x".into() }) };
        for (arguments, call) in [
            (r#"{"action":"add","content":"x"}"#, add(Target::Memory)),
            (r#"{"action":"add","target":"user","content":"x","old_text":null}"#, add(Target::User)),
            (r#""{\"action\":\"add\",\"content\":\"x\"}""#, add(Target::Memory)),
            (r#"{"action":"add","content":"x","operations":[]}"#, add(Target::Memory)),
        ] {
            assert_eq!(read(arguments), Ok(call), "{arguments}");
        }
        let batch = read(r#"{"target":"user","operations":[{"action":"remove","old_text":"a"}]}"#);
        let changes =
            Changes::Batch { changes: vec![Change::Remove { old_text: "a".into() }], emptying: Emptying::Refused };
        assert_eq!(batch, Ok(Call { target: Target::User, changes }));
    }

    #[test]
    fn mistakes_of_models_are_told() {
        for (arguments, words) in [
            ("{", "not JSON"),
            ("[]", "must be a JSON object"),
            (r#"{"action":"add","text":"x"}"#, "unknown argument \"text\""),
            (r#"{"action":"add","target":"disk","content":"x"}"#, "invalid target"),
            (r#"{"action":"read"}"#, "unknown action"),
            (r#"{"target":"user"}"#, "action is required"),
            (r#"{"action":"add"}"#, "content is required"),
            (r#"{"action":"add","content":5}"#, "content must be a string"),
            (r#"{"action":"replace","content":"x"}"#, "old_text is required"),
            (r#"{"action":"remove","old_text":""}"#, "old_text is required"),
            (r#"{"operations":{}}"#, "must be a list"),
            (r#"{"operations":[5]}"#, "operation 1"),
        ] {
            let error = read(arguments).err().map(|refusal| refusal.to_string()).unwrap_or_default();
            assert!(error.contains(words), "{arguments}: {error}");
        }
    }
}
