//! `herma hooks install`, `status` and `uninstall`: their changes to the files of clients, which an uninstall restores
//! byte for byte.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use herma_tests::{Cli, Home};

#[test]
fn hooks_are_shown_written_once_and_taken_back() {
    let home = Home::new();
    let user = home.path().join("user");
    fs::create_dir(&user).unwrap();
    let cli = Cli::new(&home).with("HOME", user.to_str().unwrap()).with("CLAUDE_CONFIG_DIR", "").with("CODEX_HOME", "");
    for (client, file) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("qwen-code", ".qwen/settings.json"),
        ("gemini-cli", ".gemini/settings.json"),
    ] {
        let path = user.join(file);
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(&path, "{\n  // mine\n  \"x\": [1,2]\n}").unwrap();
        let dry = cli.run(&["hooks", "install", client, "--dry-run"]).done();
        assert!(dry.contains("+") && dry.contains(" hook "), "{dry}");

        let refused = cli.run(&["hooks", "install", client]);
        assert!(refused.code == 1 && refused.err.contains("--yes"), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  // mine\n  \"x\": [1,2]\n}");
        drop(cli.run(&["hooks", "install", client, "--yes"]).done());
        let written = fs::read_to_string(&path).unwrap();
        assert!(
            written.contains("// mine") && written.contains("[1,2]") && written.contains("session-start"),
            "{written}"
        );
        let again = cli.run(&["hooks", "install", client, "--yes"]).done();
        assert!(again.contains("nothing to do"), "{again}");
        let gone = cli.run(&["hooks", "uninstall", client, "--yes"]).done();
        assert!(
            gone.contains("written: ") && gone.contains("removed: ") != matches!(client, "qwen-code" | "gemini-cli"),
            "{gone}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  // mine\n  \"x\": [1,2]\n}");
        fs::write(&path, "{\"hooks\": 7}").unwrap();
        let odd = cli.run(&["hooks", "install", client, "--yes"]);
        assert!(odd.code == 1 && odd.err.contains(file) && odd.err.contains("`hooks` is no object"), "{odd:?}");
    }
    assert!(!user.join(".claude/skills/herma").exists());
}

/// Codex passes an environment variable to its hooks, but not to its MCP servers.
#[test]
fn what_the_environment_says_is_written_down() {
    let home = Home::new();
    let ran = std::process::Command::new(herma_tests::cli::program())
        .args(["hooks", "install", "codex", "--dry-run"])
        .env("HERMA_HOME", home.path())
        .env("HOME", home.path())
        .env_remove("CODEX_HOME")
        .output()
        .unwrap();
    let answer = String::from_utf8(ran.stdout).unwrap();
    assert!(answer.contains(&format!("session-start --home {}", home.path().display())), "{answer}");
    assert!(answer.contains(&format!("args = [\"mcp\", \"--home\", \"{}\"]", home.path().display())), "{answer}");
}

/// A user who has only a home, and the command line for it.
struct User {
    home: Home,
    folder: PathBuf,
}

impl User {
    fn new() -> Self {
        let home = Home::new();
        let folder = home.path().join("user");
        fs::create_dir(&folder).unwrap();
        Self { home, folder }
    }

    fn cli(&self) -> Cli<'_> {
        let cli = Cli::new(&self.home).with("HOME", self.folder.to_str().unwrap());
        cli.with("CLAUDE_CONFIG_DIR", "").with("CODEX_HOME", "")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }
}

