//! `herma shared …`: a memory that several hosts share.

mod transfer;

use std::io::BufRead;

use clap::Subcommand;
use herma_base::{CliContext, Common, Failure, out};
use herma_client::protocol::memory::Target;
use herma_client::protocol::shared::{
    InitParams, InitResult, JoinParams, JoinResult, LeaveParams, LeaveResult, State, StatusParams, StatusResult, Store,
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Show what this host shares, and the state of the database
    #[command(after_help = "Fails with code 1 while something is in the way.\n\nExample:\n  herma shared status")]
    Status,
    /// Create the tables of the database, or update them
    #[command(
        after_help = "The owner's password is read from standard input with --password-stdin, never from an argument.\n\nExamples:\n  herma shared init\n  herma shared init --print --role agents | psql postgres://owner@db.example.org/herma\n  pass show db/owner | herma shared init --url postgres://owner@db.example.org/herma --password-stdin --role agents"
    )]
    Init(Init),
    /// Send the stores of a profile to the database, entry by entry
    #[command(
        after_help = "What is there comes first, then what only this host has, as far as there is room; the rest waits for\n`herma memory approve`. Done again it changes nothing.\n\nExamples:\n  herma shared join\n  herma --profile work shared join"
    )]
    Join,
    /// Write the whole space to a file: stores with their history, messages, outputs, sessions
    #[command(
        after_help = "As of one moment, as lines of JSON, in the clear. Texts of outputs in an object store are not in it. It needs no\nrunning daemon, and goes by the home's configuration.\n\nExamples:\n  herma shared export team.jsonl\n  herma shared export | zstd > team.jsonl.zst"
    )]
    Export(transfer::Export),
    /// Import an export into the space of the configuration, which must be empty
    #[command(
        after_help = "All of it or nothing. Hosts that share go on with it once their `shared.url` and `shared.space` name it.\n\nExamples:\n  herma shared import team.jsonl\n  zstd -dc team.jsonl.zst | herma shared import -"
    )]
    Import(transfer::Import),
    /// Stop sharing: the stores of a profile stay here as they are
    #[command(
        after_help = "Take the profile out of `shared.profiles` too, and restart the daemon: until then it can't be written.\n\nExample:\n  herma shared leave --yes"
    )]
    Leave {
        /// Don't ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Init {
    /// The database URL of its owner [default: that of the configuration]
    #[arg(long)]
    url: Option<String>,
    /// Read the owner's password from the first line of standard input
    #[arg(long)]
    password_stdin: bool,
    /// A role that may then use the space of the configuration
    #[arg(long)]
    role: Option<String>,
    /// Only print the SQL
    #[arg(long)]
    print: bool,
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    let common = context.common;
    match command {
        Command::Status => {
            let result = context.connect()?.shared_status(StatusParams {})?;
            out::show(common, &result, |result| status(common, result))?;
            if troubles(&result).is_empty() { Ok(()) } else { Err(Failure::No) }
        }
        Command::Init(arguments) => {
            let password = arguments.password_stdin.then(password).transpose()?;
            let (url, role) = (arguments.url.clone(), arguments.role.clone());
            let params = InitParams { url, password, role, print: arguments.print.then_some(true) };
            let result = context.connect()?.shared_init(params)?;
            out::show(common, &result, made)
        }
        Command::Join => {
            let result = context.connect()?.shared_join(JoinParams {})?;
            out::show(common, &result, |result| joined(common, result))
        }
        Command::Export(arguments) => transfer::export(context, arguments),
        Command::Import(arguments) => transfer::import(context, arguments),
        Command::Leave { yes } => {
            let mut client = context.connect()?;
            let question = "The other hosts go on without this one, and what is written here stays here. Leave? [y/N] ";
            // The daemon refuses if nothing is shared, which needs no question.
            if !yes
                && client.shared_status(StatusParams {})?.configured
                && !out::confirm(question, &mut std::io::stdin().lock(), &mut std::io::stderr())
            {
                return Err(Failure::No);
            }
            let result = client.shared_leave(LeaveParams {})?;
            out::show(common, &result, |result| left(common, result))
        }
    }
}

fn password() -> Result<String, Failure> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::File(format!("standard input: {error}")))?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

