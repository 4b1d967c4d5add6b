#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;

fn shown(text: &str, overridden: &[(&str, Source)]) -> Vec<Setting> {
    settings(&Config::read(text).unwrap(), Some(text), overridden)
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
