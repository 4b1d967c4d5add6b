//! Which conversation a request belongs to, and which of its messages are new. Agents send the whole list with every
//! request, and few name the session. No I/O.
//!
//! A message is known by its [`Mark`]. Marks leave out what agents change in old messages: breakpoints of the prompt
//! cache, and the texts of outputs, which some agents shorten.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::api::answer::Said;
use crate::api::request::Asked;
use crate::api::text;

/// The chars at the beginning of a summary by which the next window is known.
const BEGIN: usize = 300;

/// The fewest chars of a summary by which a window can be known.
const SHORTEST: usize = 40;

/// The fewest chars of a text that hardly occurs in two conversations.
const TELLING: usize = 20;

/// The most messages by which a text is known to quote a conversation.
const QUOTED: usize = 50;

/// A short hash of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark(u64);

impl Mark {
    /// Returns the mark of an item; `None` if it has neither words nor calls, such as hidden reasoning.
    fn of(item: &Value) -> Option<Self> {
        let role = item.get("role").and_then(Value::as_str).unwrap_or("assistant");
        let ids = Ids::of(item);
        let words = if ids.results.is_empty() { words(item) } else { String::new() };
        if words.is_empty() && ids.calls.is_empty() && ids.results.is_empty() {
            return None;
        }
        let said = serde_json::json!([role, words, ids.calls, ids.results]).to_string();
        let hash = Sha256::digest(said.as_bytes());
        hash.first_chunk::<8>().map(|bytes| Self(u64::from_le_bytes(*bytes)))
    }
}

/// The ids of an item's calls and results.
#[derive(Default)]
struct Ids {
    calls: Vec<String>,
    results: Vec<String>,
}

impl Ids {
    fn of(item: &Value) -> Self {
        let mut ids = Self::default();
        let word = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        ids.results.extend(word(item, "tool_call_id"));
        match (word(item, "type"), word(item, "call_id")) {
            (Some(kind), Some(id)) if kind.ends_with("_output") => ids.results.push(id),
            (_, Some(id)) => ids.calls.push(id),
            _ => {}
        }
        let calls = item.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        ids.calls.extend(calls.filter_map(|call| word(call, "id")));
        for block in item.get("content").and_then(Value::as_array).into_iter().flatten() {
            match word(block, "type").as_deref() {
                Some("tool_use") => ids.calls.extend(word(block, "id")),
                Some("tool_result") => ids.results.extend(word(block, "tool_use_id")),
                _ => {}
            }
        }
        ids
    }
}

/// A conversation, as far as requests of its current window show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// The agent's id of the session.
    id: Option<String>,
    /// The messages of the window, with the answers.
    known: Vec<Mark>,
    /// The messages of the last request.
    request: Vec<Option<Mark>>,
    /// The parts of the last answer that no other conversation has.
    #[serde(default)]
    answered: Vec<Mark>,
    /// The beginnings of what the user said last.
    #[serde(default)]
    said: Vec<String>,
    /// The beginning of the summary that the next window will have.
    summary: Option<String>,
    /// The id of the last answer, for providers that keep the conversation.
    answer: Option<String>,
}

/// How a request goes on with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// How many of the request's messages are known. Of two conversations the request belongs to the one with more.
    pub known: usize,
    /// The position behind the last known message.
    pub behind: usize,
    /// The position of the first new message. A request always says something new unless it is repeated, even in words
    /// that were said before.
    pub new_from: usize,
    /// Whether a new window begins, after a compaction.
    pub is_window: bool,
}

impl Conversation {
    /// Creates a conversation without messages for the agent's id of the session.
    #[must_use]
    pub fn new(id: Option<String>) -> Self {
        Self { id, ..Self::default() }
    }

