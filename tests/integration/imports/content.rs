//! What an import keeps of what it reads: masked secrets, the profile of a folder, the memory files of an agent.

use super::*;

#[test]
fn secrets_are_masked_and_a_folder_has_its_profile() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let file = folder(&home).join("s1.jsonl");
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let call = json!([{ "type": "tool_use", "id": "1", "name": "Bash", "input": { "command": format!("export KEY={secret}") } }]);
    fs::write(&file, record("user", &json!(format!("use {secret}")), 0) + "\n" + &record("assistant", &call, 1))
        .unwrap();
    let dry = import(&home, "claude-code", &file, &["--dry-run"]);
    assert_eq!((added(&dry), messages(&daemon, "claude-code:s1")), ((2, 1, 0), None), "{dry:?}");
    // A refused session is tried again.
    let ran = import(&home, "claude-code", &file, &["--profile-for", "/work=no profile"]);
    assert!(ran.code == 1 && ran.err.contains("session s1"), "{ran:?}");
    let ran = import(&home, "claude-code", &file, &["--profile-for", "/work=work", "--profile-for", "/=other"]);
    assert_eq!((ran.code, added(&ran)), (0, (2, 1, 0)), "{ran:?}");
    assert!(ran.out.contains("\"masked\": 2"), "{ran:?}");
    let row = daemon.client().session_show(ShowParams { session: "claude-code:s1".into() }).unwrap();
    assert_eq!((row.profile.as_str(), row.messages), ("work", 2));
    daemon.kill();
    let archive =
        ["archive.db", "archive.db-wal"].map(|name| fs::read(home.path().join("herma").join(name)).unwrap_or_default());
    let has =
        |needle: &str| archive.iter().any(|bytes| bytes.windows(needle.len()).any(|part| part == needle.as_bytes()));
    assert!(!has(secret) && has("claude-code:s1"));
}

#[test]
fn secrets_stay_where_a_flag_or_the_configuration_says_so() {
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    for (config, flags, is_kept) in [
        ("", &[][..], false),
        ("", &["--no-redact"], true),
        ("[archive]\nredact = false\n", &[], true),
        ("[archive]\nredact = false\n", &["--redact"], false),
    ] {
        let home = Home::new();
        fs::create_dir_all(home.path().join("herma")).unwrap();
        fs::write(home.path().join("herma/config.toml"), config).unwrap();
        let daemon = Daemon::start(&home);
        let file = folder(&home).join("s1.jsonl");
        fs::write(&file, record("user", &json!(format!("use {secret} for the herons")), 0)).unwrap();
        assert_eq!(import(&home, "claude-code", &file, flags).code, 0);
        let hits = daemon.raw().result("recall.search", &json!({ "query": "herons" }));
        let text = daemon.raw().result("recall.expand", &json!({ "handle": hits["hits"][0]["handle"] }));
        assert_eq!(text.to_string().contains(secret), is_kept, "{config:?} {flags:?}: {text}");
    }
}

#[test]
fn memory_files_of_an_agent_are_documents_of_which_the_newest_is_found() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let projects = folder(&home);
    let memory = projects.join("-work-shop/memory");
    fs::create_dir_all(&memory).unwrap();
    write(&projects.join("s1.jsonl"), 0..2);
    let file = memory.join("MEMORY.md");
    fs::write(&file, "# Build\nIt needs two cores.\n# Port\nThe heron listens on 8443.\n").unwrap();
    let ran = import(&home, "claude-code", &projects, &[]);
    assert_eq!((ran.code, added(&ran).1), (0, 2), "{ran:?}");
    let session = "claude-code:memory/-work-shop/MEMORY.md";
    assert_eq!(messages(&daemon, session), Some(2));
    fs::write(&file, "# Port\nThe heron listens on 9443 now.\n").unwrap();
    assert_eq!(import(&home, "claude-code", &projects, &[]).code, 0);
    let found = daemon.raw().result("recall.search", &json!({ "query": "heron listens" })).to_string();
    assert!(found.contains("listens on 9443") && !found.contains("listens on 8443"), "{found}");
    // What the user removed does not return.
    assert_eq!(Cli::new(&home).run(&["session", "rm", session, "--yes"]).code, 0);
    fs::write(&file, "# Port\nThe heron listens on 7443 now.\n").unwrap();
    assert_eq!(import(&home, "claude-code", &projects, &[]).code, 0);
    assert_eq!(messages(&daemon, session), None);
}
