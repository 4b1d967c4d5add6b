//! What `herma doctor` finds.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use http::StatusCode;
use maud::html;
use serde::Deserialize;

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};

/// The answer of `herma doctor --json`.
#[derive(Debug, Deserialize)]
struct Checked {
    findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    check: String,
    state: String,
    words: String,
    remedy: Option<String>,
}

/// The state of a check that found nothing.
const OK: &str = "ok";

pub(crate) fn page(daemon: &Daemon) -> Result<Page, ViewError> {
    let found = check(daemon)?;
    let wrong = found.findings.iter().filter(|one| one.state != OK);
    let right = found.findings.iter().filter(|one| one.state == OK);
    let body = html! {
        table {
            thead { tr { th scope="col" { "State" } th scope="col" { "Check" } th scope="col" { "Found" } } }
            tbody {
                @for one in wrong.chain(right) {
                    tr {
                        td { span class=(if one.state == OK { "state-ok" } else { "state-wrong" }) { (one.state) } }
                        td { (one.check) }
                        td { (one.words) @if let Some(remedy) = &one.remedy { p { strong { "To do: " } (remedy) } } }
                    }
                }
            }
        }
    };
    Ok(Page::new(Section::Health, "Health", body))
}

/// Runs this program's own check.
fn check(daemon: &Daemon) -> Result<Checked, ViewError> {
    let failed = |words: String| ViewError::new(StatusCode::BAD_GATEWAY, format!("herma doctor: {words}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    // After an upgrade another program is at that place.
    let program =
        program.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map_or(program.clone(), PathBuf::from);
    let place = &daemon.settings().place;
    let mut command = Command::new(program);
    command.args(["doctor", "--json", "--home"]).arg(&place.home).arg("--socket").arg(&place.socket);
    let ran = command.stdin(Stdio::null()).stderr(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    serde_json::from_slice(&ran.stdout).map_err(|error| failed(error.to_string()))
}
