//! `herma mcp` over standard input and output, in raw lines.

use herma_protocol::memory::{SchemaParams, Target};
use herma_protocol::recall;
use herma_tests::mcp::introduction;
use herma_tests::{Cli, Daemon, Home, Mcp};
use serde_json::{Value, json};

mod bad;
mod changes;
mod inline;
mod restart;

const TOOLS: [&str; 9] = [
    "memory",
    "recall_search",
    "recall_expand",
    "recall_describe",
    "recall_state",
    "memory_read",
    "output_read",
    "output_search",
    "admit_output",
];

#[test]
fn it_says_who_it_is_and_what_it_can() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::start(&home, &["--session", "mine"]);
    let told = mcp.initialize("probe");
    let own = (&told["serverInfo"]["name"], &told["serverInfo"]["version"]);
    assert_eq!(own, (&json!("herma"), &json!(env!("CARGO_PKG_VERSION"))), "{told}");
    assert_eq!(told["protocolVersion"], json!(herma_tests::mcp::VERSION));
    let capabilities = &told["capabilities"];
    assert!(capabilities["tools"].is_object() && capabilities["prompts"].is_object(), "{told}");
    assert_eq!(capabilities["resources"]["subscribe"], json!(true));
    assert!(told["instructions"].as_str().unwrap().contains("memory"), "{told}");
    assert_eq!(mcp.result("ping", &json!({})), json!({}));
    let (code, words) = mcp.end();
    assert_eq!((code, words.as_str()), (Some(0), ""));
}

#[test]
fn its_tools_have_the_schemas_of_the_wire() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let memory = client.memory_schema(SchemaParams {}).unwrap().tool;
    let recall = client.recall_schema(recall::SchemaParams {}).unwrap().tools;
    let mut mcp = Mcp::ready(&home, &[]);
    let tools = mcp.result("tools/list", &json!({}))["tools"].take();
    let tools = tools.as_array().unwrap();
    assert_eq!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), TOOLS);
    for (tool, schema) in tools.iter().zip(std::iter::once(&memory).chain(&recall)) {
        let mut schema: Value = serde_json::from_str(schema.get()).unwrap();
        if matches!(tool["name"].as_str(), Some("recall_describe" | "recall_state" | "recall_ask")) {
            // A tool about one session defaults to this session.
            schema["parameters"]["required"].as_array_mut().unwrap().retain(|name| name != "session");
            let Some(Value::String(words)) = schema.pointer_mut("/parameters/properties/session/description") else {
                panic!("{schema}")
            };
            words.push_str(" This session when left out.");
        }
        assert_eq!((&tool["name"], &tool["inputSchema"]), (&schema["name"], &schema["parameters"]));
    }
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        // No description names a tool that does not exist.
        assert!(!tool["description"].as_str().unwrap().contains("session_search"), "{tool}");
        let looks = !matches!(tool["name"].as_str(), Some("memory" | "admit_output"));
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(looks), "{tool}");
    }
}

#[test]
fn memory_is_written_and_refusals_are_read_by_the_model() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &["--session", "s1"]);
    let written = mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "likes tea" }));
    assert_eq!((&written["success"], &written["entries"]), (&json!(true), &json!(["likes tea"])));
    let operations = json!([
        { "action": "replace", "old_text": "tea", "content": "likes coffee" },
        { "action": "add", "content": "lives in Kyiv" },
    ]);
    let written = mcp.done("memory", &json!({ "action": "add", "target": "user", "operations": operations }));
    assert_eq!(written["entry_count"], json!(2), "{written}");
    assert_eq!(home.entries(Target::User), ["likes coffee", "lives in Kyiv"]);
    for (arguments, words) in [
        (json!({ "action": "add", "target": "user", "content": "x".repeat(2000) }), "exceed"),
        (json!({ "action": "remove", "target": "user", "old_text": "nothing like it" }), "nothing like it"),
        (json!({ "action": "add", "target": "user" }), "content is required"),
        (json!({}), "action is required"),
    ] {
        let (failed, refused) = mcp.tool("memory", &arguments);
        assert_eq!((failed, &refused["success"]), (false, &json!(false)), "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(words), "{refused}");
    }
    let row = daemon.raw().result("memory.log", &json!({ "limit": 1 }))["rows"][0].take();
    assert_eq!((&row["session"], &row["agent"], &row["action"]), (&json!("s1"), &json!("probe"), &json!("batch")));
}

