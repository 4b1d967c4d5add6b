//! `herma memory import`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::ErrorKind;
use herma_client::protocol::limits;
use herma_client::protocol::memory::{BatchParams, Target, WriteResult};
use herma_client::{Client, ClientError};
use serde::Serialize;

use super::export::{File, Format};
use super::operations::{removals_and_additions, run_batches};
use super::view::{self, Entries};
use super::write::written;
use super::{Store, entries, name};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file holds what `herma memory export` printed; or, for one store, a JSON list of texts or the plain file with a line that is only \"§\" between entries. Entries that are there already stay where they are. Each store is changed by one batch: all of it or nothing.\n\nExamples:\n  herma memory import stores.json --dry-run\n  herma memory import USER.md user\n  herma memory import stores.json memory --replace\n  herma memory export --profile work | herma memory import - --profile home"
)]
pub(crate) struct Arguments {
    /// The file; - for standard input
    file: PathBuf,
    /// The store; all stores in the file when left out
    store: Option<Store>,
    /// Remove entries that are not in the file
    #[arg(long)]
    replace: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// The file's format; detected when left out
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Continue even if an entry is longer than the whole limit
    #[arg(long)]
    allow_drift: bool,
    /// The name of the writer
    #[arg(long, value_name = "NAME", default_value = "cli")]
    agent: String,
}

/// The most bytes of a file, the same as of one request.
const LONGEST: u64 = limits::FRAME as u64;

/// The change that an import makes to a store.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Plan {
    target: Target,
    added: Vec<String>,
    removed: Vec<String>,
    /// The number of the file's entries that are already in the store.
    there: usize,
}

/// The result of an import.
#[derive(Debug, Serialize)]
struct Imported {
    #[serde(flatten)]
    plan: Plan,
    /// `None` if there was nothing to do, or in a dry run.
    result: Option<WriteResult>,
}

impl Imported {
    fn is_refused(&self) -> bool {
        self.result.as_ref().is_some_and(|result| !result.success)
    }
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let text = out::read_at_most(&arguments.file, LONGEST)?;
    let format = arguments.format.unwrap_or_else(|| format_of(&arguments.file, &text));
    let wanted = read(&text, format, arguments.store)
        .map_err(|words| Failure::File(format!("{}: {words}", arguments.file.display())))?;
    let mut client = context.connect()?;
    let (mut done, mut failure) = (Vec::new(), None);
    for (target, wanted) in wanted {
        match import(context, arguments, &mut client, target, &wanted) {
            Ok(imported) => {
                failure = imported.is_refused().then_some(Failure::Refused);
                done.push(imported);
            }
            Err(other) => failure = Some(other),
        }
        if failure.is_some() {
            break;
        }
    }
    // The changes are done by now, even if standard output is closed.
    if !done.is_empty() {
        out::show(context.common, &done, |done| {
            done.iter().map(|imported| describe(context, arguments, imported)).collect::<Vec<_>>().join("\n")
        })?;
    }
    failure.map_or(Ok(()), Err)
}

fn import(
    context: &CliContext<'_>,
    arguments: &Arguments,
    client: &mut Client,
    target: Target,
    wanted: &[String],
) -> Result<Imported, Failure> {
    let view = view::view(context, client, target, Entries::Raw)?;
    let plan = plan(target, &view.entries, wanted, arguments.replace);
    let operations = removals_and_additions(&plan.removed, &plan.added);
    if arguments.dry_run || operations.is_empty() {
        return Ok(Imported { plan, result: None });
    }
    let result = run_batches(operations, view.stale_s.is_some(), |operations| {
        client.memory_batch(BatchParams {
            target,
            operations,
            allow_empty: Some(arguments.replace),
            session: None,
            agent: Some(arguments.agent.clone()),
            // Additions of others in the meantime do no harm, unless the store must be exactly like the file.
            expected_revision: arguments.replace.then_some(view.revision),
            allow_drift: Some(arguments.allow_drift),
        })
    });
    Ok(Imported { plan, result: Some(result.map_err(|error| explain_conflict(error, target))?) })
}

