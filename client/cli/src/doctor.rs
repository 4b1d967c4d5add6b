//! `herma doctor`: checks for problems, and advice for fixing them.

mod agents;
mod config;
mod daemon;
mod disk;
mod homes;
mod locks;

use std::path::Path;

use herma_base::{CliContext, Failure, out};
use serde::Serialize;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ok,
    /// It works, but needs attention.
    Warning,
    /// It does not work.
    Error,
}

/// The finding of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    /// The name of the check.
    check: &'static str,
    state: Health,
    /// The description for people.
    words: String,
    /// The advice for fixing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, words: impl Into<String>) -> Self {
        Self { check, state: Health::Ok, words: words.into(), remedy: None }
    }

    fn warning(check: &'static str, words: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: Health::Warning, words: words.into(), remedy: Some(remedy.into()) }
    }

    fn error(check: &'static str, words: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: Health::Error, ..Self::warning(check, words, remedy) }
    }
}

/// All findings.
#[derive(Debug, Serialize)]
struct Report {
    /// The worst state of all findings.
    state: Health,
    findings: Vec<Finding>,
}

/// Runs all checks. The exit code is 1 if something does not work.
pub(super) fn run(context: &CliContext<'_>) -> Result<(), Failure> {
    let home = context.place.home.as_path();
    let mut findings = disk::folders(home, &context.place.socket);
    homes::look(home, &mut findings);
    let configured = config::look(context, &mut findings);
    let running = daemon::look(context, &mut findings);
    locks::look(home, running.as_ref().map(|running| running.pid), &mut findings);
    if let Some(configured) = &configured {
        findings.extend(config::password(configured));
        config::summarizers(configured, &mut findings);
        config::is_newer(home, running.as_ref(), &mut findings);
    }
    agents::look(context, &mut findings);
    disk::space(home, running.as_ref().and_then(daemon::Running::room_needed), &mut findings);
    let state = findings.iter().map(|finding| finding.state).max().unwrap_or(Health::Ok);
    let report = Report { state, findings };
    out::show(context.common, &report, table)?;
    if state == Health::Error { Err(Failure::No) } else { Ok(()) }
}

fn table(report: &Report) -> String {
    let mark = |state| match state {
        Health::Ok => "ok",
        Health::Warning => "WARNING",
        Health::Error => "ERROR",
    };
    let mut text = String::new();
    for Finding { check, state, words, remedy } in &report.findings {
        text.push_str(&format!("{:8} {check:14} {words}\n", mark(*state)));
        if let Some(remedy) = remedy {
            text.push_str(&format!("{:23} -> {remedy}\n", ""));
        }
    }
    let count = |state| report.findings.iter().filter(|finding| finding.state == state).count();
    let (errors, warnings) = (count(Health::Error), count(Health::Warning));
    text.push_str(&match (errors, warnings) {
        (0, 0) => "everything is in order\n".to_owned(),
        _ => format!(
            "{}, {}\n",
            out::count_noun(errors, "error", "errors"),
            out::count_noun(warnings, "warning", "warnings")
        ),
    });
    text
}

/// Quotes a path for a shell.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_to_do_and_counts() {
        let findings = vec![
            Finding::ok("home", "/h"),
            Finding::warning("space", "little is left", "remove something"),
            Finding::error("store", "unreadable", "chmod u+r MEMORY.md"),
        ];
        let text = table(&Report { state: Health::Error, findings });
        assert!(text.contains("-> chmod u+r MEMORY.md") && text.ends_with("1 error, 1 warning\n"), "{text}");
        assert!(Health::Error > Health::Warning && Health::Warning > Health::Ok);
    }

    #[test]
    fn paths_are_words() {
        assert_eq!(word(Path::new("/a/b.c")), "/a/b.c");
        assert_eq!(word(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }
}
