//! `herma hermes check`: asks the agent's own loader what it really uses.

use std::path::PathBuf;
use std::time::Duration;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::daemon::PingParams;
use herma_client::{Codec, connect};
use serde::Serialize;

use super::folder::Folder;
use super::package::{self, VERSION};
use super::probe::{self, Found, Part};
use super::{old_plugin, python};

/// The timeout for the daemon's answer.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The agent's own code is asked, in the Python that `hermes` runs in, with the home as HERMES_HOME. The plugin\nis loaded for that, as an agent does when it starts.\n\nExit code 1 when the context engine is not herma, or something that config.yaml asks for is not in use.\n\nExamples:\n  herma hermes check\n  herma --home ~/.hermes hermes check --python ~/hermes-agent/venv/bin/python\n  herma hermes check --json | jq .verdict"
)]
pub struct Arguments {
    /// The agent's Python [default: the one that runs the `hermes` on the search path]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

/// The plugin folder.
#[derive(Debug, Serialize)]
struct Files {
    folder: PathBuf,
    installed: bool,
    /// The version that was installed.
    version: Option<String>,
    /// Whether every file has the content that this version writes.
    current: bool,
    /// The files that were changed since the install.
    edited: Vec<String>,
    /// Whether the folder of an earlier version is still there.
    old_plugin: bool,
}

/// The result of the check.
#[derive(Debug, Serialize)]
struct Report {
    files: Files,
    agent: Found,
    /// Whether the daemon answers.
    daemon: bool,
    in_use: bool,
    verdict: String,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let files = files(context)?;
    let asked = arguments.python.clone().map_or_else(python::find, Ok);
    let agent = asked.and_then(|python| probe::run(&python, &context.place.home));
    let agent = agent.unwrap_or_else(|words| Found { error: Some(words), ..Found::default() });
    let reasons = reasons(&agent);
    let report = Report {
        files,
        daemon: is_answering(context),
        in_use: reasons.is_empty(),
        verdict: if reasons.is_empty() { "in use".to_owned() } else { format!("not in use: {}", reasons.join("; ")) },
        agent,
    };
    out::show(context.common, &report, table)?;
    if report.in_use { Ok(()) } else { Err(Failure::No) }
}

fn files(context: &CliContext<'_>) -> Result<Files, Failure> {
    let own = package::files();
    let folder = Folder::look(&Folder::path(&context.place.home))?;
    Ok(Files {
        installed: folder.found.contains_key(std::path::Path::new(package::MANIFEST)),
        version: folder.record.as_ref().map(|record| record.version.clone()),
        current: folder.is_current(&own)?,
        edited: folder.edited(&own)?,
        old_plugin: old_plugin::path(&context.place.home).exists(),
        folder: folder.path,
    })
}

/// Returns the reasons why herma is not in use in each place where it should be.
fn reasons(agent: &Found) -> Vec<String> {
    if let Some(words) = &agent.error {
        return vec![words.clone()];
    }
    let why = |part: &Part| part.why.clone().unwrap_or_else(|| "no reason given".into());
    let mut reasons = Vec::new();
    if !agent.engine.in_use {
        reasons.push(format!("context engine: {}", why(&agent.engine)));
    }
    for (name, part) in
        [("memory provider", &agent.provider), ("memory tool", &agent.memory), ("tool results", &agent.results)]
    {
        if part.configured && !part.in_use {
            reasons.push(format!("{name}: {}", why(part)));
        }
    }
    reasons
}

/// Returns whether a daemon of the home answers. Starts none.
fn is_answering(context: &CliContext<'_>) -> bool {
    connect(&context.place, Codec::Bincode)
        .is_ok_and(|mut client| client.set_timeout(Some(PATIENCE)).and_then(|()| client.ping(PingParams {})).is_ok())
}

fn table(report: &Report) -> String {
    let Report { files, agent, .. } = report;
    let mut plugin = files.folder.display().to_string();
    plugin.push_str(&match (&files.version, files.installed) {
        (_, false) => ": missing; herma hermes install writes it".to_owned(),
        (Some(version), true) if files.current => format!(", herma {version}"),
        (Some(version), true) if version == VERSION => format!(", herma {version}, not as it was built"),
        (Some(version), true) => format!(", herma {version}; this is {VERSION}: run herma hermes install to update it"),
        (None, true) => ", unknown version".to_owned(),
    });
    if !files.edited.is_empty() {
        plugin.push_str(&format!("; changed by you: {}", files.edited.join(", ")));
    }
    let host = match (&agent.host, agent.python.as_str()) {
        (_, "") => "not found".to_owned(),
        (Some(version), python) => format!("hermes-agent {version}, {python}"),
        (None, python) => format!("of an unknown version, {python}"),
    };
    let part = |part: &Part| match (part.configured, part.in_use, &part.name) {
        (_, true, _) => "herma".to_owned(),
        (true, false, _) => "NOT IN USE".to_owned(),
        (false, false, Some(name)) if !name.is_empty() => format!("off ({name})"),
        (false, false, _) => "off".to_owned(),
    };
    let daemon = if report.daemon { "answers" } else { "none answers; an agent starts it when it needs it" };
    let mut rows = vec![
        ("host", host),
        ("plugin files", plugin),
        ("context engine", part(&agent.engine)),
        ("memory provider", part(&agent.provider)),
        ("memory tool", part(&agent.memory)),
        ("tool results", part(&agent.results)),
        ("daemon", daemon.to_owned()),
    ];
    if agent.error.is_some() {
        // The agent's code could not report on these.
        rows.drain(2..6);
    }
    if files.old_plugin {
        rows.push(("earlier version", "in plugins/context_engine/herma, too: herma hermes install".to_owned()));
    }
    format!("{}{}\n", out::columns(&rows), report.verdict)
}
