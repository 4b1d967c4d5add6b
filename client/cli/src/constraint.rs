//! `herma constraint …`.

use clap::Subcommand;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::constraint::{AddParams, ListParams, ListResult, RemoveParams, Scope, Source};

use crate::names;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Add a rule that every compression of the session keeps word for word
    #[command(
        after_help = "Examples:\n  herma constraint add my-session \"never push to main\"\n  herma constraint add my-session --once \"don't touch the tests yet\""
    )]
    Add {
        /// The session: its id, the beginning of it, or @1 for the newest
        session: String,
        /// The rule, in the user's words; - for standard input
        text: String,
        /// Apply the rule only to the current task
        #[arg(long)]
        once: bool,
    },
    /// List the rules of a session: the added ones, and those found in the user's messages
    List {
        /// The session: its id, the beginning of it, or @1 for the newest
        session: String,
    },
    /// Remove a rule
    #[command(name = "rm", visible_alias = "remove")]
    Remove {
        /// The session: its id, the beginning of it, or @1 for the newest
        session: String,
        /// The rule's id, from the list
        id: String,
    },
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    let (Command::Add { session: id, .. } | Command::List { session: id } | Command::Remove { session: id, .. }) =
        command;
    let (mut client, id) = names::session::connect(context, id)?;
    match command {
        Command::Add { text, once, .. } => {
            let scope = Some(if *once { Scope::Once } else { Scope::Standing });
            let result =
                client.constraint_add(AddParams { session: id.clone(), text: out::text_or_input(text)?, scope })?;
            out::show(context.common, &result, |result| format!("kept as {}", result.id))
        }
        Command::List { .. } => {
            let result = client.constraint_list(ListParams { session: id.clone() })?;
            out::show(context.common, &result, table)
        }
        Command::Remove { id: constraint, .. } => {
            let params = RemoveParams { session: id.clone(), id: constraint.clone() };
            let result = client.constraint_remove(params)?;
            out::show(context.common, &result, |_| format!("{constraint} holds no more"))
        }
    }
}

fn table(result: &ListResult) -> String {
    if result.constraints.is_empty() {
        return "No rules. Add one: herma constraint add SESSION TEXT\n".to_owned();
    }
    let rows: Vec<[String; 5]> = result
        .constraints
        .iter()
        .map(|constraint| {
            let scope = match constraint.scope {
                Scope::Standing => "standing",
                Scope::Once => "once",
            };
            let source = match constraint.source {
                Source::Explicit => "added",
                Source::Found => "found",
            };
            [
                constraint.id.clone(),
                scope.to_owned(),
                source.to_owned(),
                out::when(constraint.at),
                constraint.text.clone(),
            ]
        })
        .collect();
    out::table(["id", "holds", "from", "since", "rule"], &rows)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::constraint::Constraint;

    use super::*;

    #[test]
    fn rules_are_listed_with_where_they_come_from() {
        let constraint = Constraint {
            id: "c_1".into(),
            text: "never\npush".into(),
            scope: Scope::Once,
            source: Source::Found,
            at: 0.0,
        };
        let text = table(&ListResult { constraints: vec![constraint] });
        assert!(text.lines().nth(1).is_some_and(|row| row.starts_with("c_1  once   found  ")), "{text}");
        assert!(text.trim_end().ends_with("never push"), "{text}");
        assert_eq!(table(&ListResult::default()), "No rules. Add one: herma constraint add SESSION TEXT\n");
    }
}
