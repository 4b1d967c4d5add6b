//! A few lines for a part of a conversation: requests, actions, failures, files. Each line is complete in
//! itself, so fewer lines contain less, but no half statements.

use super::allot::{Pool, allot};
use super::gather::{Material, gather};
use super::quote::Quoter;
use super::{Extract, Reason, Skeleton};
use crate::message::Message;
use crate::redaction::Redaction;
use crate::text::{head, longer_than, tail};

/// Tokens of a record with as much material to choose from.
const MATERIAL_TOKENS: u64 = 20_000;
/// The most chars of a line that stays whole.
const LINE_CHARS: usize = 220;
/// Chars that stay at the beginning of a longer line.
const LINE_HEAD: usize = 150;
/// Chars that stay at the end of a longer line.
const LINE_TAIL: usize = 60;
/// The beginning of every other line.
const NOTE: &str = "- ";
/// Percent of the room for each kind before the rest is distributed; notes come last.
const SHARES: [usize; 6] = [28, 22, 14, 8, 8, 20];
/// The beginning of a record's line that only lists calls.
const CALLED: &str = "Called tool(s): ";

/// Lines about a part of a conversation, by kind, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    /// In the order of [`Self::MARKS`], and last the notes.
    kinds: [Vec<String>; 6],
}

impl Digest {
    /// The beginning of a line of each kind; other lines are notes.
    pub(crate) const MARKS: [&str; 5] = ["- asked: ", "- did: ", "- failed: ", "- file: ", "- ended: "];

    /// Reads turns in their pruned and in their original form.
    pub(crate) fn of(turns: &[Message], originals: &[&Message], redaction: Redaction) -> Self {
        let extract = Extract {
            turns,
            originals,
            tail: &[],
            previous: None,
            budget_tokens: MATERIAL_TOKENS,
            reserved_chars: 0,
            said: "",
            dropped: turns.len(),
            reason: Reason::Chosen,
            redaction,
            skeleton: Skeleton::Whole,
        };
        let Material { task, in_progress, asks, actions, blocked, files, .. } =
            gather(&extract, &Quoter::new(redaction));
        let task = task.map(|task| task.strip_prefix("User asked: ").unwrap_or(&task).to_owned());
        let ended = in_progress.map(|said| said.strip_prefix(ENDED).unwrap_or(&said).to_owned());
        let is_ended = |line: &str| ended.as_deref().is_some_and(|said| said.trim_matches('\'') == line);
        // The result of a tool already shows that it was called.
        let actions = actions.into_iter().filter(|line| !line.starts_with(CALLED) && !is_ended(line)).collect();
        let asks = task.into_iter().chain(asks).collect();
        let mut kinds = [asks, actions, blocked, files, Vec::from_iter(ended), Vec::new()];
        kinds.iter_mut().flatten().for_each(|line| *line = brief(line));
        Self { kinds }
    }

    /// Parses texts, the oldest first. Lines without a mark are notes.
    pub(crate) fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut digest = Self::default();
        for line in texts.into_iter().flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty()) {
            let known = Self::MARKS.iter().zip(0..).find_map(|(mark, at)| Some((at, line.strip_prefix(mark)?)));
            let (at, text) = known.unwrap_or((Self::MARKS.len(), line.strip_prefix(NOTE).unwrap_or(line)));
            if let Some(kind) = digest.kinds.get_mut(at)
                && !kind.iter().any(|said| said == text)
            {
                kind.push(text.to_owned());
            }
        }
        digest.kinds.iter_mut().for_each(|kind| kind.reverse());
        digest
    }

    /// Returns as many whole lines as fit into so many chars, of each kind from the whole range; oldest
    /// first.
    pub(crate) fn write(&self, chars: usize) -> String {
        let orders: Vec<Vec<usize>> = self.kinds.iter().map(|kind| spread(kind.len())).collect();
        let chosen = |(at, (kind, order)): (usize, (&Vec<String>, &Vec<usize>))| -> Vec<String> {
            let mark = Self::MARKS.get(at).copied().unwrap_or(NOTE);
            order.iter().filter_map(|&at| kind.get(at)).map(|text| format!("{mark}{text}")).collect()
        };
        let mut lines: Vec<Vec<String>> = self.kinds.iter().zip(&orders).enumerate().map(chosen).collect();
        let mut pools: Vec<Pool<'_>> =
            lines.iter_mut().zip(SHARES).map(|(items, share)| Pool::new(share, items)).collect();
        allot(chars, &mut pools);
        let mut all = Vec::new();
        for (kind, order) in lines.into_iter().zip(orders) {
            let mut placed: Vec<(usize, String)> = order.into_iter().zip(kind).collect();
            placed.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
            all.extend(placed.into_iter().map(|(_, line)| line));
        }
        all.join("\n")
    }
}

