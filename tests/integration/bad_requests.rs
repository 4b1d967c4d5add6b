//! Invalid requests. Each gets a clear error, and the next request on the same connection is served.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, kind};
use serde_json::{Value, json};

/// Sends a line, checks kind, id and words of the error, and then that the connection still works.
fn check(daemon: &Daemon, line: &str, expected: &str, id: &Value, words: &[&str]) {
    let mut raw = daemon.raw();
    let reply = raw.ask(line);
    assert_eq!((kind(&reply), &reply["id"]), (expected, id), "{line}: {reply}");
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(words.iter().all(|words| message.contains(words)), "{words:?} in {message}");
    assert!(message.len() < 500, "{message}");
    assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
}

#[test]
fn what_is_no_json_rpc_is_told() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let null = Value::Null;
    for (line, expected, id, words) in [
        ("{\"jsonrpc\":\"2.0\",\"method\":\"ping\"", "parse_error", &null, &["not JSON"][..]),
        ("hello there", "parse_error", &null, &["not JSON"]),
        ("17", "invalid_request", &null, &["JSON-RPC"]),
        ("\"ping\"", "invalid_request", &null, &["JSON-RPC"]),
        ("null", "invalid_request", &null, &[]),
        ("{}", "invalid_request", &null, &["jsonrpc"]),
        (r#"{"id":1,"method":"ping"}"#, "invalid_request", &json!(1), &["jsonrpc"]),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "invalid_request", &json!(1), &["2.0"]),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, "invalid_request", &json!("a"), &["method"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, "parse_error", &json!(1), &["not JSON"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "invalid_request", &json!(1), &[]),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, "invalid_request", &null, &["`id`"]),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, "invalid_request", &null, &["`id`"]),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, "invalid_request", &null, &["`id`"]),
    ] {
        check(&daemon, line, expected, id, words);
    }
}

