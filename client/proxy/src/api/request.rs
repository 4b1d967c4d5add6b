//! What a request has of a conversation: its messages, and how the agent names the session.

use http::HeaderMap;
use serde_json::Value;

use super::frames::without_frames;
use super::{Api, list, text, word};

/// The headers in which agents name a session, the most exact one first.
const SESSION_HEADERS: [&str; 7] = [
    "x-claude-code-session-id",
    "session_id",
    "session-id",
    "x-session-id",
    "x-session-affinity",
    "x-opencode-session",
    "conversation_id",
];

/// The most chars of an agent's id of a session.
const ID: usize = 200;

/// The text before the id of a session in Claude Code's `metadata.user_id`.
const SESSION: &str = "_session_";

/// A request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The API.
    pub api: Api,
    /// The agent's id of the session, if the request names one. Subagents may have the same one.
    pub id: Option<String>,
    /// The first word of the header `user-agent`, without a version.
    pub client: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The system prompt's text.
    pub system: String,
    /// The items of the conversation in the API's form, without the system prompt.
    pub items: Vec<Value>,
    /// The id of the answer before, if the provider keeps the conversation and `items` are only the new ones.
    pub previous: Option<String>,
    /// Whether the model may call tools.
    pub has_tools: bool,
    /// Whether the answer is a stream of events.
    pub is_stream: bool,
    /// Whether a stream of chat completions ends with the usage.
    pub wants_usage: bool,
}

impl Asked {
    /// Reads a request. Returns `None` if it is no JSON object with a conversation.
    #[must_use]
    pub fn read(api: Api, headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let items = match api {
            Api::Responses => match body.get("input")? {
                Value::String(text) => vec![serde_json::json!({ "role": "user", "content": text })],
                Value::Array(items) => items.clone(),
                _ => return None,
            },
            Api::Messages | Api::ChatCompletions => body.get("messages")?.as_array()?.clone(),
        };
        let (systems, items): (Vec<Value>, Vec<Value>) = items.into_iter().partition(is_system);
        let first = match api {
            Api::Messages => body.get("system").map(text),
            Api::Responses => word(&body, "instructions").map(str::to_owned),
            Api::ChatCompletions => None,
        };
        let systems = systems.iter().map(|item| text(item.get("content").unwrap_or(&Value::Null)));
        let system = first.into_iter().chain(systems).collect::<Vec<_>>().join("\n");
        Some(Self {
            api,
            id: session(headers, &body),
            client: client(headers),
            model: word(&body, "model").map(str::to_owned),
            system,
            items: without_frames(items),
            previous: word(&body, "previous_response_id").map(str::to_owned),
            has_tools: !list(&body, "tools").is_empty() || !list(&body, "functions").is_empty(),
            is_stream: body.get("stream").and_then(Value::as_bool).unwrap_or_default(),
            wants_usage: body.pointer("/stream_options/include_usage").and_then(Value::as_bool).unwrap_or_default(),
        })
    }
}

fn is_system(item: &Value) -> bool {
    matches!(word(item, "role"), Some("system" | "developer"))
}

/// Returns the agent's id of the session.
fn session(headers: &HeaderMap, body: &Value) -> Option<String> {
    let of_header = SESSION_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok()).map(str::to_owned);
    let user = body.pointer("/metadata/user_id").and_then(Value::as_str).unwrap_or_default();
    let of_user = || {
        let in_json: Option<Value> = serde_json::from_str(user).ok();
        let in_json = in_json.and_then(|user| word(&user, "session_id").map(str::to_owned));
        in_json.or_else(|| user.split_once(SESSION).map(|(_, id)| id.to_owned()))
    };
    let of_body = || {
        let named = body.pointer("/metadata/session_id").and_then(Value::as_str);
        named.or_else(|| word(body, "session_id")).or_else(|| word(body, "prompt_cache_key")).map(str::to_owned)
    };
    let id = of_header.or_else(of_user).or_else(of_body)?;
    let is_id = !id.is_empty() && id.chars().count() <= ID && !id.chars().any(char::is_control);
    is_id.then_some(id)
}

