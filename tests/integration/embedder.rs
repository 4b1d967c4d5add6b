//! Vector search in addition to words: a real endpoint on the loopback interface, a program, and their failures.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Instant;

use herma_protocol::Json;
use herma_protocol::recall::{SearchParams, SearchResult};
use herma_protocol::session::transcript::AppendParams;
use herma_tests::{Daemon, Home, eventually, python};
use serde_json::json;

/// A model that knows two things, by several words each. The file in its second argument controls its behaviour. It
/// logs requests to the file in its third.
const MODEL: &str = r#"
import http.server, json, sys, time
THINGS = [("car", "automobile", "vehicle"), ("bird", "heron", "stork")]
def vector(text):
    return [float(sum(word in text.lower() for word in words)) for words in THINGS] + [0.1]
def answer(texts, manner):
    rows = [{"index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    if manner == "fewer": rows = rows[1:]
    if manner == "nan": rows[0]["embedding"][0] = float("nan")
    if manner == "longer": rows[0]["embedding"] *= 2 if len(rows) > 1 else 3
    return json.dumps({"data": rows[::-1]})
def asked(texts):
    with open(sys.argv[3], "a") as log: log.write("".join(json.dumps(text) + "\n" for text in texts))
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        manner = open(sys.argv[2]).read().strip()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked(body["input"])
        if manner == "hang": time.sleep(60)
        refuses = any("refuse me" in text for text in body["input"])
        status = 500 if manner == "broken" else 400 if refuses or self.path != "/v1/embeddings" or body["model"] != "small" else 200
        text = answer(body["input"], manner).encode() if status == 200 else b'{"error": {"message": "no"}}'
        self.send_response(status); self.send_header("content-length", str(len(text))); self.end_headers(); self.wfile.write(text)
if sys.argv[1] == "serve":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    texts = json.load(sys.stdin)["input"]
    asked(texts)
    print(answer(texts, open(sys.argv[2]).read().strip()))
"#;

/// Files that control the model.
struct Model {
    folder: tempfile::TempDir,
    server: Option<(Child, u16)>,
}

impl Model {
    fn new(serves: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("manner"), "well").unwrap();
        let mut model = Self { folder, server: None };
        if serves {
            let [manner, asked] = [model.path("manner"), model.path("asked")];
            let mut server = python::start(MODEL, &["serve", manner.to_str().unwrap(), asked.to_str().unwrap()]);
            let mut port = String::new();
            BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut port).unwrap();
            model.server = Some((server, port.trim().parse().unwrap()));
        }
        model
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn behaves(&self, manner: &str) {
        fs::write(self.path("manner"), manner).unwrap();
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.path("asked")).unwrap_or_default()
    }

    /// Returns the configuration that uses the model.
    fn config(&self, wait: &str) -> String {
        let head = |kind: &str| format!("[recall]\nembedder = \"{kind}\"\nwait = \"{wait}\"\n[recall.{kind}]\n");
        match &self.server {
            Some((_, port)) => {
                head("openai")
                    + &format!("base_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"small\"\ntimeout = \"2s\"\n")
            }
            None => {
                let script = self.path("model.py");
                fs::write(&script, MODEL).unwrap();
                let argv = [Path::new("python3"), &script, Path::new("run"), &self.path("manner"), &self.path("asked")];
                head("command") + &format!("argv = {}\n", json!(argv))
            }
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if let Some((server, _)) = &mut self.server {
            drop(server.kill());
            drop(server.wait());
        }
    }
}

fn says(daemon: &Daemon, texts: &[&str]) {
    let message = |text: &&str| Json::parse(json!({ "role": "user", "content": text }).to_string()).unwrap();
    let messages = texts.iter().map(message).collect();
    let params = AppendParams { session: "s".into(), generation: 0, position: 0, messages };
    daemon.client().session_append(params).unwrap();
}

fn search(daemon: &Daemon, query: &str) -> SearchResult {
    daemon.client().recall_search(SearchParams { query: query.into(), ..SearchParams::default() }).unwrap()
}

fn found(daemon: &Daemon, query: &str) -> Vec<String> {
    search(daemon, query).hits.into_iter().map(|hit| hit.snippet).collect()
}

const TEXTS: [&str; 3] = ["we bought a car", "nothing of note", "the stork nests"];

#[test]
fn what_is_said_in_other_words_is_found() {
    for serves in [true, false] {
        let model = Model::new(serves);
        let home = Home::configured(&model.config("10s"));
        let daemon = Daemon::start(&home);
        says(&daemon, &TEXTS);
        let first = |query: &str| eventually("its vector is there", || found(&daemon, query).first().cloned());
        assert_eq!((first("automobile"), first("heron")), (TEXTS[0].to_owned(), TEXTS[2].to_owned()), "{serves}");
        // Hits by words come first, and quoted words must occur.
        assert_eq!(found(&daemon, "the stork")[0], TEXTS[2]);
        assert_eq!(found(&daemon, "\"bought\" automobile"), [TEXTS[0]]);
        drop(daemon);
        let daemon = Daemon::start(&home);
        assert_eq!(found(&daemon, "vehicle")[0], TEXTS[0]);
        assert_eq!(model.asked().matches("nothing of note").count(), 1, "{}", model.asked());
    }
}

#[test]
fn words_decide_alone_where_the_embedder_fails_and_it_is_asked_again() {
    let model = Model::new(true);
    let home = Home::configured(&model.config("300ms"));
    let daemon = Daemon::start(&home);
    for manner in ["broken", "fewer", "nan", "hang"] {
        model.behaves(manner);
        says(&daemon, &TEXTS);
        let began = Instant::now();
        let result = search(&daemon, "car");
        assert_eq!(result.hits[0].snippet, TEXTS[0], "{manner}");
        let notice = result.notice.unwrap();
        assert!(notice.contains("words decided alone"), "{manner}: {notice}");
        assert!(began.elapsed().as_secs() < 5, "{manner}");
    }
    model.behaves("well");
    assert_eq!(search(&daemon, "car").notice, None);
    drop(daemon);
    // A restart skips the pause after a failure.
    let daemon = Daemon::start(&home);
    eventually("vectors are made", || found(&daemon, "automobile").first().cloned());
}

#[test]
fn an_answer_of_another_size_makes_all_anew_and_a_refused_text_keeps_nobody_else_from_theirs() {
    let model = Model::new(true);
    let home = Home::configured(&model.config("10s"));
    let daemon = Daemon::start(&home);
    says(&daemon, &["refuse me, car", TEXTS[0]]);
    let texts =
        eventually("its vector is there", || Some(found(&daemon, "automobile")).filter(|found| !found.is_empty()));
    assert_eq!(texts, [TEXTS[0]]);
    model.behaves("longer");
    assert!(search(&daemon, "automobile").hits.is_empty());
    model.behaves("well");
    assert_eq!(found(&daemon, "automobile"), [TEXTS[0]]);
}

#[test]
fn no_secret_reaches_the_embedder() {
    let model = Model::new(true);
    let home = Home::configured(&model.config("10s"));
    let daemon = Daemon::start(&home);
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    says(&daemon, &[&format!("the car's key is {secret}")]);
    eventually("its vector is there", || found(&daemon, "automobile").first().cloned());
    found(&daemon, secret);
    assert!(
        model.asked().contains("the car's key is") && !model.asked().contains("mnopqrstuvwxyz"),
        "{}",
        model.asked()
    );
}
