//! Messages that an agent puts in front of every conversation, and that nobody said: examples, and files of the
//! repository. They are recognized by sentences of aider (seen in 0.86.2), which puts them among the messages of the user. No
//! I/O.

use serde_json::Value;

use super::{text, word};

/// The sentence after the examples.
const AFTER_EXAMPLES: &str = "I switched to a new code base. Please don't consider the above files";

/// How messages with files begin.
const FILES: [&str; 3] = [
    "Here are summaries of some files present in my git repository",
    "I have *added these files to the chat*",
    "Here are some READ ONLY files, provided for your reference",
];

/// Returns the messages without these, and without the answers to them.
pub(super) fn without_frames(items: Vec<Value>) -> Vec<Value> {
    let says = |item: &Value, words: &str| {
        word(item, "role") == Some("user") && text(item.get("content").unwrap_or(&Value::Null)).starts_with(words)
    };
    let examples = items.iter().position(|item| says(item, AFTER_EXAMPLES)).map_or(0, |at| at + 1);
    let mut is_answer = examples > 0;
    let mut kept = Vec::with_capacity(items.len());
    for item in items.into_iter().skip(examples) {
        let is_frame = FILES.iter().any(|words| says(&item, words));
        let is_left_out = is_frame || std::mem::take(&mut is_answer) && word(&item, "role") == Some("assistant");
        is_answer = is_frame;
        if !is_left_out {
            kept.push(item);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_said_is_left_out_with_its_answers() {
        let user = |text: &str| json!({ "role": "user", "content": text });
        let assistant = |text: &str| json!({ "role": "assistant", "content": text });
        let talk = [user("look at the dates"), assistant("I look."), user("and now?")];
        let framed = [
            user("Change the greeting to be more casual"),
            assistant("Ok, I will:"),
            user(
                "I switched to a new code base. Please don't consider the above files or try to edit them any longer.",
            ),
            assistant("Ok."),
            user("Here are summaries of some files present in my git repository.\n\ndates.py"),
            assistant("Ok, I won't try and edit those files without asking first."),
            user("I have *added these files to the chat* so you can go ahead and edit them."),
            assistant("Ok, any changes I propose will be to those files."),
        ];
        assert_eq!(without_frames([framed.as_slice(), &talk].concat()), talk);
        assert_eq!(without_frames([&framed[4..], &talk].concat()), talk);
        assert_eq!(without_frames(talk.to_vec()), talk);
        // A user who talks about the files says something.
        let said = [user("why did you say: I have *added these files to the chat*?"), assistant("Because.")];
        assert_eq!(without_frames(said.to_vec()), said);
    }
}
