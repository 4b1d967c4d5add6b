//! `herma session rm`.

use herma_base::{CliContext, Failure, out};
use herma_client::ClientError;
use herma_client::protocol::session::transcript::{RemoveParams, RemoveResult};

use crate::names;
use crate::several::BatchResults;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is removed is gone for good, also from recall. On a terminal it asks first; where nobody can be asked --yes is needed (exit code 2 without it). One that can't be removed does not stop the others; the exit code is 1 then.\n\nExamples:\n  herma session rm old-session\n  herma session rm one two three --yes"
)]
pub(crate) struct Arguments {
    /// The sessions: their ids, or @1 for the newest; without --yes also beginnings of ids
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
    /// Don't ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.yes {
        out::can_ask("use --yes")?;
    }
    let mut client = context.connect()?;
    let mut sessions = Vec::new();
    for named in &arguments.sessions {
        // Without a question only a whole id counts: a script that removes a session twice must not meet another one.
        let is_meant = !arguments.yes || named.starts_with('@');
        sessions.push(match is_meant.then(|| names::session::resolve(&mut client, named)) {
            // The removal of one that is not there is a result of its own.
            None | Some(Err(Failure::File(_) | Failure::Client(ClientError::Rpc(_)))) => named.clone(),
            Some(found) => found?,
        });
    }
    if !arguments.yes && !out::ask(&question(&sessions), "use --yes")? {
        return Err(Failure::File("nothing was removed".into()));
    }
    let removed = BatchResults::call(&sessions, |id| client.session_remove(RemoveParams { session: id.into() }))?;
    removed.print(context.common, describe)
}

fn question(sessions: &[String]) -> String {
    let those = match sessions {
        [one] => format!("the session {one} with its"),
        all => format!("{} sessions ({}) with their", all.len(), all.join(", ")),
    };
    format!("Remove {those} messages and outputs for good? [y/N] ")
}

fn describe(id: &str, result: &RemoveResult) -> String {
    let count_noun = |count, one, many| out::count_noun(usize::try_from(count).unwrap_or(usize::MAX), one, many);
    let messages = count_noun(result.messages, "message", "messages");
    let outputs = count_noun(result.outputs, "output", "outputs");
    format!("removed {id}: {messages}, {outputs}, {}", out::size(result.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_names_what_would_go() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(question(&names(&["a"])), "Remove the session a with its messages and outputs for good? [y/N] ");
        assert_eq!(
            question(&names(&["a", "b"])),
            "Remove 2 sessions (a, b) with their messages and outputs for good? [y/N] "
        );
    }

    #[test]
    fn it_tells_how_much_went() {
        let result = RemoveResult { messages: 1200, outputs: 1, bytes: 1536 };
        assert_eq!(describe("s", &result), "removed s: 1,200 messages, 1 output, 1.5 KiB");
    }
}
