//! Sets of texts, and questions about them.

use std::collections::BTreeMap;

use serde_json::Value;

const AIRLINE_QUESTIONS: &str = include_str!("data/airline_questions.jsonl");
const FRIENDS: &str = include_str!("data/friends.jsonl");
const FRIENDS_QUESTIONS: &str = include_str!("data/friends_questions.jsonl");
const PEOPLE_QUESTIONS: &str = include_str!("data/people_questions.jsonl");
const LANGUAGES: &str = include_str!("data/languages.jsonl");
const LANGUAGES_QUESTIONS: &str = include_str!("data/languages_questions.jsonl");

/// How many conversations the questions are about.
const CONVERSATIONS: usize = 50;

/// A set of texts and questions.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// The texts, in the order in which they were said.
    pub(crate) texts: Vec<Text>,
    pub(crate) questions: Vec<Question>,
}

/// A message of a conversation.
pub(crate) struct Text {
    /// Its id in its set.
    pub(crate) id: String,
    /// The conversation that it belongs to.
    pub(crate) session: String,
    /// The message, as JSON.
    pub(crate) body: String,
    /// Its words.
    pub(crate) words: String,
}

/// A question, and the texts that answer it.
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) evidence: Vec<String>,
    /// Whether only all of the texts together answer it.
    pub(crate) needs_all: bool,
}

impl Question {
    /// Returns which share of the answer the first `most` hits have.
    pub(crate) fn answered(&self, found: &[Vec<String>], most: usize) -> f64 {
        let found = &found[..most.min(found.len())];
        let count = self.evidence.iter().filter(|text| found.iter().any(|hit| hit.contains(text))).count();
        if self.needs_all { share(count, self.evidence.len()) } else { f64::from(u8::from(count > 0)) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Returns every set.
pub(crate) fn all() -> Vec<Set> {
    let mut sets = vec![friends(), languages()];
    // Chinese and Japanese are also measured separately, because they are written without spaces.
    for name in ["zh", "ja"] {
        let Set { texts, mut questions, .. } = languages();
        questions.retain(|question| question.evidence.iter().all(|id| id.starts_with(name)));
        sets.push(Set { name, texts, questions });
    }
    match std::env::var("HERMA_CONVERSATIONS") {
        Ok(path) => sets.push(airline(&path)),
        Err(_) => println!("airline is left out: HERMA_CONVERSATIONS names no file"),
    }
    match std::env::var("HERMA_PEOPLE") {
        Ok(path) => sets.push(people(&path)),
        Err(_) => println!("people is left out: HERMA_PEOPLE names no file"),
    }
    sets
}

fn people(path: &str) -> Set {
    let lines = std::fs::read_to_string(path).unwrap();
    let questions = questions_in(PEOPLE_QUESTIONS, "session");
    Set { name: "people", texts: lines.lines().map(parsed).flat_map(messages).collect(), questions }
}

fn airline(path: &str) -> Set {
    let lines = std::fs::read_to_string(path).unwrap();
    let texts = lines.lines().take(CONVERSATIONS).map(parsed).flat_map(messages);
    Set { name: "airline", texts: texts.collect(), questions: questions_in(AIRLINE_QUESTIONS, "conversation") }
}

/// Returns the texts of a conversation, without the system prompt.
fn messages(conversation: Value) -> Vec<Text> {
    let session = string(&conversation["id"]);
    let numbered = conversation["messages"].as_array().unwrap().iter().enumerate();
    let said = numbered.filter(|(_, message)| message["role"] != "system");
    said.map(|(number, message)| text(format!("{session}:{number}"), session.clone(), message.to_string())).collect()
}

/// Returns questions whose evidence is the numbers of messages in the conversation that the field names.
fn questions_in(lines: &str, field: &str) -> Vec<Question> {
    let question = |line: Value| {
        let session = string(&line[field]);
        let evidence = strings(&line["evidence"]).into_iter().map(|number| format!("{session}:{number}"));
        let needs_all = line["any"] == false;
        Question { text: string(&line["question"]), evidence: evidence.collect(), needs_all }
    };
    lines.lines().map(parsed).map(question).collect()
}

fn friends() -> Set {
    let texts = FRIENDS.lines().map(parsed).map(|line| {
        let said = format!("{}: {}", string(&line["speaker"]), string(&line["text"]));
        text(string(&line["id"]), format!("friends {} {}", line["history"], line["session"]), said_by_user(&said))
    });
    Set { name: "friends", texts: texts.collect(), questions: questions(FRIENDS_QUESTIONS) }
}

fn languages() -> Set {
    let texts = LANGUAGES.lines().map(parsed).map(|line| {
        text(
            string(&line["id"]),
            format!("said in {}", string(&line["language"])),
            said_by_user(&string(&line["text"])),
        )
    });
    Set { name: "languages", texts: texts.collect(), questions: questions(LANGUAGES_QUESTIONS) }
}

fn questions(lines: &str) -> Vec<Question> {
    let question = |line: Value| Question {
        text: string(&line["question"]),
        evidence: strings(&line["evidence"]),
        needs_all: false,
    };
    lines.lines().map(parsed).map(question).collect()
}

fn text(id: String, session: String, body: String) -> Text {
    let words = herma_archive::text_of(&body);
    Text { id, session, body, words }
}

fn said_by_user(words: &str) -> String {
    serde_json::json!({ "role": "user", "content": words }).to_string()
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn strings(value: &Value) -> Vec<String> {
    let one = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    value.as_array().unwrap().iter().map(one).collect()
}

impl Set {
    /// Returns the texts of each session, in the order of the sessions' first texts.
    pub(crate) fn sessions(&self) -> Vec<(&str, Vec<&Text>)> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut sessions: Vec<(&str, Vec<&Text>)> = Vec::new();
        for text in &self.texts {
            let at = *places.entry(&text.session).or_insert_with(|| {
                sessions.push((&text.session, Vec::new()));
                sessions.len() - 1
            });
            sessions[at].1.push(text);
        }
        sessions
    }
}
