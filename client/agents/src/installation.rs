//! One agent on this machine: whether it is here, what herma would change for it, and whether its events arrive.

mod prove;

use std::path::{Path, PathBuf};

use herma_base::{CliContext, Failure, search_path};
use serde::Serialize;

use crate::agent::Agent;
use crate::hook;
use crate::settings::SERVER;
use crate::settings::edit::Edit;
use crate::settings::wanted::{HermaEntries, Scope};
use crate::version::{self, Version};

/// An agent that was found.
#[derive(Debug)]
pub struct InstalledAgent {
    /// The agent.
    pub agent: &'static dyn Agent,
    /// The path of its program; `None` if only its folder was found.
    pub program: Option<PathBuf>,
    /// Its version; `None` if it didn't say.
    pub version: Option<Version>,
    /// Whether herma's plugin fits this version.
    pub has_plugin: bool,
}

/// A file that an installation changes.
#[derive(Debug, Serialize)]
pub struct PlannedFile {
    /// The file.
    pub path: PathBuf,
    /// Whether it doesn't exist yet.
    pub is_new: bool,
    /// Whether it is removed.
    pub is_removed: bool,
    /// The difference from its present content.
    pub diff: String,
}

/// A file that was changed.
#[derive(Debug, Clone, Serialize)]
pub struct ChangedFile {
    /// The file.
    pub path: PathBuf,
    /// The copy of its old content.
    pub backup: Option<PathBuf>,
}

/// Receives the path and the content of each copy before the copy is made: it records them, and a stopped installation
/// can be undone.
pub type BeforeCopy<'a> = dyn FnMut(&Path, &str) -> Result<(), Failure> + 'a;

/// The edits that install or uninstall herma for one agent.
#[derive(Debug)]
pub struct Installation {
    agent: &'static dyn Agent,
    edits: Vec<Edit>,
    is_removal: bool,
}

impl PlannedFile {
    /// Returns the file, or the folder of herma's own that contains it.
    #[must_use]
    pub fn own_folder(&self) -> PathBuf {
        let folders = self.path.ancestors().skip(1);
        let own = folders.filter(|folder| folder.file_name().is_some_and(|name| name == SERVER)).last();
        own.unwrap_or(&self.path).to_owned()
    }
}

impl InstalledAgent {
    /// Looks for an agent: its program on the path, or its folder.
    #[must_use]
    pub fn find(agent: &'static dyn Agent) -> Option<Self> {
        let program = search_path::find(agent.program());
        let is_known = program.is_some() || agent.folder().is_ok_and(|folder| folder.is_dir());
        let version = program.as_deref().and_then(version::of);
        let has_plugin =
            version.as_ref().is_none_or(|version| agent.lowest_of_plugin().is_none_or(|low| *version >= low));
        is_known.then_some(Self { agent, program, version, has_plugin })
    }

    /// Returns whether the agent is older than herma's hooks need.
    #[must_use]
    pub fn is_too_old(&self) -> bool {
        self.version.as_ref().is_some_and(|version| *version < self.agent.lowest())
    }

    /// Returns the edits that install herma.
    ///
    /// # Errors
    /// A settings file can't be read or parsed.
    pub fn installation(&self, context: &CliContext<'_>) -> Result<Installation, Failure> {
        let wanted = HermaEntries::of(context, self.has_plugin)?;
        let edits = self.agent.edits(Scope::User, Some(&wanted))?;
        Ok(Installation { agent: self.agent, edits, is_removal: false })
    }
}

impl Installation {
    /// Returns the edits that remove herma from an agent's settings.
    ///
    /// # Errors
    /// A settings file can't be read or parsed.
    pub fn removal(agent: &'static dyn Agent) -> Result<Self, Failure> {
        let edits = agent.edits(Scope::User, None)?.into_iter().map(Edit::undone).collect();
        Ok(Self { agent, edits, is_removal: true })
    }

    /// Returns the files that change.
    #[must_use]
    pub fn files(&self) -> Vec<PlannedFile> {
        let open = self.edits.iter().filter(|edit| !edit.is_done()).map(Edit::shown);
        open.map(|shown| PlannedFile {
            is_new: !shown.path.exists(),
            is_removed: shown.removed,
            path: shown.path,
            diff: shown.diff,
        })
        .collect()
    }

    /// Saves that the user trusts the hooks, for an agent that asks for it. The hooks must be written.
    ///
    /// # Errors
    /// The agent doesn't answer, or a file can't be used. The error says what the user can do instead.
    pub fn trust(&self, before: &mut BeforeCopy<'_>) -> Result<Option<ChangedFile>, String> {
        let Some(trust) = self.agent.trust() else { return Ok(None) };
        let failed = |failure: Failure| match failure {
            Failure::File(words) => format!("{words}. {}", trust.advice()),
            _ => trust.advice().to_owned(),
        };
        let edit = trust.edit(Scope::User).map_err(failed)?;
        (!edit.is_done()).then(|| written(&edit, before)).transpose().map_err(failed)
    }

    /// Makes the changes that are still open. Returns the files that were changed, also if a later one failed.
    pub fn carry_out(&self, home: &Path, before: &mut BeforeCopy<'_>) -> (Vec<ChangedFile>, Result<(), Failure>) {
        self.edits.iter().for_each(Edit::clear_drafts);
        let mut changed = Vec::new();
        for edit in self.edits.iter().filter(|edit| !edit.is_done()) {
            match written(edit, before) {
                Ok(file) => changed.push(file),
                Err(failure) => return (changed, Err(failure)),
            }
        }
        if self.is_removal {
            self.edits.iter().for_each(Edit::clear_folders);
            hook::forget_runs(home, self.agent);
        }
        (changed, Ok(()))
    }
}

/// Makes a change, after it was said which copy it makes.
fn written(edit: &Edit, before: &mut BeforeCopy<'_>) -> Result<ChangedFile, Failure> {
    edit.planned_copy().map_or(Ok(()), |(path, text)| before(&path, text))?;
    let done = edit.write()?;
    Ok(ChangedFile { path: done.path, backup: done.backup })
}
