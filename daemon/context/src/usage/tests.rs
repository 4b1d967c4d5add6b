use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Provider, `api_mode`.
type Names = (Option<&'static str>, Option<&'static str>);

const UNNAMED: Names = (None, None);
const CHAT: Names = (None, Some("chat_completions"));
const RESPONSES: Names = (None, Some("codex_responses"));
const ANTHROPIC: Names = (None, Some("anthropic_messages"));

/// Input, output, `cache_read`, `cache_write`, reasoning.
fn check(names: Names, usage: &Value, expect: [u64; 5]) {
    let [input, output, cache_read, cache_write, reasoning] = expect;
    let expect = Usage { input, output, cache_read, cache_write, reasoning, request_count: 1 };
    assert_eq!(normalise(usage, names.0, names.1), expect, "{names:?} {usage}");
}

#[test]
fn chat_completions_count_the_cached_tokens_in_the_prompt() {
    let openai = json!({
        "prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306,
        "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 192, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0
        }
    });
    let openrouter = json!({
        "prompt_tokens": 10339, "completion_tokens": 60, "total_tokens": 10399, "cost": 0.0125, "is_byok": false,
        "prompt_tokens_details": {"cached_tokens": 10318, "cache_write_tokens": 15, "audio_tokens": 0, "video_tokens": 0},
        "cost_details": {"upstream_inference_cost": null},
        "completion_tokens_details": {"reasoning_tokens": 20, "image_tokens": 0}
    });
    let deepseek = json!({
        "prompt_tokens": 1219, "completion_tokens": 74, "total_tokens": 1293,
        "prompt_tokens_details": {"cached_tokens": 1152}, "completion_tokens_details": {"reasoning_tokens": 31},
        "prompt_cache_hit_tokens": 1152, "prompt_cache_miss_tokens": 67
    });
    let deepseek_before = json!({
        "prompt_tokens": 1219, "completion_tokens": 74, "total_tokens": 1293,
        "prompt_cache_hit_tokens": 1152, "prompt_cache_miss_tokens": 67
    });
    let vllm = json!({"prompt_tokens": 19, "total_tokens": 29, "completion_tokens": 10, "prompt_tokens_details": null});
    let gateway_to_claude = json!({
        "prompt_tokens": 3400, "completion_tokens": 500, "total_tokens": 3900,
        "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 400
    });
    for (provider, usage, expect) in [
        ("openai", openai, [86, 300, 1920, 0, 192]),
        ("openrouter", openrouter, [6, 60, 10318, 15, 20]),
        ("deepseek", deepseek, [67, 74, 1152, 0, 31]),
        ("deepseek", deepseek_before, [67, 74, 1152, 0, 0]),
        ("vllm", vllm, [19, 10, 0, 0, 0]),
        ("litellm", gateway_to_claude, [1000, 500, 2000, 400, 0]),
        ("ollama", json!({"prompt_tokens": 26, "completion_tokens": 298, "total_tokens": 324}), [26, 298, 0, 0, 0]),
        (
            "groq",
            json!({"queue_time": 0.02, "prompt_tokens": 18, "prompt_time": 0.001, "completion_tokens": 5}),
            [18, 5, 0, 0, 0],
        ),
    ] {
        check((Some(provider), Some("chat_completions")), &usage, expect);
        check((Some(provider), None), &usage, expect);
        check(UNNAMED, &usage, expect);
        check((Some("a proxy"), Some("a mode of tomorrow")), &usage, expect);
    }
}

#[test]
fn cached_tokens_of_the_details_win_unless_they_are_zero() {
    for (details, beside, expect) in [
        (json!({"cached_tokens": 50}), json!(7), [950, 0, 50, 0, 0]),
        (json!({"cached_tokens": 0}), json!(7), [993, 0, 7, 0, 0]),
        (json!({"cached_tokens": "50"}), json!(7), [993, 0, 7, 0, 0]),
        (json!([50]), json!(7), [993, 0, 7, 0, 0]),
        (json!(null), json!(null), [1000, 0, 0, 0, 0]),
    ] {
        let usage = json!({"prompt_tokens": 1000, "prompt_tokens_details": details, "cache_read_input_tokens": beside});
        check(CHAT, &usage, expect);
    }
    for (details, beside, expect) in [
        (json!({"cache_write_tokens": 50}), json!(7), [950, 0, 0, 50, 0]),
        (json!({"cache_write_tokens": 0}), json!(7), [993, 0, 0, 7, 0]),
        (json!({}), json!(7), [993, 0, 0, 7, 0]),
    ] {
        let usage =
            json!({"prompt_tokens": 1000, "prompt_tokens_details": details, "cache_creation_input_tokens": beside});
        check(CHAT, &usage, expect);
    }
    let both = json!({"prompt_tokens": 1000, "cache_read_input_tokens": 30, "prompt_cache_hit_tokens": 40});
    check(CHAT, &both, [970, 0, 30, 0, 0]);
}

