use std::time::{Duration, Instant};

use super::*;
use Kind::{InputTooLong, Other, OutputCap};

/// A text, its status, and what it means: kind, window, room for the answer.
type Said = (&'static str, Option<u16>, Kind, Option<u64>, Option<u64>);

/// What providers say.
const SAID: &[Said] = &[
    // OpenAI and Azure, chat completions.
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 10018 tokens. Please reduce the length of the messages.",
        Some(400),
        InputTooLong,
        Some(8_192),
        None,
    ),
    (
        "This model's maximum context length is 128000 tokens. However, you requested 130500 tokens (126404 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.",
        Some(400),
        InputTooLong,
        Some(128_000),
        None,
    ),
    (
        "Error code: 400 - {'error': {'message': \"This model's maximum context length is 16385 tokens. However, your messages resulted in 17000 tokens.\", 'type': 'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}}",
        Some(400),
        InputTooLong,
        Some(16_385),
        None,
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. Please reduce the length of the messages.",
        Some(400),
        InputTooLong,
        Some(272_000),
        None,
    ),
    (
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
        Some(400),
        OutputCap,
        None,
        Some(16_384),
    ),
    (
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1548576 instead.",
        Some(400),
        InputTooLong,
        None,
        None,
    ),
    (
        "Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29000, Requested 4500. Please try again in 7s.",
        Some(429),
        Other,
        None,
        None,
    ),
    (
        "Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Requested 41235. The input or output tokens must be reduced in order to run successfully.",
        None,
        Other,
        None,
        None,
    ),
    (
        "Incorrect API key provided: sk-proj-********1234. You can find your API key at https://platform.openai.com/account/api-keys.",
        Some(401),
        Other,
        None,
        None,
    ),
    ("You exceeded your current quota, please check your plan and billing details.", Some(429), Other, None, None),
    (
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
        Some(400),
        Other,
        None,
        None,
    ),
    // OpenAI responses.
    (
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        Some(400),
        InputTooLong,
        None,
        None,
    ),
    (
        "{\"type\":\"error\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input is above what the model takes.\"}}",
        None,
        InputTooLong,
        None,
        None,
    ),
    // Azure.
    (
        "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-02-01 have exceeded token rate limit of your current OpenAI S0 pricing tier. Limit: 60000 tokens. Please retry after 30 seconds.",
        Some(429),
        Other,
        None,
        None,
    ),
    // Anthropic.
    ("prompt is too long: 208310 tokens > 200000 maximum", Some(400), InputTooLong, Some(200_000), None),
    ("prompt is too long: 1,048,577 tokens > 1,000,000 maximum", Some(400), InputTooLong, Some(1_000_000), None),
    (
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
        Some(400),
        OutputCap,
        Some(200_000),
        Some(11_760),
    ),
    (
        "input length and `max_tokens` exceed context limit: 208240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
        Some(400),
        InputTooLong,
        Some(200_000),
        None,
    ),
    (
        "max_tokens: 32768 > context_window: 200000 - input_tokens: 190000 = available_tokens: 10000",
        Some(400),
        OutputCap,
        None,
        Some(10_000),
    ),
    (
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-20250514",
        Some(400),
        OutputCap,
        None,
        Some(64_000),
    ),
    (
        "{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\",\"message\":\"Request exceeds the maximum size\"}}",
        Some(413),
        InputTooLong,
        None,
        None,
    ),
    (
        "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6082220 bytes > 5242880 bytes",
        Some(400),
        Other,
        None,
        None,
    ),
    (
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
        Some(429),
        Other,
        None,
        None,
    ),
    (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
        Some(400),
        Other,
        None,
        None,
    ),
    ("invalid x-api-key", Some(401), Other, None, None),
    ("Overloaded", Some(529), Other, None, None),
    // Gemini and Vertex.
    (
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        Some(400),
        InputTooLong,
        Some(1_048_576),
        None,
    ),
    (
        "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.",
        Some(400),
        InputTooLong,
        Some(1_048_576),
        None,
    ),
    (
        "You exceeded your current quota. Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000",
        Some(429),
        Other,
        None,
        None,
    ),
    ("RESOURCE_EXHAUSTED: token limit 1000000", None, Other, None, None),
    // OpenRouter.
    (
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 41000 tokens (30000 of text input, 1000 of tool input, 10000 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.",
        Some(400),
        OutputCap,
        Some(32_768),
        Some(1_768),
    ),
    (
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 51000 tokens (40000 of text input, 1000 of tool input, 10000 in the output).",
        Some(400),
        InputTooLong,
        Some(32_768),
        None,
    ),
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (140000 of text input). Please reduce the length of either one.",
        Some(400),
        InputTooLong,
        Some(131_072),
        None,
    ),
    (
        "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 4000.",
        Some(402),
        Other,
        None,
        None,
    ),
    // vLLM and SGLang.
    (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.",
        Some(400),
        InputTooLong,
        Some(4_096),
        None,
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 8192 tokens and your request has 500 input tokens (8000 > 8192 - 500).",
        Some(400),
        OutputCap,
        Some(8_192),
        Some(7_692),
    ),
    (
        "This model's maximum context length is 65536 tokens. However, you requested 65000 output tokens and your prompt contains 30000 characters (more than 536 tokens).",
        Some(400),
        OutputCap,
        Some(65_536),
        Some(55_536),
    ),
    (
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
        Some(400),
        InputTooLong,
        Some(8_192),
        None,
    ),
    (
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        Some(400),
        InputTooLong,
        Some(8_192),
        None,
    ),
    (
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 39000 tokens from the input messages and 1000 tokens for the completion.",
        Some(400),
        InputTooLong,
        Some(32_768),
        None,
    ),
    // TGI and Together.
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
        Some(422),
        InputTooLong,
        Some(8_193),
        None,
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3000 `inputs` tokens and 2000 `max_new_tokens`",
        Some(422),
        OutputCap,
        Some(4_096),
        Some(1_096),
    ),
    // llama.cpp.
    (
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        Some(400),
        InputTooLong,
        None,
        None,
    ),
    (
        "{\"error\":{\"code\":400,\"message\":\"request (12345 tokens) exceeds the available context size (8192 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":12345,\"n_ctx\":8192}}",
        Some(400),
        InputTooLong,
        Some(8_192),
        None,
    ),
    // Ollama.
    ("the input length exceeds the context length", Some(400), InputTooLong, None, None),
    ("prompt too long; exceeded max context length by 5000 tokens", Some(400), InputTooLong, None, None),
    ("model \"llama9\" not found, try pulling it first", Some(404), Other, None, None),
    // LM Studio.
    (
        "Trying to keep the first 9500 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.",
        Some(400),
        InputTooLong,
        Some(4_096),
        None,
    ),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input",
        Some(400),
        InputTooLong,
        None,
        None,
    ),
    ("Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)", Some(500), InputTooLong, Some(4_096), None),
    ("Maximum context size 32768 exceeded", None, InputTooLong, Some(32_768), None),
    // Mistral.
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        Some(400),
        InputTooLong,
        Some(32_768),
        None,
    ),
    ("Requests rate limit exceeded", Some(429), Other, None, None),
    // DeepSeek.
    (
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
        Some(400),
        InputTooLong,
        Some(65_536),
        None,
    ),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Some(400), OutputCap, None, Some(8_192)),
    ("Insufficient Balance", Some(402), Other, None, None),
    // Groq and Cerebras.
    ("Please reduce the length of the messages or completion.", Some(400), InputTooLong, None, None),
    (
        "Request too large for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
        Some(413),
        InputTooLong,
        None,
        None,
    ),
    (
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
        Some(400),
        OutputCap,
        None,
        Some(8_192),
    ),
    (
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        Some(400),
        InputTooLong,
        Some(8_192),
        None,
    ),
    // Bedrock.
    ("ValidationException: Input is too long for requested model.", Some(400), InputTooLong, None, None),
    ("ThrottlingException: Too many tokens, please wait before trying again.", Some(429), Other, None, None),
    ("Too many tokens, please wait before trying again.", None, Other, None, None),
    (
        "Malformed input request: expected maxLength: 100000, actual: 120000, please reformat your input and try again.",
        Some(400),
        InputTooLong,
        None,
        None,
    ),
    (
        "AccessDeniedException: You don't have permission to access the model with the specified model ID.",
        Some(403),
        Other,
        None,
        None,
    ),
    // xAI, Qwen, Moonshot, GLM, MiniMax, Fireworks, Cohere, Copilot, watsonx.
    (
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        Some(400),
        InputTooLong,
        Some(131_072),
        None,
    ),
    (
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        Some(400),
        InputTooLong,
        Some(129_024),
        None,
    ),
    ("Range of max_tokens should be [1, 8192]", Some(400), OutputCap, None, Some(8_192)),
    (
        "Invalid request: Your request exceeded model token limit: 131072 (requested: 150000)",
        Some(400),
        InputTooLong,
        Some(131_072),
        None,
    ),
    ("Prompt exceeds max length", Some(400), InputTooLong, None, None),
    ("invalid params, context window exceeds limit (2013)", Some(400), InputTooLong, None, None),
    (
        "The prompt is too long: 140000, model maximum context length: 131071",
        Some(400),
        InputTooLong,
        Some(131_071),
        None,
    ),
    (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt.",
        Some(400),
        InputTooLong,
        Some(4_081),
        None,
    ),
    ("prompt token count of 130000 exceeds the limit of 128000", Some(400), InputTooLong, Some(128_000), None),
    (
        "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
        Some(400),
        InputTooLong,
        Some(8_192),
        None,
    ),
    ("litellm.ContextWindowExceededError: the conversation did not fit", Some(400), InputTooLong, None, None),
    // Gateways and nonsense.
    ("<html><head><title>413 Request Entity Too Large</title></head></html>", Some(413), InputTooLong, None, None),
    ("request body exceeds limit of 1048576 bytes", Some(413), InputTooLong, None, None),
    ("", Some(413), InputTooLong, None, None),
    ("", Some(400), Other, None, None),
    ("upstream connect error or disconnect/reset before headers", Some(503), Other, None, None),
    ("connection limit 5000 reached", Some(503), Other, None, None),
    ("Invalid token limit 5000 requests", Some(400), Other, None, None),
    ("The read operation timed out after 60000 ms", None, Other, None, None),
    ("max_output_tokens above limit 8192", Some(400), Other, None, None),
];

