//! `herma continue`: what the other agent is started with.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use herma_tests::{Cli, Daemon, Home};
use serde_json::json;

#[test]
fn the_other_agent_begins_in_the_folder_with_the_prompt_and_the_parent() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let (work, bin) = (home.path().join("my work"), home.path().join("bin"));
    for folder in [&work, &bin] {
        fs::create_dir(folder).unwrap();
    }
    let said = home.path().join("said");
    let script = format!(
        "#!/bin/sh\n{{ pwd; echo \"$HERMA_CONTINUES\"; printf '%s\\n' \"$@\"; }} > '{}'\nexit 7\n",
        said.display()
    );
    for name in ["codex", "qwen"] {
        fs::write(bin.join(name), &script).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut raw = daemon.raw();
    let session = "claude-code:5f2a77d1-walrus";
    let opened = json!({ "session": session, "agent": "claude-code", "title": "Find it", "cwd": work });
    raw.result("session.open", &opened);
    let messages = json!([
        { "role": "user", "content": "Never feed the walrus. Where does it live?" },
        { "role": "assistant", "content": null, "tool_calls":
            [{ "id": "c", "type": "function", "function": { "name": "Bash", "arguments": "{\"command\":\"ls ice.md\"}" } }] },
        { "role": "tool", "tool_call_id": "c", "content": "ice.md" },
        { "role": "assistant", "content": "On the ice, says ice.md." },
    ]);
    raw.result("session.append", &json!({ "session": session, "generation": 0, "position": 0, "messages": messages }));
    raw.result("constraint.add", &json!({ "session": session, "text": "never feed the walrus" }));
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let folder = home.path().to_str().unwrap();
    // What the test adds to a command goes to the agent if it stands behind `--`.
    let cli = Cli::new(&home).with("PATH", &path).with("HOME", folder).with("HERMA_HOME", folder);
    let printed = cli.run(&["continue", "5f2a", "--in", "codex", "--print"]).done();
    for part in [
        session,
        "\"Find it\"",
        "- never feed the walrus",
        "[user] Never feed",
        "[assistant] On the ice",
        "recall_search",
    ] {
        assert!(printed.contains(part), "{part} in {printed}");
    }
    assert!(!printed.contains("ls ice.md") && !said.exists(), "only words, and nothing is started: {printed}");
    let asked = cli.run(&["continue", "--in", "codex", "--json"]).json();
    assert_eq!(
        (&asked["environment"]["HERMA_CONTINUES"], &asked["folder"]),
        (&json!(format!("codex={session}")), &json!(work))
    );
    for (agent, before, after) in
        [("codex", "", "--full-auto\n"), ("qwen-code", "--prompt-interactive\n", "--full-auto\n")]
    {
        let started = cli.run(&["continue", "@1", "--in", agent, "--", "--full-auto"]);
        assert_eq!(started.code, 7, "the agent's own exit code: {started:?}");
        assert!(started.err.contains(&format!("hooks install {agent}")), "{started:?}");
        let expected = format!("{}\n{agent}={session}\n{before}{printed}{after}", work.display());
        let given = fs::read_to_string(&said).unwrap();
        assert!(given.starts_with(&expected), "{given}");
    }
    let missing = cli.run(&["continue", "@1", "--in", "claude-code"]);
    assert!(missing.code == 1 && missing.err.contains("`claude` is not on the PATH"), "{missing:?}");
    let nobody = cli.run(&["continue", "nobody", "--in", "codex"]);
    assert!(nobody.code == 1 && nobody.err.contains("no session \"nobody\""), "{nobody:?}");
    assert_eq!(cli.run(&["continue", "@1", "--in", "emacs"]).code, 2);
    assert_eq!(cli.run(&["continue", "@1"]).code, 2);
    // A hook of the new session says which session it continues.
    let start = r#"{"session_id":"b-1","source":"startup"}"#;
    let continues = format!("codex={session}");
    let hooked = Cli::new(&home).with("HERMA_CONTINUES", &continues).with("HERMA_HOOK_TIMEOUT_MS", "30000");
    drop(hooked.run_with(&["hook", "codex", "session-start"], start).done());
    assert_eq!(cli.run(&["session", "show", "codex:b-1", "--json"]).json()["parent"], json!(session));
    // An agent that this one starts for something else is not meant.
    drop(hooked.run_with(&["hook", "qwen-code", "session-start"], start).done());
    assert!(cli.run(&["session", "show", "qwen-code:b-1", "--json"]).json()["parent"].is_null());
}