#[test]
fn more_cached_than_counted_leaves_no_input() {
    let chat = json!({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 20}});
    check(CHAT, &chat, [0, 0, 90, 20, 0]);
    let responses = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 150}});
    check(RESPONSES, &responses, [0, 0, 150, 0, 0]);
    let gemini = json!({"promptTokenCount": 100, "cachedContentTokenCount": 101});
    check(UNNAMED, &gemini, [0, 0, 101, 0, 0]);
}

#[test]
fn the_responses_api_counts_the_cached_tokens_in_the_input() {
    let openai = json!({
        "input_tokens": 3000, "input_tokens_details": {"cached_tokens": 1800}, "output_tokens": 700,
        "output_tokens_details": {"reasoning_tokens": 512}, "total_tokens": 3700
    });
    let writes = json!({
        "input_tokens": 3000, "input_tokens_details": {"cached_tokens": 1800, "cache_creation_tokens": 400},
        "output_tokens": 700, "output_tokens_details": {"reasoning_tokens": 0}
    });
    for (usage, expect) in [(openai, [1200, 700, 1800, 0, 512]), (writes, [800, 700, 1800, 400, 0])] {
        check(RESPONSES, &usage, expect);
        check((Some("openai"), None), &usage, expect);
        check(UNNAMED, &usage, expect);
    }
    let of_codex = json!({
        "input_tokens": 3000, "cached_input_tokens": 1800, "cache_write_input_tokens": 400, "output_tokens": 700,
        "reasoning_output_tokens": 512, "total_tokens": 3700
    });
    check(RESPONSES, &of_codex, [800, 700, 1800, 400, 512]);
    check(UNNAMED, &of_codex, [800, 700, 1800, 400, 512]);
}

#[test]
fn anthropic_counts_the_cached_tokens_apart() {
    let cached = json!({
        "input_tokens": 1000, "output_tokens": 500, "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 400,
        "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 100},
        "server_tool_use": {"web_search_requests": 0}, "service_tier": "standard"
    });
    let first =
        json!({"input_tokens": 21, "output_tokens": 305, "cache_read_input_tokens": null, "service_tier": "standard"});
    for (usage, expect) in [
        (cached, [1000, 500, 2000, 400, 0]),
        (first, [21, 305, 0, 0, 0]),
        (json!({"input_tokens": 21, "output_tokens": 305}), [21, 305, 0, 0, 0]),
        (json!({"output_tokens": 15}), [0, 15, 0, 0, 0]),
    ] {
        for names in [ANTHROPIC, (Some("anthropic"), None), (Some(" Anthropic "), Some("codex_responses")), UNNAMED] {
            check(names, &usage, expect);
        }
    }
    let usage = normalise(
        &json!({"input_tokens": 1000, "output_tokens": 500, "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 400}),
        Some("anthropic"),
        None,
    );
    assert_eq!((usage.prompt(), usage.total()), (3400, 3900));
}

#[test]
fn gemini_is_known_by_its_fields() {
    let metadata = json!({
        "promptTokenCount": 1500, "cachedContentTokenCount": 1024, "candidatesTokenCount": 200,
        "thoughtsTokenCount": 350, "totalTokenCount": 2050,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1500}]
    });
    let library = json!({
        "prompt_token_count": 1500, "cached_content_token_count": 1024, "candidates_token_count": 200,
        "thoughts_token_count": 350, "total_token_count": 2050, "cache_tokens_details": null
    });
    let cases = [
        (metadata.clone(), [476, 550, 1024, 0, 350]),
        (library.clone(), [476, 550, 1024, 0, 350]),
        (json!({"candidates": [], "modelVersion": "gemini", "usageMetadata": metadata}), [476, 550, 1024, 0, 350]),
        (json!({"usage_metadata": library}), [476, 550, 1024, 0, 350]),
        (json!({"promptTokenCount": 8, "totalTokenCount": 8}), [8, 0, 0, 0, 0]),
        (json!({"thoughtsTokenCount": 9}), [0, 9, 0, 0, 9]),
    ];
    for (usage, expect) in cases {
        for names in [UNNAMED, (Some("gemini"), None), (Some("google"), Some("chat_completions"))] {
            check(names, &usage, expect);
        }
    }
    let compatible = json!({"prompt_tokens": 8, "completion_tokens": 3, "total_tokens": 20});
    check((Some("gemini"), None), &compatible, [8, 3, 0, 0, 0]);
}