#[test]
fn what_providers_say_is_understood() {
    for &(text, status, kind, context_limit, available_output) in SAID {
        let found = classify(text, status, Some(20_000));
        let lower_limit = context_limit.filter(|limit| *limit < 20_000);
        let expect = Classified { kind, context_limit, lower_limit, available_output, next_tier: Some(16_000) };
        assert_eq!(found, expect, "{text}");
        assert_eq!(classify(&text.to_ascii_uppercase(), status, Some(20_000)), expect, "in capitals: {text}");
    }
}

#[test]
fn a_window_is_named_in_one_of_the_shapes() {
    for (text, expect) in [
        ("maximum context length is 32768 tokens, you sent 40000", Some(32_768)),
        ("error 400: max context window: 65536", Some(65_536)),
        ("maximum context size 32768 exceeded", Some(32_768)),
        ("context window of 4096 tokens exceeded", Some(4_096)),
        ("250000 tokens > 200000 maximum", Some(200_000)),
        ("over the 128000 token context", Some(128_000)),
        ("over the 128_000 token limit", Some(128_000)),
        ("limit is 200,000", Some(200_000)),
        ("limit 8192,4096", Some(8_192)),
        ("limit 1,000,00", None),
        ("it exceeds limit (5000)", None),
        ("limit 1023", None),
        ("limit 1024", Some(1_024)),
        ("limit 10000000", Some(10_000_000)),
        ("limit 10000001", None),
        ("limit 99999999999999999999999 but context length 8192", Some(8_192)),
        ("limit 18,446,744,073,709,551,616", None),
        ("limit 500000 bytes", None),
        ("something went wrong", None),
        ("", None),
    ] {
        assert_eq!(parse_context_limit(text), expect, "{text}");
        let lower = expect.filter(|limit| *limit < 100_000);
        assert_eq!(context_length_from_error(text, 100_000), lower, "{text}");
    }
    assert_eq!(context_length_from_error("limit is 8192", 8_192), None);
}