#[test]
fn half_a_character_is_replaced_with_a_warning() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (id, params) in [
        (1, r#"{"target":"user","content":"party \ud83c"}"#),
        (2, r#"{"arguments":{"action":"add","target":"user","content":"\udf89 again"}}"#),
    ] {
        let method = ["memory.add", "memory.tool"][id - 1];
        let reply = raw.ask(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        assert_eq!(reply["result"]["success"], json!(true), "{reply}");
        assert!(reply["result"]["request_warnings"][0].as_str().unwrap().contains("U+FFFD"), "{reply}");
    }
    assert_eq!(home.entries(Target::User), ["party \u{fffd}", "\u{fffd} again"]);
    let whole = raw
        .ask(r#"{"jsonrpc":"2.0","id":3,"method":"memory.add","params":{"target":"user","content":"\ud83c\udf89"}}"#);
    assert!(whole["result"]["request_warnings"].is_null(), "{whole}");
    // Messages are returned as they were sent.
    let message = r#"{"role":"user","content":"\ud83c"}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":4,"method":"context.estimate","params":{{"messages":[{message}]}}}}"#);
    let reply = raw.ask(&line);
    assert!(reply["error"].is_null() && reply["result"]["request_warnings"].is_null(), "{reply}");
}

#[test]
fn an_entry_has_no_control_characters_and_an_error_does_not_repeat_what_was_sent() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for content in ["a\0b", "a\u{1b}[2Jb", "a\u{7f}b", "a\u{9b}b"] {
        let reply = raw.result("memory.add", &json!({ "target": "user", "content": content }));
        let words = reply["error"].as_str().unwrap();
        assert!(reply["success"] == json!(false) && words.contains("control character U+00"), "{content:?}: {reply}");
        let operations = json!([{ "action": "add", "content": content }]);
        let reply = raw.result("memory.batch", &json!({ "target": "user", "operations": operations }));
        assert_eq!(reply["success"], json!(false), "{content:?}: {reply}");
    }
    assert_eq!(home.entries(Target::User), [""; 0]);
    let reply = raw.result("memory.add", &json!({ "target": "user", "content": "two\tcolumns\nand lines" }));
    assert_eq!(reply["success"], json!(true), "{reply}");
    let long = "x".repeat(1 << 20);
    for params in
        [json!({ "target": long, "content": "x" }), json!({ "target": "user", "content": "x", "agent": [long] })]
    {
        let reply = raw.call("memory.add", &params);
        assert!(kind(&reply) == "invalid_params" && reply.to_string().len() < 5_000, "{}", reply.to_string().len());
    }
    // Reading a device stops at the size limit.
    let ran = herma_tests::Cli::new(&home).run(&["memory", "import", "/dev/zero", "user"]);
    assert!(ran.code == 1 && ran.err.contains("longer than 64.0 MiB") && ran.err.len() < 500, "{ran:?}");
}

#[test]
fn an_unknown_method_is_answered_with_the_nearest_one() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for (method, words) in [("memory.ad", "\"memory.add\""), ("Ping", "\"ping\""), ("zzz", "hello"), ("", "hello")] {
        let line = json!({ "jsonrpc": "2.0", "id": 5, "method": method }).to_string();
        check(&daemon, &line, "unknown_method", &json!(5), &[words]);
    }
    let long = json!({ "jsonrpc": "2.0", "id": 5, "method": "x".repeat(100_000) }).to_string();
    check(&daemon, &long, "unknown_method", &json!(5), &["hello"]);
}

#[test]
fn wrong_params_are_told_by_name() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for (method, params, words) in [
        ("memory.add", json!({ "target": "user" }), &["memory.add", "content"][..]),
        ("memory.add", json!({}), &["target"]),
        ("memory.add", json!({ "target": "user", "contents": "x" }), &["contents", "did you mean", "content"]),
        ("memory.add", json!({ "target": "mind", "content": "x" }), &["target", "mind", "memory"]),
        ("memory.add", json!({ "target": "user", "content": 7 }), &["content", "string"]),
        ("memory.add", json!({ "target": "user", "content": null }), &["content"]),
        ("memory.add", json!(["user", "x"]), &["named"]),
        ("memory.add", json!("user"), &["named"]),
        ("memory.add", json!({ "target": "user", "content": "x", "expected_revision": -1 }), &["expected_revision"]),
        ("ping", json!({ "loud": true }), &["loud"]),
        ("ping", json!({ "deadline_ms": "soon" }), &["deadline_ms"]),
        ("ping", json!({ "profile": 7 }), &["profile"]),
        ("ping", json!([]), &["named"]),
        ("memory.add", json!({ "target": "user", "content": "x", "deadline_ms": 3_600_001 }), &["deadline_ms"]),
        (
            "memory.add",
            json!({ "target": "user", "content": "x", "idempotency_key": "k".repeat(257) }),
            &["idempotency_key"],
        ),
        (
            "output.admit",
            json!({ "session": "s", "tool": "t", "id": "i", "content": "x", "threshold": "infinite" }),
            &["threshold", "inf"],
        ),
        (
            "output.admit",
            json!({ "session": "s", "tool": "t", "id": "i", "content": "x", "config": { "prevew_size": 1 } }),
            &["prevew_size", "preview_size"],
        ),
        ("output.read", json!({}), &["handle", "path"]),
        ("output.read", json!({ "handle": "out_x", "line": 0 }), &["line"]),
        ("output.read", json!({ "handle": "out_x", "line": 1, "tail": 1 }), &["tail"]),
        ("context.compress", json!({ "session": "s", "messages": [], "focus": true }), &["focus"]),
        ("context.plan", json!({ "messages": [] }), &["session", "config"]),
        ("guard.scan", json!({ "text": "x", "scope": "everything" }), &["scope", "everything"]),
    ] {
        let line = json!({ "jsonrpc": "2.0", "id": "p", "method": method, "params": params }).to_string();
        check(&daemon, &line, "invalid_params", &json!("p"), words);
    }
    assert_eq!(home.entries(Target::User), [""; 0]);
}

#[test]
fn a_duplicate_param_is_refused() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let line =
        r#"{"jsonrpc":"2.0","id":1,"method":"memory.add","params":{"target":"user","content":"a","content":"b"}}"#;
    check(&daemon, line, "invalid_params", &json!(1), &["content"]);
}

