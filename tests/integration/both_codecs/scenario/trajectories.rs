//! Requests for `trajectory.compress`.

use serde_json::{Value, json};

use super::Talk;

fn conversation() -> Value {
    let exchanges = (0..12).flat_map(|at| {
        let call = format!("<tool_call>{{\"name\":\"terminal\",\"arguments\":{at}}}</tool_call>");
        let response = format!("<tool_response>{}</tool_response>", format!("line {at} ☕\n").repeat(20));
        [json!({ "from": "gpt", "value": call }), json!({ "from": "tool", "value": response, "weight": 1.5 })]
    });
    let begin = [json!({ "from": "system", "value": "Be brief." }), json!({ "from": "human", "value": "Go." })];
    begin.into_iter().chain(exchanges).collect()
}

pub(super) fn compress(talk: &mut Talk) {
    let config = json!({ "compression": { "target_max_tokens": 600, "summary_target_tokens": 60 } });
    talk.ask("trajectory.compress", json!({ "conversations": [] }));
    talk.ask("trajectory.compress", json!({ "conversations": [conversation(), [], conversation()], "config": config }));
    let yaml = "compression:\n  target_max_tokens: 600\nprotected_turns: {last_n_turns: 2}\n";
    talk.ask(
        "trajectory.compress",
        json!({ "conversations": [conversation()], "config": yaml, "summaries": ["It ran."], "count": "script" }),
    );
    let tokens = vec![100; 26];
    talk.ask(
        "trajectory.compress",
        json!({ "conversations": [conversation()], "tokens": [tokens], "config": config, "dry_run": true,
            "summarizer": "extractive" }),
    );
    for wrong in [
        json!({ "conversations": [conversation()], "tokens": [[1, 2]] }),
        json!({ "conversations": [[7]] }),
        json!({ "conversations": [], "summaries": ["one"] }),
        json!({ "conversations": [], "config": "compression:\n  target: 1\n" }),
        json!({ "conversations": [], "config": [1] }),
        json!({ "conversations": [], "summarizer": "client" }),
    ] {
        talk.ask("trajectory.compress", wrong);
    }
}
