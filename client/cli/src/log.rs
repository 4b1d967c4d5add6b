//! `herma log`: the daemon's log, and what hooks added to the context of models.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use herma_agents::hook::receipts::{self, Receipt};
use herma_base::{CliContext, Failure, out, own_file};

/// The bytes at the end of the log that are searched for lines.
const END: u64 = 4 << 20;

/// The pause between two looks at a log that is followed.
const PAUSE: Duration = Duration::from_millis(200);

// Prints the daemon's log, or what was added to the context of models.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The log is herma/hermad.log in the home. With --last: what hooks added to the context of the newest session that got\nanything, and when. A window gets memory, rules and state at its beginning (`herma session snapshot ID` prints them); the\nfirst prompt of a session gets the best places of earlier sessions, if they fit. `recall.at_prompt = false` in\nconfig.toml turns the latter off.\n\nExit codes: 0 done; 1 there is no log, or nothing was added.\n\nExamples:\n  herma log -n 100\n  herma log -f\n  herma log --last\n  herma log --last --json | jq .[].chars"
)]
pub(super) struct Arguments {
    /// The number of lines
    #[arg(short = 'n', long, value_name = "LINES", default_value_t = 50)]
    lines: usize,
    /// Print new lines as they come
    #[arg(long, short, conflicts_with = "last")]
    follow: bool,
    /// Show what was added to the context of the newest session, and when
    #[arg(long)]
    last: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let home = &context.place.home;
    if arguments.last {
        return last(context, &receipts::all(home));
    }
    let path = home.join("herma/hermad.log");
    let bytes =
        own_file::read_end(&path, END).map_err(|error| Failure::File(format!("{}: {error}", path.display())))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let newest = &lines[lines.len().saturating_sub(arguments.lines)..];
    if context.common.json {
        out::json(&newest)?;
    } else if !newest.is_empty() {
        out::text(&format!("{}\n", newest.join("\n")))?;
    }
    if arguments.follow { follow(&path) } else { Ok(()) }
}

/// Prints what is added to the log, until the command is interrupted.
fn follow(path: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", path.display()));
    let mut at = std::fs::metadata(path).map_err(failed)?.len();
    loop {
        std::thread::sleep(PAUSE);
        let length = std::fs::metadata(path).map_or(0, |file| file.len());
        // The daemon began a new file.
        at = at.min(length);
        if length == at {
            continue;
        }
        let mut file = own_file::open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        let mut new = Vec::new();
        file.take(END).read_to_end(&mut new).map_err(failed)?;
        at += new.len() as u64;
        out::piece(&String::from_utf8_lossy(&new))?;
    }
}

/// Shows the receipts of the newest session.
fn last(context: &CliContext<'_>, all: &[Receipt]) -> Result<(), Failure> {
    let newest = all.last().map(|receipt| receipt.session.clone());
    let own: Vec<&Receipt> = all.iter().filter(|receipt| Some(&receipt.session) == newest.as_ref()).collect();
    if context.common.json {
        out::json(&own)?;
    } else if own.is_empty() {
        out::note(
            context.common,
            "no additions to a context yet; they appear when a hook adds something: herma hooks status claude-code",
        );
    } else {
        out::text(&own.iter().map(|receipt| described(receipt)).collect::<String>())?;
    }
    if own.is_empty() { Err(Failure::No) } else { Ok(()) }
}

fn described(receipt: &Receipt) -> String {
    let Receipt { time, session, kind, chars, text } = receipt;
    let count = out::count_of(*chars as u64, "char");
    let what = match kind.as_str() {
        "window" => "memory, rules and state, for a new window",
        other => other,
    };
    let text = text.as_ref().map_or_else(String::new, |text| format!("{text}\n"));
    format!("{}  {session}  {count}: {what}\n{text}", out::local_time(*time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_names_time_session_and_text() {
        let receipt =
            Receipt { time: 0.0, session: "claude-code:1".into(), kind: "window".into(), chars: 1_200, text: None };
        let time = out::local_time(0.0);
        let expected = format!("{time}  claude-code:1  1,200 chars: memory, rules and state, for a new window\n");
        assert_eq!(described(&receipt), expected);
        let found = Receipt { kind: "earlier sessions".into(), text: Some("- 2026".into()), ..receipt };
        assert!(described(&found).ends_with("chars: earlier sessions\n- 2026\n"));
    }
}
