#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;

fn shown(text: &str, overridden: &[(&str, Source)]) -> Vec<Setting> {
    settings(&Config::read(text).unwrap(), Some(text), overridden)
}

/// The template with its defaults in force, but for what is only an example.
fn uncommented() -> String {
    let lines = TEMPLATE.split("\n#[summarizer.openai]").next().unwrap().lines();
    let examples = ["#[memory.profiles", "#memory_limit = 4000", "#c2_heartbeat", "#send_to_url", "#web_search"];
    let is_example = |line: &str| line.starts_with("# ") || examples.iter().any(|example| line.starts_with(example));
    let head = lines.filter(|line| !is_example(line)).map(|line| line.strip_prefix('#').unwrap_or(line));
    let tail = TEMPLATE.split("\n[limits]").nth(1).unwrap().lines();
    let tail = tail.map(|line| line.strip_prefix('#').unwrap_or(line));
    head.chain(["[limits]"]).chain(tail).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_template_changes_nothing_and_names_every_key() {
    let defaults = Config::read("").unwrap();
    assert_eq!(Config::read(TEMPLATE).unwrap(), defaults);
    let text = uncommented();
    assert_eq!(Config::read(&text).unwrap(), defaults, "{text}");
    for Setting { key, source, .. } in shown(&text, &[]) {
        assert_eq!(source, Source::File, "{key} is not in the template");
    }
}

#[test]
fn the_examples_of_the_template_can_be_used() {
    let text: String = TEMPLATE
        .lines()
        .filter(|line| !line.starts_with("# "))
        .map(|line| line.strip_prefix('#').unwrap_or(line).to_owned() + "\n")
        .collect();
    // Two keys are there as a default and as an example of another table.
    let config = Config::read(&text).unwrap();
    assert!(config.summarizer.openai.is_some() && config.summarizer.command.is_some());
}

#[test]
fn every_value_says_where_it_came_from() {
    let text = "[memory]\nuser_limit = 99\n[memory.profiles.work]\nmemory_limit = 5\n\
                [guard.severity]\nc2_heartbeat = { strict = \"warn\" }\n\
                [output]\nquota = \"1536MiB\"\n[output.tool_overrides]\n\"mcp.read\" = \"inf\"";
    let all = shown(text, &[("log.level", Source::Environment("HERMA_LOG"))]);
    let source =
        |key: &str| all.iter().find(|setting| setting.key == key).map(|setting| setting.source.words()).unwrap();
    for (key, expected) in [
        ("memory.user_limit", "config.toml"),
        ("memory.memory_limit", "default"),
        ("memory.profiles.work.memory_limit", "config.toml"),
        ("guard.severity.c2_heartbeat", "config.toml"),
        ("output.quota", "config.toml"),
        ("output.tool_overrides.\"mcp.read\"", "config.toml"),
        ("log.level", "HERMA_LOG"),
    ] {
        assert_eq!(source(key), expected, "{key}");
    }
}

#[test]
fn what_is_shown_is_a_file_that_says_the_same() {
    let text = "[memory]\napproval = true\n[memory.profiles.work]\nmemory_limit = 5\n[output.tool_overrides]\n\"a.b\" = 7\n\
                [summarizer]\nchain = [\"openai\", \"extractive\"]\n[summarizer.openai]\n\
                base_url = \"http://127.0.0.1:1/v1\"\ntotal_timeout = \"1500ms\"";
    let shown = as_file(&shown(text, &[]));
    assert_eq!(Config::read(&shown).unwrap(), Config::read(text).unwrap(), "{shown}");
    assert!(shown.contains("total_timeout = \"1500ms\""), "{shown}");
}

#[test]
fn arguments_of_a_program_are_not_shown() {
    let text = "[summarizer.command]\nargv = [\"llm\", \"--key\", \"sk-secret\"]";
    let shown = as_file(&shown(text, &[]));
    assert!(shown.contains("llm") && !shown.contains("secret"), "{shown}");
}
