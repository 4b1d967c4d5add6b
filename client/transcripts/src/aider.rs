//! The history of aider: Markdown that only grows, in the folder of a repository. A heading begins a chat, each line of
//! the user is a heading of the fourth level, and what aider itself says is quoted.

use crate::parts;
use crate::{Session, Tally, TimedMessage};

/// The heading of a chat, before its time.
const CHAT: &str = "# aider chat started at ";

/// The line before and after code.
const FENCE: &str = "```";

/// Who says a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

/// Reads the chats of a history. Their ids are `name` and the time of their beginning, of which `time_of` returns the
/// Unix seconds.
#[must_use]
pub fn read(name: &str, text: &str, time_of: impl Fn(&str) -> Option<f64>, tally: &mut Tally) -> Vec<Session> {
    let mut chats: Vec<Session> = Vec::new();
    let mut said: Option<(Speaker, String)> = None;
    let mut time = None;
    // A line of code may look like one of the user or of aider.
    let mut is_code = false;
    for line in text.lines() {
        if let Some(began) = line.strip_prefix(CHAT) {
            end(&mut chats, time, said.take());
            time = time_of(began.trim());
            is_code = false;
            chats.push(Session::new(format!("{name}-{}", began.trim().replace(' ', "T"))));
            continue;
        }
        is_code ^= line.trim_start().starts_with(FENCE);
        let (speaker, words) = match (line.strip_prefix("#### "), line.strip_prefix('>')) {
            _ if is_code => (Speaker::Assistant, line),
            (Some(words), _) => (Speaker::User, words),
            (None, Some(_)) => {
                tally.add("output of aider");
                continue;
            }
            (None, None) if line == "####" => (Speaker::User, ""),
            // An empty line does not end what somebody says.
            (None, None) if line.trim().is_empty() && said.is_some() => {
                said.iter_mut().for_each(|(_, text)| text.push('\n'));
                continue;
            }
            (None, None) => (Speaker::Assistant, line),
        };
        if said.as_ref().is_some_and(|(before, _)| *before != speaker) {
            end(&mut chats, time, said.take());
        }
        let (_, text) = said.get_or_insert_with(|| (speaker, String::new()));
        text.push_str(words.trim_end());
        text.push('\n');
    }
    end(&mut chats, time, said);
    chats.retain_mut(|chat| !chat.is_empty());
    chats
}

/// Adds what somebody said to the last chat.
fn end(chats: &mut [Session], time: Option<f64>, said: Option<(Speaker, String)>) {
    let Some((chat, (speaker, text))) = chats.last_mut().zip(said) else { return };
    let text = text.trim();
    let message = match speaker {
        _ if text.is_empty() => None,
        Speaker::User => Some(parts::message("user", text)),
        Speaker::Assistant => parts::assistant(text, Vec::new()),
    };
    message.into_iter().for_each(|message| chat.push(TimedMessage { time, message }));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const HISTORY: &str = "\
# aider chat started at 2026-07-17 09:00:00

> Aider v0.86.2
> Main model: sonnet

#### fix the parser
#### of dates

I look at `dates.py`:

```python
#### a comment
> x = 1
```

> Applied edit to dates.py

#### thanks

# aider chat started at 2026-07-17 10:00:00

> Aider v0.86.2

# aider chat started at 2026-07-18 08:00:00

#### go on

Done.
";

    #[test]
    fn chats_have_what_the_user_and_the_model_said() {
        let mut tally = Tally::default();
        let mut chats = read("repo", HISTORY, |time| time.ends_with("09:00:00").then_some(7.0), &mut tally);
        let ids: Vec<String> = chats.iter().map(|chat| chat.id.clone()).collect();
        assert_eq!(ids, ["repo-2026-07-17T09:00:00", "repo-2026-07-18T08:00:00"]);
        let said: Vec<(Option<f64>, Value)> = chats
            .iter_mut()
            .flat_map(|chat| chat.take().1)
            .map(|said| (said.time, serde_json::from_str(&said.message).unwrap()))
            .collect();
        let code = "I look at `dates.py`:\n\n```python\n#### a comment\n> x = 1\n```";
        assert_eq!(
            said,
            [
                (Some(7.0), json!({ "role": "user", "content": "fix the parser\nof dates" })),
                (Some(7.0), json!({ "role": "assistant", "content": code })),
                (Some(7.0), json!({ "role": "user", "content": "thanks" })),
                (None, json!({ "role": "user", "content": "go on" })),
                (None, json!({ "role": "assistant", "content": "Done." })),
            ]
        );
        assert_eq!(tally.iter().map(|(_, count)| count).sum::<u64>(), 4);
        assert!(read("repo", "no history\n#### at all\n", |_| None, &mut tally).is_empty());
    }
}
