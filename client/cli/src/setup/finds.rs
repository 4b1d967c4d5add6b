//! A first look into the user's own past: sessions of the last weeks, each with a question that finds it again.

use std::collections::HashMap;

use herma_base::out::{self, short};
use herma_base::{CliContext, Failure};
use herma_client::Client;
use herma_client::protocol::recall::{Hit, Kind, SearchParams};
use herma_client::protocol::session::chain::{ListParams, Row};
use serde::Serialize;

use super::plan::{day, wrapped};
use crate::names::session::title;

/// The number of findings.
const FINDINGS: usize = 3;

/// The number of the newest sessions that are looked at.
const SESSIONS: u64 = 200;

/// The chars of the longest question, and the fewest words of one.
const QUESTION: usize = 90;
const WORDS: usize = 3;

/// The number of hits among which a finding must be.
const HITS: u64 = 8;

/// The fewest messages of a session that is worth showing.
const MESSAGES: u64 = 6;

/// The ages at which a new part of the past begins, in days. Each part has one finding if it can.
const AGES: [f64; 2] = [7.0, 21.0];

/// Words of passages that give a reason or a result. Such a passage is preferred.
const RESULT_WORDS: [&str; 8] =
    ["because", "caused", "decided", "fixed", "instead", "reason", "turned out", "works now"];

/// The seconds of a day.
const DAY: f64 = 86_400.0;

/// The chars of a title and of a passage.
const TITLE: usize = 70;
const PASSAGE: usize = 160;

/// A session with a question that finds it.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    session: String,
    time: f64,
    folder: Option<String>,
    title: String,
    /// The words to search for.
    question: String,
    /// The best passage.
    passage: String,
    handle: String,
}

/// Returns up to three findings, each of another time and folder if possible.
pub(super) fn of(context: &CliContext<'_>) -> Result<Vec<Finding>, Failure> {
    let mut client = context.connect()?;
    let listed = client.session_list(ListParams { limit: Some(SESSIONS), ..ListParams::default() })?;
    let newest = listed.sessions.iter().map(|row| row.last_active).fold(0.0, f64::max);
    let mut findings: Vec<Finding> = Vec::new();
    for row in spread(listed.sessions, newest) {
        findings.extend(finding(&mut client, &row)?);
        if findings.len() == FINDINGS {
            break;
        }
    }
    findings.sort_by(|one, other| other.time.total_cmp(&one.time));
    Ok(findings)
}

/// Orders sessions so that the first ones are of different times and folders. Short ones come last.
fn spread(rows: Vec<Row>, newest: f64) -> Vec<Row> {
    let age = |row: &Row| AGES.iter().filter(|days| newest - row.last_active >= **days * DAY).count();
    let mut seen = HashMap::new();
    let mut ranked: Vec<((bool, usize, usize), Row)> = rows
        .into_iter()
        .map(|row| {
            let is_short = row.messages < MESSAGES;
            let mut times = |key: String| {
                let count = seen.entry((is_short, key)).or_insert(0_usize);
                *count += 1;
                *count
            };
            let of_time = times(format!("age {}", age(&row)));
            let of_folder = row.cwd.as_ref().map_or(0, |folder| times(format!("in {folder}")));
            ((is_short, of_time, of_folder), row)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, row)| row).collect()
}

fn finding(client: &mut Client, row: &Row) -> Result<Option<Finding>, Failure> {
    let title = title(row);
    let Some(question) = question(title) else { return Ok(None) };
    // A question is worth showing only if it finds the session that it is about.
    let found = hits(client, question.clone(), None)?;
    if !found.iter().any(|hit| hit.session.as_deref() == Some(row.session.as_str())) {
        return Ok(None);
    }
    let in_session = hits(client, format!("{} {question}", RESULT_WORDS.join(" ")), Some(row.session.clone()))?;
    let is_answer = |hit: &&Hit| hit.role.as_deref() == Some("assistant") && is_prose(&hit.snippet);
    let answers = || in_session.iter().filter(is_answer);
    let answer = answers().find(|hit| has_result(&hit.snippet)).or_else(|| answers().next());
    Ok(answer.map(|hit| Finding {
        session: row.session.clone(),
        time: row.last_active,
        folder: row.cwd.clone(),
        title: out::cut(title, TITLE),
        question,
        passage: out::cut(&hit.snippet, PASSAGE),
        handle: hit.handle.clone(),
    }))
}

