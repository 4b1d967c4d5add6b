//! How many tokens the answer may have.

use std::sync::LazyLock;

use regex::Regex;

use super::limit::{SUM, first_number, last_number};
use crate::pattern;

/// Chars that the shortest usual token has: a prompt that is told in chars takes no more tokens
/// than this makes of it.
const CHARS_PER_TOKEN: u64 = 3;

/// A regular expression that is compiled when it is first used; `N` is a number.
macro_rules! shape {
    ($name:ident, $source:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| pattern(&$source.replace('N', "[0-9][0-9,_]*")));
    };
}

shape!(NAMED, r#"available_tokens["'`]?[:\s]+N"#);
shape!(SPELLED, r"available\s+tokens[:\s]+N");
shape!(LAST, r"=\s*N\s*$");
shape!(WINDOW, r"maximum context length is\s+N");
shape!(TEXT_INPUT, r"N\s+of\s+text\s+input");
shape!(TOOL_INPUT, r"N\s+of\s+tool\s+input");
shape!(PROMPT_CHARS, r"prompt\s+contains\s+(?:at\s+least\s+)?N\s+character");
shape!(DIFFERENCE, r">\s*N\s*-\s*N\s*\)");
shape!(INPUTS, r"max_new_tokens\W*must\s+be\s*<=\s*N\W+given:\s*N");

/// Caps of a model's answers, whatever the prompt: Anthropic, OpenAI, Groq, DeepSeek and Qwen.
static OF_THE_MODEL: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\bmax_(?:output_|completion_)?tokens\s*:\s*[0-9][0-9,_]*\s*>\s*N\s*,\s*which\s+is\s+the\s+maximum",
        r"supports\s+at\s+most\s+N\s+(?:completion|output)\s+tokens",
        r"\bmax_(?:output_|completion_)?tokens\W*must\s+be\s+less\s+than\s+or\s+equal\s+to\W*N",
        r"range\s+of\s+max_(?:output_|completion_)?tokens\s+(?:is|should\s+be)\s*\[\s*1\s*,\s*N",
    ]
    .iter()
    .map(|shape| pattern(&shape.replace('N', "[0-9][0-9,_]*")))
    .collect()
});

/// Tokens that are left for the answer, at least 1, of a text that says that too many were asked
/// for it; none of any other text.
pub fn parse_available_output(text: &str) -> Option<u64> {
    in_lower_case(&text.to_ascii_lowercase())
}

/// The same of a lower-case text.
pub(super) fn in_lower_case(text: &str) -> Option<u64> {
    let has = |words: &str| text.contains(words);
    let names_what_is_left = has("max_tokens") && (has("available_tokens") || has("available tokens"));
    let names_the_window = has("maximum context length");
    let is_about_the_answer = has("in the output") || (has("requested") && has("output tokens"));
    let is_too_long = names_what_is_left || (names_the_window && is_about_the_answer);
    if !is_too_long {
        return None;
    }
    [&*NAMED, &*SPELLED, &*LAST]
        .into_iter()
        .find_map(|shape| positive(first(shape, text)))
        .or_else(|| beside_the_input(text))
        .or_else(|| beside_the_chars(text))
}

/// Of `A + B > C` and of `B > C - A`, where A is the prompt, B the answer and C the window, in a
/// text that names the parameter which would have to be smaller.
pub(super) fn of_a_sum(text: &str) -> Option<u64> {
    if !text.contains("max_tokens") && !text.contains("max_completion_tokens") && !text.contains("max_new_tokens") {
        return None;
    }
    let of_sum = || {
        let found = SUM.find(text)?.as_str();
        let (sum, window) = found.split_once('>')?;
        first_number(window)?.checked_sub(first_number(sum)?)
    };
    let of_difference = || {
        let found = DIFFERENCE.find(text)?.as_str();
        let (window, prompt) = found.split_once('-')?;
        first_number(window)?.checked_sub(first_number(prompt)?)
    };
    let of_inputs = || {
        let found = INPUTS.find(text)?.as_str();
        let (window, prompt) = found.split_once("given")?;
        first_number(window)?.checked_sub(first_number(prompt)?)
    };
    positive(of_sum()).or_else(|| positive(of_difference())).or_else(|| positive(of_inputs()))
}

/// The most tokens that any answer of the model may have.
pub(super) fn of_the_model(text: &str) -> Option<u64> {
    OF_THE_MODEL.iter().find_map(|shape| positive(last_number(shape.find(text)?.as_str())))
}

fn beside_the_input(text: &str) -> Option<u64> {
    if !text.contains("in the output") {
        return None;
    }
    let used = first(&TEXT_INPUT, text)?.checked_add(first(&TOOL_INPUT, text).unwrap_or(0))?;
    positive(first(&WINDOW, text)?.checked_sub(used))
}

fn beside_the_chars(text: &str) -> Option<u64> {
    let prompt = first(&PROMPT_CHARS, text)?.div_ceil(CHARS_PER_TOKEN);
    positive(first(&WINDOW, text)?.checked_sub(prompt))
}

fn first(shape: &Regex, text: &str) -> Option<u64> {
    first_number(shape.find(text)?.as_str())
}

fn positive(tokens: Option<u64>) -> Option<u64> {
    tokens.filter(|tokens| *tokens > 0)
}
