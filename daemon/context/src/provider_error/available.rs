//! The tokens that remain for the answer.

use std::sync::LazyLock;

use super::limit::{SUM, first_number, last_number};
use crate::pattern;
use crate::pattern::Pattern;

/// The fewest chars of a usual token. It gives an upper bound of the tokens of a prompt measured in chars.
const CHARS_PER_TOKEN: u64 = 3;

/// Declares a regular expression that is compiled on first use; `N` is a number.
macro_rules! shape {
    ($(#[$about:meta])* $name:ident, $source:literal) => {
        $(#[$about])*
        static $name: LazyLock<Pattern> = LazyLock::new(|| pattern(&$source.replace('N', "[0-9][0-9,_]*")));
    };
}

shape!(NAMED, r#"available_tokens["'`]?[:\s]+N"#);
shape!(SPELLED, r"available\s+tokens[:\s]+N");
shape!(LAST, r"=\s*N\s*$");
shape!(WINDOW, r"maximum context length is\s+N");
shape!(TEXT_INPUT, r"N\s+of\s+text\s+input");
shape!(ANY_INPUT, r"N\s+of\s+\w+\s+input");
shape!(PROMPT_CHARS, r"prompt\s+contains\s+(?:at\s+least\s+)?N\s+character");
shape!(DIFFERENCE, r">\s*N\s*-\s*N\s*\)");
shape!(INPUTS, r"max_new_tokens\W*must\s+be\s*<=\s*N\W+given:\s*N");

shape!(
    /// The end of a range that the answer's tokens stay below.
    EXCLUSIVE, r"tokens\D{1,40}[0-9,_]*\D{1,60}range\s+is\s+from\s+[0-9]+\s*\(inclusive\)\s+to\s+N\s*\(exclusive\)"
);

/// Caps of a model's answers, whatever the prompt. In each the cap is the last number. `P` is the parameter
/// that was too large, `N` a number.
static OF_THE_MODEL: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    [
        r"\bP\s*:\s*N\s*>\s*N\s*,\s*which\s+is\s+the\s+maximum",
        r"supports\s+at\s+most\s+N\s+(?:completion|output)\s+tokens",
        r"\bP\W*(?:must|should)\s+be\s+(?:less\s+than\s+or\s+equal\s+to|at\s+most|no\s+(?:more|greater)\s+than)\W*N",
        r"\bP\W*=\s*N\s*cannot\s+be\s+greater\s+than\D{1,60}N",
        r"\bP\D{1,40}\[\s*[01]\s*,\s*N",
        r"\bP\D{1,100}expected\s+a\s+value\s*<=\s*N",
        r"maximum\s+tokens\s+(?:you\s+)?requested\s+exceeds?\s+(?:\w+\s+){0,3}limit\s+of\s+N",
    ]
    .iter()
    .map(|shape| shape.replace('P', r"max_(?:output_|completion_)?tokens").replace('N', "[0-9][0-9,_]*"))
    .map(|shape| pattern(&shape))
    .collect()
});

/// Returns the tokens that remain for the answer, at least 1, if the text reports that the request asked for
/// too many. Returns `None` for any other text.
pub fn parse_available_output(text: &str) -> Option<u64> {
    in_lower_case(&text.to_ascii_lowercase())
}

/// Does the same for a lower-case text.
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

/// Reads the remaining tokens from `A + B > C` and from `B > C - A`, where A is the prompt, B the answer and
/// C the window. The text must name the parameter that is too large.
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

/// Returns the most tokens of any answer of the model.
pub(super) fn of_the_model(text: &str) -> Option<u64> {
    let of = |shape: &Pattern| last_number(shape.find(text)?.as_str());
    let below = of(&EXCLUSIVE).and_then(|beyond| beyond.checked_sub(1));
    positive(below).or_else(|| OF_THE_MODEL.iter().find_map(|shape| positive(of(shape))))
}

fn beside_the_input(text: &str) -> Option<u64> {
    if !text.contains("in the output") {
        return None;
    }
    first(&TEXT_INPUT, text)?;
    let mut inputs = ANY_INPUT.find_iter(text).filter_map(|found| first_number(found.as_str()));
    let used = inputs.try_fold(0, u64::checked_add)?;
    positive(first(&WINDOW, text)?.checked_sub(used))
}

fn beside_the_chars(text: &str) -> Option<u64> {
    let prompt = first(&PROMPT_CHARS, text)?.div_ceil(CHARS_PER_TOKEN);
    positive(first(&WINDOW, text)?.checked_sub(prompt))
}

fn first(shape: &Pattern, text: &str) -> Option<u64> {
    first_number(shape.find(text)?.as_str())
}

fn positive(tokens: Option<u64>) -> Option<u64> {
    tokens.filter(|tokens| *tokens > 0)
}
