//! Selects tools by their use. The sent set stays the same until a compression.

use herma_protocol::Json;
use herma_protocol::context::tools::{ToolState, ToolsParams, ToolsResult};
use herma_protocol::context::{CompressParams, CompressResult, ConfigureParams};
use herma_protocol::session::transcript::AppendParams;
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

fn parsed(value: &Value) -> Json {
    Json::parse(value.to_string()).unwrap()
}

fn schemas() -> Vec<Json> {
    let schema = |name: &str| {
        let description = format!("Does {name}. {}", "And this has to be known. ".repeat(60));
        parsed(&json!({ "name": name, "description": description, "input_schema": { "type": "object" } }))
    };
    ["a", "b", "c", "d", "e", "f"].map(schema).into()
}

/// Returns a call of a tool and its long result.
fn exchange(name: &str, arguments: &Value, number: usize) -> Vec<Json> {
    let call = json!({ "id": format!("c{number}"), "function": { "name": name, "arguments": arguments.to_string() } });
    vec![
        parsed(&json!({ "role": "user", "content": format!("question {number} about the heron") })),
        parsed(&json!({ "role": "assistant", "content": null, "tool_calls": [call] })),
        parsed(
            &json!({ "role": "tool", "tool_call_id": format!("c{number}"), "content": "some words of it ".repeat(120) }),
        ),
    ]
}

struct Agent {
    client: herma_client::Client,
    generation: u64,
    position: u64,
}

impl Agent {
    fn says(&mut self, messages: Vec<Json>) {
        let (session, generation, position) = ("s".into(), self.generation, self.position);
        let result = self.client.session_append(AppendParams { session, generation, position, messages }).unwrap();
        self.position = result.position;
    }

    fn tools(&mut self, budget: Option<u64>) -> ToolsResult {
        self.client.context_tools(ToolsParams { session: "s".into(), tools: schemas(), budget, open: None }).unwrap()
    }
}

fn names(result: &ToolsResult) -> Vec<String> {
    let name = |tool: &Json| serde_json::from_str::<Value>(tool.get()).unwrap()["name"].as_str().unwrap().to_owned();
    result.list.iter().map(name).collect()
}

#[test]
fn the_list_changes_with_a_compression_only() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut agent = Agent { client: daemon.client(), generation: 0, position: 0 };
    let configure = ConfigureParams { session: "s".into(), context_length: Some(16_000), ..ConfigureParams::default() };
    agent.client.context_configure(configure).unwrap();
    let all = agent.tools(None);
    let budget = all.tokens_before / 2;
    let first = agent.tools(Some(budget));
    assert_eq!(
        (names(&first), first.opener.as_deref()),
        (["a", "b", "open_tools"].map(str::to_owned).into(), Some("open_tools"))
    );
    assert!(first.tokens_after <= budget);
    agent.says(exchange("open_tools", &json!({ "names": ["e"] }), 0));
    (1..30).for_each(|number| agent.says(exchange(if number % 3 == 0 { "b" } else { "e" }, &json!({}), number)));
    let later = agent.tools(Some(budget));
    assert_eq!(names(&later), ["a", "b", "open_tools", "e"]);
    let texts = |result: &ToolsResult| result.list.iter().map(|tool| tool.get().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&later)[..3], texts(&first));
    assert_eq!(later.tools[4].calls, 20);
    let compress = CompressParams { session: "s".into(), force: Some(true), ..CompressParams::default() };
    let CompressResult::Done(done) = agent.client.context_compress(compress).unwrap() else { panic!("no result") };
    assert!(done.report.compressed);
    let after = agent.tools(Some(budget));
    assert_eq!(names(&after), ["b", "e", "open_tools"]);
    assert_eq!(after.tools[0].state, ToolState::Stub);
    assert_eq!(after.tools[4].calls, 20);
    drop(agent);
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut agent = Agent { client: daemon.client(), generation: 1, position: 0 };
    assert_eq!(agent.tools(Some(budget)), after);
}
