//! Nodes that a summarizer rewrites after a compression, with a real program and a daemon that is killed.

use std::fs;
use std::path::Path;

use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::{Value, json};

/// A summarizer that records its prompts, counts them, and answers according to the file next to it.
const PROGRAM: &str = r#"
import pathlib, sys, time
here = pathlib.Path(sys.argv[1])
prompt = sys.stdin.read()
with (here / "asked").open("a") as asked:
    asked.write(prompt + "\0")
mode = (here / "mode").read_text()
if mode == "waits":
    while (here / "mode").read_text() == "waits":
        time.sleep(0.02)
    print("- asked: 'go on'\n- did: what nobody may see")
    sys.exit()
if mode == "fails":
    sys.exit("no model today")
if mode == "long" and "An earlier attempt was too long" not in prompt:
    print("\n".join(f"- did: step {at} of a very long way" for at in range(500)))
else:
    print("- asked: 'go on'\n- did: the model tells of herons")
"#;

const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";

struct Written {
    home: Home,
    daemon: Daemon,
    folder: tempfile::TempDir,
}

impl Written {
    fn new(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("write.py");
        fs::write(&program, PROGRAM).unwrap();
        fs::write(folder.path().join("mode"), mode).unwrap();
        let argv = json!(["python3", program, folder.path()]);
        let home = Home::configured(&format!(
            "[summarizer]\nchain = [\"command\", \"extractive\"]\n[summarizer.command]\nargv = {argv}\n"
        ));
        let daemon = Daemon::start(&home);
        Self { home, daemon, folder }
    }

    fn mode(&self, mode: &str) {
        fs::write(self.folder.path().join("mode"), mode).unwrap();
    }

    fn prompts(&self) -> Vec<String> {
        prompts(self.folder.path())
    }
}

fn prompts(folder: &Path) -> Vec<String> {
    let all = fs::read_to_string(folder.join("asked")).unwrap_or_default();
    all.split_terminator('\0').map(str::to_owned).collect()
}

fn messages(from: usize, count: usize) -> Vec<Value> {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let text = |at: usize| format!("message {at} {KEY} {}", "and so on ".repeat(120));
    (from..from + count).map(|at| json!({ "role": role(at), "content": text(at) })).collect()
}

/// Appends messages to the list of a generation, and compresses it.
fn compress(raw: &mut Raw, (generation, length): (u64, usize), more: &[Value]) -> Vec<Value> {
    let params = json!({ "session": "s", "generation": generation, "position": length, "messages": more });
    raw.result("session.append", &params);
    let done = raw.result("context.compress", &json!({ "session": "s", "force": true }));
    assert_eq!(done["report"]["compressed"], true, "{}", done["report"]);
    done["messages"].as_array().unwrap().clone()
}

fn configured(daemon: &Daemon) -> Raw {
    let mut raw = daemon.raw();
    raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000, "engine": "lossless" }));
    raw
}

fn map(raw: &mut Raw) -> Vec<Value> {
    raw.result("recall.describe", &json!({ "session": "s" }))["map"].as_array().unwrap().clone()
}

/// Waits until the program has written the whole map, and returns the map.
fn written(raw: &mut Raw) -> Vec<Value> {
    eventually("the program writes the map", || {
        let map = map(raw);
        map.iter().all(|node| node["writer"] == "command").then_some(map)
    })
}

fn opened(raw: &mut Raw, node: &Value) -> Vec<Value> {
    let params = json!({ "handle": node, "after": 100, "tokens": 100_000 });
    raw.result("recall.expand", &params)["items"].as_array().unwrap().clone()
}

