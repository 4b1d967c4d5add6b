//! `herma memory list`, `herma memory schema`.

use herma_base::{CliContext, Common, Failure, out};
use herma_client::protocol::memory::{ListParams, ListResult, SchemaParams, StoreView};

use super::view::ask;
use super::{Store, write};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  herma memory list\n  herma memory list user --json\n  herma memory list memory --raw"
)]
pub(crate) struct List {
    /// One store; both when left out
    store: Option<Store>,
    /// Show entries even if the guard blocks them
    #[arg(long)]
    raw: bool,
}

pub(super) fn list(context: &CliContext<'_>, arguments: &List) -> Result<(), Failure> {
    let params = ListParams { target: arguments.store.map(Into::into), raw: Some(arguments.raw) };
    let result = ask(context, &mut context.connect()?, params)?;
    out::show(context.common, &result, |result| shown(context.common, result))
}

pub(super) fn schema(context: &CliContext<'_>) -> Result<(), Failure> {
    let result = context.connect()?.memory_schema(SchemaParams {})?;
    out::show(context.common, &result, |result| format!("{}\n\n{}", result.tool.get(), result.guidance))
}

fn shown(common: &Common, result: &ListResult) -> String {
    let mut parts = Vec::new();
    for (name, view) in [("MEMORY.md", &result.memory), ("USER.md", &result.user)] {
        parts.extend(view.as_ref().map(|view| store(name, view)));
    }
    parts.extend(write::waiting(common, result.pending_count));
    parts.join("\n")
}

/// The age in seconds from which the output shows when a shared store was last in sync.
const STALE: f64 = 10.0;

fn store(name: &str, view: &StoreView) -> String {
    let over = if view.over_limit { ", over its limit" } else { "" };
    // The daemon compares every second, so a small age is normal.
    let stale = match view.stale_s {
        Some(age) if age < 0.0 => ", not compared with the shared one yet".to_owned(),
        Some(age) if age >= STALE => format!(", as it was shared {age:.0} s ago"),
        _ => String::new(),
    };
    format!("{name}  [{}, revision {}{over}{stale}]\n{}", view.usage, view.revision, numbered(&view.entries))
}

/// Returns the entries with their numbers.
pub(super) fn numbered(entries: &[String]) -> String {
    if entries.is_empty() {
        return "  (no entries)\n".into();
    }
    entries.iter().enumerate().fold(String::new(), |mut text, (at, entry)| {
        text.push_str(&format!("{:>3}. {}\n", at + 1, entry.replace('\n', "\n     ")));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_listed_one_after_the_other() {
        let view = |entries: &[&str], over_limit| {
            let entries = entries.iter().map(|entry| (*entry).to_owned()).collect();
            Some(StoreView { entries, revision: 2, usage: "1%".into(), over_limit, stale_s: None })
        };
        let result =
            ListResult { memory: view(&["one\ntwo", "three"], true), user: view(&[], false), pending_count: Some(1) };
        assert_eq!(
            shown(&Common::default(), &result),
            "MEMORY.md  [1%, revision 2, over its limit]\n  1. one\n     two\n  2. three\n\nUSER.md  [1%, revision 2]\n  (no entries)\n\n1 write waits for approval: herma memory pending"
        );
    }

    #[test]
    fn a_store_that_is_shared_says_how_old_it_is_when_that_is_unusual() {
        for (stale_s, words) in
            [(None, ""), (Some(0.4), ""), (Some(-1.0), ", not compared"), (Some(75.2), ", as it was shared 75 s ago")]
        {
            let view = StoreView { entries: vec![], revision: 2, usage: "1%".into(), over_limit: false, stale_s };
            assert!(store("USER.md", &view).starts_with(&format!("USER.md  [1%, revision 2{words}")), "{stale_s:?}");
        }
    }
}
