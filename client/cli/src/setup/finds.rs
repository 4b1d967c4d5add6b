//! A first look into the user's own past: sessions of the last weeks, each with a question that finds it again.

use std::collections::HashSet;

use herma_base::{CliContext, Failure, out};
use herma_client::Client;
use herma_client::protocol::recall::{Hit, Kind, SearchParams};
use herma_client::protocol::session::chain::{ListParams, Row};
use serde::Serialize;

use super::plan::{day, short, wrapped};

/// The number of findings.
const FINDINGS: usize = 3;

/// The number of the newest sessions that are looked at.
const SESSIONS: u64 = 200;

/// The words of a question, and the fewest letters of one.
const WORDS: usize = 5;
const LETTERS: usize = 4;

/// Words that find nothing, as people begin requests with them.
const COMMON: [&str; 24] = [
    "about", "also", "could", "does", "from", "have", "into", "just", "like", "look", "make", "please", "should",
    "some", "take", "than", "that", "them", "then", "this", "what", "when", "with", "your",
];

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

/// Returns up to three findings, each of another folder if possible.
pub(super) fn of(context: &CliContext<'_>) -> Result<Vec<Finding>, Failure> {
    let mut client = context.connect()?;
    let listed = client.session_list(ListParams { limit: Some(SESSIONS), before: None, raw: None })?;
    let (mut findings, mut folders) = (Vec::new(), HashSet::new());
    let (first, later): (Vec<Row>, Vec<Row>) = listed
        .sessions
        .into_iter()
        .partition(|row| row.cwd.as_ref().is_none_or(|folder| folders.insert(folder.clone())));
    for row in first.iter().chain(&later) {
        findings.extend(finding(&mut client, row)?);
        if findings.len() == FINDINGS {
            break;
        }
    }
    Ok(findings)
}

fn finding(client: &mut Client, row: &Row) -> Result<Option<Finding>, Failure> {
    let title = row.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&row.preview);
    let Some(question) = question(title) else { return Ok(None) };
    let params = SearchParams {
        query: question.clone(),
        kinds: Some(vec![Kind::Message]),
        limit: Some(5),
        around: Some(0),
        ..SearchParams::default()
    };
    let hits = client.recall_search(params)?.hits;
    // A question is worth showing only if it finds the session that it is about.
    let own = |hit: &&Hit| hit.session.as_deref() == Some(row.session.as_str());
    let answer = hits.iter().filter(own).find(|hit| hit.role.as_deref() == Some("assistant"));
    Ok(answer.or_else(|| hits.iter().find(own)).map(|hit| Finding {
        session: row.session.clone(),
        time: row.last_active,
        folder: row.cwd.clone(),
        title: out::cut(title, TITLE),
        question,
        passage: out::cut(&hit.snippet, PASSAGE),
        handle: hit.handle.clone(),
    }))
}

/// Returns the words of a title that a person would search for; `None` if it has too few, or is markup or a command.
fn question(title: &str) -> Option<String> {
    let title = title.lines().next().unwrap_or_default();
    if title.starts_with(['<', '/', '{', '[', '#']) {
        return None;
    }
    let is_word = |word: &&str| {
        word.chars().count() >= LETTERS && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let words: Vec<&str> = title
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| is_word(word) && !COMMON.contains(&word.to_lowercase().as_str()))
        .take(WORDS)
        .collect();
    (words.len() >= 2).then(|| words.join(" "))
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
        text.push_str(&format!("\n  {heading}\n    {passage}\n    herma recall {}\n", finding.question));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_words_that_a_person_would_search_for() {
        for (title, expected) in [
            ("Fix the flaky login test in CI, please!", Some("flaky login test")),
            ("why does the socket time out under load?", Some("socket time under load")),
            ("<command-name>/clear</command-name>", None),
            ("/compact now please", None),
            ("ok", None),
            ("", None),
            ("continue", None),
        ] {
            assert_eq!(question(title).as_deref(), expected, "{title}");
        }
    }
}