/// Words a conflict for a user who imports a file.
fn explain_conflict(error: ClientError, target: Target) -> ClientError {
    match error {
        ClientError::Rpc(mut error) if error.kind == ErrorKind::Conflict => {
            let store = name(target);
            error.message = format!("{store} was changed meanwhile and left alone, import again: {}", error.message);
            ClientError::Rpc(error)
        }
        error => error,
    }
}

/// Returns the format by the file's extension, or else by its first character.
fn format_of(file: &Path, text: &str) -> Format {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Format::Json,
        Some("md") => Format::Md,
        _ if text.trim_start().starts_with(['{', '[']) => Format::Json,
        _ => Format::Md,
    }
}

/// Returns the entries of a file for each store.
fn read(text: &str, format: Format, store: Option<Store>) -> Result<Vec<(Target, Vec<String>)>, String> {
    let one_store = || store.map(Target::from).ok_or("name the store that it is for, memory or user".to_owned());
    if text.trim().is_empty() {
        return Err("it holds nothing; a JSON list without entries, [], would empty a store with --replace".into());
    }
    if format == Format::Md {
        return Ok(vec![(one_store()?, entries::split(text))]);
    }
    let not_json =
        |error: serde_json::Error| format!("{error}; a plain file that begins like JSON is read with --format md");
    if text.trim_start().starts_with('[') {
        let list: Vec<String> = serde_json::from_str(text).map_err(not_json)?;
        return Ok(vec![(one_store()?, checked(list)?)]);
    }
    let file: File = serde_json::from_str(text).map_err(not_json)?;
    let mut found = Vec::new();
    for (target, stored) in [(Target::Memory, file.memory), (Target::User, file.user)] {
        match stored {
            Some(stored) if store.is_none_or(|store| Target::from(store) == target) => {
                found.push((target, checked(stored.entries)?));
            }
            _ => {}
        }
    }
    match store {
        _ if !found.is_empty() => Ok(found),
        Some(store) => Err(format!("it has no entries for {}", name(store.into()))),
        None => Err("it has neither \"memory\" nor \"user\"".into()),
    }
}

/// Returns entries in the form of a store, or an error if one can't be an entry.
fn checked(list: Vec<String>) -> Result<Vec<String>, String> {
    let entries = entries::clean(list);
    match entries.iter().find(|entry| entries::split(entry).as_slice() != std::slice::from_ref(*entry)) {
        Some(entry) => {
            Err(format!("the entry {:?} has a line that is only \"§\", which no entry can have", out::cut(entry, 60)))
        }
        None => Ok(entries),
    }
}

fn plan(target: Target, present: &[String], wanted: &[String], replace: bool) -> Plan {
    let there: HashSet<&String> = present.iter().collect();
    let kept: HashSet<&String> = wanted.iter().collect();
    let added: Vec<String> = wanted.iter().filter(|entry| !there.contains(entry)).cloned().collect();
    let removed = present.iter().filter(|entry| replace && !kept.contains(entry)).cloned().collect();
    Plan { target, there: wanted.len() - added.len(), added, removed }
}

fn describe(context: &CliContext<'_>, arguments: &Arguments, imported: &Imported) -> String {
    let Imported { plan, result } = imported;
    let store = name(plan.target);
    match result {
        None if arguments.dry_run => {
            let lines = plan.removed.iter().map(|entry| format!("- {}", out::cut(entry, 100)));
            let lines = lines.chain(plan.added.iter().map(|entry| format!("+ {}", out::cut(entry, 100))));
            let lines: Vec<String> =
                [format!("{store}: {}", counts(plan, "would be "))].into_iter().chain(lines).collect();
            lines.join("\n")
        }
        None => format!("{store}: {}", counts(plan, "")),
        Some(result) if result.success && result.staged != Some(true) => {
            format!("{store}: {}\n{}", counts(plan, ""), written(context.common, result))
        }
        Some(result) => format!("{store}: {}", written(context.common, result)),
    }
}

fn counts(plan: &Plan, would: &str) -> String {
    let was = if plan.there == 1 { "was" } else { "were" };
    format!(
        "{} {would}added, {} {was} there already, {} {would}removed",
        out::thousands(plan.added.len() as u64),
        out::thousands(plan.there as u64),
        out::thousands(plan.removed.len() as u64)
    )
}