fn status(common: &Common, result: &StatusResult) -> String {
    if !result.configured {
        return "nothing is shared here: the daemon has read no [shared] in its configuration (docs/sharing.md); it reads it when it starts".into();
    }
    let name = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let since = result.since.map(|since| format!(", since {}", out::local_time(since))).unwrap_or_default();
    let state = match result.state {
        State::Off => "off",
        State::Unknown => "not asked yet",
        State::Up => "up",
        State::Down => "down",
    };
    let mut lines = vec![
        format!("host      {}", name(&result.host)),
        format!("space     {}", name(&result.space)),
        format!("database  {}: {state}{since}", name(&result.database)),
        format!("offline   {}", if result.offline == "queue" { "writes are kept here" } else { "writes are refused" }),
        String::new(),
    ];
    let rows: Vec<[String; 6]> = result.stores.iter().map(row).collect();
    lines.push(out::table(["profile", "store", "revision", "shared", "same", "queued"], &rows));
    if let Some(messages) = &result.messages {
        let waiting = match messages.waiting {
            0 => "all are there".into(),
            waiting => format!("{} wait to be brought", out::thousands(waiting)),
        };
        lines.push(format!("messages  {waiting}"));
    }
    if let Some(outputs) = &result.outputs {
        let place = outputs.url.as_deref().unwrap_or("up to 256 KiB in the database");
        lines.push(format!("outputs   {place}"));
    }
    if let Some(sessions) = &result.sessions {
        let waiting = match sessions.waiting {
            0 => "all can go on on other hosts".into(),
            waiting => format!("{} changed since the last upload", out::thousands(waiting)),
        };
        lines.push(format!("sessions  {waiting}"));
    }
    lines.extend(troubles(result));
    if result.stores.iter().any(|store| store.queued > 0) {
        lines.push(format!("what waits for the database: {}", common.command("memory queued")));
    }
    lines.join("\n").trim_end().to_owned()
}

fn row(store: &Store) -> [String; 6] {
    let same = match (store.joined, store.edited, store.stale_s) {
        (false, _, _) => "not joined".into(),
        (true, true, _) => "edited here".into(),
        (true, false, Some(age)) if age < 10.0 => "yes".into(),
        (true, false, Some(age)) => format!("{age:.0} s ago"),
        (true, false, None) => "not known".into(),
    };
    let shared = store.shared_revision.map_or_else(|| "-".into(), out::thousands);
    let target = if store.target == Target::Memory { "memory" } else { "user" };
    let (revision, queued) = (out::thousands(store.revision), out::thousands(store.queued));
    [store.profile.clone(), target.into(), revision, shared, same, queued]
}

/// Returns the problems that a person has to solve.
pub(crate) fn troubles(result: &StatusResult) -> Vec<String> {
    let mut troubles = Vec::new();
    if !result.configured {
        return troubles;
    }
    troubles.extend(result.error.clone());
    if result.open == Some(true) {
        troubles
            .push("what is sent to the database can be read on the way: use sslmode=require in `shared.url`".into());
    }
    troubles.extend(result.stores.iter().filter_map(|store| store.error.clone()));
    let brought = [
        (
            result.messages.as_ref().and_then(|messages| messages.error.as_ref()),
            "messages are not brought to the database",
        ),
        (
            result.outputs.as_ref().and_then(|outputs| outputs.error.as_ref()),
            "outputs are not brought where other hosts find them",
        ),
        (result.sessions.as_ref().and_then(|sessions| sessions.error.as_ref()), "sessions can't go to other hosts"),
    ];
    let own = brought.into_iter().filter_map(|(error, what)| Some((error?, what)));
    let own = own.filter(|(error, _)| result.error.as_ref() != Some(*error));
    troubles.extend(own.map(|(error, what)| format!("{what}: {error}")));
    troubles.extend(result.left_out.iter().map(|words| format!("a row of the database is left out: {words}")));
    let mut missing: Vec<&str> =
        result.stores.iter().filter(|store| !store.joined).map(|store| store.profile.as_str()).collect();
    missing.dedup();
    troubles.extend(missing.into_iter().map(|profile| {
        format!(
            "profile {profile} is to be shared and was not brought there yet: herma --profile {profile} shared join"
        )
    }));
    troubles
}

