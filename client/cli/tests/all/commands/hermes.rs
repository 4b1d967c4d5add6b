//! `herma hermes`: the plugin, config.yaml, and a fake agent with the loaders of a real one.

mod agent;

use serde_json::Value;

use agent::Agent;

use super::parts;

/// The settings that config.yaml needs.
const ALL: &str = "context:\n  engine: herma\nplugins:\n  enabled:\n  - herma\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_plugin_brings_the_package_and_a_record_of_both() {
    let agent = Agent::new();
    let (code, out, error) = parts(&agent.herma(&["install"]));
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("MISSING  plugins.enabled: [herma]") && out.contains("context:\n  engine: herma\n"), "{out}");
    assert!(!agent.path("config.yaml").exists());
    let record = json(&agent.read("plugins/herma/installed.json"));
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    for path in ["plugin.yaml", "__init__.py", "lib/herma/hermes/probe.py", "lib/herma/hermes/memory_schema.json"] {
        assert_eq!(record["files"][path].as_str().map(str::len), Some(64), "{path}");
        assert!(agent.path("plugins/herma").join(path).is_file(), "{path}");
    }
    let (_, out, _) = parts(&agent.herma(&["install"]));
    assert!(out.starts_with("there already: "), "{out}");
}

#[test]
fn what_somebody_changed_is_not_overwritten_unasked() {
    let agent = Agent::new();
    agent.done(&["install"]);
    agent.write("plugins/herma/__init__.py", "mine");
    agent.write("plugins/herma/__init__.py.bak", "older");
    agent.write("plugins/herma/lib/notes/own.txt", "words");
    let (code, _, error) = parts(&agent.herma(&["install"]));
    assert!(code == 1 && error.contains(": __init__.py; --force"), "{error}");
    assert_eq!(agent.read("plugins/herma/__init__.py"), "mine");
    let (code, out, _) = parts(&agent.herma(&["install", "--force", "--json"]));
    assert_eq!((code, &json(&out)["kept"]), (0, &serde_json::json!(["__init__.py.bak.1"])), "{out}");
    for (path, text) in [("__init__.py.bak.1", "mine"), ("__init__.py.bak", "older"), ("lib/notes/own.txt", "words")] {
        assert_eq!(agent.read(&format!("plugins/herma/{path}")), text);
    }
    assert!(agent.read("plugins/herma/__init__.py").contains("def register"));
}

#[test]
fn an_older_version_gives_way_with_the_files_that_are_no_part_any_more() {
    let agent = Agent::new();
    agent.done(&["install"]);
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    for (path, text) in [("lib/herma/gone.py", "hello"), ("lib/herma/changed.py", "other"), ("__init__.py", "hello")] {
        agent.write(&format!("plugins/herma/{path}"), text);
    }
    let mut record = json(&agent.read("plugins/herma/installed.json"));
    record["version"] = "0.0.9".into();
    for path in ["lib/herma/gone.py", "lib/herma/changed.py", "__init__.py"] {
        record["files"][path] = hello.into();
    }
    record["files"]["../../outside"] = hello.into();
    agent.write("plugins/herma/installed.json", &record.to_string());
    agent.write("outside", "hello");
    agent.done(&["install"]);
    assert!(!agent.path("plugins/herma/lib/herma/gone.py").exists());
    assert_eq!(agent.read("plugins/herma/lib/herma/changed.py"), "other");
    assert!(agent.read("plugins/herma/__init__.py").contains("def register"));
    agent.done(&["uninstall"]);
    assert_eq!(agent.read("outside"), "hello");
}

#[test]
fn an_install_that_was_killed_is_tidied_up() {
    let agent = Agent::new();
    agent.write("plugins/.herma.new/lib/half.py", "");
    agent.write("plugins/.herma.old/plugin.yaml", "name: herma");
    agent.write("plugins/.herma.old/own.txt", "words");
    let (code, _, error) = parts(&agent.herma(&["install"]));
    assert!(code == 1 && error.contains("plugin.yaml"), "{error}");
    agent.done(&["install", "--force"]);
    assert_eq!(agent.read("plugins/herma/own.txt"), "words");
    let names = std::fs::read_dir(agent.path("plugins")).unwrap();
    assert_eq!(names.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), ["herma"]);
}

