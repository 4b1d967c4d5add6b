//! The section of a handoff about finished episodes: one line for each.

/// The text before the number of episodes without a line.
const MORE: &str = "(and ";
/// The text after it.
const MORE_END: &str = " earlier ones)";

/// The lines of a handoff, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    lines: Vec<String>,
    /// The number of older episodes without a line.
    hidden: usize,
}

impl Finished {
    /// Reads the section of an earlier handoff.
    pub(crate) fn parse(text: &str) -> Self {
        let hidden = |line: &str| line.strip_prefix(MORE)?.strip_suffix(MORE_END)?.parse().ok();
        let mut finished = Self::default();
        for line in text.lines().map(str::trim) {
            match hidden(line) {
                Some(count) => finished.hidden = count,
                None if line.starts_with("- ") => finished.lines.push(line.to_owned()),
                None => {}
            }
        }
        finished
    }

    /// Adds an episode of which so many messages leave the list.
    pub(crate) fn add(&mut self, title: &str, outcome: Option<&str>, messages: usize) {
        let came = outcome.map_or(String::new(), |outcome| format!(": {outcome}"));
        let counted = if messages == 1 { "1 message".to_owned() } else { format!("{messages} messages") };
        self.lines.push(format!("- {title} ({counted}){came}"));
    }

    /// Returns the section's text within so many chars; the newest episodes take precedence.
    pub(crate) fn render(&self, chars: usize) -> String {
        let more = |hidden: usize| format!("{MORE}{hidden}{MORE_END}");
        let (mut left, mut first) = (chars, self.lines.len());
        while let Some(line) = first.checked_sub(1).and_then(|at| self.lines.get(at)) {
            let hidden = self.hidden + first - 1;
            let beside = if hidden == 0 { 0 } else { more(hidden).len() + 1 };
            let takes = line.chars().count() + 1;
            if takes + beside > left {
                break;
            }
            left -= takes;
            first -= 1;
        }
        let shown = self.lines.get(first..).unwrap_or_default();
        if shown.is_empty() {
            return String::new();
        }
        let hidden = Some(self.hidden + first).filter(|hidden| *hidden > 0).map(more);
        hidden.into_iter().chain(shown.iter().cloned()).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_carried_on_and_the_oldest_give_way() {
        let mut all = Finished::default();
        all.add("the parser", Some("it reads tabs"), 41);
        all.add("the docs", None, 1);
        let text = "- the parser (41 messages): it reads tabs\n- the docs (1 message)";
        assert_eq!(all.render(1_000), text);
        let mut next = Finished::parse(text);
        assert_eq!(next.render(1_000), text);
        next.add("the parser", Some("it reads tabs"), 3);
        assert_eq!(next.render(1_000).matches("it reads tabs").count(), 2, "two of one name");
        let less = all.render(text.len() - 1);
        assert_eq!(less, "(and 1 earlier ones)\n- the docs (1 message)");
        let mut next = Finished::parse(&less);
        next.add("the tests", None, 2);
        assert_eq!(next.render(1_000), format!("{less}\n- the tests (2 messages)"));
        for chars in 0..100 {
            assert!(next.render(chars).chars().count() <= chars, "{chars}");
        }
        assert_eq!(next.render(10), "");
    }
}
