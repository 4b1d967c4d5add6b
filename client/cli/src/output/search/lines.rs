//! Formats matches as grep does.

use std::collections::BTreeMap;

use herma_base::out::{Mark, MarkedText};
use herma_client::protocol::output::search::Match;

/// The suffix of a line that is not shown completely.
const CUT: &str = " […]";

/// The separator of lines that don't follow each other, if context is shown.
const GAP: &str = "--\n";

/// A line of an output.
enum Line<'a> {
    /// The line matches.
    Found(&'a Match),
    /// The line is context of a match.
    Near(&'a str),
}

/// Returns the lines of all matches. Overlapping context is printed once, as grep does.
pub(super) fn marked(matches: &[Match], mark: Mark) -> MarkedText {
    let gaps = matches.iter().any(|found| !found.before.is_empty() || !found.after.is_empty());
    let mut text = MarkedText::new(mark);
    let mut is_first = true;
    for group in matches.chunk_by(|one, other| one.handle == other.handle) {
        let mut last = None;
        for (number, line) in lines(group) {
            if gaps && !is_first && last.is_none_or(|last| last + 1 != number) {
                text.push(GAP);
            }
            (is_first, last) = (false, Some(number));
            let handle = group.first().map_or("", |found| found.handle.as_str());
            match line {
                Line::Found(found) => {
                    text.push(&format!("{handle}:{number}:"));
                    text.push_found(&found.text, found.start, found.end);
                    text.push(if found.cut { CUT } else { "" });
                }
                Line::Near(near) => text.push(&format!("{handle}-{number}-{near}")),
            }
            text.push("\n");
        }
    }
    text
}

fn lines(matches: &[Match]) -> BTreeMap<u64, Line<'_>> {
    let mut lines = BTreeMap::new();
    for found in matches {
        let before = (1..).zip(found.before.iter().rev()).map(|(steps, line)| (found.line.saturating_sub(steps), line));
        let after = (1..).zip(&found.after).map(|(steps, line)| (found.line.saturating_add(steps), line));
        for (number, line) in before.chain(after) {
            lines.entry(number).or_insert(Line::Near(line));
        }
    }
    lines.extend(matches.iter().map(|found| (found.line, Line::Found(found))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(handle: &str, line: u64, text: &str, before: &[&str], after: &[&str]) -> Match {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let start = u64::try_from(text.find("hit").unwrap_or(0)).unwrap();
        Match {
            handle: handle.into(),
            line,
            text: text.into(),
            before: owned(before),
            after: owned(after),
            start,
            end: start + 3,
            ..Match::default()
        }
    }

    #[test]
    fn matches_are_printed_as_grep_does() {
        let matches = [
            found("out_a", 3, "a hit", &[], &[]),
            found("out_a", 9, "hit", &[], &[]),
            found("out_b", 1, "hit", &[], &[]),
        ];
        assert_eq!(marked(&matches, Mark::Nothing).text(), "out_a:3:a hit\nout_a:9:hit\nout_b:1:hit\n");
    }

    #[test]
    fn lines_in_two_contexts_are_printed_once() {
        let matches = [
            found("out_a", 2, "hit one", &["l1"], &["l3", "hit four"]),
            found("out_a", 4, "hit four", &["hit one", "l3"], &["l5", "l6"]),
            found("out_a", 9, "hit nine", &["l7", "l8"], &[]),
            found("out_a", 20, "hit twenty", &["l19"], &[]),
            found("out_b", 21, "hit", &["l20"], &[]),
        ];
        assert_eq!(
            marked(&matches, Mark::Quotes).text(),
            "out_a-1-l1\nout_a:2:»hit« one\nout_a-3-l3\nout_a:4:»hit« four\nout_a-5-l5\nout_a-6-l6\n\
             out_a-7-l7\nout_a-8-l8\nout_a:9:»hit« nine\n--\nout_a-19-l19\nout_a:20:»hit« twenty\n--\n\
             out_b-20-l20\nout_b:21:»hit«\n"
        );
    }

    #[test]
    fn a_line_that_is_not_whole_says_so() {
        let part = Match { cut: true, ..found("out_a", 1, "…a hit…", &[], &[]) };
        assert_eq!(marked(&[part], Mark::Nothing).text(), "out_a:1:…a hit… […]\n");
    }
}
