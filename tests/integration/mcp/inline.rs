//! The protocol without `initialize`: every request names its client.

use herma_tests::mcp::content;
use herma_tests::{Daemon, Home, Mcp};
use serde_json::{Value, json};

const USER: &str = "herma://store/user";

/// Returns params with the fields that each request of this protocol has.
fn params(more: &Value) -> Value {
    let mut params = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "inline", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    params
}

#[test]
fn every_request_stands_for_itself() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut mcp = Mcp::start(&home, &[]);
    let found = mcp.result("server/discover", &params(&json!({})));
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    assert!(found["instructions"].as_str().unwrap().contains("memory"), "{found}");
    let tools = mcp.result("tools/list", &params(&json!({})));
    assert_eq!(tools["tools"].as_array().unwrap().len(), super::TOOLS.len());
    let arguments = json!({ "action": "add", "target": "user", "content": "likes tea" });
    let called = mcp.result("tools/call", &params(&json!({ "name": "memory", "arguments": arguments })));
    assert_eq!(content(&called).1["entries"], json!(["likes tea"]), "{called}");
    let read = mcp.result("resources/read", &params(&json!({ "uri": USER })));
    assert_eq!(read["contents"][0]["text"], json!("likes tea"), "{read}");
    let row = daemon.raw().result("memory.log", &json!({}))["rows"][0].take();
    assert_eq!(row["agent"], json!("inline"));
    // An invalid param has an error code of its own in other protocol versions.
    assert_eq!(mcp.call("resources/read", &params(&json!({ "uri": "x" })))["error"]["code"], json!(-32602));
}

#[test]
fn an_open_subscription_is_told_and_does_not_hold_up_the_end() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut mcp = Mcp::start(&home, &[]);
    let wanted = json!({ "notifications": { "resourceSubscriptions": [USER, "herma://nothing"] } });
    let id = mcp.request("subscriptions/listen", &params(&wanted));
    let accepted = mcp.notification();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
    assert_eq!(accepted["params"]["notifications"], json!({ "resourceSubscriptions": [USER] }), "{accepted}");
    drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "likes tea" })));
    let told = mcp.notification();
    assert_eq!((&told["method"], &told["params"]["uri"]), (&json!("notifications/resources/updated"), &json!(USER)));
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(id), "{told}");
    let started = std::time::Instant::now();
    assert_eq!(mcp.end(), (Some(0), String::new()));
    assert!(started.elapsed() < std::time::Duration::from_secs(4), "{:?}", started.elapsed());
}
