//! Two settings may start hooks for one session: the user's, and those of a project with another profile or home. The
//! nearest ones decide, so the user's hooks step aside.

use std::path::{Path, PathBuf};

use herma_base::{Settings, search_path};
use serde_json::Value;

use crate::agent::Agent;
use crate::event::{Event, EventName};
use crate::settings::wanted::{absolute, program_of};

/// The variable with the folder of the project, which Claude Code sets for hooks.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// The home and the profile that a hook's command names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Named {
    home: Option<PathBuf>,
    profile: Option<String>,
}

/// Returns whether the settings of the session's project start hooks with another home or profile than this one.
pub(super) fn is_other(agent: &dyn Agent, settings: &Settings, (name, event): (EventName, &Event)) -> bool {
    let project = std::env::var_os(PROJECT).map(PathBuf::from);
    let sent = || event.value.get("cwd").and_then(Value::as_str).map(PathBuf::from);
    let Some(project) = project.or_else(sent).or_else(|| std::env::current_dir().ok()) else { return false };
    let Some(command) = command_for(&agent.hooks_of_project(&project), agent.name(), name) else { return false };
    // Hooks whose program is missing serve nothing.
    let runs = program_of(&command, agent.name()).is_some_and(|program| search_path::has(&program));
    runs && differs(&Named::of(&command), &absolute(&settings.place.home), settings.profile.as_deref())
}

/// Returns the command for an event. The plugin, which has no command there, goes with the other events.
fn command_for(commands: &[String], agent: &str, name: EventName) -> Option<String> {
    let is_for = |command: &&String| {
        let words = format!(" hook {agent} {}", name.name());
        command.ends_with(&words) || command.contains(&format!("{words} "))
    };
    let found = commands.iter().find(is_for);
    found.or_else(|| commands.first().filter(|_| name == EventName::Compact)).cloned()
}

/// Returns whether a command names another home or profile than these. A command without a home has the usual one.
fn differs(named: &Named, home: &Path, profile: Option<&str>) -> bool {
    named.profile.as_deref() != profile || named.home.as_deref().is_some_and(|named| named != home)
}

impl Named {
    /// Reads the options of a command, as [`crate::settings::wanted`] writes them.
    fn of(command: &str) -> Self {
        let option = |name: &str| {
            let (_, rest) = command.rsplit_once(&format!(" {name} "))?;
            Some(match rest.strip_prefix('\'') {
                Some(quoted) => quoted.replace(r"'\''", "\0").split('\'').next()?.replace('\0', "'"),
                None => rest.split(' ').next()?.to_owned(),
            })
        };
        Self { home: option("--home").map(PathBuf::from), profile: option("--profile") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_a_command() {
        for (command, home, profile) in [
            ("exec /bin/herma hook claude-code stop", None, None),
            ("exec /bin/herma hook claude-code stop --profile work", None, Some("work")),
            ("exec /bin/herma hook claude-code stop --home '/my own' --profile work", Some("/my own"), Some("work")),
            (r"exec /bin/herma hook claude-code stop --home '/it'\''s'", Some("/it's"), None),
        ] {
            let expected = Named { home: home.map(PathBuf::from), profile: profile.map(str::to_owned) };
            assert_eq!(Named::of(command), expected, "{command}");
        }
    }

    #[test]
    fn a_command_is_found_by_its_event() {
        let commands: Vec<String> = ["session-start --profile work", "stop"]
            .iter()
            .map(|rest| format!("exec /bin/herma hook claude-code {rest}"))
            .collect();
        let found = |name| command_for(&commands, "claude-code", name).map(|command| command.ends_with("work"));
        assert_eq!(found(EventName::SessionStart), Some(true));
        assert_eq!(found(EventName::Stop), Some(false));
        assert_eq!(found(EventName::SessionEnd), None);
        assert_eq!(found(EventName::Compact), Some(true));
    }

    #[test]
    fn another_profile_or_home_is_another_one() {
        let named = |home: Option<&str>, profile: Option<&str>| Named {
            home: home.map(PathBuf::from),
            profile: profile.map(str::to_owned),
        };
        let home = Path::new("/h");
        assert!(!differs(&named(None, None), home, None));
        assert!(!differs(&named(Some("/h"), Some("work")), home, Some("work")));
        assert!(differs(&named(None, Some("work")), home, None));
        assert!(differs(&named(None, None), home, Some("work")));
        assert!(differs(&named(Some("/other"), None), home, None));
    }
}