#[test]
fn a_model_writes_the_map_behind_the_compression_and_the_next_one_shows_it() {
    let Written { home, mut daemon, folder } = Written::new("short");
    let mut raw = configured(&daemon);
    let list = compress(&mut raw, (0, 0), &messages(0, 200));
    assert!(!json!(list).to_string().contains("herons"), "nobody waits for it");
    let id = |text: &str| {
        text.split('[').find(|part| part.starts_with("nod_")).unwrap().split(']').next().unwrap().to_owned()
    };
    let older = json!(id(&json!(list).to_string()));
    let better = written(&mut raw);
    assert!(better.iter().all(|node| node["text"].as_str().unwrap().contains("herons")), "{better:?}");
    let newer = &better[0]["id"];
    assert_eq!(newer.as_str().unwrap(), format!("{}_2", older.as_str().unwrap()));
    assert_eq!(opened(&mut raw, newer), opened(&mut raw, &older), "either opens the same messages");
    let asked = prompts(folder.path());
    assert_eq!(asked.len(), better.len(), "each is asked for once");
    assert!(asked.iter().all(|prompt| prompt.contains("message ") && !prompt.contains(KEY)), "no key leaves");
    daemon.kill();
    daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(map(&mut raw), better, "they are kept");
    let next = compress(&mut raw, (1, list.len()), &messages(200, 60));
    let text = json!(next).to_string();
    assert!(
        text.contains("the model tells of herons") && text.contains(newer.as_str().unwrap()),
        "{:?}",
        text.find("## Map").map(|at| &text[at..])
    );
    let hit = &raw.result("recall.search", &json!({ "query": "\"message 20\"", "kinds": ["message"] }))["hits"][0];
    assert!(hit["node"].as_str().unwrap().ends_with("_2"), "{hit}");
    let undone = raw.result("context.undo", &json!({ "session": "s" }));
    assert_eq!(undone["messages"].as_array().unwrap(), &[list, messages(200, 60)].concat());
    assert_eq!(map(&mut raw), better, "an undo leaves what stood before it");
    raw.result("session.remove", &json!({ "session": "s" }));
    let gone = raw.call("recall.expand", &json!({ "handle": newer }));
    assert_eq!(kind(&gone), "not_found", "{gone}");
}

#[test]
fn what_is_too_long_is_asked_for_again_and_never_cut() {
    let written_by = Written::new("long");
    let mut raw = configured(&written_by.daemon);
    compress(&mut raw, (0, 0), &messages(0, 200));
    let better = written(&mut raw);
    assert!(better.iter().all(|node| !node["text"].as_str().unwrap().contains("very long way")), "{better:?}");
    assert_eq!(written_by.prompts().len(), 2 * better.len(), "at length, and then in short");
}

#[test]
fn a_model_that_fails_is_asked_again_later_and_nobody_waits_for_it() {
    let written_by = Written::new("fails");
    let mut raw = configured(&written_by.daemon);
    let list = compress(&mut raw, (0, 0), &messages(0, 200));
    let count = map(&mut raw).len();
    eventually("it is asked for each", || (written_by.prompts().len() >= count).then_some(()));
    assert!(map(&mut raw).iter().all(|node| node["writer"] == "extractive"));
    let status = raw.result("status", &json!({}));
    assert!(status["summarizer"].to_string().contains("failing"), "{status}");
    // Another compression may come meanwhile. Its nodes are written with the others.
    compress(&mut raw, (1, list.len()), &messages(200, 60));
    written_by.mode("short");
    written(&mut raw);
    assert!(written_by.home.path().exists());
}

#[test]
fn nobody_is_asked_about_a_session_that_is_removed_and_nothing_of_it_comes_into_a_new_one() {
    let written_by = Written::new("waits");
    let mut raw = configured(&written_by.daemon);
    compress(&mut raw, (0, 0), &messages(0, 200));
    eventually("a model is asked", || (!written_by.prompts().is_empty()).then_some(()));
    raw.result("session.remove", &json!({ "session": "s" }));
    let mut raw = configured(&written_by.daemon);
    compress(&mut raw, (0, 0), &messages(1_000, 200));
    written_by.mode("short");
    let better = written(&mut raw);
    assert!(better.iter().all(|node| node["text"].as_str().unwrap().contains("herons")), "{better:?}");
    let prompts = written_by.prompts();
    assert_eq!(prompts.len(), 1 + better.len());
    assert!(prompts[1..].iter().all(|prompt| !prompt.contains("message 1 ")));
}