/// Checks a property of every file: entries that are written in either format are read again unchanged.
#[cfg(feature = "fuzzing")]
#[allow(clippy::missing_panics_doc, reason = "a panic is the finding")]
pub fn import_holds(text: &str) {
    for format in [Format::Json, Format::Md] {
        for (target, entries) in read(text, format, Some(Store::Memory)).into_iter().flatten() {
            if entries.is_empty() {
                continue;
            }
            let plain = read(&entries::join(&entries), Format::Md, Some(Store::Memory));
            assert_eq!(plain, Ok(vec![(target, entries.clone())]));
            let json = serde_json::json!(entries).to_string();
            assert_eq!(read(&json, Format::Json, Some(Store::Memory)), Ok(vec![(target, entries)]));
        }
        drop(read(text, format, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &str) -> Vec<String> {
        entries.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_format_is_found_out() {
        for (file, text, expected) in [
            ("a.json", "one", Format::Json),
            ("USER.md", "[x]", Format::Md),
            ("-", " {\"user\": {}}", Format::Json),
            ("notes", "[\"a\"]", Format::Json),
            ("notes", "one", Format::Md),
        ] {
            assert_eq!(format_of(Path::new(file), text), expected, "{file} {text}");
        }
    }

    #[test]
    fn files_are_read() {
        let (memory, user) = (Target::Memory, Target::User);
        for (text, format, store, expected) in [
            ("a\n§\nb\n§\na", Format::Md, Some(Store::User), vec![(user, list("a b"))]),
            ("[\" a\", \"\", \"b\", \"a\"]", Format::Json, Some(Store::Memory), vec![(memory, list("a b"))]),
            ("[]", Format::Json, Some(Store::Memory), vec![(memory, vec![])]),
            (
                "{\"memory\":{\"entries\":[\"a\"],\"revision\":3},\"user\":{\"entries\":[]}}",
                Format::Json,
                None,
                vec![(memory, list("a")), (user, vec![])],
            ),
            (
                "{\"memory\":{\"entries\":[\"a\"]},\"user\":{\"entries\":[\"b\"],\"new\":1}}",
                Format::Json,
                Some(Store::User),
                vec![(user, list("b"))],
            ),
        ] {
            assert_eq!(read(text, format, store), Ok(expected), "{text}");
        }
    }

    #[test]
    fn files_that_are_none_are_refused_in_words() {
        for (text, format, store, expected) in [
            ("a", Format::Md, None, "name the store"),
            ("[\"a\"]", Format::Json, None, "name the store"),
            (" \n", Format::Md, Some(Store::User), "holds nothing"),
            ("[1]", Format::Json, Some(Store::User), "invalid type"),
            ("[note] a", Format::Json, Some(Store::User), "--format md"),
            ("{}", Format::Json, None, "neither"),
            ("{\"memory\":{\"entries\":[]}}", Format::Json, Some(Store::User), "no entries for user"),
            ("[\"a\\n§\\nb\"]", Format::Json, Some(Store::User), "only \"§\""),
            ("[\"§\"]", Format::Json, Some(Store::User), "only \"§\""),
        ] {
            let words = read(text, format, store).unwrap_err();
            assert!(words.contains(expected), "{text}: {words}");
        }
    }

    #[test]
    fn a_plan_adds_what_is_missing_and_replaces_only_when_asked() {
        for (present, wanted, replace, added, removed, there) in [
            ("a b", "b c", false, "c", "", 1),
            ("a b", "b c", true, "c", "a", 1),
            ("a b", "b a", true, "", "", 2),
            ("a b", "", true, "", "a b", 0),
            ("", "a", false, "a", "", 0),
        ] {
            let target = Target::User;
            let expected = Plan { target, added: list(added), removed: list(removed), there };
            assert_eq!(plan(target, &list(present), &list(wanted), replace), expected, "{present} {wanted}");
        }
    }

    #[test]
    fn a_plan_is_counted() {
        let plan = plan(Target::User, &list("a b"), &list("b c d"), true);
        assert_eq!(counts(&plan, ""), "2 added, 1 was there already, 1 removed");
        assert_eq!(counts(&plan, "would be "), "2 would be added, 1 was there already, 1 would be removed");
    }
}
