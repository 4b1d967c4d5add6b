//! Writes that are not staged, and ids that can't be decided.

use super::*;

#[test]
fn an_unknown_id_is_not_found_and_nothing_is_done() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    let known = stage(&mut daemon.raw(), "three");
    let mut raw = daemon.raw();
    for method in ["memory.approve", "memory.reject"] {
        for unknown in ["00000000", "", "../../config", "a\u{0}b", &"x".repeat(10_000)] {
            let reply = raw.call(method, &json!({ "ids": [known, unknown] }));
            assert_eq!(kind(&reply), "not_found", "{method} {unknown:?}: {reply}");
            assert!(reply.to_string().len() < 1000, "{reply}");
        }
        for wrong in [
            json!({}),
            json!({ "all": false }),
            json!({ "ids": [known], "all": true }),
            json!({ "ids": known }),
            json!({ "id": known }),
        ] {
            let reply = raw.call(method, &wrong);
            assert_eq!(kind(&reply), "invalid_params", "{method} {wrong}: {reply}");
        }
    }
    assert_eq!(home.entries(Target::Memory), ["one", "two"]);
    assert_eq!(files(&home), [format!("{known}.json")]);
}

#[test]
fn what_no_store_would_take_is_refused_and_never_waits() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    for (method, params, words) in [
        ("memory.add", json!({ "target": "memory", "content": " " }), "empty"),
        ("memory.add", json!({ "target": "memory", "content": POISON }), "prompt_injection"),
        ("memory.add", json!({ "target": "memory", "content": "a\n§\nb" }), "§"),
        ("memory.replace", json!({ "target": "memory", "old_text": "", "content": "x" }), "old_text"),
        ("memory.replace", json!({ "target": "memory", "old_text": "one", "content": POISON }), "prompt_injection"),
        ("memory.remove", json!({ "target": "memory", "old_text": " " }), "old_text"),
        ("memory.batch", json!({ "target": "memory", "operations": [] }), "empty"),
        (
            "memory.batch",
            json!({ "target": "memory", "operations": [{ "action": "add", "content": POISON }] }),
            "prompt_injection",
        ),
        ("memory.tool", json!({ "arguments": { "action": "add", "target": "memory" } }), "content"),
        (
            "memory.tool",
            json!({ "arguments": { "action": "add", "target": "memory", "content": POISON } }),
            "prompt_injection",
        ),
    ] {
        let refused = daemon.raw().result(method, &params);
        assert_eq!(
            (&refused["success"], &refused["staged"]),
            (&json!(false), &json!(null)),
            "{method} {params}: {refused}"
        );
        assert!(refused["error"].as_str().unwrap().contains(words), "{words} in {refused}");
    }
    for (params, expected) in [
        (json!({ "target": "mind", "content": "x" }), "invalid_params"),
        (json!({ "target": "memory", "content": "x", "expected_revision": 7 }), "conflict"),
        (json!({ "target": "memory", "content": "x".repeat((1 << 20) + 1) }), "too_large"),
        (json!({ "target": "memory", "content": "x", "profile": "nobody" }), "not_found"),
    ] {
        assert_eq!(kind(&daemon.raw().call("memory.add", &params)), expected);
    }
    assert_eq!((files(&home), home.entries(Target::Memory)), (vec![], vec!["one".to_owned(), "two".into()]));
}

#[test]
fn undo_and_restore_need_no_approval() {
    let home = strict_home();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let id = stage(&mut raw, "three");
    daemon.raw().result("memory.approve", &json!({ "ids": [id] }));
    let undone = raw.result("memory.undo", &json!({ "target": "memory" }));
    assert_eq!((&undone["entries"], &undone["staged"]), (&json!(["one", "two"]), &json!(null)), "{undone}");
    let restored = raw.result("memory.restore", &json!({ "target": "memory", "revision": 2 }));
    assert_eq!((&restored["revision"], &restored["entry_count"]), (&json!(4), &json!(3)), "{restored}");
    assert!(files(&home).is_empty());
}