    /// Returns the agent's id of the session.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns how a request goes on with this conversation; `None` if it belongs to another one.
    #[must_use]
    pub fn fit(&self, asked: &Asked) -> Option<Fit> {
        if let Some(previous) = &asked.previous {
            let is_next = self.answer.as_ref() == Some(previous);
            return is_next.then_some(Fit { known: self.known.len(), behind: 0, new_from: 0, is_window: false });
        }
        if self.id.is_some() && asked.id.is_some() && self.id != asked.id {
            return None;
        }
        let marks = marks(&asked.items);
        let summary = self.summary_in(&asked.items);
        let is_repeated = self.is_repeated(asked, &marks);
        if summary.is_none() && !is_repeated && !self.is_continued(asked, &marks) {
            return None;
        }
        let (known, last) = self.known_of(&marks);
        let behind = last.map_or(0, |last| last + 1).max(summary.map_or(0, |at| at + 1));
        let new_from = if is_repeated { marks.len() } else { behind.min(marks.len().saturating_sub(1)) };
        Some(Fit { known: known + usize::from(summary.is_some()), behind, new_from, is_window: summary.is_some() })
    }

    /// Returns whether the last request comes again. The same first words after an answer begin another conversation.
    fn is_repeated(&self, asked: &Asked, marks: &[Option<Mark>]) -> bool {
        let is_answered = self.known.len() > self.request.iter().flatten().count();
        marks == self.request && (!is_answered || has_answer(&asked.items))
    }

    /// Returns whether a list goes on with this conversation: it has the last answer, or it begins like the one before.
    /// Some agents put other texts in front each time, such as a map of the repository.
    fn is_continued(&self, asked: &Asked, marks: &[Option<Mark>]) -> bool {
        if self.answered.iter().any(|answer| marks.contains(&Some(*answer))) {
            return true;
        }
        let is_begun = self.known.first().is_some_and(|first| marks.iter().flatten().next() == Some(first));
        let is_longer = marks.len() > self.request.len() && marks.starts_with(&self.request);
        is_begun && (has_answer(&asked.items) || is_longer)
    }

    /// Returns how many of the messages are known, and the position of the last one. A message that was said twice and
    /// is there three times is known twice.
    fn known_of(&self, marks: &[Option<Mark>]) -> (usize, Option<usize>) {
        let mut left: HashMap<Mark, usize> = HashMap::new();
        self.known.iter().for_each(|mark| *left.entry(*mark).or_default() += 1);
        let (mut count, mut last) = (0, None);
        for (at, mark) in marks.iter().enumerate() {
            let Some(left) = mark.and_then(|mark| left.get_mut(&mark)).filter(|left| **left > 0) else { continue };
            *left -= 1;
            (count, last) = (count + 1, Some(at));
        }
        (count, last)
    }

    /// Returns the position of the message with the last summary.
    fn summary_in(&self, items: &[Value]) -> Option<usize> {
        let summary = self.summary.as_ref()?;
        items.iter().position(|item| words(item).contains(summary.as_str()))
    }

    /// Notes a request that was kept, and the answer to it.
    pub fn note(&mut self, asked: &Asked, said: Option<&Said>) {
        let marks = marks(&asked.items);
        let answered = said.map(|said| self::marks(&said.items)).unwrap_or_default();
        if asked.previous.is_none() {
            self.known.clear();
        }
        self.known.extend(marks.iter().chain(&answered).flatten());
        self.request = marks;
        let own = said.iter().flat_map(|said| &said.items).filter(|item| is_telling(item));
        self.answered = own.filter_map(Mark::of).collect();
        let said_last = begins(&asked.items);
        self.said = if asked.previous.is_some() {
            said_last.into_iter().chain(self.said.drain(..)).take(QUOTED).collect()
        } else {
            said_last
        };
        self.id = self.id.take().or_else(|| asked.id.clone());
        self.answer = said.and_then(|said| said.id.clone());
        if self.summary_in(&asked.items).is_some() {
            self.summary = None;
        }
    }

