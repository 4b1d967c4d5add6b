//! `herma memory adopt`: offers what the agents' own instructions say as a beginning of the memory.

use std::path::{Path, PathBuf};

use herma_agents::known::AGENTS;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::memory::{AddParams, Target};
use serde::Serialize;

use super::view::{self, Entries};
use super::{Store, name};

/// The most bytes of a file.
const LARGEST: u64 = 1 << 20;

/// The chars of the shortest and of the longest note. Others are no notes of a small memory.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=300;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without FILE, it reads CLAUDE.md of Claude Code and AGENTS.md of Codex in your own folders. Each item of a list and\neach paragraph is a note; code, tables, headings and long texts are left out. The files are only read. A store is small:\nwhat does not fit is listed, and so is what the guard refuses.\n\nExit codes: 0 done; 1 there is nothing, or something was not added.\n\nExamples:\n  herma memory adopt --dry-run\n  herma memory adopt ~/work/AGENTS.md --to memory --yes"
)]
pub(crate) struct Arguments {
    /// Files with notes, as Markdown
    files: Vec<PathBuf>,
    /// The store
    #[arg(long, value_enum, default_value = "user")]
    to: Store,
    /// Show the notes, and add none
    #[arg(long)]
    dry_run: bool,
    /// Don't ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// The result of a run.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// The files that were read.
    files: Vec<PathBuf>,
    /// The notes that the store does not have yet.
    notes: Vec<String>,
    /// Those that were added.
    added: Vec<String>,
    /// Those that were not, each with the reason.
    refused: Vec<(String, String)>,
}

/// Returns the files of the agents with notes of the user.
pub(crate) fn files() -> Vec<PathBuf> {
    AGENTS.iter().filter_map(|agent| agent.notes()).filter(|path| path.is_file()).collect()
}

/// Returns how many notes a file has; 0 if it can't be read.
pub(crate) fn count(path: &Path) -> usize {
    out::read_at_most(path, LARGEST).map_or(0, |text| notes(&text).len())
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let files = if arguments.files.is_empty() { files() } else { arguments.files.clone() };
    let mut found = Vec::new();
    for path in &files {
        found.extend(notes(&out::read_at_most(path, LARGEST)?));
    }
    let target: Target = arguments.to.into();
    let mut client = context.connect()?;
    let view = view::view(context, &mut client, target, Entries::Raw)?;
    let mut report = Report { files, ..Report::default() };
    for note in found {
        if !view.entries.contains(&note) && !report.notes.contains(&note) {
            report.notes.push(note);
        }
    }
    if report.notes.is_empty() {
        out::note(context.common, "there is no note that the memory does not have");
        return Err(Failure::No);
    }
    if !arguments.dry_run && confirmed(arguments, &report, target)? {
        for content in report.notes.clone() {
            let agent = Some("adopt".to_owned());
            let params = AddParams { target, content: content.clone(), agent, session: None, expected_revision: None };
            let result = client.memory_add(params)?;
            match result.error.filter(|_| !result.success) {
                Some(why) => report.refused.push((content, why)),
                None => report.added.push(content),
            }
        }
    }
    let is_whole = report.refused.is_empty();
    out::show(context.common, &report, |report| text(report, arguments.dry_run, target))?;
    if is_whole { Ok(()) } else { Err(Failure::Refused) }
}

/// Asks whether the notes are added.
fn confirmed(arguments: &Arguments, report: &Report, target: Target) -> Result<bool, Failure> {
    if arguments.yes {
        return Ok(true);
    }
    let list: String = report.notes.iter().map(|note| format!("  - {note}\n")).collect();
    let count = out::count_noun(report.notes.len(), "note", "notes");
    let question = format!("{list}Add {count} to the store {}? [y/N] ", name(target));
    if out::ask(&question, "use --yes, or look with --dry-run")? {
        return Ok(true);
    }
    Err(Failure::File("nothing was added".into()))
}

fn text(report: &Report, dry_run: bool, target: Target) -> String {
    if dry_run {
        return report.notes.iter().map(|note| format!("- {note}\n")).collect();
    }
    let added = out::count_noun(report.added.len(), "note", "notes");
    let mut text = format!("added {added} to the store {}; `herma memory undo` undoes the newest\n", name(target));
    for (note, why) in &report.refused {
        text.push_str(&format!("not added: {note}\n  {}\n", why.lines().next().unwrap_or_default()));
    }
    text
}

/// Returns the notes of a Markdown text: items of lists, and paragraphs.
fn notes(text: &str) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            is_code = !is_code;
        }
        let is_left_out = is_code
            || trimmed.is_empty()
            || trimmed.starts_with(['#', '|', '@', '<', '`'])
            || trimmed.chars().all(|char| matches!(char, '-' | '*' | '_' | '='));
        if is_left_out {
            is_open = false;
            continue;
        }
        let item = item(trimmed);
        match notes.last_mut() {
            // A line goes on the item or the paragraph before it.
            Some(note) if is_open && item.is_none() => {
                note.push(' ');
                note.push_str(trimmed);
            }
            _ => notes.push(item.unwrap_or(trimmed).to_owned()),
        }
        is_open = true;
    }
    notes.retain(|note| LENGTHS.contains(&note.chars().count()) && !note.ends_with(':'));
    notes
}

/// Returns the text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let marked = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix("+ "));
    let numbered = || {
        let (number, rest) = line.split_once(". ")?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
    };
    marked.or_else(numbered).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_paragraphs_are_notes_and_the_rest_is_not() {
        let text = "# Rules\n\nAnswer in English,\nalways.\n\n- use pnpm, never npm\n  for this\n* 1. odd\n2. run the tests first\n\
            \n```sh\n- not a note\n```\n| a | table |\n@docs/other.md\n<!-- hidden -->\n---\nThe following holds:\n- ok\n";
        let expected = ["Answer in English, always.", "use pnpm, never npm for this", "run the tests first"];
        assert_eq!(notes(text), expected);
        assert_eq!(notes(&"word ".repeat(100)), Vec::<String>::new());
    }
}
