//! herma's entries in settings, and the scope of the settings. The only I/O is asking the system for paths.

use std::path::{Path, PathBuf};

use herma_base::{CliContext, Failure, search_path};
use serde_json::{Value, json};

use crate::answer;
use crate::event::EventName;
use crate::lasting;

/// The scope of an agent's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's own, for all projects.
    User,
    /// The user's own for the project of this folder.
    Project,
}

/// The beginning of a command that checks whether its program exists.
const CHECK: &str = "test -x ";

/// The text between that check and the command itself.
const THEN_EXEC: &str = "; exec ";

/// herma's entries in an agent's settings.
#[derive(Debug, Clone)]
pub struct HermaEntries {
    /// The program that agents start. `options` follow each of its commands.
    pub(crate) program: String,
    options: Vec<String>,
    /// Whether Claude Code's plugin answers compactions.
    pub(crate) has_plugin: bool,
    /// The folder of large outputs.
    pub(crate) outputs: PathBuf,
}

impl HermaEntries {
    /// Creates the entries with the path of this program, and with the home, socket and profile that the command line
    /// or the environment names.
    pub(crate) fn of(context: &CliContext<'_>, has_plugin: bool) -> Result<Self, Failure> {
        let program = called_by().map_err(|error| Failure::File(format!("this program: {error}")))?;
        let program = lasting::place_for(&absolute(&context.place.home), &program).unwrap_or(program);
        let program =
            program.to_str().ok_or_else(|| Failure::File("this program's path is not UTF-8".into()))?.to_owned();
        let mut options = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            options.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        // Agents pass an environment variable to hooks but not to servers, or the other way round.
        let is_said = |said: bool, variables: &[&str]| said || variables.iter().any(|name| folder(name).is_some());
        let path = |path: &Path, is_said: bool| is_said.then(|| absolute(path).display().to_string());
        let (common, place) = (context.common, &context.place);
        option("--home", path(&place.home, context.has_named_home()));
        option("--socket", path(&place.socket, is_said(common.socket.is_some(), &["HERMA_SOCKET"])));
        option("--profile", context.common.profile.clone());
        let outputs = absolute(&place.home).join("herma/outputs");
        Ok(Self { program, options, has_plugin, outputs })
    }

    /// Returns the words of a hook's command.
    pub(crate) fn words(&self, agent: &str, event: EventName) -> Vec<String> {
        let mut words = vec![self.program.clone(), "hook".into(), agent.into(), event.name().into()];
        words.extend(self.options.iter().cloned());
        words
    }

    /// Returns the shell command of a hook. It replaces the shell through `exec`, so that the agent's process is its
    /// parent. At the beginning of a session the shell itself reports a missing program to the user, because no other
    /// part of herma runs then.
    pub(crate) fn command(&self, agent: &str, event: EventName) -> String {
        let words: Vec<String> = self.words(agent, event).iter().map(|word| quoted(word)).collect();
        let command = words.join(" ");
        if event != EventName::SessionStart {
            return format!("exec {command}");
        }
        let gone = quoted(&answer::note(&gone(agent)).to_string());
        format!("{CHECK}{} || exec echo {gone}{THEN_EXEC}{command}", words[0])
    }

    /// Returns the hooks of an agent by event, as its settings have them.
    pub(crate) fn hooks(&self, agent: &str, events: &[(EventName, u32)]) -> Vec<(&'static str, Value)> {
        let hook = |(event, timeout): &(EventName, u32)| {
            let hook = json!({ "type": "command", "command": self.command(agent, *event), "timeout": timeout });
            (event.hook(), json!({ "hooks": [hook] }))
        };
        events.iter().map(hook).collect()
    }

    /// Returns the arguments of the MCP server.
    pub(crate) fn server(&self) -> Vec<String> {
        std::iter::once("mcp".to_owned()).chain(self.options.iter().cloned()).collect()
    }
}

