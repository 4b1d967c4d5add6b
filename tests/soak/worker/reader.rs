//! A client that changes nothing: it searches, lists, reads states, and compresses lists of its own.

use herma_protocol::Json;
use herma_protocol::context::CompressParams;
use herma_protocol::daemon::StatusParams;
use herma_protocol::memory::LogParams;
use herma_protocol::output::search::SearchParams;
use herma_protocol::output::shelf::ListParams;
use herma_protocol::recall;
use herma_protocol::session::{OpenParams, chain};
use serde_json::json;

use super::Worker;

pub(super) fn run(mut worker: Worker) {
    let session = format!("{}-list", worker.name);
    let params = OpenParams { session: session.clone(), context_length: Some(64_000), ..OpenParams::default() };
    if worker.until(|client| client.session_open(params.clone())).is_none() {
        return;
    }
    while !worker.is_stopped() {
        let choice = worker.below(6);
        let word = ["look there", "answers 7", "note", "said", "it was so"][worker.below(5)].to_owned();
        let session = session.clone();
        let turns = worker.below(150);
        let done = worker.once(|client| match choice {
            0 => client.status(StatusParams {}).map(drop),
            1 => {
                client.recall_search(recall::SearchParams { query: word, ..recall::SearchParams::default() }).map(drop)
            }
            2 => client.output_search(SearchParams { query: word, ..SearchParams::default() }).map(drop),
            3 => client.session_list(chain::ListParams::default()).map(drop),
            4 => client
                .output_list(ListParams::default())
                .and_then(|_| client.memory_log(LogParams::default()))
                .map(drop),
            _ => {
                let messages = (0..turns).flat_map(|turn| {
                    ["user", "assistant"]
                        .map(|role| json!({ "role": role, "content": format!("{word} {turn}").repeat(60) }))
                });
                let messages = messages.map(|message| Json::parse(message.to_string()).unwrap()).collect();
                let asked = CompressParams { session, messages: Some(messages), ..CompressParams::default() };
                client.context_compress(asked).map(drop)
            }
        });
        if done.is_ok() {
            worker.ledger.note("looked", &json!(choice));
        }
        worker.pace();
    }
}