#[test]
fn a_model_gets_a_page_of_texts() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let text: String = (1..=4_000).map(|line| format!("level {line} of the river\n")).collect();
    let params = json!({
        "session": "s1", "generation": 0, "position": 0,
        "messages": [{ "role": "user", "content": text }, { "role": "assistant", "content": "Noted." }],
    });
    daemon.raw().result("session.append", &params);
    let mut mcp = Mcp::ready(&home, &["--session", "s1"]);
    let hits = mcp.done("recall_search", &json!({ "query": "river" }));
    let handle = &hits["hits"][0]["handle"];
    for (more, tokens, line) in [
        (json!({ "handle": handle }), 2_000, "level 1 of"),
        (json!({ "handle": handle, "about": "\"level 3000 of\"" }), 2_000, "level 3000 of"),
        (json!({ "handle": handle, "tokens": 100 }), 100, "level 1 of"),
    ] {
        let page = mcp.done("recall_expand", &more);
        let items = page["items"].as_array().unwrap();
        let (part, length) = (items[0]["text"].as_str().unwrap(), items[0]["text"].as_str().unwrap().len());
        assert!(items.len() == 1 && items[0]["message"].is_null(), "{more}: every text once");
        assert!(part.contains(line) && length <= tokens * 4 && length > tokens * 3, "{more}: {length}");
        assert!(page["next"].is_string(), "{more}");
    }
}

#[test]
fn outputs_are_put_aside_and_read_back() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &["--session", "s1"]);
    let text: String = (1..=20_000).map(|line| format!("line {line} of many\n")).collect();
    let admitted = mcp.done("admit_output", &json!({ "content": text, "id": "call_1" }));
    assert_eq!((&admitted["spilled"], &admitted["lines"]), (&json!(true), &json!(20_000)));
    let handle = &admitted["handle"];
    let page = mcp.done("output_read", &json!({ "handle": handle, "line": 4711, "lines": 2 }));
    assert_eq!(page["text"], "line 4711 of many\nline 4712 of many\n");
    let found = mcp.done("output_search", &json!({ "query": "line 15000 of" }));
    assert_eq!((&found["matches"][0]["line"], &found["matches"][0]["handle"]), (&json!(15_000), handle));
    let hits = mcp.done("recall_search", &json!({ "query": "\"line 777 of\"", "kinds": ["output"] }));
    let expanded = mcp.done("recall_expand", &json!({ "handle": hits["hits"][0]["handle"], "before": 0, "after": 0 }));
    assert!(expanded["items"][0]["text"].as_str().unwrap().contains("line 777 of"), "{expanded}");
    assert_eq!(mcp.done("recall_describe", &json!({ "session": "s1" })), json!({ "compressions": [] }));
    let short = mcp.done("admit_output", &json!({ "content": "short", "tool": "terminal" }));
    assert_eq!((&short["spilled"], &short["content"]), (&json!(false), &json!("short")));
    // A page that was read back is not spilled when it is admitted.
    let page = mcp.done("output_read", &json!({ "handle": handle, "offset": 0, "limit": 60_000 })).to_string();
    let again = mcp.done("admit_output", &json!({ "content": page }));
    assert_eq!((&again["spilled"], &again["content"]), (&json!(false), &json!(page)));
}

#[test]
fn a_client_with_tools_only_sees_the_memory() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let add = |target: &str, content: &str| {
        drop(daemon.raw().result("memory.add", &json!({ "target": target, "content": content })));
    };
    let instructions = |client: &str| {
        let mut mcp = Mcp::start(&home, &[]);
        mcp.initialize(client)["instructions"].as_str().unwrap().to_owned()
    };
    assert!(instructions("some").contains("empty"), "{}", instructions("some"));
    add("user", "likes tea");
    let short = instructions("some");
    assert!(
        short.contains("- likes tea") && short == instructions("some"),
        "it differs from session to session: {short}"
    );
    let mut mcp = Mcp::ready(&home, &[]);
    let read = mcp.done("memory_read", &json!({}));
    assert_eq!((&read["user"]["entries"], &read["memory"]["entries"]), (&json!(["likes tea"]), &json!([])));
    assert_eq!(mcp.done("memory_read", &json!({ "target": "memory" }))["user"], Value::Null);
    for wrong in [json!({ "raw": true }), json!({ "target": "x" }), json!({ "target": 7 }), json!({ "profile": "x" })] {
        let (failed, words) = mcp.tool("memory_read", &wrong);
        assert!(failed && words.to_string().contains("target"), "{wrong}: {words}");
    }
    let tools = mcp.result("tools/list", &json!({}));
    let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "memory_read").unwrap();
    assert_eq!(tool["annotations"]["readOnlyHint"], json!(true));
    // Long entries are not in the instructions. The model reads them with the tool.
    (0..3).for_each(|at| add("memory", &format!("{at} {}", "note ".repeat(100))));
    let long = instructions("some");
    assert!(long.contains("memory_read") && !long.contains("likes tea"), "{long}");
    // Hooks give the memory to the model themselves.
    let told = json!({ "session_id": "a", "source": "startup" }).to_string();
    drop(Cli::new(&home).run_with(&["hook", "claude-code", "session-start"], &told));
    let hooked = instructions("claude-code");
    assert!(!hooked.contains("memory_read") && !hooked.contains("likes tea"), "{hooked}");
}

