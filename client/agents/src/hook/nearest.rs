//! Two settings may start hooks for one session: the user's, and those of a project with another profile or home. The
//! nearest ones decide, so the user's hooks step aside.

use std::path::{Path, PathBuf};

use herma_base::Settings;
use serde_json::Value;

use crate::agent::Agent;
use crate::event::Event;

/// The variable with the folder of the project, which Claude Code sets for hooks.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// The home and the profile that a hook's command names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Named {
    home: Option<PathBuf>,
    profile: Option<String>,
}

/// Returns whether the settings of the session's project start hooks with another home or profile than this one.
pub(super) fn is_other(agent: &dyn Agent, settings: &Settings, event: &Event) -> bool {
    let project = std::env::var_os(PROJECT).map(PathBuf::from);
    let sent = || event.value.get("cwd").and_then(Value::as_str).map(PathBuf::from);
    let Some(project) = project.or_else(sent).or_else(|| std::env::current_dir().ok()) else { return false };
    let Some(command) = agent.hook_of_project(&project) else { return false };
    differs(&Named::of(&command), &settings.place.home, settings.profile.as_deref())
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
