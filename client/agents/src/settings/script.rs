//! Scripts of herma's own that an agent loads and that call hooks, for agents without hooks in their settings. Each is one
//! file: its agent's part, and the part in `script.js` that all of them have.

use std::path::{Path, PathBuf};

use herma_base::{Failure, own_file};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::edit::Edit;
use super::wanted::{HermaEntries, Scope, current_folder};
use crate::event::EventName;

/// The common part, with placeholders for the constants that an installation decides.
const HOOKS: &str = include_str!("script.js");

/// The line of an agent's part that the common part replaces.
const PLACE: &str = "// HOOKS";

/// The beginnings of these constants' lines.
const PROGRAM: &str = "const PROGRAM = ";
const OPTIONS: &str = "const OPTIONS = ";
const AGENT: &str = "const AGENT = ";
const COMPACTS: &str = "const COMPACTS = ";
const IS_OF_PROJECT: &str = "const IS_OF_PROJECT = ";

/// The most bytes of a script that are read.
const LARGEST: u64 = 1 << 20;

/// A script of an agent.
#[derive(Debug)]
pub(crate) struct Script {
    /// The agent's name in commands.
    pub(crate) agent: &'static str,
    /// The agent's part.
    pub(crate) text: &'static str,
    /// The folder of a project's settings.
    pub(crate) of_project: &'static str,
    /// The path of the script in a folder of settings.
    pub(crate) path: &'static str,
}

impl Script {
    /// Returns the edits that install the script, or remove it. `folder` has the user's settings.
    pub(crate) fn edits(
        &self,
        scope: Scope,
        folder: &Path,
        wanted: Option<&HermaEntries>,
    ) -> Result<Vec<Edit>, Failure> {
        let text = wanted.map(|wanted| self.installed(scope, wanted));
        Ok(vec![Edit::own(&self.path(scope, folder)?, text, &self.mark())?])
    }

    /// Returns the program that the user's script starts.
    pub(crate) fn programs(&self, folder: &Path) -> Vec<String> {
        let text = self.read(&folder.join(self.path));
        text.and_then(|text| constant(&text, PROGRAM)).into_iter().collect()
    }

    /// Returns whether a script is installed that answers compactions.
    pub(crate) fn answers_compactions(&self, scope: Scope, folder: &Path) -> Result<bool, Failure> {
        let text = self.read(&self.path(scope, folder)?);
        Ok(text.and_then(|text| constant(&text, COMPACTS)).unwrap_or_default())
    }

    fn path(&self, scope: Scope, folder: &Path) -> Result<PathBuf, Failure> {
        if scope == Scope::User {
            return Ok(folder.join(self.path));
        }
        let here = current_folder()?;
        Ok(here.join(self.of_project).join(self.path))
    }

    fn installed(&self, scope: Scope, wanted: &HermaEntries) -> String {
        // The words are: the program, `hook`, the agent, the event, and the options.
        let words = wanted.words(self.agent, EventName::Stop);
        let constants: [(&str, Value); 5] = [
            (PROGRAM, json!(words[0])),
            (OPTIONS, json!(words[4..])),
            (AGENT, json!(self.agent)),
            (COMPACTS, json!(wanted.has_plugin)),
            (IS_OF_PROJECT, json!(scope == Scope::Project)),
        ];
        let line = |line: &str| {
            let constant = constants.iter().find(|(name, _)| line.starts_with(name));
            constant.map_or_else(|| line.to_owned(), |(name, value)| format!("{name}{value};"))
        };
        let hooks: Vec<String> = HOOKS.lines().map(line).collect();
        let origin = format!("// Written by `{}`; `herma hooks uninstall {}` takes it away.", self.mark(), self.agent);
        format!("{origin}\n//\n{}", self.text.replacen(PLACE, &hooks.join("\n"), 1))
    }

    /// Returns what all versions of the script contain.
    fn mark(&self) -> String {
        format!("herma hooks install {}", self.agent)
    }

    fn read(&self, path: &Path) -> Option<String> {
        let text = String::from_utf8(own_file::read(path, LARGEST).ok()?).ok()?;
        text.contains(&self.mark()).then_some(text)
    }
}

/// Returns the value of a constant.
fn constant<T: DeserializeOwned>(text: &str, name: &str) -> Option<T> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?.strip_suffix(';')?;
    serde_json::from_str(value).ok()
}