/// Returns an order of so many positions in which every prefix is spread over the whole range. It sorts them
/// by the fractional part of the position times the golden ratio, which matches no regular pattern.
fn spread(count: usize) -> Vec<usize> {
    let mut places: Vec<(u64, usize)> = (0_u64..).map(|at| at.wrapping_mul(GOLDEN)).zip(0..count).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, at)| at).collect()
}

/// 2⁶⁴ divided by the golden ratio: D. Knuth, The Art of Computer Programming, volume 3, section 6.4.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Cuts the middle of a long line: many short lines describe a part better than few long ones.
fn brief(line: &str) -> String {
    if longer_than(line, LINE_CHARS) {
        format!("{} ... {}", head(line, LINE_HEAD).trim_end(), tail(line, LINE_TAIL).trim_start())
    } else {
        line.to_owned()
    }
}

/// The beginning of a record's line with the assistant's last words.
const ENDED: &str = "The assistant's last words: ";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    fn turns() -> Vec<Message> {
        [
            r#"{"role":"user","content":"Look at src/main.rs"}"#,
            r#"{"role":"assistant","content":"It has a bug in line 12."}"#,
            r#"{"role":"user","content":"Then mend it"}"#,
            r#"{"role":"assistant","content":"Done."}"#,
        ]
        .map(|text| Message::parse(text).unwrap())
        .to_vec()
    }

    #[test]
    fn a_digest_has_whole_lines_and_is_read_back() {
        let turns = turns();
        let originals: Vec<&Message> = turns.iter().collect();
        let digest = Digest::of(&turns, &originals, Redaction::On);
        let text = digest.write(2_000);
        assert!(text.contains("- asked: 'Look at src/main.rs'\n- asked: 'Then mend it'"), "{text}");
        assert!(text.contains("- ended: 'Done.'"), "{text}");
        assert_eq!(Digest::parse([text.as_str()]).write(2_000), text);
        let short = digest.write(70);
        assert!(!short.is_empty() && short.len() < text.len(), "{short}");
        assert!(short.lines().all(|line| text.lines().any(|whole| whole == line)), "{short}");
        assert_eq!(digest.write(0), "");
    }

    #[test]
    fn what_does_not_fit_is_left_out_evenly() {
        assert_eq!(spread(0), Vec::<usize>::new());
        assert_eq!(spread(1), [0]);
        assert_eq!(spread(6), [0, 5, 2, 4, 1, 3]);
        let lines: Vec<String> = (0..64).map(|at| format!("- did: step {at:02}")).collect();
        let some = Digest::parse([lines.join("\n").as_str()]).write(400);
        let steps: Vec<usize> = some.lines().map(|line| line[line.len() - 2..].parse().unwrap()).collect();
        assert!(steps.len() >= 10 && steps.is_sorted(), "{some}");
        assert!(steps[0] < 8 && steps.windows(2).all(|two| two[1] - two[0] <= 8), "{some}");
    }

    #[test]
    fn lines_of_others_are_notes_and_are_said_once() {
        let digest = Digest::parse(["The port is 8080.\n- failed: no route", "* The port is 8080.\nThe port is 8080."]);
        assert_eq!(digest.write(500), "- failed: no route\n- The port is 8080.\n- * The port is 8080.");
    }
}