#[test]
fn room_for_the_answer_is_told_only_where_the_answer_is_too_long() {
    let input = "maximum context length is 1000 tokens (900 of text input, 50 of tool input, 100 in the output)";
    let chars = "maximum context length is 1000 tokens; you requested 900 output tokens and your prompt contains 301 characters";
    for (text, expect) in [
        ("max_tokens too large, available_tokens: 10000", Some(10_000)),
        ("max_tokens too large, available_tokens : 10", Some(10)),
        ("max_tokens too large, \"available_tokens\": 7", Some(7)),
        ("max_tokens too large, Available Tokens: 12,345", Some(12_345)),
        ("max_tokens too large, available_tokens: 0", None),
        ("max_tokens too large; available tokens are 5 - 2 = 3 ", Some(3)),
        ("available_tokens: 10000", None),
        (input, Some(50)),
        (chars, Some(1_000 - 101)),
        ("maximum context length is 1000 tokens, requested 900 output tokens", None),
        ("prompt is too long: 250000 tokens > 200000 maximum", None),
        ("rate limit reached, requested 5000 tokens", None),
    ] {
        assert_eq!(parse_available_output(text), expect, "{text}");
    }
}

#[test]
fn tiers_are_tried_from_above() {
    for (window, expect) in [
        (u64::MAX, Some(256_000)),
        (256_001, Some(256_000)),
        (256_000, Some(128_000)),
        (20_000, Some(16_000)),
        (8_001, Some(8_000)),
        (8_000, None),
        (0, None),
    ] {
        assert_eq!(next_probe_tier(window), expect, "{window}");
    }
    assert_eq!(classify("limit", None, None).next_tier, None);
}

#[test]
fn hostile_texts_take_linear_time() {
    let bytes = if cfg!(debug_assertions) { 1 << 20 } else { 10 << 20 };
    for piece in ["9", "1,", "max ", "maximum context length is ", "9 + 9 > ", "> ", "exceeds the ", " ", "= 1", "é"] {
        let text = piece.repeat(bytes / piece.len());
        let started = Instant::now();
        classify(&text, None, Some(128_000));
        parse_available_output(&format!("max_tokens available_tokens {text}"));
        assert!(started.elapsed() < Duration::from_secs(20), "{piece:?} took {:?}", started.elapsed());
    }
}