#[test]
fn an_installed_hook_that_runs_later_than_the_server_gives_the_memory_alone() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "likes tea" })));
    let user = home.path().join("user");
    std::fs::create_dir(&user).unwrap();
    let cli = Cli::new(&home).with("HOME", user.to_str().unwrap()).with("CLAUDE_CONFIG_DIR", "");
    let socket = home.socket();
    let install = ["hooks", "install", "claude-code", "--yes", "--socket", socket.to_str().unwrap()];
    drop(cli.run(&install).done());
    // The hooks are installed, but do not run: somebody must give the memory.
    let mut mcp = Mcp::start_for(&home, &user);
    let alone = mcp.initialize("claude-code")["instructions"].to_string();
    assert!(alone.contains("likes tea"), "{alone}");

    let mut mcp = Mcp::start_for(&home, &user);
    let asked = mcp.request("initialize", &introduction("claude-code"));
    let told = json!({ "session_id": "a", "source": "startup" }).to_string();
    let given = cli.run_with(&["hook", "claude-code", "session-start"], &told);
    assert!(given.out.contains("likes tea"), "{given:?}");
    let hooked = mcp.answer(asked)["result"]["instructions"].to_string();
    assert!(!hooked.contains("likes tea"), "{hooked}");
}

#[test]
fn the_session_is_its_own_and_ends_with_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let sessions = |raw: &mut herma_tests::Raw| raw.result("session.list", &json!({}))["sessions"].take();
    let mut mcp = [Mcp::start(&home, &[]), Mcp::start(&home, &[])];
    let ids = mcp.each_mut().map(|mcp| {
        drop(mcp.initialize("Some Client"));
        let read = mcp.result("resources/read", &json!({ "uri": "herma://session/snapshot" }));
        read["contents"][0]["_meta"]["herma/session"].as_str().unwrap().to_owned()
    });
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.starts_with("mcp-Some-Client-")), "{ids:?}");
    let open = sessions(&mut raw);
    assert_eq!(open.as_array().unwrap().len(), 2, "{open}");
    assert!(open[0]["ended_at"].is_null() && open[0]["agent"] == "Some-Client", "{open}");
    for mcp in mcp {
        assert_eq!(mcp.end(), (Some(0), String::new()));
    }
    let closed = sessions(&mut raw);
    assert!(closed.as_array().unwrap().iter().all(|row| row["ended_at"].is_number()), "{closed}");
}

#[test]
fn the_prompt_has_what_is_known_and_the_guidance() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "likes tea" })));
    let guidance = daemon.client().memory_schema(SchemaParams {}).unwrap().guidance;
    let mut mcp = Mcp::ready(&home, &[]);
    let prompts = mcp.result("prompts/list", &json!({}))["prompts"].take();
    assert_eq!((prompts.as_array().unwrap().len(), &prompts[0]["name"]), (1, &json!("memory")));
    let prompt = mcp.result("prompts/get", &json!({ "name": "memory" }));
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    let guidance = guidance.replace("session_search", "recall_search");
    assert!(text.contains("likes tea") && text.ends_with(&guidance), "{text}");
}

#[test]
fn the_daemon_is_started_when_it_is_needed() {
    let home = Home::new();
    let mut mcp = Mcp::ready(&home, &[]);
    drop(mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "likes tea" })));
    assert_eq!(mcp.end(), (Some(0), String::new()));
    let mut raw = herma_tests::Raw::connect(&home.socket());
    assert_eq!(raw.result("shutdown", &json!({})), json!({}));
    drop(raw.rest());
}

#[test]
fn without_a_daemon_it_says_so_and_goes_on() {
    let home = Home::new();
    let mut mcp = Mcp::ready(&home, &["--no-spawn"]);
    let (failed, told) = mcp.tool("memory", &json!({ "action": "add", "target": "user", "content": "likes tea" }));
    assert!(failed && told["error"].as_str().unwrap().contains("no daemon answers"), "{told}");
    assert_eq!(mcp.call("tools/list", &json!({}))["error"]["code"], json!(-32603));
    let _daemon = Daemon::start(&home);
    drop(mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "likes tea" })));
    assert_eq!(home.entries(Target::User), ["likes tea"]);
    let (code, words) = mcp.end();
    assert!(code == Some(0) && words.starts_with("herma mcp: no daemon answers on "), "{words}");
}
