//! The life of a large output on the socket: blocks, thresholds, turns, pages, matches.

use herma_tests::Raw;
use serde_json::{Value, json};

mod again;
mod block;
mod matches;
mod pages;
mod thresholds;
mod turns;

/// Admits a result of the tool `probe` in the session `s` under the id `c`, unless `more` overrides these.
fn admit(raw: &mut Raw, content: &Value, more: &Value) -> Value {
    let mut params = json!({ "session": "s", "tool": "probe", "id": "c", "content": content });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    raw.result("output.admit", &params)
}

/// Spills a text of any length, and returns its handle.
fn spill(raw: &mut Raw, id: &str, text: &str) -> String {
    let admitted = admit(raw, &json!(text), &json!({ "id": id, "threshold": 0 }));
    assert_eq!(admitted["spilled"], true, "{id}");
    admitted["handle"].as_str().unwrap().to_owned()
}

/// Reads pages until there is no next one. Returns the joined texts and the number of pages.
fn walk(raw: &mut Raw, first: &Value) -> (String, usize) {
    let mut params = first.clone();
    let (mut whole, mut pages) = (String::new(), 0);
    loop {
        let page = raw.result("output.read", &params);
        whole.push_str(page["text"].as_str().unwrap());
        pages += 1;
        let Some(next) = page["next"].as_object() else { return (whole, pages) };
        let params = params.as_object_mut().unwrap();
        if next.contains_key("offset") {
            params.remove("line");
            params.remove("lines");
        }
        params.extend(next.clone());
        assert!(pages < 10_000, "{next:?}");
    }
}
