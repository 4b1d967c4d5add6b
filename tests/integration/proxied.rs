//! `herma proxy run`, and what stops a proxy before it starts. `tests/agents` has agents and SDKs behind it.

use std::io::{Read, Write};
use std::net::TcpListener;

use herma_tests::{Cli, Daemon, Home, eventually};
use serde_json::json;

/// Returns a command line whose options don't name the home: what stands last belongs to the program.
fn started(home: &Home) -> Cli<'_> {
    Cli::new(home).with("HERMA_HOME", home.path().to_str().unwrap())
}

#[test]
fn a_program_runs_behind_proxies_and_its_end_is_the_commands() {
    let home = Home::new();
    let cli = started(&home).with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let run = |script: &str| cli.run(&["proxy", "run", "--", "sh", "-c", script]);
    let shown = run("echo $ANTHROPIC_BASE_URL $OPENAI_BASE_URL $OPENAI_API_BASE");
    let shown = shown.done();
    let urls: Vec<&str> = shown.split_whitespace().collect();
    assert!(urls.len() == 3 && urls[1] == urls[2] && urls[0] != urls[1], "{shown}");
    assert!(urls.iter().all(|url| url.starts_with("http://127.0.0.1:") && url.len() > 50), "{shown}");
    for (script, code) in [("exit 7", 7), ("kill -TERM $$", 143), ("exit 0", 0)] {
        let ran = run(script);
        assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{script}");
    }
    let gone = cli.run(&["proxy", "run", "--", "/nonexistent/agent", "--flag"]);
    assert!(gone.code == 127 && gone.err.contains("/nonexistent/agent can't be started"), "{gone:?}");
    // Options behind the program are its own, also without `--`.
    let plain = cli.run(&["proxy", "run", "--shadow", "echo", "--shadow", "-n"]);
    assert!(plain.out.starts_with("--shadow -n"), "{plain:?}");
    let nothing = cli.run(&["proxy", "run"]);
    assert!(nothing.code == 2 && nothing.err.contains("COMMAND"), "{nothing:?}");
    // Nothing passed, so nothing was kept and no daemon was started.
    assert!(!home.socket().exists());
}

#[test]
fn a_signal_to_end_reaches_the_program() {
    let home = Home::new();
    let ready = home.path().join("ready");
    let script = format!("trap 'echo ended; exit 9' TERM; touch {}; while :; do sleep 0.05; done", ready.display());
    let cli = started(&home);
    let mut running = cli.start(&["proxy", "run", "--", "sh", "-c", &script]);
    eventually("the program runs", || ready.exists().then_some(()));
    running.terminate();
    assert_eq!(running.line(), "ended");
    assert_eq!(running.ended(), Some(9));
}

#[test]
fn a_proxy_that_can_t_serve_says_why() {
    let home = Home::new();
    let cli = started(&home);
    for (arguments, words) in [
        (&["anthropic", "--listen", "0.0.0.0:0"][..], "not on this machine alone"),
        (&["openai", "--upstream", "ftp://127.0.0.1/v1"], "begins with http:// or https://"),
        (&["anthropic", "--upstream", "http://me:secret@127.0.0.1"], "no name, password"),
        (&["openai", "--upstream", "not a url"], "the upstream is no URL"),
        (&["run", "--openai", "ftp://x", "--", "true"], "begins with http:// or https://"),
    ] {
        let refused = cli.run(&[&["proxy"], arguments].concat());
        assert!(refused.code == 1 && refused.err.contains(words) && !refused.err.contains("secret"), "{refused:?}");
    }
}

/// A program that asks a model something, in Python.
const ASKING: &str = r#"
import json, os, urllib.request
messages = [{"role": "user", "content": "the gulls nest in Ostrava, and the key is ghp_0123456789abcdefghijABCDEFGHIJ0123"}]
body = {"model": "m", "tools": [{"type": "function"}], "messages": messages}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
print(urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())).read().decode())
"#;

/// Starts a model that gives one answer.
fn model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut asked, mut part) = (Vec::new(), [0; 4_096]);
        while !asked.ends_with(b"]}") {
            let read = stream.read(&mut part).unwrap();
            asked.extend_from_slice(&part[..read]);
        }
        let said = json!({ "id": "c1", "model": "m", "usage": { "prompt_tokens": 9, "completion_tokens": 2 },
                           "choices": [{ "message": { "role": "assistant", "content": "noted" }, "finish_reason": "stop" }] })
        .to_string();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", said.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(said.as_bytes()).unwrap();
    });
    format!("http://{address}/v1")
}

#[test]
fn what_a_program_asks_is_kept_under_its_name() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let ran = started(&home).run(&["proxy", "run", "--openai", &model(), "--", "python3", "-c", ASKING]);
    assert!(ran.done().contains("noted"));
    let mut raw = daemon.raw();
    let sessions = raw.result("session.list", &json!({ "raw": true }))["sessions"].take();
    let session = &sessions[0];
    assert_eq!((sessions.as_array().unwrap().len(), &session["agent"]), (1, &json!("python3")), "{sessions}");
    assert!(session["session"].as_str().unwrap().starts_with("proxy:python3:"), "{session}");
    assert_eq!(
        (&session["model"], session["end_reason"].as_str()),
        (&json!("m"), Some("the proxy ended")),
        "{session}"
    );
    let said = raw.result("session.messages", &json!({ "session": session["session"] }))["messages"].to_string();
    assert!(said.contains("nest in Ostrava") && said.contains("noted") && !said.contains("ghp_0123"), "{said}");
    let used = raw.result("session.usage", &json!({ "session": session["session"] }))["total"].take();
    assert_eq!((&used["calls"], &used["input"], &used["output"]), (&json!(1), &json!(9), &json!(2)), "{used}");
}

/// Claude Code's question for a summary, in Python.
const SUMMARIZING: &str = r#"
import json, os, urllib.request
words = "CRITICAL: Respond with TEXT ONLY. Your task is to create a detailed summary of the conversation so far."
messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}, {"role": "user", "content": words}]
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
headers = {"user-agent": "claude-cli/2.1.332 (external, cli)"}
urllib.request.urlopen(urllib.request.Request(url, json.dumps({"model": "m", "messages": messages}).encode(), headers)).read()
"#;

#[test]
fn a_proxy_in_shadow_measures_agents_with_hooks_too() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let begun = json!({ "session_id": "a", "source": "startup" }).to_string();
    drop(Cli::new(&home).run_with(&["hook", "claude-code", "session-start"], &begun));
    let log = home.path().join("herma/hermad.log");
    let shown = |options: &[&str]| {
        let before = std::fs::read_to_string(&log).unwrap().len();
        let base = model();
        let run = [&["proxy", "run"], options, &["--anthropic", &base, "--", "python3", "-c", SUMMARIZING]].concat();
        drop(started(&home).run(&run).done());
        std::fs::read_to_string(&log).unwrap().split_off(before)
    };
    let measured = shown(&["--shadow"]);
    assert!(measured.contains("a compaction of claude-code took the model"), "{measured}");
    let left = shown(&[]);
    assert!(!left.contains("took the model"), "the hooks keep this session: {left}");
}
