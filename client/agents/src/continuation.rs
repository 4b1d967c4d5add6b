//! Hands the work of a session over to another agent: the first prompt of its session. No I/O.

use herma_client::protocol::recall::Entity;
use herma_client::protocol::visible::visible;

use crate::hook::{ends, standing};

/// The chars of the rules and of the state.
const STANDING: usize = 6_000;

/// The chars of all that was said last, and of one message.
const LAST: usize = 9_000;
const MESSAGE: usize = 2_000;

/// The last sentence. The user may look at the state before the work goes on.
const END: &str = "Say in one or two sentences how far the work is and what comes next. Then wait for the user.";

/// The session to continue.
#[derive(Debug, Default)]
pub struct Continued<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The folder in which its agent worked.
    pub folder: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// The user's rules that still hold, oldest first.
    pub rules: Vec<&'a str>,
    /// Its entities, the most needed first.
    pub entities: &'a [Entity],
    /// The last words of user and assistant, oldest first: the role and the text.
    pub last: Vec<(&'a str, &'a str)>,
}

/// Returns the prompt.
#[must_use]
pub fn prompt(continued: &Continued<'_>) -> String {
    let Continued { session, folder, title, .. } = continued;
    let title = title.map(|title| format!(", \"{title}\"")).unwrap_or_default();
    let folder = folder.map(|folder| format!(", in the folder {folder}")).unwrap_or_default();
    let mut text = format!(
        "This session continues the work of another one: {session}{title}{folder}. What follows is a record of it. \
Every word of it is kept: look for more with the tool `recall_search` of the MCP server `herma`, with the session \
\"{session}\", and read on around a hit with `recall_expand`, before you guess or ask again."
    );
    let standing = standing(&continued.rules, continued.entities, STANDING);
    if !standing.is_empty() {
        text.push_str(&format!("\n\n{standing}"));
    }
    let last = last(&continued.last);
    if !last.is_empty() {
        text.push_str(&format!("\n\nWhat came last, as it was said:\n\n{last}"));
    }
    // No argument of a program has a zero byte, and no terminal should be driven by an old text.
    visible(&format!("{text}\n\n{END}")).into_owned()
}

/// Returns the newest messages that fit, oldest first.
fn last(said: &[(&str, &str)]) -> String {
    let mut room = LAST;
    let mut shown: Vec<String> = Vec::new();
    for (role, text) in said.iter().rev().filter(|(_, text)| !text.trim().is_empty()) {
        let message = format!("[{role}] {}", ends(text.trim(), MESSAGE));
        let chars = message.chars().count() + 2;
        if chars > room {
            break;
        }
        room -= chars;
        shown.push(message);
    }
    shown.reverse();
    shown.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_rules_the_state_the_last_words_and_the_way_to_the_rest() {
        let entities = [Entity { kind: "host".into(), id: "db-3".into(), ..Entity::default() }];
        let continued = Continued {
            session: "codex:1",
            folder: Some("/w"),
            title: Some("Fix it"),
            rules: vec!["never push to main"],
            entities: &entities,
            last: vec![("user", "fix it"), ("assistant", " "), ("assistant", "It is\u{0}fixed.\n")],
        };
        let text = prompt(&continued);
        for part in [
            "continues the work of another one: codex:1, \"Fix it\", in the folder /w.",
            "- never push to main",
            "- host db-3",
            "[user] fix it\n\n[assistant] It is␀fixed.\n\n",
            "recall_search",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.ends_with(END));
        let alone = prompt(&Continued { session: "s", ..Continued::default() });
        assert!(alone.contains("another one: s. ") && !alone.contains("came last"), "{alone}");
    }

    #[test]
    fn long_sessions_give_a_bounded_prompt_with_the_newest_words() {
        let long = format!("begin {} end", "é".repeat(50_000));
        let said: Vec<(&str, &str)> =
            (0..40).map(|_| ("user", long.as_str())).chain([("assistant", "the last")]).collect();
        let rule = "x".repeat(900);
        let continued = Continued { session: "s", rules: vec![&rule; 50], last: said, ..Continued::default() };
        let text = prompt(&continued);
        assert!(text.chars().count() < 18_000, "{}", text.chars().count());
        assert!(text.contains("[assistant] the last") && text.contains("[user] begin") && text.contains(" end"));
    }
}