#[test]
fn files_of_odd_forms_are_what_they_were_after_an_uninstall() {
    let settings = ".claude/settings.json";
    for (client, name, text) in [
        ("claude-code", settings, ""),
        ("claude-code", settings, " \n"),
        ("claude-code", settings, "{}"),
        ("claude-code", settings, "{ \"hooks\": {} }\n"),
        ("claude-code", settings, "{\"hooks\": {\"Stop\": []}, \"n\": 1}"),
        ("claude-code", settings, "{\n\t\"hooks\": { // none yet\n\t\t\"Stop\": [ /* none */ ]\n\t}\n}"),
        ("claude-code", settings, "\u{feff}{\"hooks\": {}}"),
        ("claude-code", settings, "{\"permissions\": {\"allow\": [], \"deny\": [\"Bash\"]}}"),
        ("claude-code", settings, "{\"permissions\": {\"allow\": [\"mcp__herma__output_read\", \"Bash(ls)\"]}}"),
        ("claude-code", settings, "{\r\n  \"model\": \"x\"\r\n}\r\n"),
        ("claude-code", ".claude.json", "{\"mcpServers\": {}, \"n\": 1}"),
        ("claude-code", ".claude.json", "{\"mcpServers\": {/* none */}}"),
        ("qwen-code", ".qwen/settings.json", ""),
        ("qwen-code", ".qwen/settings.json", "{\"mcpServers\": {}, \"permissions\": {\"allow\": []}, \"hooks\": {}}"),
        ("qwen-code", ".qwen/settings.json", "\u{feff}{\r\n  // mine\r\n  \"$version\": 4\r\n}\r\n"),
        ("gemini-cli", ".gemini/settings.json", "{\"hooks\": {\"AfterTool\": []}, \"mcpServers\": {/* none */}}"),
        ("codex", ".codex/hooks.json", "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}}"),
        ("codex", ".codex/config.toml", "[mcp_servers]\n# none\n\n[hooks]\n"),
        ("codex", ".codex/config.toml", "\u{feff}model = 'x'\n"),
        ("codex", ".codex/config.toml", ""),
        ("codex", ".codex/config.toml", "[mcp_servers.other]\ncommand = 'y'\n[hooks.state.\"a\"]\ntrusted_hash = 'b'"),
    ] {
        let user = User::new();
        user.write(name, text);
        drop(user.cli().run(&["hooks", "install", client, "--yes"]).done());
        assert_ne!(user.read(name).as_deref(), Some(text), "{text:?}: nothing was written");
        let again = user.cli().run(&["hooks", "install", client, "--yes"]).done();
        assert!(again.contains("nothing to do"), "{text:?}: {again}");
        drop(user.cli().run(&["hooks", "uninstall", client, "--yes"]).done());
        assert_eq!(user.read(name).as_deref(), Some(text));
    }
}

#[test]
fn what_a_user_changed_since_stays_and_only_ours_goes() {
    let user = User::new();
    let name = ".claude/settings.json";
    user.write(name, "{\"hooks\": {}}");
    drop(user.cli().run(&["hooks", "install", "claude-code", "--yes"]).done());
    let written = user.read(name).unwrap();
    assert!(written.contains("Read(//") && written.contains("/herma/outputs/**)"), "{written}");
    user.write(name, &written.replacen('{', "{ // mine\n", 1).replace("\"allow\": [", "\"allow\": [\"Bash(ls)\","));
    drop(user.cli().run(&["hooks", "uninstall", "claude-code", "--yes"]).done());
    let left = user.read(name).unwrap();
    assert!(left.contains("// mine") && left.contains("Bash(ls)"), "{left}");
    assert!(!left.contains("herma"), "{left}");
    // Files that did not exist before are removed.
    assert!(user.read(".claude.json").is_none() && !user.folder.join(".claude/skills").join("herma").exists());
}

#[test]
fn a_server_of_that_name_that_is_another_program_stays() {
    for (client, name, text) in [
        (
            "claude-code",
            ".claude.json",
            "{\"mcpServers\": {\"herma\": {\"command\": \"/opt/other\", \"args\": [\"mcp\"]}}}",
        ),
        ("qwen-code", ".qwen/settings.json", "{\"mcpServers\": {\"herma\": {\"command\": \"/opt/other\"}}}"),
        ("codex", ".codex/config.toml", "[mcp_servers.herma]\ncommand = \"/opt/other\"\nargs = [\"mcp\"]\n"),
        ("codex", ".codex/config.toml", "[mcp_servers.herma]\nurl = \"https://x.example\"\n"),
    ] {
        let user = User::new();
        user.write(name, text);
        let refused = user.cli().run(&["hooks", "install", client, "--yes"]);
        assert!(refused.code == 1 && refused.err.contains("another program"), "{refused:?}");
        drop(user.cli().run(&["hooks", "uninstall", client, "--yes"]));
        assert_eq!(user.read(name).as_deref(), Some(text));
    }
}

