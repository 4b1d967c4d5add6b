//! What clients and models get wrong.

use herma_tests::{Daemon, Home, Mcp};
use serde_json::json;

#[test]
fn wrong_arguments_are_told_to_the_model() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    for (tool, arguments, words) in [
        ("recall_search", json!({}), "query"),
        ("recall_search", json!({ "query": 5 }), "query"),
        ("recall_search", json!({ "query": "x", "limit": 1000 }), "limit"),
        ("recall_search", json!({ "query": "x", "kind": ["output"] }), "kinds"),
        ("recall_search", json!({ "query": "x", "kinds": ["notes"] }), "kinds"),
        ("recall_search", json!({ "query": "x", "profile": "other" }), "profile"),
        ("recall_expand", json!({ "handle": "msg_nothing" }), "not_found"),
        ("recall_describe", json!({}), "session"),
        ("output_read", json!({ "handle": "out_0" }), "not_found"),
        ("output_read", json!({ "path": "/etc/passwd" }), "error"),
        ("output_read", json!({ "handle": "out_0", "idempotency_key": "k" }), "idempotency_key"),
        ("output_search", json!({ "query": "(", "regex": true }), "query"),
        ("admit_output", json!({}), "content"),
        ("admit_output", json!({ "content": 5 }), "string"),
        ("admit_output", json!({ "content": "x", "session": "another" }), "session"),
    ] {
        let (failed, told) = mcp.tool(tool, &arguments);
        assert!(failed && told.to_string().contains(words), "{tool} {arguments}: {told}");
    }
}

#[test]
fn wrong_requests_are_errors_of_the_protocol() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    for (method, params, code) in [
        ("tools/call", json!({ "name": "forget", "arguments": {} }), -32602),
        ("tools/call", json!({ "name": "memory", "arguments": ["add"] }), -32602),
        ("tools/call", json!({ "arguments": {} }), -32602),
        ("resources/read", json!({ "uri": "herma://store/disk" }), -32002),
        ("resources/read", json!({}), -32602),
        ("resources/subscribe", json!({ "uri": "file:///etc/passwd" }), -32002),
        ("prompts/get", json!({ "name": "other" }), -32602),
        ("tools/forget", json!({}), -32601),
        ("memory.add", json!({ "target": "user", "content": "x" }), -32601),
    ] {
        let reply = mcp.call(method, &params);
        assert_eq!(reply["error"]["code"], json!(code), "{method} {params}: {reply}");
        assert!(!reply["error"]["message"].as_str().unwrap().is_empty(), "{reply}");
    }
    assert_eq!(mcp.result("ping", &json!({})), json!({}));
}

#[test]
fn junk_between_the_lines_disturbs_nothing() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    for junk in ["", "junk", "{", "\u{0}", "\"text\"", "{\"jsonrpc\":\"2.0\"}", &"[".repeat(500)] {
        mcp.line(junk);
    }
    assert_eq!(mcp.result("ping", &json!({})), json!({}));
    for told in mcp.told() {
        assert_eq!(told["error"]["code"], json!(-32600), "{told}");
    }
    assert_eq!(mcp.end(), (Some(0), String::new()));
}

#[test]
fn input_that_ends_at_once_is_a_client_that_went_away() {
    let home = Home::new();
    assert_eq!(Mcp::start(&home, &[]).end(), (Some(0), String::new()));
    assert!(!home.socket().exists());
}
