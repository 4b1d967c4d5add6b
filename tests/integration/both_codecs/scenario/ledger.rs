//! Requests to the ledger.

use serde_json::{Value, json};

use super::Talk;

/// Calls of a model, with usage in Anthropic's form.
fn calls(of: &[(&str, f64, u64)]) -> Value {
    let call = |(id, time, output): &(&str, f64, u64)| {
        let usage = json!({ "input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 2000 });
        json!({ "id": id, "time": time, "model": "m-large", "provider": "anthropic", "usage": usage })
    };
    of.iter().map(call).collect()
}

pub(super) fn record(talk: &mut Talk) {
    talk.ask("session.open", json!({ "session": "s", "agent": "coder" }));
    talk.ask("ledger.record", json!({ "session": "s" }));
    let twice = calls(&[("a", 100.0, 1), ("a", 101.0, 500), ("b", 102.0, 7)]);
    let change = json!({ "time": 99.5, "kind": "context", "added": 900, "removed": 0 });
    let both = json!({ "session": "s", "calls": twice, "changes": [change] });
    talk.ask("ledger.record", both.clone());
    talk.ask("ledger.record", both);
    talk.ask("session.usage", json!({ "session": "s" }));
    let change = |with: Value| {
        let mut change = json!({ "time": 1.0, "kind": "output", "added": 1, "removed": 2 });
        change.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        json!({ "session": "s", "changes": [change] })
    };
    for wrong in [
        json!({ "session": "s", "calls": calls(&[("", 1.0, 1)]) }),
        json!({ "session": "s", "calls": calls(&[("a\n", 1.0, 1)]) }),
        json!({ "session": "s", "calls": calls(&[("c", -1.0, 1)]) }),
        json!({ "session": "s", "calls": calls(&[("c", 1.0, 1); 10_001]) }),
        json!({ "session": "", "changes": [] }),
        change(json!({ "time": -1 })),
        change(json!({ "removed": 9_007_199_254_740_992_u64 })),
    ] {
        talk.ask("ledger.record", wrong);
    }
    talk.ask("ledger.record", change(json!({ "added": 9_007_199_254_740_991_u64 })));
    talk.ask("ledger.read", json!({ "session": "s" }));
}

pub(super) fn read(talk: &mut Talk) {
    talk.ask("ledger.read", json!({}));
    talk.ask("session.open", json!({ "session": "s", "agent": "coder" }));
    let change = |time: f64, kind: &str, added: u64, removed: u64| json!({ "time": time, "kind": kind, "added": added, "removed": removed });
    let changes = [
        change(99.0, "definitions", 300, 0),
        change(99.0, "context", 900, 0),
        change(100.5, "output", 500, 8000),
        change(101.5, "compaction", 6000, 2000),
        change(101.8, "handover", 3000, 2000),
        change(103.0, "tool", 50, 0),
    ];
    let spent = calls(&[("a", 100.0, 20), ("b", 101.0, 30), ("c", 102.0, 40)]);
    talk.ask("ledger.record", json!({ "session": "s", "calls": spent, "changes": changes }));
    let summary = change(100.5, "summary", 200, 0);
    talk.ask("ledger.record", json!({ "session": "t", "calls": calls(&[("a", 100.0, 20)]), "changes": [summary] }));
    for by in ["session", "model", "agent", "day"] {
        talk.ask("ledger.read", json!({ "by": by }));
    }
    talk.ask("ledger.read", json!({ "by": "day", "agents": true }));
    talk.ask("ledger.read", json!({ "session": "t" }));
    talk.ask("ledger.read", json!({ "session": "nobody" }));
    talk.ask("ledger.read", json!({ "since": 101.2 }));
    talk.ask("ledger.read", json!({ "since": 32_503_680_000.0 }));
}