#[test]
fn a_script_is_a_file_of_its_own_that_comes_and_goes() {
    for (agent, name, of_project) in [
        ("pi", ".pi/agent/extensions/herma.js", ".pi/extensions/herma.js"),
        ("omp", ".omp/agent/extensions/herma.js", ".omp/extensions/herma.js"),
        ("opencode", ".config/opencode/plugin/herma.js", ".opencode/plugin/herma.js"),
    ] {
        let user = User::new();
        let folder = Path::new(name).parent().unwrap().parent().unwrap();
        let settings = folder.join("settings.json").display().to_string();
        user.write(&settings, "{}");
        let cli = || user.cli().with("PI_CODING_AGENT_DIR", "").with("XDG_CONFIG_HOME", "");
        let dry = cli().run(&["hooks", "install", agent, "--dry-run"]).done();
        assert!(dry.contains("+const PROGRAM = \"/") && user.read(name).is_none(), "{dry}");
        for (flags, compacts) in [(&["--no-plugin"][..], "false"), (&[], "true")] {
            drop(cli().run(&[&["hooks", "install", agent, "--yes"], flags].concat()).done());
            let written = user.read(name).unwrap();
            assert!(written.contains(&format!("\nconst COMPACTS = {compacts};\n")), "{written}");
            let status = cli().run(&["hooks", "status", agent]);
            assert!(status.code == 0 && status.out.starts_with("installed"), "{status:?}");
        }
        // In a project, with a profile of its own.
        let project = user.folder.join("work");
        fs::create_dir(&project).unwrap();
        let install = ["hooks", "install", agent, "--yes", "--project", "--profile", "work"];
        drop(cli().within(&project).run(&install).done());
        assert!(user.read(&format!("work/{of_project}")).unwrap().contains("\"--profile\",\"work\""));
        let of_user = user.read(name).unwrap();
        assert!(of_user.contains("\nconst IS_OF_PROJECT = false;\n"), "{of_user}");
        assert!(user.read(&format!("work/{of_project}")).unwrap().contains("\nconst IS_OF_PROJECT = true;\n"));
        drop(cli().run(&["hooks", "uninstall", agent, "--yes"]).done());
        assert!(user.read(name).is_none() && user.read(&settings).is_some());
        // A file of that name that is another program's stays.
        user.write(name, "export default () => {};\n");
        let refused = cli().run(&["hooks", "install", agent, "--yes"]);
        assert!(refused.code == 1 && refused.err.contains("it is not herma's"), "{refused:?}");
        drop(cli().run(&["hooks", "uninstall", agent, "--yes"]));
        assert_eq!(user.read(name).as_deref(), Some("export default () => {};\n"));
    }
}

#[test]
fn the_engine_of_openclaw_comes_with_entries_in_its_configuration() {
    let user = User::new();
    let config = ".openclaw/openclaw.json";
    let before = "{\n  // mine\n  \"plugins\": { \"allow\": [\"other\"] }\n}\n";
    user.write(config, before);
    let cli = || user.cli().with("OPENCLAW_STATE_DIR", "");
    for _ in 0..2 {
        drop(cli().run(&["hooks", "install", "openclaw", "--yes"]).done());
    }
    let written = user.read(config).unwrap();
    assert!(written.contains("// mine") && written.contains("\"contextEngine\": \"herma\""), "{written}");
    for name in ["index.js", "package.json", "openclaw.plugin.json"] {
        let text = user.read(&format!(".openclaw/extensions/herma/{name}")).unwrap();
        assert!(text.contains("herma hooks install openclaw"), "{name}");
    }
    let status = cli().run(&["hooks", "status", "openclaw"]);
    assert!(status.code == 0 && status.out.contains("commitTurn"), "{status:?}");
    let project = cli().run(&["hooks", "install", "openclaw", "--yes", "--project"]);
    assert!(project.code == 2 && project.err.contains("no settings of a project"), "{project:?}");
    drop(cli().run(&["hooks", "uninstall", "openclaw", "--yes"]).done());
    assert_eq!(user.read(config).as_deref(), Some(before));
    assert!(!user.folder.join(".openclaw/extensions").exists());
    // Another engine stays, and nothing is written next to it.
    let other = "{ \"plugins\": { \"slots\": { \"contextEngine\": \"other\" } } }";
    user.write(config, other);
    let refused = cli().run(&["hooks", "install", "openclaw", "--yes"]);
    assert!(refused.code == 1 && refused.err.contains("contextEngine` is \"other\""), "{refused:?}");
    assert_eq!(user.read(config).as_deref(), Some(other));
    assert!(!user.folder.join(".openclaw/extensions").exists());
}