#[test]
fn bedrock_is_known_by_its_fields() {
    let usage = json!({
        "inputTokens": 1200, "outputTokens": 700, "totalTokens": 4300,
        "cacheReadInputTokens": 1800, "cacheWriteInputTokens": 600
    });
    for names in [UNNAMED, (Some("bedrock"), None), (None, Some("chat_completions"))] {
        check(names, &usage, [1200, 700, 1800, 600, 0]);
    }
    let response = json!({ "output": { "message": {} }, "usage": usage });
    check(UNNAMED, &response, [1200, 700, 1800, 600, 0]);
}

#[test]
fn ollama_is_known_by_its_fields() {
    let done = json!({"model": "llama3.2", "done": true, "total_duration": 4_883_583_458_u64, "prompt_eval_count": 26,
        "prompt_eval_duration": 130_079_000, "eval_count": 259, "eval_duration": 4_232_710_000_u64});
    check(UNNAMED, &done, [26, 259, 0, 0, 0]);
    check((Some("ollama"), Some("chat_completions")), &done, [26, 259, 0, 0, 0]);
}

#[test]
fn a_name_wins_over_what_the_fields_look_like() {
    let mixed = json!({
        "prompt_tokens": 900, "completion_tokens": 90, "input_tokens": 500, "output_tokens": 50, "promptTokenCount": 3,
        "input_tokens_details": {"cached_tokens": 100}, "cache_read_input_tokens": 200, "eval_count": 4
    });
    check(UNNAMED, &mixed, [700, 90, 200, 0, 0]);
    check(CHAT, &mixed, [700, 90, 200, 0, 0]);
    check(RESPONSES, &mixed, [400, 50, 100, 0, 0]);
    check(ANTHROPIC, &mixed, [500, 50, 200, 0, 0]);
    check((Some("anthropic"), Some("chat_completions")), &mixed, [500, 50, 200, 0, 0]);
    check((Some("openrouter"), Some(" Codex_Responses")), &mixed, [400, 50, 100, 0, 0]);
    let like_anthropic = json!({"input_tokens": 500, "output_tokens": 50, "cache_read_input_tokens": 200});
    check(CHAT, &like_anthropic, [0, 0, 200, 0, 0]);
    check(RESPONSES, &like_anthropic, [500, 50, 0, 0, 0]);
    let like_responses = json!({"input_tokens": 500, "input_tokens_details": {"cached_tokens": 200}});
    check(ANTHROPIC, &like_responses, [500, 0, 0, 0, 0]);
    check(CHAT, &like_responses, [0, 0, 0, 0, 0]);
}

#[test]
fn reasoning_is_read_from_either_details() {
    let details = |output: u64, completion: u64| {
        json!({"prompt_tokens": 1, "output_tokens_details": {"reasoning_tokens": output},
            "completion_tokens_details": {"reasoning_tokens": completion}})
    };
    check(CHAT, &details(5, 6), [1, 0, 0, 0, 5]);
    check(CHAT, &details(0, 6), [1, 0, 0, 0, 6]);
    check(CHAT, &json!({"prompt_tokens": 1, "reasoning_tokens": 5}), [1, 0, 0, 0, 0]);
}

