//! The token price of a handoff's text. It is that of the words of its turns, because it consists of them.

use rayon::prelude::*;

use crate::message::{Message, ToolCall};
use crate::parallel::FEW_MESSAGES;
use crate::tokens::{SCALE, tokens_to_chars, words_cost};

/// The cost of a char of plain text with its escapes, in thousandths of a token.
const PLAIN_CHAR: u64 = 270;

/// Returns the chars that fit into so many tokens of a handoff over these turns; `None` if all of `most`
/// chars fit.
pub(super) fn chars_within(tokens: u64, turns: &[Message], most: usize) -> Option<usize> {
    // The most expensive script costs two tokens for a char.
    if tokens_to_chars(tokens) / 8 >= most {
        return None;
    }
    let price = price(turns);
    let fits = u128::from(tokens) * u128::from(SCALE) / u128::from(price);
    Some(usize::try_from(fits).unwrap_or(usize::MAX).min(most))
}

/// Returns the cost of a char of a handoff over these turns, in thousandths of a token.
pub(super) fn price(turns: &[Message]) -> u64 {
    // The JSON around a turn does not count: a short call consists mostly of it.
    let cost = |turn: &Message| {
        let of_call =
            |call: &ToolCall| call.name.as_deref().unwrap_or("").chars().count() + turn.arguments(call).chars().count();
        let given: usize = turn.tool_calls().iter().map(of_call).sum();
        ((turn.text().chars().count() + given) as u64, words_cost(turn))
    };
    let all = turns.par_iter().with_min_len(FEW_MESSAGES).map(cost);
    let (chars, dear) = all.reduce(|| (0, 0), |one, other| (one.0 + other.0, one.1 + other.1));
    // Never cheaper than plain text with its escapes, because the frame of a handoff is not from a turn.
    dear.div_ceil(chars.max(1)).max(PLAIN_CHAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call_of, result, say};

    #[test]
    fn a_char_of_a_handoff_costs_what_the_words_of_its_turns_cost() {
        let calls: Vec<Message> = (0..200)
            .flat_map(|at| {
                let id = format!("call_{at}_of_a_provider");
                [call_of(&id, "read_file", r#"{"path": "src/main.rs"}"#), result(&id, "fn main() {}")]
            })
            .collect();
        for (turns, least, most) in [
            (&[][..], 3_703, 3_703),
            (&[say("user", &"some words of English, ".repeat(40))], 3_000, 3_703),
            (&[say("user", &"请看文件".repeat(200))], 1_200, 1_300),
            (&calls, 2_000, 3_703),
        ] {
            let chars = chars_within(1_000, turns, 50_000).unwrap();
            assert!((least..=most).contains(&chars), "{chars}");
        }
        assert_eq!(chars_within(1_000_000, &calls, 50_000), None);
    }
}
