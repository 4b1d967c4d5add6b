use serde_json::json;

use super::*;

#[test]
fn an_empty_configuration_is_the_default() {
    for text in ["", "# nothing\n", "compression:\n", "{}", "summarization:\n  base_url: null\n"] {
        assert_eq!(Config::from_yaml(text), Ok(Config::default()), "{text:?}");
    }
    let told = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(told["tokenizer"]["name"], "moonshotai/Kimi-K2-Thinking");
    assert_eq!(told["compression"], json!({ "target_max_tokens": 15250, "summary_target_tokens": 750 }));
    let protected =
        json!({ "first_system": true, "first_human": true, "first_gpt": true, "first_tool": true, "last_n_turns": 4 });
    assert_eq!(told["protected_turns"], protected);
    let summarization = json!({ "model": "google/gemini-3-flash-preview", "base_url": null, "api_key_env": null,
        "temperature": 0.3, "max_retries": 3, "retry_delay": 2.0 });
    assert_eq!(told["summarization"], summarization);
    assert_eq!(told["output"]["output_suffix"], "_compressed");
    let processing = json!({ "num_workers": 4, "max_concurrent_requests": 50, "skip_under_target": true,
        "save_over_limit": true, "per_trajectory_timeout": 300 });
    assert_eq!(told["processing"], processing);
    let metrics = json!({ "enabled": true, "per_trajectory": true, "output_file": "compression_metrics.json" });
    assert_eq!(told["metrics"], metrics);
    // The output can be read again.
    assert_eq!(Config::from_value(told), Ok(Config::default()));
}

#[test]
fn yaml_and_json_say_the_same() {
    let yaml = "compression:\n  target_max_tokens: 16000 # tokens\nprotected_turns:\n  last_n_turns: 6\n  first_tool: no\noutput:\n  summary_notice_text: \"\\n\\nshort\"\nsummarization:\n  retry_delay: 1\n";
    let json = json!({
        "compression": { "target_max_tokens": 16000 },
        "protected_turns": { "last_n_turns": 6, "first_tool": false },
        "output": { "summary_notice_text": "\n\nshort" },
        "summarization": { "retry_delay": 1 },
    });
    let read = Config::from_yaml(yaml).unwrap();
    assert_eq!(Config::from_value(json), Ok(read.clone()));
    assert_eq!((read.compression.target_max_tokens, read.compression.summary_target_tokens), (16_000, 750));
    assert!(!read.protected_turns.first_tool && read.summarization.retry_delay == 1.0);
}

#[test]
fn what_is_wrong_is_named() {
    for (yaml, words) in [
        ("compresion:\n  a: 1\n", "there is no section `compresion`"),
        ("compression:\n  target: 1\n", "compression: unknown field `target`, expected `target_max_tokens`"),
        ("compression:\n  target_max_tokens: many\n", "compression: invalid type: string \"many\""),
        ("compression:\n  target_max_tokens: -1\n", "compression: invalid value"),
        ("compression:\n  target_max_tokens: 0\n", "compression.target_max_tokens must be 1 to 100,000,000"),
        ("protected_turns:\n  last_n_turns: 1000001\n", "protected_turns.last_n_turns must be"),
        ("summarization:\n  temperature: 3\n", "summarization.temperature must be 0 to 2"),
        ("output:\n  output_suffix: a/b\n", "output.output_suffix must be without a /"),
        ("compression: 5\n", "compression: invalid type"),
        ("- a\n", "must be an object of sections"),
        ("compression:\n  target_max_tokens: 1\ncompression:\n  target_max_tokens: 2\n", "not YAML: line 3"),
        ("a: [", "not YAML: line 1"),
    ] {
        let error = Config::from_yaml(yaml).unwrap_err().to_string();
        assert!(error.contains(words), "{yaml:?}: {error}");
    }
}
