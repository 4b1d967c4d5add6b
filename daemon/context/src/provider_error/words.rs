//! Words that identify an error if no number does. All texts here are lower-case.

use std::sync::LazyLock;

use crate::pattern;
use crate::pattern::Pattern;

/// Codes that only mean a prompt that is too long.
static CODES: LazyLock<Pattern> = LazyLock::new(|| {
    any_of(&[
        "context_length_exceeded",
        "context_window_exceeded",
        "contextwindowexceeded",
        "exceed_context_size_error",
        "model_max_prompt_tokens_exceeded",
        "request_too_large",
    ])
});

/// Rates, quotas, money and access, which a shorter prompt does not fix.
static REFUSALS: LazyLock<Pattern> = LazyLock::new(|| {
    any_of(&[
        r"rate[\s_-]?limit",
        r"\bper[\s_-](?:min(?:ute)?|hour|day|sec(?:ond)?|month)\b",
        r"/min\b",
        r"\b(?:tpm|rpm|tpd|rpd)\b",
        r"too[\s_]many[\s_]requests",
        r"\bquota",
        "throttl",
        "resource[ _]exhausted",
        "please wait before",
        "overloaded",
        r"\bbilling",
        r"more credits|credit balance|insufficient[ _](?:balance|funds|credits)",
        r"api[\s_-]?key",
        "unauthori[sz]ed",
        "authenticat",
        "permission",
        "forbidden",
        r"(?:invalid|expired|missing) (?:\w+ )?token\b",
    ])
});

/// Sentences that report a prompt that is too long.
static TOO_LONG: LazyLock<Pattern> = LazyLock::new(|| {
    any_of(&[
        r"(?:prompt|input|request|conversation|message|content)s?(?: (?:prompt|tokens?|text|content|length|body|messages?)){0,2} (?:(?:is|are|was|were) )?too (?:long|large|big)",
        r"(?:payload|entity) too large",
        r"(?:payload|body|request) size exceed",
        r"prompt (?:exceeds|exceeded)",
        r"too many (?:input |prompt )?tokens",
        r"(?:prompt|input|requested|messages?)(?: (?:tokens?|length|size|count)){1,2}(?: of)? ?\(?[0-9,_]*(?: tokens)?\)? ?exceed",
        r"exceed(?:s|ed|ing)? (?:\w+ |'s |\w+'s ){0,3}context",
        r"exceed(?:s|ed|ing)? (?:the )?max(?:imum)? (?:message|input|prompt|sequence) (?:tokens|length|size)",
        r"(?:greater|longer|larger) than (?:\w+ |\w+'s ){0,3}context",
        r"longer than the maximum model length",
        r"context (?:length|size|window|limit) (?:\w+ ){0,3}(?:exceed(?:s|ed)|reached)",
        r"context[_ ]overflow",
        r"context the overflows",
        r"(?:maximum|max) context (?:length|size|window)",
        r"(?:maximum|max) prompt length",
        r"reduce (?:the|your) (?:length|prompt|message|input|context|conversation)",
        r"range of input length",
        r"token limit exceeded|exceed(?:s|ed) (?:the |model |max(?:imum)? ){0,3}token limit",
        r"n_keep (?:\([0-9]+\) )?>= n_ctx",
        r"(?:prompt|输入|上下文|消息)\S{0,4} ?(?:超长|过长)",
    ])
});

/// Sizes in chars, which do not describe the window.
static IN_CHARS: LazyLock<Pattern> =
    LazyLock::new(|| any_of(&["string too long", "string_above_max_length", r"expected maxlength"]));

/// Words near a number that is a window.
static PROMPT: LazyLock<Pattern> = LazyLock::new(|| any_of(&["context", "prompt", "token"]));

/// The parameter for the length of the answer.
static ANSWER: LazyLock<Pattern> =
    LazyLock::new(|| any_of(&[r"max_?(?:output_?|completion_?|new_?)?tokens", r"(?:output|completion) tokens"]));

/// Words that only describe a prompt.
static INPUT: LazyLock<Pattern> = LazyLock::new(|| any_of(&["context", "prompt", "input", "messages"]));

pub(super) fn has_overflow_code(text: &str) -> bool {
    CODES.is_match(text)
}

pub(super) fn is_refusal(text: &str) -> bool {
    REFUSALS.is_match(text)
}

pub(super) fn says_too_long(text: &str) -> bool {
    TOO_LONG.is_match(text)
}

pub(super) fn counts_chars(text: &str) -> bool {
    IN_CHARS.is_match(text)
}

pub(super) fn names_the_prompt(text: &str) -> bool {
    PROMPT.is_match(text)
}

/// Whether a text mentions the answer's length and nothing of the input.
pub(super) fn names_the_answer_only(text: &str) -> bool {
    ANSWER.is_match(text) && !INPUT.is_match(text)
}

fn any_of(alternatives: &[&str]) -> Pattern {
    pattern(&alternatives.join("|"))
}