#[test]
fn a_link_in_the_place_of_the_plugin_is_not_written_through() {
    let agent = Agent::new();
    agent.write("checkout/plugin.yaml", "name: herma");
    std::fs::create_dir_all(agent.path("plugins")).unwrap();
    std::os::unix::fs::symlink(agent.path("checkout"), agent.path("plugins/herma")).unwrap();
    for command in [&["install", "--force"][..], &["uninstall", "--force"]] {
        let (code, _, error) = parts(&agent.herma(command));
        assert!(code == 1 && error.contains("it is a link"), "{command:?} {error}");
    }
    assert_eq!(agent.read("checkout/plugin.yaml"), "name: herma");
}

#[test]
fn the_folder_of_an_earlier_version_goes_unless_somebody_changed_it() {
    let agent = Agent::new();
    agent.earlier();
    let (_, out, _) = parts(&agent.herma(&["install"]));
    assert!(out.contains("of an earlier version") && !agent.path("plugins/context_engine").exists(), "{out}");
    agent.earlier();
    agent.write("plugins/context_engine/herma/__init__.py", "mine");
    let (code, out, _) = parts(&agent.herma(&["install"]));
    assert!(code == 0 && out.contains("REMOVE THIS"), "{out}");
    assert_eq!(agent.read("plugins/context_engine/herma/__init__.py"), "mine");
}

#[test]
fn config_yaml_gets_the_missing_lines_and_a_copy_of_what_was_there() {
    let agent = Agent::new();
    let before = "# mine\nplugins: {disabled: [herma, x]} # c\n\ncontext:\n  engine: compressor\n";
    agent.write("config.yaml", before);
    let (code, out, _) = parts(&agent.herma(&["install", "--write-config", "--provider", "--memory", "--results"]));
    assert!(code == 0 && out.contains("\n-  engine: compressor\n+  engine: herma\n"), "{out}");
    let after = agent.read("config.yaml");
    assert!(after.starts_with("# mine\nplugins: {disabled: [x], enabled: [herma]} # c\n\ncontext:\n"), "{after}");
    assert!(after.ends_with("memory:\n  provider: herma\nherma:\n  memory: true\n  results: true\n"), "{after}");
    assert_eq!(agent.read("config.yaml.bak"), before);
    agent.done(&["install", "--write-config", "--provider"]);
    assert!(agent.read("config.yaml") == after && !agent.path("config.yaml.bak.1").exists());
    agent.done(&["uninstall", "--write-config"]);
    assert_eq!(agent.read("config.yaml"), before);
    assert!(agent.path("config.yaml.bak.1").exists() && !agent.path("plugins/herma").exists());
}

#[test]
fn an_uninstall_leaves_what_somebody_changed_since_and_gives_back_what_was_replaced() {
    let agent = Agent::new();
    agent.write("config.yaml", "context:\n  engine: compressor\nmemory:\n  provider: ''\n");
    agent.done(&["install", "--write-config", "--provider"]);
    agent.write("config.yaml", &format!("model: new\n{}", agent.read("config.yaml")));
    agent.done(&["uninstall", "--write-config"]);
    let after = "model: new\ncontext:\n  engine: compressor\nmemory:\n  provider: ''\nplugins:\n  enabled: []\n";
    assert_eq!(agent.read("config.yaml"), after);
}

#[test]
fn a_config_yaml_that_an_install_created_goes_with_the_uninstall() {
    let agent = Agent::new();
    agent.done(&["install", "--write-config"]);
    assert!(agent.read("config.yaml").contains("engine: herma"));
    agent.done(&["uninstall", "--write-config"]);
    assert!(!agent.path("config.yaml").exists() && !agent.path("config.yaml.bak").exists());
}

#[test]
fn a_file_that_is_not_understood_is_left_to_a_person() {
    let agent = Agent::new();
    for text in ["context:\n\tengine: x\n", "a: 1\na: 2\n", "base: &b {engine: x}\ncontext: *b\n"] {
        agent.write("config.yaml", text);
        let (code, out, _) = parts(&agent.herma(&["install", "--write-config"]));
        assert!(code == 1 && out.contains("do it by hand") && out.contains("    - herma\n"), "{text:?} {out}");
        assert!(agent.read("config.yaml") == text && !agent.path("config.yaml.bak").exists(), "{text:?}");
    }
}

