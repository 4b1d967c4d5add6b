//! Opens a text in the user's editor.

use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use herma_base::Failure;
use tempfile::{Builder, TempDir};

/// The editor on a terminal, if the environment names none.
const EDITOR: &str = "vi";

/// A text in a private file. The file is removed together with this value unless it is kept.
#[derive(Debug)]
pub(super) struct Draft {
    folder: TempDir,
    path: PathBuf,
}

impl Draft {
    /// Writes the text into a file of that name (`.md` is appended) in a new folder.
    pub(super) fn new(name: &str, text: &str) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            let place = std::env::temp_dir();
            Failure::File(format!("no file for the editor can be made in {}: {error}", place.display()))
        };
        let private = Permissions::from_mode(0o700);
        let folder = Builder::new().prefix("herma-").permissions(private).tempdir().map_err(failed)?;
        let named = Builder::new().prefix(name).suffix(".md").rand_bytes(0).tempfile_in(folder.path());
        let mut file = named.map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        // The folder removes the file, because an editor may replace it with another one.
        let (_, path) = file.keep().map_err(|error| failed(error.error))?;
        Ok(Self { folder, path })
    }

    /// Returns the current text.
    pub(super) fn text(&self) -> Result<String, Failure> {
        std::fs::read_to_string(&self.path).map_err(|error| Failure::File(format!("{}: {error}", self.path.display())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the file where it is.
    pub(super) fn keep(self) -> PathBuf {
        drop(self.folder.keep());
        self.path
    }
}

/// Opens a file in the editor that the environment names, and waits until it ends.
pub(super) fn open(path: &Path) -> Result<(), Failure> {
    let named = named([std::env::var_os("VISUAL"), std::env::var_os("EDITOR")]);
    let is_seen = io::stdin().is_terminal() && io::stdout().is_terminal();
    let Some(editor) = named.or_else(|| is_seen.then(|| EDITOR.into())) else {
        return Err(Failure::Usage(
            "there is no terminal for an editor; set VISUAL or EDITOR to one that needs none".into(),
        ));
    };
    match command(&editor, path).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::File(format!("{}; nothing was changed", ended(&editor, status)))),
        Err(error) => {
            let words = format!("the editor {} can't be run: {error}; set VISUAL or EDITOR", editor.display());
            Err(Failure::File(words))
        }
    }
}

/// Returns the first value that is not empty.
fn named(values: [Option<OsString>; 2]) -> Option<OsString> {
    values.into_iter().flatten().find(|value| !value.as_encoded_bytes().trim_ascii().is_empty())
}

/// Returns the command to run. If the editor is the path of a file, spaces belong to it; otherwise a shell parses it as
/// a command with arguments.
fn command(editor: &OsStr, path: &Path) -> Command {
    if Path::new(editor).is_file() {
        let mut command = Command::new(editor);
        command.arg(path);
        return command;
    }
    let mut script = editor.to_owned();
    script.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(editor).arg(path);
    command
}

fn ended(editor: &OsStr, status: ExitStatus) -> String {
    let editor = editor.display();
    match status.code() {
        Some(126 | 127) => format!("the editor {editor} was not found or can't be run; set VISUAL or EDITOR"),
        _ => format!("the editor {editor} failed ({status})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_editor() {
        let value = |value: &str| Some(OsString::from(value));
        for (visual, editor, expected) in [
            (None, None, None),
            (value("code --wait"), value("nano"), value("code --wait")),
            (value(""), value("nano"), value("nano")),
            (value(" "), value(""), None),
        ] {
            assert_eq!(named([visual, editor]), expected);
        }
    }

    #[test]
    fn a_draft_is_private_and_goes_away() {
        let draft = Draft::new("user", "one\n").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = draft.path().to_owned();
        assert!(path.ends_with("user.md"), "{path:?}");
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(draft.text().unwrap(), "one\n");
        drop(draft);
        assert!(!path.parent().unwrap().exists());
    }

    #[test]
    fn an_editor_may_have_arguments_and_fail() {
        let draft = Draft::new("user", "one\n").unwrap();
        let status = |editor: &str| command(OsStr::new(editor), draft.path()).status().unwrap();
        assert!(status("sed -i -e 's/one/two three/'").success());
        assert_eq!(draft.text().unwrap(), "two three\n");
        for (editor, expected) in [
            ("exit 3;", "the editor exit 3; failed (exit status: 3)"),
            (
                "no-such-editor-here 2>&-",
                "the editor no-such-editor-here 2>&- was not found or can't be run; set VISUAL or EDITOR",
            ),
        ] {
            assert_eq!(ended(OsStr::new(editor), status(editor)), expected);
        }
    }

    #[test]
    fn a_program_with_a_space_in_its_path_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("my editor");
        std::os::unix::fs::symlink("/bin/true", &program).unwrap();
        assert!(command(program.as_os_str(), Path::new("x")).status().unwrap().success());
    }
}
