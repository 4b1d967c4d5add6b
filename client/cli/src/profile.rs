//! `herma profile …`.

use clap::Subcommand;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::profile::{CreateParams, ListParams, ListResult};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// List the profiles of the home
    List,
    /// Create a profile: a separate pair of stores
    #[command(
        after_help = "Example:\n  herma profile create work\n  herma --profile work memory add user \"reviews before lunch\""
    )]
    Create {
        /// Its name: 1 to 64 letters, digits, _ and -
        name: String,
    },
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    let mut client = context.connect()?;
    match command {
        Command::List => out::show(context.common, &client.profile_list(ListParams {})?, table),
        Command::Create { name } => {
            let result = client.profile_create(CreateParams { name: name.clone() })?;
            out::show(context.common, &result, |result| {
                let how = if result.created { "created" } else { "there was already a profile" };
                format!("{how} {name}")
            })
        }
    }
}

fn table(result: &ListResult) -> String {
    let chars = |limit| format!("{} chars", out::thousands(limit));
    let rows = result.profiles.iter();
    let rows: Vec<[String; 3]> =
        rows.map(|profile| [profile.name.clone(), chars(profile.memory_limit), chars(profile.user_limit)]).collect();
    out::table(["profile", "memory holds", "user holds"], &rows)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::profile::Profile;

    use super::*;

    #[test]
    fn profiles_are_listed_with_their_limits() {
        let profiles = vec![Profile { name: "default".into(), memory_limit: 2200, user_limit: 1375 }];
        assert_eq!(
            table(&ListResult { profiles }),
            "profile  memory holds  user holds\ndefault  2,200 chars   1,375 chars\n"
        );
    }
}