/// Returns the best messages about a query, of one session or of all.
fn hits(client: &mut Client, query: String, session: Option<String>) -> Result<Vec<Hit>, Failure> {
    let (kinds, limit, around) = (Some(vec![Kind::Message]), Some(HITS), Some(0));
    let params = SearchParams { query, session, kinds, limit, around, ..SearchParams::default() };
    Ok(client.recall_search(params)?.hits)
}

/// Returns whether a passage gives a reason or a result.
fn has_result(passage: &str) -> bool {
    let passage = passage.to_lowercase();
    RESULT_WORDS.iter().any(|word| passage.contains(word))
}

/// Returns whether a passage is mostly words.
fn is_prose(passage: &str) -> bool {
    let is_word = |word: &&str| {
        let letters = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !letters.is_empty() && letters.chars().all(char::is_alphabetic)
    };
    let words = passage.split_whitespace().count();
    words >= 8 && passage.split_whitespace().filter(is_word).count() * 20 >= words * 17
}

/// Returns the first sentence of a title as a question; `None` if it is too short, or is markup or a command.
fn question(title: &str) -> Option<String> {
    let line = title.lines().next().unwrap_or_default().trim();
    // The archive's preview of a session is cut.
    let line = line.strip_suffix("...").map_or(line, |cut| cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole));
    if line.starts_with(['<', '/', '{', '[', '#', '`']) {
        return None;
    }
    let ends = [". ", "? ", "! ", "; ", ": "].iter().filter_map(|end| line.find(end).map(|at| at + 1));
    let sentence = line[..ends.min().unwrap_or(line.len())].trim_end_matches(['.', '…', '!', ';', ':']);
    let mut question = String::new();
    for word in sentence.split_whitespace() {
        if question.chars().count() + 1 + word.chars().count() > QUESTION {
            break;
        }
        if !question.is_empty() {
            question.push(' ');
        }
        question.push_str(word);
    }
    let words = question.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 2);
    (words.count() >= WORDS).then_some(question)
}

/// Returns a text as one argument of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns the findings for people.
pub(super) fn text(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut text = "\nFrom your own past:\n".to_owned();
    for finding in findings {
        let folder =
            finding.folder.as_deref().map(|folder| format!(" in {}", short(folder.as_ref()))).unwrap_or_default();
        let heading = wrapped(&format!("{}{folder}: {}", day(finding.time), finding.title), 2);
        let passage = wrapped(&finding.passage, 4);
        text.push_str(&format!("\n  {heading}\n    {passage}\n    herma recall {}\n", quoted(&finding.question)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_a_sentence_of_the_user() {
        for (title, expected) in [
            ("Fix the flaky login test in CI, please!", Some("Fix the flaky login test in CI, please")),
            (
                "why does the socket time out under load? I saw it twice.",
                Some("why does the socket time out under load?"),
            ),
            ("Read AGENTS.md: it has the rules", None),
            (
                "Look at https://example.org/a and say why it fa...",
                Some("Look at https://example.org/a and say why it"),
            ),
            ("<command-name>/clear</command-name>", None),
            ("/compact now please", None),
            ("ok", None),
            ("", None),
            ("continue", None),
        ] {
            assert_eq!(question(title).as_deref(), expected, "{title}");
        }
        let long = question(&"words and words ".repeat(20)).unwrap();
        assert!(long.chars().count() <= QUESTION && !long.ends_with(char::is_whitespace), "{long}");
        assert_eq!(quoted("don't"), r"'don'\''t'");
    }

    #[test]
    fn passages_are_prose() {
        assert!(is_prose("The herons socket closes because the timeout is 30 ms."));
        assert!(!is_prose("cat /private/tmp/claude-501/x.txt | head -n 3 && ls -la /tmp/y && echo $?"));
        assert!(has_result("It was fixed by a longer timeout") && !has_result("I look at it"));
    }

    #[test]
    fn the_first_sessions_are_of_different_times_and_folders() {
        let row = |session: &str, days: f64, folder: &str, messages: u64| Row {
            session: session.to_owned(),
            cwd: Some(folder.to_owned()),
            last_active: 100.0 * DAY - days * DAY,
            messages,
            ..Row::default()
        };
        let rows = vec![
            row("today", 0.0, "/a", 10),
            row("short", 0.1, "/b", 2),
            row("yesterday", 1.0, "/b", 10),
            row("weeks", 15.0, "/c", 10),
            row("old", 40.0, "/d", 10),
        ];
        let order: Vec<String> = spread(rows, 100.0 * DAY).into_iter().map(|row| row.session).collect();
        assert_eq!(order, ["today", "weeks", "old", "yesterday", "short"]);
    }
}