/// Returns the path with which this program was called. Links in it are not resolved, because an upgrade may move them.
fn called_by() -> std::io::Result<PathBuf> {
    let itself = std::env::current_exe()?;
    let Some(name) = std::env::args_os().next().map(PathBuf::from) else { return Ok(itself) };
    let named = match name.components().count() {
        0 => None,
        1 => search_path::find(&name).map(|path| absolute(&path)),
        _ => Some(absolute(&name)),
    };
    // The caller chooses the name, which may be that of another program.
    let is_same = |path: &PathBuf| std::fs::canonicalize(path).is_ok_and(|path| path == itself);
    Ok(named.filter(is_same).unwrap_or(itself))
}

/// Returns the message for the user if the program of the hooks is missing.
fn gone(name: &str) -> String {
    format!(
        "herma keeps nothing of this session: the program that its hooks start is gone. Install herma again and run `herma hooks install {name}`, or take its hooks out of the settings."
    )
}

/// Returns the part of a command that starts the program.
fn started(command: &str) -> &str {
    let checked = command.strip_prefix(CHECK).and_then(|rest| Some(rest.rsplit_once(THEN_EXEC)?.1));
    checked.or_else(|| command.strip_prefix("exec ")).unwrap_or(command)
}

/// Returns whether a command is herma's hook for an agent, of any version: a program named `herma` with the arguments
/// `hook` and the agent.
pub(crate) fn is_own(command: &str, agent: &str) -> bool {
    let end = format!(" hook {} ", agent);
    let Some((program, _)) = started(command).split_once(&end) else { return false };
    let program = program.trim_matches('\'');
    program.rsplit('/').next() == Some("herma") && !program.contains(['"', ';', '&', '|', '$', '`', '\n'])
}

/// Returns the program that a hook's command starts.
pub(crate) fn program_of(command: &str, agent: &str) -> Option<String> {
    let (program, _) = started(command).split_once(&format!(" hook {} ", agent))?;
    Some(program.trim_matches('\'').replace(r"'\''", "'"))
}

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns an absolute path, whether or not it exists.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the folder that the command runs in.
pub(crate) fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| Failure::File(format!("this folder: {error}")))
}

/// Returns the home folder of the user.
pub(crate) fn user_home() -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    home.ok_or_else(|| Failure::File("HOME is not set, so the settings can't be found".into()))
}

/// Returns the folder that an environment variable names.
pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_takes_the_place_of_its_shell_and_survives_it() {
        let wanted = HermaEntries {
            program: "/opt/my tools/herma".into(),
            options: vec!["--home".into(), "/it's".into()],
            has_plugin: true,
            outputs: "/h/herma/outputs".into(),
        };
        let command = wanted.command("claude-code", EventName::Stop);
        assert_eq!(command, r"exec '/opt/my tools/herma' hook claude-code stop --home '/it'\''s'");
        assert!(is_own(&command, "claude-code") && !is_own(&command, "codex"));
        let begins = wanted.command("claude-code", EventName::SessionStart);
        assert!(
            begins.starts_with("test -x '/opt/my tools/herma' || exec echo '{\"systemMessage\":\"herma keeps"),
            "{begins}"
        );
        assert!(
            begins.ends_with(r"; exec '/opt/my tools/herma' hook claude-code session-start --home '/it'\''s'"),
            "{begins}"
        );
        assert!(is_own(&begins, "claude-code") && !is_own(&begins, "codex"));
        assert_eq!(program_of(&begins, "claude-code").as_deref(), Some("/opt/my tools/herma"));
        for foreign in [
            "test -x /bin/other || exec echo herma; exec /bin/other hook claude-code stop",
            "my-hook claude-code x",
            "/home/hermann/bin/lint-hook claude-code stop",
            "/bin/herma-lint hook claude-code stop",
            "echo herma && run hook claude-code stop",
            "true; /bin/herma hook claude-code stop",
        ] {
            assert!(!is_own(foreign, "claude-code"), "{foreign}");
        }
        assert!(is_own("herma hook codex stop", "codex"));
    }
}