/// Returns the program's name in the header `user-agent`, in lower case.
fn client(headers: &HeaderMap) -> Option<String> {
    let agent = headers.get(http::header::USER_AGENT)?.to_str().ok()?;
    let name: String = agent.split(['/', ' ', '(']).next()?.chars().take(40).collect();
    let name = name.to_ascii_lowercase();
    let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(named: &[(&'static str, &str)]) -> HeaderMap {
        named.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn read(api: Api, named: &[(&'static str, &str)], body: &Value) -> Option<Asked> {
        Asked::read(api, &headers(named), body.to_string().as_bytes())
    }

    #[test]
    fn each_api_has_its_conversation_elsewhere() {
        let said = json!({ "role": "user", "content": "hello" });
        let system = json!({ "role": "system", "content": [{ "type": "text", "text": "be brief" }] });
        for (api, body) in [
            (Api::Messages, json!({ "system": "be brief", "messages": [said] })),
            (Api::Messages, json!({ "system": [{ "type": "text", "text": "be brief" }], "messages": [said] })),
            (Api::ChatCompletions, json!({ "messages": [system, said] })),
            (Api::Responses, json!({ "instructions": "be brief", "input": "hello" })),
            (Api::Responses, json!({ "input": [system, said] })),
        ] {
            let asked = read(api, &[], &body).unwrap();
            assert_eq!((asked.system.as_str(), &asked.items), ("be brief", &vec![said.clone()]), "{body}");
            assert!(!asked.is_stream && !asked.has_tools && asked.id.is_none());
        }
        for (api, body) in [
            (Api::Messages, json!({ "input": [] })),
            (Api::Messages, json!([])),
            (Api::ChatCompletions, json!({ "messages": "hello" })),
            (Api::Responses, json!({ "input": 7 })),
        ] {
            assert_eq!(read(api, &[], &body), None, "{body}");
        }
        assert_eq!(Asked::read(Api::Messages, &HeaderMap::new(), b"{\"messages\":"), None);
    }

    #[test]
    fn a_session_is_named_in_a_header_or_in_the_body() {
        let body = |more: Value| {
            let mut body = json!({ "messages": [] });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        let nested = json!({ "metadata": { "user_id": "{\"device_id\":\"d\",\"session_id\":\"s-1\"}" } });
        for (named, more, expected) in [
            (vec![("x-claude-code-session-id", "h")], nested.clone(), Some("h")),
            (vec![], nested, Some("s-1")),
            (vec![], json!({ "metadata": { "user_id": "user_ab_account__session_s-2" } }), Some("s-2")),
            (vec![], json!({ "metadata": { "user_id": "someone" } }), None),
            (vec![], json!({ "prompt_cache_key": "k" }), Some("k")),
            (vec![("session_id", "s")], json!({ "prompt_cache_key": "k" }), Some("s")),
            (vec![], json!({ "prompt_cache_key": "a\nb" }), None),
            (vec![], json!({ "prompt_cache_key": "k".repeat(201) }), None),
        ] {
            let asked = read(Api::Messages, &named, &body(more.clone())).unwrap();
            assert_eq!(asked.id.as_deref(), expected, "{named:?} {more}");
        }
    }

    #[test]
    fn a_client_is_the_first_word_of_its_header() {
        for (agent, expected) in [
            ("claude-cli/2.1.3 (external, cli)", Some("claude-cli")),
            ("QwenCode/0.24.4 (linux)", Some("qwencode")),
            ("Bun", Some("bun")),
            ("\"odd\"", None),
        ] {
            let asked = read(Api::Messages, &[("user-agent", agent)], &json!({ "messages": [] })).unwrap();
            assert_eq!(asked.client.as_deref(), expected);
        }
    }
}
