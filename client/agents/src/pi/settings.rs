//! Writes herma's extension into a folder that pi loads extensions from: `~/.pi/agent/extensions`, or
//! `.pi/extensions` of a project. The extension also starts the MCP server.

use std::path::{Path, PathBuf};

use herma_base::{Failure, own_file};
use serde_json::json;

use super::Pi;
use crate::agent::Agent;
use crate::event::EventName;
use crate::settings::SERVER;
use crate::settings::edit::Edit;
use crate::settings::wanted::{self, HermaEntries, Scope, quoted, user_home};

/// The extension, with placeholders for the constants that an installation decides.
const EXTENSION: &str = include_str!("extension.js");

/// The beginnings of these constants' lines.
const PROGRAM: &str = "const PROGRAM = ";
const OPTIONS: &str = "const OPTIONS = ";
const COMPACTS: &str = "const COMPACTS = ";

/// What all versions of the extension contain.
const MARK: &str = "herma hooks install pi";

/// The most bytes of an extension that are read.
const LARGEST: u64 = 1 << 20;

/// Returns the folder of the user's settings.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    match wanted::folder("PI_CODING_AGENT_DIR") {
        Some(own) => Ok(own),
        None => Ok(user_home()?.join(".pi/agent")),
    }
}

/// Returns the folder with the transcripts of all projects.
pub(super) fn transcripts() -> Option<PathBuf> {
    wanted::folder("PI_CODING_AGENT_SESSION_DIR").or_else(|| Some(folder().ok()?.join("sessions")))
}

/// Returns the path of the extension in a folder of settings.
fn extension(folder: &Path) -> PathBuf {
    folder.join("extensions").join(SERVER).with_extension("js")
}

fn folder_of(scope: Scope) -> Result<PathBuf, Failure> {
    match scope {
        Scope::User => folder(),
        Scope::Project => {
            Ok(std::env::current_dir().map_err(|error| Failure::File(format!("this folder: {error}")))?.join(".pi"))
        }
    }
}

/// Returns the edits that install the extension, or uninstall it.
pub(super) fn edits(scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
    Ok(vec![Edit::own(&extension(&folder_of(scope)?), wanted.map(text), MARK)?])
}

/// Returns whether an extension is installed that answers compactions.
pub(super) fn answers_compactions(scope: Scope) -> Result<bool, Failure> {
    Ok(read(&folder_of(scope)?).and_then(|text| constant(&text, COMPACTS)).unwrap_or_default())
}

fn text(wanted: &HermaEntries) -> String {
    // The words are: the program, `hook`, the agent, the event, and the options.
    let words = wanted.words(Pi.name(), EventName::Stop);
    let line = |line: &str| {
        let constant = |name: &str, value: serde_json::Value| line.starts_with(name).then(|| format!("{name}{value};"));
        constant(PROGRAM, json!(words[0]))
            .or_else(|| constant(OPTIONS, json!(words[4..])))
            .or_else(|| constant(COMPACTS, json!(wanted.has_plugin)))
            .unwrap_or_else(|| line.to_owned())
    };
    EXTENSION.lines().map(|text| line(text) + "\n").collect()
}

/// Returns the program that the user's extension starts.
pub(super) fn programs() -> Vec<String> {
    let text = folder().ok().and_then(|folder| read(&folder));
    text.and_then(|text| constant(&text, PROGRAM)).into_iter().collect()
}

/// Returns the commands of the hooks of a project's extension, as a shell would take them.
pub(super) fn hooks_of_project(project: &Path) -> Vec<String> {
    let found = || {
        let text = read(&project.join(".pi"))?;
        Some((constant::<String>(&text, PROGRAM)?, constant::<Vec<String>>(&text, OPTIONS)?))
    };
    let Some((program, options)) = found() else { return Vec::new() };
    let command = |(event, _): &(EventName, u32)| {
        let words = [program.as_str(), "hook", Pi.name(), event.name()].into_iter();
        words.chain(options.iter().map(String::as_str)).map(quoted).collect::<Vec<_>>().join(" ")
    };
    Pi.events().iter().map(command).collect()
}

fn read(folder: &Path) -> Option<String> {
    let text = String::from_utf8(own_file::read(&extension(folder), LARGEST).ok()?).ok()?;
    text.contains(MARK).then_some(text)
}

/// Returns the value of a constant.
fn constant<T: serde::de::DeserializeOwned>(text: &str, name: &str) -> Option<T> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?.strip_suffix(';')?;
    serde_json::from_str(value).ok()
}