fn made(result: &InitResult) -> String {
    match (&result.sql, result.found) {
        (Some(sql), _) => sql.trim_end().to_owned(),
        (None, Some(0)) => format!("the tables are made (version {})", result.version),
        (None, found) if found == Some(result.version) => {
            format!("the tables are up to date (version {})", result.version)
        }
        (None, found) => {
            format!("the tables went from version {} to {}", found.unwrap_or_default(), result.version)
        }
    }
}

fn joined(common: &Common, result: &JoinResult) -> String {
    let mut lines = vec![format!("profile {} is shared", result.profile)];
    for store in &result.stores {
        let file = if store.target == Target::Memory { "MEMORY.md" } else { "USER.md" };
        lines.push(format!(
            "{file}: {} there, {} brought, {} without room; revision {}",
            out::thousands(store.found),
            store.brought.len(),
            store.left_out.len(),
            out::thousands(store.revision)
        ));
        lines.extend(store.brought.iter().map(|entry| format!("  + {}", out::cut(entry, 100))));
        for left_out in &store.left_out {
            let waits = match &left_out.pending_id {
                Some(id) => format!("it waits as {id}: {}", common.command(&format!("memory approve {id}"))),
                None => "it stays in the journal of before".into(),
            };
            lines.push(format!("  ! {} ({}; {waits})", out::cut(&left_out.entry, 100), left_out.why));
        }
    }
    lines.join("\n")
}

fn left(common: &Common, result: &LeaveResult) -> String {
    let mut words = format!(
        "profile {} is shared no more; its stores stay here. Take it out of `shared.profiles` and restart the daemon: \
         until then it can't be written",
        result.profile
    );
    if result.pending > 0 {
        let pending = common.command("memory pending");
        words.push_str(&format!(
            "\n{} writes that waited for the database wait for approval: {pending}",
            result.pending
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::shared::{Messages, Outputs, Sessions};

    use super::*;

    fn result() -> StatusResult {
        StatusResult {
            configured: true,
            host: Some("attic".into()),
            space: Some("home".into()),
            database: Some("a@db:5432/x".into()),
            open: Some(false),
            state: State::Up,
            since: None,
            error: None,
            offline: "refuse".into(),
            stores: vec![Store {
                profile: "work".into(),
                target: Target::User,
                joined: true,
                revision: 1_234,
                shared_revision: Some(1_235),
                stale_s: Some(61.4),
                edited: false,
                queued: 2,
                error: None,
            }],
            messages: Some(Messages { waiting: 1_200, error: None }),
            outputs: Some(Outputs { url: Some("s3://agents".into()), error: None }),
            sessions: Some(Sessions { waiting: 3, error: None }),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn a_status_says_what_is_where_and_what_to_do() {
        let text = status(&Common::default(), &result());
        for words in [
            "database  a@db:5432/x: up",
            "work     user   1,234     1,235   61 s ago",
            "herma memory queued",
            "1,200 wait",
            "outputs   s3://agents",
            "sessions  3 changed",
        ] {
            assert!(text.contains(words), "{text}");
        }
        assert!(troubles(&result()).is_empty());
        let mut other = result();
        other.stores[0].joined = false;
        (other.error, other.open) = (Some("gone".into()), Some(true));
        other.outputs = Some(Outputs { url: None, error: Some("no bucket".into()) });
        other.messages = Some(Messages { waiting: 1, error: Some("no right".into()) });
        other.sessions = Some(Sessions { waiting: 1, error: Some("no table".into()) });
        other.left_out = vec!["revision 7 has no texts".into()];
        let found = troubles(&other).join("\n");
        for words in [
            "gone",
            "not brought to the database: no right",
            "other hosts find them: no bucket",
            "go to other hosts: no table",
            "left out: revision 7",
            "sslmode=require",
            "herma --profile work shared join",
        ] {
            assert!(found.contains(words), "{found}");
        }
    }

    #[test]
    fn tables_are_made_or_brought_up_to_date() {
        let words = |found| made(&InitResult { found, version: 2, sql: None });
        assert_eq!(words(Some(0)), "the tables are made (version 2)");
        assert_eq!(words(Some(2)), "the tables are up to date (version 2)");
        assert_eq!(words(Some(1)), "the tables went from version 1 to 2");
    }
}