/// A plugin that replaces nothing.
const ENGINE_ALONE: &str = "import sys, pathlib
sys.path.insert(0, str(pathlib.Path(__file__).parent / 'lib'))
from herma.hermes import HermaContextEngine

def register(ctx):
    ctx.register_context_engine(HermaContextEngine())
";

#[test]
fn check_asks_the_agent_and_names_what_is_missing() {
    let agent = Agent::new();
    let verdict = |words: &str| {
        let (code, out, error) = parts(&agent.check());
        assert_eq!(error, "");
        let last = out.lines().last().unwrap();
        assert!(code == 1 && last.starts_with("not in use: ") && last.contains(words), "{words}: {out}");
    };
    verdict("names 'compressor' as context.engine");
    agent.write("config.yaml", ALL);
    verdict("there is no plugin");
    agent.done(&["install"]);
    agent.write("config.yaml", "context:\n  engine: herma\n");
    verdict("lacks `plugins: {enabled: [herma]}`");
    agent.write("config.yaml", "plugins:\n  enabled:\n  - herma\n");
    verdict("lacks `context: {engine: herma}`");
    agent.write("config.yaml", &ALL.replace("plugins:\n", "plugins:\n  disabled:\n  - herma\n"));
    verdict("has herma in plugins.disabled");
    agent.write("config.yaml", ALL);
    let plugin = agent.read("plugins/herma/__init__.py");
    agent.write("plugins/herma/__init__.py", "raise RuntimeError('boom')\n");
    verdict("boom");
    agent.write("plugins/herma/__init__.py", &plugin);
    let (code, out, error) = parts(&agent.check());
    assert_eq!((code, out.lines().last(), error.as_str()), (0, Some("in use"), ""), "{out}");
    assert!(out.contains("hermes-agent 0.99.0") && out.contains("context engine   herma\n"), "{out}");
    agent.write("config.yaml", &format!("{ALL}herma:\n  memory: true\n"));
    let (code, out, _) = parts(&agent.check());
    assert!(code == 0 && out.contains("memory tool      herma\n"), "{out}");
    agent.write("plugins/herma/__init__.py", ENGINE_ALONE);
    verdict("memory tool: of the host still: MemoryStore");
    agent.write("plugins/herma/__init__.py", &plugin);
    agent.write("config.yaml", &format!("{ALL}memory:\n  provider: herma\n"));
    verdict("memory provider: ");
}

#[test]
fn check_finds_the_python_of_hermes_or_says_how_to_name_it() {
    let agent = Agent::new();
    agent.done(&["install"]);
    agent.write("config.yaml", ALL);
    let (code, out, _) = parts(&agent.command(&["check", "--json"]).output().unwrap());
    assert_eq!((code, json(&out)["in_use"].as_bool()), (0, Some(true)), "{out}");
    let (code, out, _) = parts(&agent.command(&["check"]).env("PATH", agent.path("none")).output().unwrap());
    assert!(code == 1 && out.contains("--python PROGRAM"), "{out}");
    let (code, out, _) = parts(&agent.command(&["check", "--python", "/no/python"]).output().unwrap());
    assert!(code == 1 && out.contains("not in use: /no/python: "), "{out}");
}

#[test]
fn what_somebody_changed_stays_when_herma_goes() {
    let agent = Agent::new();
    agent.done(&["install"]);
    agent.write("config.yaml", ALL);
    agent.write("plugins/herma/lib/herma/wire.py", "mine");
    agent.write("plugins/herma/lib/herma/__pycache__/wire.pyc", "");
    let (code, out, _) = parts(&agent.herma(&["uninstall"]));
    assert!(code == 1 && out.contains("lib/herma/wire.py") && out.contains("STILL THERE  context.engine"), "{out}");
    assert_eq!(agent.read("config.yaml"), ALL);
    assert!(!agent.path("plugins/herma/plugin.yaml").exists());
    assert!(!agent.path("plugins/herma/lib/herma/__pycache__").exists());
    assert_eq!(agent.read("plugins/herma/lib/herma/wire.py"), "mine");
    agent.done(&["uninstall", "--force"]);
    assert!(!agent.path("plugins/herma").exists());
}