#[test]
fn trust_that_can_t_be_had_leaves_nothing_written() {
    let user = User::new();
    let failed = user.cli().with("PATH", "/nonexistent").run(&["hooks", "install", "codex", "--yes", "--trust"]);
    assert!(failed.code == 1 && failed.err.contains("nothing was written"), "{failed:?}");
    assert!(user.read(".codex/hooks.json").is_none() && user.read(".codex/config.toml").is_none());
}

#[test]
fn status_says_of_no_file_that_it_is_installed_that_is_not_there() {
    let user = User::new();
    for client in ["claude-code", "codex", "qwen-code", "gemini-cli", "pi", "omp", "opencode", "openclaw"] {
        let said = user.cli().with("PATH", "/nonexistent").run(&["hooks", "status", client]);
        assert!(said.code == 1 && !said.out.lines().any(|line| line.starts_with("installed")), "{said:?}");
        assert!(said.out.contains("never ran"), "{said:?}");
    }
    drop(user.cli().run(&["hooks", "install", "claude-code", "--yes", "--no-plugin"]).done());
    let said = user.cli().with("PATH", "/nonexistent").run(&["hooks", "status", "claude-code"]);
    assert!(said.out.contains("installed") && !said.out.contains("skills"), "{said:?}");
    assert!(said.code == 0 && !said.out.contains("SWITCHED OFF"), "{said:?}");
    // `disableAllHooks` in the settings stops all hooks, also in a file with a byte order mark.
    let before = user.read(".claude/settings.json").unwrap();
    for mark in ["", "\u{feff}"] {
        let off = format!("{mark}{}", before.replacen('{', "{ \"disableAllHooks\": true,", 1));
        user.write(".claude/settings.json", &off);
        let said = user.cli().with("PATH", "/nonexistent").run(&["hooks", "status", "claude-code"]);
        assert!(said.code == 1 && said.out.contains("SWITCHED OFF    by \"disableAllHooks\""), "{said:?}");
    }
}