#[test]
fn an_id_that_is_null_is_answered_and_one_that_is_absent_is_not() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(
        raw.ask(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
        json!({ "jsonrpc": "2.0", "id": null, "result": {} })
    );
    raw.line(r#"{"jsonrpc":"2.0","method":"ping"}"#);
    raw.line(r#"{"jsonrpc":"2.0","method":"no.such"}"#);
    raw.line(r#"{"jsonrpc":"2.0","method":"memory.add","params":{"target":"user","content":"from a notification"}}"#);
    assert_eq!(raw.ask(r#"{"jsonrpc":"2.0","id":"the answer","method":"ping"}"#)["id"], "the answer");
    let list = raw.call("memory.list", &json!({ "target": "user" }));
    assert_eq!(list["result"]["user"]["entries"], json!(["from a notification"]));
}

#[test]
fn ids_come_back_as_they_were_sent() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for id in ["1", "-7", "1.50", "1e2", "\"\\u00e9\"", "\"\"", "18446744073709551616"] {
        let mut raw = daemon.raw();
        raw.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        raw.finish();
        let reply = String::from_utf8(raw.rest()).unwrap();
        assert_eq!(reply, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"));
    }
}

#[test]
fn a_last_line_needs_no_newline_and_blank_lines_are_nothing() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.send(b"\n  \r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    raw.finish();
    let text = String::from_utf8(raw.rest()).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn a_batch_is_answered_in_one_line_and_in_its_order() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let reply = raw.ask(
        r#"[{"jsonrpc":"2.0","id":1,"method":"memory.add","params":{"target":"user","content":"one"}},
            {"jsonrpc":"2.0","method":"memory.add","params":{"target":"user","content":"two"}},
            7, {"jsonrpc":"2.0","id":2,"method":"pong"}, {"jsonrpc":"2.0","method":"pong"},
            {"jsonrpc":"2.0","id":3,"method":"memory.list","params":{"target":"user"}}]"#
            .replace('\n', " ")
            .as_str(),
    );
    let replies = reply.as_array().unwrap();
    let seen: Vec<(&Value, &str)> = replies.iter().map(|reply| (&reply["id"], kind(reply))).collect();
    let expected = [(json!(1), ""), (Value::Null, "invalid_request"), (json!(2), "unknown_method"), (json!(3), "")];
    assert_eq!(seen, expected.iter().map(|(id, kind)| (id, *kind)).collect::<Vec<_>>(), "{reply}");
    assert_eq!(replies[3]["result"]["user"]["entries"], json!(["one", "two"]));
}

#[test]
fn a_batch_of_notifications_has_no_answer_and_an_empty_one_an_error() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.line(r#"[{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","method":"nope"}]"#);
    assert_eq!(raw.call("ping", &json!({}))["result"], json!({}));
    for (line, expected) in [("[]", "invalid_request"), ("[1,", "parse_error")] {
        check(&daemon, line, expected, &Value::Null, &["batch"]);
    }
    let many = vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 1001].join(",");
    check(&daemon, &format!("[{many}]"), "too_large", &Value::Null, &["1000"]);
}

#[test]
fn nesting_beyond_the_limit_is_refused_and_up_to_it_is_not() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let nested = |levels: usize| {
        let value = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"context.estimate","params":{{"messages":[{{"role":"user","content":{value}}}]}}}}"#
        )
    };
    assert!(daemon.raw().ask(&nested(124))["result"].is_object());
    check(&daemon, &nested(125), "parse_error", &json!(1), &["128"]);
    check(&daemon, &"[".repeat(500_000), "parse_error", &Value::Null, &["128"]);
    check(&daemon, &"{\"a\":".repeat(100_000), "parse_error", &Value::Null, &["128"]);
}

#[test]
fn errors_say_whose_fault_they_are_and_whether_to_try_again() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let error = daemon.raw().call("session.snapshot", &json!({ "session": "none" }))["error"].clone();
    assert_eq!(error["code"], -32005);
    assert_eq!((&error["data"]["retry"], &error["data"]["fault"]), (&json!(false), &json!("caller")));
    assert!(error["message"].as_str().unwrap().contains("none"));
}
