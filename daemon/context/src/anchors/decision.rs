//! Sentences that state a decision.

use std::ops::Range;
use std::sync::LazyLock;

use crate::pattern::Pattern;

/// Words that state a decision by themselves.
static WORDS: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)\b(?:we|I|team|they|you\ and\ I)(?:['’]ve|\ have|['’]re|\ are)?\s+(?:all\ |finally\ |now\ |both\ |have\ )?(?:decided|agreed|settled|chose|chosen|opted|picked|ruled\ out|concluded|committed\ to|going\ with|rejected|selected|resolved\ to)\b
        | \bdecision\b\s*(?:\(|:|was|is|made|taken|reached|\#|-|—|log|record) | \bdecided\ (?:to|on|against|that|not|in\ favou?r)\b | \bit\ was\ (?:decided|agreed)\b | \b(?:was|were|is|been)\ (?:chosen|picked|selected|rejected|ruled\ out|settled|agreed)\b
        | \b(?:we|I)(?:['’]ll|\ will|\ shall|\ are\ going\ to|['’]re\ going\ to)\ (?:go\ with|use|keep|stay\ with|stick\ (?:to|with)|switch|adopt|move\ (?:to|from)|drop|replace|store|ship|target|build\ on|standardi[sz]e|postpone|defer|prefer|avoid|split|pin|not)\b
        | \b(?:going|go|went|gone|sticking|stick|settle[ds]?|settling|opted|opting|opt)\ (?:with|for|on)\b | \b(?:let['’]s|let\ us)\ (?:go\ with|use|keep|stick|switch|adopt|drop)\b
        | \b(?:the\ )?(?:plan|approach|design|verdict|conclusion|agreement|resolution|outcome|choice|consensus)\s*(?:is|was|:) | \bagreed\s*(?:on|to|that|:) | \bfinal\ (?:choice|call|answer|decision)\b
        | \b(?:entschieden|beschlossen|entscheidung|decidimos|decidido|decisión|décidé|décision)\b | 决定|决策|选择了|採用|決定|決めた|решили|решено",
    )
});

/// Words of a choice, and words of a reason that make it a decision: over something else, or because of
/// something.
static CHOICES: LazyLock<[(Pattern, Pattern); 2]> = LazyLock::new(|| {
    let pattern = crate::pattern;
    [
        (
            pattern(
                r"(?i)\b(?:chose|chosen|choosing|choose|picked|prefer(?:red|ring)?|selected|adopt(?:ed|ing)?|switched|switching)\b",
            ),
            pattern(r"(?i)\b(?:over|instead of|rather than|because|since|as|due to|to)\b"),
        ),
        (
            pattern(r"(?i)\b(?:use|using|keep|keeping|store|storing|drop|dropping|pin|pinned|replace[ds]?)\b"),
            pattern(r"(?i)\b(?:instead of|rather than|because|over)\b"),
        ),
    ]
});

/// The allowed chars between a choice and its reason. One automaton for both patterns would have to count
/// them after each choice, with a state for each set of counts.
const BETWEEN: Range<usize> = 2..81;

/// Chars of the longest reason and the char after it.
const LONGEST_REASON: usize = 12;

/// Returns the first place in a text that states a decision.
pub(super) fn find(text: &str) -> Option<Range<usize>> {
    let said = WORDS.find(text).map(|found| found.range());
    let chosen = CHOICES.iter().filter_map(|(choice, reason)| chosen(text, choice, reason));
    said.into_iter().chain(chosen).min_by_key(|found| found.start)
}

/// Returns the first choice with a reason in the same line, up to the last such reason.
fn chosen(text: &str, choice: &Pattern, reason: &Pattern) -> Option<Range<usize>> {
    choice.find_iter(text).find_map(|choice| {
        // The slice includes the choice, so that word boundaries after it are recognised.
        let rest = text.get(choice.start()..)?;
        let line = rest.lines().next()?;
        let behind = line.get(choice.len()..)?;
        let place = |chars: usize| behind.char_indices().nth(chars).map_or(line.len(), |(at, _)| choice.len() + at);
        let between = place(BETWEEN.start)..place(BETWEEN.end);
        let seen = line.get(..place(BETWEEN.end + LONGEST_REASON))?;
        let last = reason.find_iter(seen).filter(|reason| between.contains(&reason.start())).last()?;
        Some(choice.start()..choice.start() + last.end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_one_with_what_tells_so_in_reach() {
        let far = |chars: usize| format!("keep it {}over that", "x".repeat(chars - 5) + " ");
        for (text, expected) in [
            ("Well: we decided to wait", Some("we decided")),
            ("chose A over B because of C, since D\nas E", Some("chose A over B because of C, since")),
            ("we use tabs instead of spaces. Use it", Some("use tabs instead of")),
            ("reuse it over there; keep é over è", Some("keep é over")),
            ("keep\nit over that", None),
            ("keep over", None),
            ("keep X over", Some("keep X over")),
            ("keep it overdue", None),
            ("store, pin, it because", Some("store, pin, it because")),
            (&far(80), Some(far(80).trim_end_matches(" that"))),
            (&far(81), None),
            ("nobody said so", None),
        ] {
            assert_eq!(find(text).map(|found| &text[found]), expected, "{text}");
        }
    }
}