#[test]
fn doctor_says_of_each_client_when_an_event_came_and_whether_its_program_is_there() {
    let user = User::new();
    let _daemon = herma_tests::Daemon::start(&user.home);
    let findings = || {
        let report = user.cli().run(&["doctor", "--json"]).json();
        let of_clients =
            |finding: &&serde_json::Value| matches!(finding["check"].as_str(), Some("claude-code" | "codex"));
        let found = report["findings"].as_array().unwrap().iter().filter(of_clients).cloned().collect::<Vec<_>>();
        found.iter().map(|one| format!("{} {}: {}", one["check"], one["state"], one["words"])).collect::<Vec<_>>()
    };
    assert_eq!(findings(), [""; 0], "nobody asked for hooks");
    drop(user.cli().run(&["hooks", "install", "codex", "--yes"]).done());
    assert!(
        findings()[0].contains("\"codex\" \"ok\"") && findings()[0].contains("no session sent an event yet"),
        "{:?}",
        findings()
    );
    drop(user.cli().run_with(&["hook", "codex", "session-start"], r#"{"session_id":"a","source":"startup"}"#).done());
    assert!(findings()[0].contains("the last event came 20"), "{:?}", findings());
    let hooks = user.read(".codex/hooks.json").unwrap().replace("/herma hook", "/gone/herma hook");
    user.write(".codex/hooks.json", &hooks);
    let dead = findings();
    assert!(dead[0].contains("\"error\"") && dead[0].contains("/gone/herma"), "{dead:?}");
}

/// Runs the program by its path, or by a name on the search path.
fn installed_by(user: &User, program: &Path, path: &Path) -> String {
    let folder = user.folder.join("bin");
    let ran = std::process::Command::new(program)
        .args(["hooks", "install", "claude-code", "--yes"])
        .env("HOME", &user.folder)
        .env("HERMA_HOME", user.home.path())
        .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
        .env_remove("CLAUDE_CONFIG_DIR")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    user.read(".claude/settings.json").unwrap()
}

#[test]
fn hooks_name_the_program_by_the_path_that_it_was_called_by() {
    for (called, named) in [("LINK", "LINK"), ("herma", "LINK"), ("./herma", "LINK"), ("REAL", "REAL")] {
        let user = User::new();
        let (version, bin) = (user.folder.join("opt/1"), user.folder.join("bin"));
        fs::create_dir_all(&version).unwrap();
        fs::create_dir_all(&bin).unwrap();
        let (real, link) = (version.join("herma"), bin.join("herma"));
        // `cp` makes the copy, because no thread can start a program that this process has open for writing.
        let copied = std::process::Command::new("cp").arg(herma_tests::cli::program()).arg(&real).status().unwrap();
        assert!(copied.success());
        symlink(&real, &link).unwrap();
        let path = |name: &str| match name {
            "LINK" => link.clone(),
            "REAL" => real.clone(),
            other => PathBuf::from(other),
        };
        let written = installed_by(&user, &path(called), &bin);
        let command = format!("exec {} hook", path(named).display());
        assert!(written.contains(&command), "called as {called}: {written}");
    }
}

#[test]
fn the_user_is_told_of_a_program_that_is_gone_when_a_session_begins() {
    let user = User::new();
    let _daemon = herma_tests::Daemon::start(&user.home);
    let bin = user.folder.join("my bin's");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(user.folder.join("bin")).unwrap();
    let link = bin.join("herma");
    symlink(herma_tests::cli::program(), &link).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&installed_by(&user, &link, &bin)).unwrap();
    let command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let begin = |shell: &str| -> serde_json::Value {
        let event = r#"{"session_id":"a","source":"startup"}"#;
        let script = format!("printf '%s' '{event}' | ( {command} )");
        let ran = std::process::Command::new(shell).args(["-c", &script]).env("HOME", &user.folder).output().unwrap();
        assert!(ran.status.success(), "{shell}: {ran:?}");
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{shell}: {error}: {ran:?}"))
    };
    // Everything is in place.
    let answer = begin("sh");
    assert!(
        answer["hookSpecificOutput"]["additionalContext"].is_string() && answer.get("systemMessage").is_none(),
        "{answer}"
    );
    // The server's program is missing, but not the program of the hooks.
    let servers = user.read(".claude.json").unwrap();
    user.write(".claude.json", &servers.replace("/herma\"", "/gone/herma\""));
    let event = r#"{"session_id":"b","source":"startup"}"#;
    let answer = user.cli().run_with(&["hook", "claude-code", "session-start"], event).json();
    assert!(
        answer["systemMessage"].as_str().unwrap().contains("/gone/herma, and there is no such program"),
        "{answer}"
    );
    assert!(answer["hookSpecificOutput"]["additionalContext"].is_string(), "{answer}");
    // After a compaction the message is not repeated.
    let event = r#"{"session_id":"b","source":"compact"}"#;
    let answer = user.cli().run_with(&["hook", "claude-code", "session-start"], event).json();
    assert!(answer.get("systemMessage").is_none(), "{answer}");
    // The program of the hooks is missing.
    fs::remove_file(&link).unwrap();
    for shell in ["sh", "bash"] {
        let answer = begin(shell);
        assert!(answer["systemMessage"].as_str().unwrap().contains("`herma hooks install claude-code`"), "{answer}");
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    }
}

#[test]
fn the_user_is_told_of_sessions_that_went_on_without_hooks() {
    let user = User::new();
    let _daemon = herma_tests::Daemon::start(&user.home);
    fs::create_dir_all(user.folder.join("bin")).unwrap();
    let program = herma_tests::cli::program();
    drop(installed_by(&user, &program, program.parent().unwrap()));
    let begin = |id: &str| {
        let event = format!(r#"{{"session_id":"{id}","source":"startup"}}"#);
        user.cli().run_with(&["hook", "claude-code", "session-start"], &event).json()
    };
    assert!(begin("a").get("systemMessage").is_none());
    user.write(".claude/projects/p/other.jsonl", "{}");
    assert!(begin("b").get("systemMessage").is_none(), "the last event came a moment ago");
    // As if all events were of yesterday.
    let ran = user.home.path().join("herma/clients/claude-code/ran");
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(24 * 3_600);
    for entry in fs::read_dir(ran).unwrap() {
        let file = fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(yesterday).unwrap();
    }
    let answer = begin("c");
    let words = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(words.contains("herma import claude-code"), "{answer}");
    assert!(answer["hookSpecificOutput"]["additionalContext"].is_string(), "{answer}");
    assert!(begin("d").get("systemMessage").is_none(), "the note is repeated");
}

#[test]
fn the_nearest_settings_decide_which_profile_has_a_session() {
    let user = User::new();
    let daemon = herma_tests::Daemon::start(&user.home);
    let program = herma_tests::cli::program();
    let project = user.folder.join("work/shop");
    fs::create_dir_all(&project).unwrap();
    fs::create_dir_all(user.folder.join("bin")).unwrap();
    drop(installed_by(&user, &program, program.parent().unwrap()));
    let ran = std::process::Command::new(&program)
        .args(["hooks", "install", "claude-code", "--project", "--yes", "--profile", "work"])
        .env("HOME", &user.folder)
        .env("HERMA_HOME", user.home.path())
        .env_remove("CLAUDE_CONFIG_DIR")
        .current_dir(&project)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let profile_of = |session: &str| {
        let params = herma_protocol::session::chain::ShowParams { session: format!("claude-code:{session}") };
        daemon.client().session_show(params).map(|row| row.profile).ok()
    };
    for (session, folder, profile) in [("a", &project, "work"), ("b", &user.folder, "default")] {
        // Claude Code starts the hooks of both settings, in any order.
        let event = format!(r#"{{"session_id":"{session}","source":"startup","cwd":"{}"}}"#, folder.display());
        let users = user.cli().run_with(&["hook", "claude-code", "session-start"], &event);
        if profile == "work" {
            assert_eq!(users.done(), "", "the user's hook adds the memory of another profile");
            let own =
                user.cli().run_with(&["hook", "claude-code", "session-start", "--profile", "work"], &event).json();
            assert_eq!(own["systemMessage"], "herma keeps this session in the profile work.", "{own}");
        }
        assert_eq!(profile_of(session).as_deref(), Some(profile));
    }
}

#[test]
fn codex_hooks_of_a_project_with_another_profile_come_with_a_note_that_the_users_hooks_run_too() {
    let home = Home::new();
    let user = home.path().join("user");
    let project = user.join("shop");
    fs::create_dir_all(&project).unwrap();
    let cli = Cli::new(&home).with("HOME", user.to_str().unwrap()).with("CODEX_HOME", "").within(&project);
    let install = ["hooks", "install", "codex", "--project", "--yes", "--profile", "work"];
    let alone = cli.run(&install).done();
    assert!(!alone.contains("CODEX_HOME"), "{alone}");
    drop(cli.run(&["hooks", "install", "codex", "--yes"]).done());
    let next_to_user = cli.run(&install).done();
    assert!(
        next_to_user.contains("run in this project, too") && next_to_user.contains("CODEX_HOME=~/.codex-work"),
        "{next_to_user}"
    );
}
