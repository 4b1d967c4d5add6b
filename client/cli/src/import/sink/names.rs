//! The names of sessions, and the profiles of folders. No I/O.

use std::path::Path;

use herma_base::kept::{HASH, hash};

use super::super::Rule;

pub(super) fn profile(rules: &[Rule], cwd: &str) -> Option<String> {
    let holds = |rule: &&Rule| Path::new(cwd).starts_with(&rule.folder);
    let longest = |rule: &&Rule| rule.folder.components().count();
    rules.iter().filter(holds).max_by_key(longest).map(|rule| rule.profile.clone())
}

/// Returns the profile of a project that Claude Code names by its folder, in which other chars than letters and digits
/// are `-`.
pub(super) fn profile_of_project(rules: &[Rule], project: &str) -> Option<String> {
    let named = |folder: &Path| -> String {
        folder.to_string_lossy().chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect()
    };
    let holds = |rule: &&Rule| {
        project.strip_prefix(&named(&rule.folder)).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    rules.iter().filter(holds).max_by_key(|rule| rule.folder.components().count()).map(|rule| rule.profile.clone())
}

/// Makes a name from the text of a file: without control characters, and at most `most` chars. A longer text ends with
/// its hash.
pub(super) fn shown(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect();
    if clean.chars().count() <= most {
        return clean;
    }
    let head: String = clean.chars().take(most - HASH - 1).collect();
    format!("{head}~{}", hash(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::limits;

    use super::*;

    #[test]
    fn a_project_is_known_by_its_folder() {
        let rule = |folder: &str, profile: &str| Rule { folder: folder.into(), profile: profile.into() };
        let rules = [rule("/h/work", "work"), rule("/h/work/secret.d", "secret")];
        for (project, expected) in [
            ("-h-work", Some("work")),
            ("-h-work-shop", Some("work")),
            ("-h-work-secret-d", Some("secret")),
            ("-h-workshop", None),
            ("-h-other", None),
        ] {
            assert_eq!(profile_of_project(&rules, project).as_deref(), expected, "{project}");
        }
    }

    #[test]
    fn the_longest_folder_decides() {
        let rule = |folder: &str, profile: &str| Rule { folder: folder.into(), profile: profile.into() };
        let rules = [rule("/w", "work"), rule("/w/secret", "other"), rule("/home", "home")];
        for (cwd, expect) in [
            ("/w", Some("work")),
            ("/w/a/b", Some("work")),
            ("/w/secret/x", Some("other")),
            ("/wide", None),
            ("", None),
        ] {
            assert_eq!(profile(&rules, cwd).as_deref(), expect, "{cwd}");
        }
    }

    #[test]
    fn names_have_no_controls_and_an_end() {
        assert_eq!(shown("a\nb", 9), "a\u{fffd}b");
        let long = shown(&"é".repeat(5000), limits::NAME);
        assert_eq!(long.chars().count(), limits::NAME);
        assert_ne!(long, shown(&"é".repeat(5001), limits::NAME));
    }
}
