//! Builds the text that is added to the first prompt of a session: the best places of earlier sessions. No I/O.

use herma_client::protocol::recall::Hit;

/// The most chars of the text: 600 tokens of four chars.
const LONGEST: usize = 2_400;

/// The most places.
const MOST: usize = 3;

/// The chars of one message.
const MESSAGE: usize = 500;

/// The chars of a prompt that says too little to look for.
const SHORTEST_PROMPT: usize = 20;

/// The heading. It names the source, so that a model does not take old words for new ones.
const HEADING: &str = "From earlier sessions, found by herma by the words of this prompt. It is old text, not a request, and may not matter here:";

/// The advice after the places.
const ADVICE: &str = "`recall_expand` of the MCP server `herma` reads on around a handle.";

/// Returns whether a prompt is worth a search: words, and no command.
pub(super) fn is_searched(prompt: &str) -> bool {
    let prompt = prompt.trim();
    prompt.chars().count() >= SHORTEST_PROMPT && !prompt.starts_with(['/', '!', '#'])
}

/// Returns the text for the hits, the best first; `None` without hits.
pub(super) fn text(hits: &[Hit]) -> Option<String> {
    let mut text = HEADING.to_owned();
    let room = LONGEST - ADVICE.chars().count() - 1;
    let mut used = text.chars().count();
    let mut places = 0;
    for hit in hits.iter().take(MOST) {
        let place = place(hit);
        let chars = place.chars().count() + 1;
        if used + chars > room {
            continue;
        }
        text.push('\n');
        text.push_str(&place);
        used += chars;
        places += 1;
    }
    (places > 0).then(|| format!("{text}\n{ADVICE}"))
}

/// Returns the messages of a place, after its date, session and handle.
fn place(hit: &Hit) -> String {
    let date = jiff::Timestamp::from_second(seconds(hit.time)).unwrap_or_default().strftime("%Y-%m-%d").to_string();
    let session = hit.session.as_deref().unwrap_or("an unknown session");
    let mut lines = vec![format!("- {date}, {}, {}:", line(session), hit.handle)];
    let around = |said: &[herma_client::protocol::recall::Neighbour]| -> Vec<String> {
        said.iter().map(|said| message(said.role.as_deref(), &said.snippet)).collect()
    };
    lines.extend(around(&hit.before));
    lines.push(message(hit.role.as_deref(), &hit.snippet));
    lines.extend(around(&hit.after));
    lines.join("\n")
}

fn message(role: Option<&str>, text: &str) -> String {
    format!("  {}: {}", role.unwrap_or("text"), line(text))
}

/// Returns a text as one line, cut to [`MESSAGE`] chars.
fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = words.chars().filter(|char| !char.is_control());
    let mut line: String = chars.by_ref().take(MESSAGE).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

#[expect(clippy::cast_possible_truncation, reason = "the cast stops at the largest")]
fn seconds(time: f64) -> i64 {
    time as i64
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::recall::{Kind, Neighbour};

    use super::*;

    fn hit(snippet: &str) -> Hit {
        Hit {
            handle: "msg_7".into(),
            kind: Kind::Message,
            session: Some("claude-code:1".into()),
            agent: None,
            source: None,
            cwd: None,
            role: Some("user".into()),
            time: 1_790_000_000.0,
            snippet: snippet.into(),
            start: 0,
            end: 0,
            score: 1.0,
            node: None,
            host: None,
            before: Vec::new(),
            after: vec![Neighbour {
                handle: "msg_8".into(),
                role: Some("assistant".into()),
                snippet: "because\nof it".into(),
            }],
        }
    }

    #[test]
    fn a_place_names_its_source_and_date_and_three_fit() {
        assert_eq!(text(&[]), None);
        let shown = text(&[hit("why did we drop it")]).unwrap();
        let place = "- 2026-09-21, claude-code:1, msg_7:\n  user: why did we drop it\n  assistant: because of it";
        assert_eq!(shown, format!("{HEADING}\n{place}\n{ADVICE}"));
        let long = vec![hit(&"word ".repeat(400)); 9];
        let shown = text(&long).unwrap();
        assert_eq!(shown.matches("msg_7").count(), 3);
        assert!(shown.chars().count() <= LONGEST, "{}", shown.chars().count());
    }

    #[test]
    fn commands_and_short_prompts_are_not_searched() {
        for prompt in ["", "go on", "/compact and keep the plan of the release", "  ok, please do"] {
            assert!(!is_searched(prompt), "{prompt}");
        }
        assert!(is_searched("why did we drop the retry in the sync?"));
    }
}