    /// Returns how many of the user's newest messages are quoted in a text, at least by their beginnings.
    #[must_use]
    pub fn quoted_in(&self, text: &str) -> usize {
        self.said.iter().filter(|said| text.contains(said.as_str())).count()
    }

    /// Notes the summary with which the next window will begin.
    pub fn note_summary(&mut self, text: &str) {
        let begin: String = text.trim().chars().take(BEGIN).collect();
        self.summary = (begin.chars().count() >= SHORTEST).then(|| begin.trim_end().to_owned());
    }
}

/// Returns the beginnings of what the user said last, as far as they tell conversations apart.
fn begins(items: &[Value]) -> Vec<String> {
    let said = items.iter().rev().filter(|item| item.get("role").is_some_and(|role| role == "user"));
    let begins = said.map(|item| words(item).chars().take(BEGIN).collect::<String>().trim_end().to_owned());
    begins.filter(|begin| begin.chars().count() >= TELLING).take(QUOTED).collect()
}

/// Returns whether an item says more than many conversations do: it has a call, or so many words.
fn is_telling(item: &Value) -> bool {
    !Ids::of(item).calls.is_empty() || words(item).chars().count() >= TELLING
}

/// Returns the words of an item.
fn words(item: &Value) -> String {
    text(item.get("content").unwrap_or(&Value::Null)).trim().to_owned()
}

/// Returns whether a list has something that the model said.
#[must_use]
pub fn has_answer(items: &[Value]) -> bool {
    items.iter().any(|item| item.get("role").is_some_and(|role| role == "assistant") || !Ids::of(item).calls.is_empty())
}