#[test]
fn a_response_is_read_for_its_usage() {
    let message = json!({"id": "msg_1", "type": "message", "content": [],
        "usage": {"input_tokens": 12, "output_tokens": 3, "cache_read_input_tokens": 5}});
    check(ANTHROPIC, &message, [12, 3, 5, 0, 0]);
    check(UNNAMED, &message, [12, 3, 5, 0, 0]);
    check(UNNAMED, &json!({"object": "chat.completion", "usage": {"prompt_tokens": 12}}), [12, 0, 0, 0, 0]);
    check(CHAT, &json!({"object": "chat.completion.chunk", "usage": null}), [0; 5]);
    check(UNNAMED, &json!({"prompt_tokens": 7, "usage": {"prompt_tokens": 12}}), [7, 0, 0, 0, 0]);
    check(UNNAMED, &json!({"prompt_tokens": null, "usage": {"prompt_tokens": 12}}), [12, 0, 0, 0, 0]);
    check(UNNAMED, &json!({"usage": {"usage": {"prompt_tokens": 12}}}), [0; 5]);
}

#[test]
fn what_is_no_usage_has_no_tokens_and_is_one_call() {
    for usage in [
        json!(null),
        json!({}),
        json!(0),
        json!(12),
        json!(""),
        json!("prompt_tokens"),
        json!(false),
        json!(true),
        json!([]),
        json!([{"prompt_tokens": 5}]),
        json!({"usage": []}),
        json!({"usage": {}}),
        json!({"total_tokens": 5, "prompt": 6}),
        json!({"prompt_tokens": -5, "completion_tokens": "9", "prompt_tokens_details": {"cached_tokens": 1.5}}),
        json!({"input_tokens": true, "output_tokens": [3], "input_tokens_details": "x"}),
        json!({"promptTokenCount": 1.5, "thoughtsTokenCount": -1}),
    ] {
        for names in [UNNAMED, CHAT, RESPONSES, ANTHROPIC, (Some("gemini"), None), (Some(""), Some(""))] {
            check(names, &usage, [0; 5]);
        }
    }
}

#[test]
fn huge_counts_end_at_the_largest() {
    let usage = normalise(
        &json!({"input_tokens": u64::MAX, "output_tokens": 1e300, "cache_read_input_tokens": u64::MAX,
            "cache_creation_input_tokens": MAX_TOKENS + 1}),
        None,
        Some("anthropic_messages"),
    );
    for tokens in [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.prompt(), usage.total()] {
        assert_eq!(tokens, MAX_TOKENS);
    }
    let gemini = normalise(&json!({"candidatesTokenCount": MAX_TOKENS, "thoughtsTokenCount": MAX_TOKENS}), None, None);
    assert_eq!((gemini.output, gemini.reasoning), (MAX_TOKENS, MAX_TOKENS));
    let made_up = Usage { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, ..Usage::default() };
    assert_eq!((made_up.prompt(), made_up.total()), (MAX_TOKENS, MAX_TOKENS));
}

fn name() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![
        None,
        Some("anthropic"),
        Some("gemini"),
        Some("chat_completions"),
        Some("codex_responses"),
        Some("anthropic_messages"),
    ])
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!(null)),
        Just(json!("9")),
        Just(json!(true))
    ];
    leaf.prop_recursive(3, 30, 8, |inner| {
        let keys = prop::sample::select(vec![
            "usage",
            "usageMetadata",
            "prompt_tokens",
            "completion_tokens",
            "input_tokens",
            "output_tokens",
            "input_tokens_details",
            "cached_input_tokens",
            "inputTokens",
            "cacheReadInputTokens",
            "prompt_tokens_details",
            "cached_tokens",
            "cache_write_tokens",
            "promptTokenCount",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "thoughtsTokenCount",
            "eval_count",
        ]);
        prop::collection::vec((keys, inner), 0..8)
            .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    })
}

proptest! {
    #[test]
    fn any_report_gives_counts_in_range(usage in value(), provider in name(), api_mode in name()) {
        let read = normalise(&usage, provider, api_mode);
        let Usage { input, output, cache_read, cache_write, reasoning, request_count } = read;
        for tokens in [input, output, cache_read, cache_write, reasoning, read.prompt(), read.total()] {
            prop_assert!(tokens <= MAX_TOKENS);
        }
        prop_assert_eq!(request_count, 1);
    }
}
