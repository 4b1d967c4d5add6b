//! A summarizer that a test controls.

use std::fs;
use std::path::PathBuf;

use herma_tests::{Home, eventually};

/// Files next to the configuration that control the program.
pub(super) struct Script {
    folder: PathBuf,
}

impl Script {
    /// Creates a home in which a program writes summaries, with additional configuration.
    pub(super) fn home(more: &str) -> (Home, Self) {
        let home = Home::new();
        let folder = home.path().join("herma");
        fs::create_dir_all(&folder).unwrap();
        let program = r#"cat > /dev/null; echo $$ > "$0/called"
while [ ! -e "$0/answer" ] && [ ! -e "$0/failure" ]; do sleep 0.02; done
if [ -e "$0/failure" ]; then cat "$0/failure" >&2; exit 1; fi
cat "$0/answer""#;
        let argv = serde_json::json!(["sh", "-c", program, folder.to_str().unwrap()]);
        let config = format!("[summarizer]\nchain = [\"command\"]\n[summarizer.command]\nargv = {argv}\n{more}\n");
        fs::write(folder.join("config.toml"), config).unwrap();
        (home, Self { folder })
    }

    /// Waits until the program is called.
    pub(super) fn wait_for_call(&self) {
        eventually("a call of the program", || self.pid());
    }

    fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.folder.join("called")).ok()?.trim().parse().ok()
    }

    /// Whether the called program has ended.
    pub(super) fn is_gone(&self) -> bool {
        self.pid().is_some_and(|pid| !PathBuf::from(format!("/proc/{pid}")).exists())
    }

    /// Makes the program write this text from now on.
    pub(super) fn answer(&self, text: &str) {
        drop(fs::remove_file(self.folder.join("failure")));
        self.put("answer", text);
    }

    /// Makes the program fail with this text from now on.
    pub(super) fn fail(&self, text: &str) {
        drop(fs::remove_file(self.folder.join("answer")));
        self.put("failure", text);
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.folder.join(format!("{name}.new"));
        fs::write(&path, text).unwrap();
        fs::rename(path, self.folder.join(name)).unwrap();
    }
}