fn marks(items: &[Value]) -> Vec<Option<Mark>> {
    items.iter().map(Mark::of).collect()
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::api::Api;

    fn asked(items: &[Value]) -> Asked {
        let body = json!({ "messages": items });
        Asked::read(Api::Messages, &HeaderMap::new(), body.to_string().as_bytes()).unwrap()
    }

    fn user(text: &str) -> Value {
        json!({ "role": "user", "content": text })
    }

    fn said(text: &str) -> Said {
        Said {
            items: vec![json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] })],
            ..Said::default()
        }
    }

    fn talk(items: &[Value], answer: &str) -> Conversation {
        let mut conversation = Conversation::default();
        conversation.note(&asked(items), Some(&said(answer)));
        conversation
    }

    fn new_from(conversation: &Conversation, items: &[Value]) -> Option<usize> {
        conversation.fit(&asked(items)).map(|fit| fit.new_from)
    }

    #[test]
    fn the_next_request_goes_on_behind_the_answer() {
        let one = talk(&[user("hello")], "hi");
        let assistant = |text: &str| json!({ "role": "assistant", "content": text });
        for (items, expected) in [
            // The same first words, and what comes next, in another form than the answer came.
            (vec![user("hello")], None),
            (vec![user("hello"), assistant("hi"), user("go on")], Some(2)),
            // An answer that broke off, and one that the agent made itself.
            (vec![user("hello"), assistant("h"), user("go on")], Some(1)),
            (vec![user("hello"), user("go on")], Some(1)),
            // The same words again.
            (vec![user("hello"), assistant("hi"), user("hello")], Some(2)),
            // Others.
            (vec![user("good day"), assistant("hi"), user("go on")], None),
            (vec![], None),
        ] {
            assert_eq!(new_from(&one, &items), expected, "{items:?}");
        }
        let mut unanswered = Conversation::default();
        unanswered.note(&asked(&[user("hello")]), None);
        assert_eq!(new_from(&unanswered, &[user("hello")]), Some(1), "the request is repeated");
        let longer = talk(&[user("hello"), assistant("hi"), user("go on")], "done");
        assert_eq!(new_from(&longer, &[user("hello")]), None, "another conversation with the same first words");
        assert_eq!(
            new_from(&longer, &[user("hello"), assistant("hi"), user("no, stop")]),
            Some(2),
            "a prompt taken back"
        );
    }

    #[test]
    fn what_agents_change_in_old_messages_makes_nothing_new() {
        let call =
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "ls", "input": {} }] });
        let result = |text: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": text }] });
        let cached = json!({ "role": "user", "content": [{ "type": "text", "text": "hello", "cache_control": { "type": "ephemeral" } }] });
        let one = talk(&[user("hello"), call.clone(), result("a long output")], "done");
        let assistant = json!({ "role": "assistant", "content": "done" });
        let next = [cached, call, result("[cleared]"), assistant, user("next")];
        assert_eq!(new_from(&one, &next), Some(4));
    }

    #[test]
    fn what_stands_in_front_may_change_each_time() {
        let one = talk(&[user("the map of the repository"), user("first")], "what I did is this and that");
        let answer = json!({ "role": "assistant", "content": "what I did is this and that" });
        assert_eq!(new_from(&one, &[user("another map"), user("first"), answer, user("second")]), Some(3));
        let short = talk(&[user("the map of the repository"), user("first")], "Ok.");
        let answer = json!({ "role": "assistant", "content": "Ok." });
        assert_eq!(new_from(&short, &[user("another map"), user("of somebody else"), answer]), None);
    }

    #[test]
    fn a_window_that_begins_with_the_summary_is_the_same_conversation() {
        let mut one = talk(&[user("first"), user("second")], "done");
        let summary = "a summary that is long enough to be known by its beginning, and longer";
        one.note_summary(summary);
        let window = [user(&format!("This goes on:\n{summary}")), user("second"), user("third")];
        let fit = one.fit(&asked(&window)).unwrap();
        assert!(fit.is_window && fit.new_from == 2, "{fit:?}");
        assert!(new_from(&one, &[user("of somebody else"), user("third")]).is_none());
        one.note(&asked(&window), None);
        let more = [window.as_slice(), &[user("fourth")]].concat();
        assert_eq!(one.fit(&asked(&more)), Some(Fit { known: 3, behind: 3, new_from: 3, is_window: false }));
    }

    #[test]
    fn a_provider_that_keeps_the_list_gets_only_what_is_new() {
        let mut one = Conversation::default();
        one.note(&asked(&[user("hello")]), Some(&Said { id: Some("r1".into()), ..said("hi") }));
        let next = |previous: &str| Asked { previous: Some(previous.into()), ..asked(&[user("go on")]) };
        assert_eq!(one.fit(&next("r1")), Some(Fit { known: 2, behind: 0, new_from: 0, is_window: false }));
        assert_eq!(one.fit(&next("r0")), None);
    }

    #[test]
    fn a_text_quotes_a_conversation_by_what_the_user_said() {
        let items = [user("fix the parser of dates"), user("and the lexer of dates, too"), user("yes")];
        let one = talk(&items, "done");
        assert_eq!(
            one.quoted_in("USER: fix the parser of dates\nASSISTANT: done\nUSER: and the lexer of dates, too\n"),
            2
        );
        assert_eq!(one.quoted_in("USER: fix the parser of dates\n"), 1);
        assert_eq!((one.quoted_in("nothing of it"), talk(&[user("yes")], "done").quoted_in("yes")), (0, 0));
    }

    proptest! {
        #[test]
        fn each_message_is_new_once(turns in prop::collection::vec(("[ab]{1,2}", "[ab]{1,2}"), 1..8)) {
            let mut conversation = Conversation::default();
            let (mut list, mut kept): (Vec<Value>, Vec<Value>) = Default::default();
            for (turn, (words, answer)) in turns.iter().enumerate() {
                list.push(user(words));
                let asked = asked(&list);
                let new_from = if turn == 0 { 0 } else { conversation.fit(&asked).unwrap().new_from };
                let said = said(answer);
                kept.extend(list[new_from..].iter().chain(&said.items).cloned());
                conversation.note(&asked, Some(&said));
                list.extend(said.items);
                prop_assert_eq!(&kept, &list);
            }
        }
    }
}
