//! `herma upgrade`: how the program was installed, and the command that upgrades it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use herma_base::{CliContext, Failure, out, own_file};
use herma_client::protocol::daemon::HelloParams;
use serde::Serialize;

/// The file in which dpkg lists what the package installed.
const DPKG: &str = "/var/lib/dpkg/info/herma.list";

/// The most bytes of the list of `install.sh` that are read.
const LIST: u64 = 1 << 20;

// Says how herma was installed, and how to upgrade it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It changes nothing and asks no server. Hooks and settings of agents name the program by its path, so they go on after\nan upgrade; a copy in the home that `npx herma setup` or `uvx herma setup` made is renewed by the same command. A daemon\nthat still runs as the older version is named, with the command that ends it.\n\nExit codes: 0 the way is known; 1 it is not, or an older daemon still runs.\n\nExample:\n  herma upgrade --check"
)]
pub(super) struct Arguments {
    /// Only show what to do, as without it
    #[arg(long)]
    check: bool,
}

/// The way in which a program was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Way {
    Debian,
    Homebrew,
    Npm,
    Npx,
    Uv,
    Uvx,
    Pipx,
    Pip,
    Cargo,
    Source,
    /// `install.sh` of a release.
    Script,
    Unknown,
}

/// The report.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    program: PathBuf,
    way: Way,
    /// The command that upgrades it; null if the way is unknown.
    command: Option<String>,
    /// The version of the running daemon; null if none runs.
    daemon: Option<String>,
    /// Whether the daemon runs as another version than this program.
    daemon_differs: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments, version: &'static str) -> Result<(), Failure> {
    let Arguments { check: _ } = arguments;
    let program = std::env::current_exe().map_err(|error| Failure::File(format!("this program: {error}")))?;
    let way = match way(&program, Path::new(DPKG).exists(), program.with_file_name("python").exists()) {
        Way::Unknown if is_listed(&program) => Way::Script,
        way => way,
    };
    let daemon = context.connect_only().ok().and_then(|mut client| {
        client.hello(HelloParams::default()).ok().map(|hello| hello.server.trim_start_matches("hermad ").to_owned())
    });
    let daemon_differs = daemon.as_deref().is_some_and(|daemon| !version.starts_with(daemon));
    let report = Report { version, command: command(way, &program), program, way, daemon, daemon_differs };
    let is_fine = report.command.is_some() && !report.daemon_differs;
    out::show(context.common, &report, Report::text)?;
    if is_fine { Ok(()) } else { Err(Failure::No) }
}

/// Returns how a program was installed, by its path. `has_package` says that Debian's package manager knows herma,
/// `is_beside_python` that a Python is in the same folder.
fn way(program: &Path, has_package: bool, is_beside_python: bool) -> Way {
    let parts: Vec<&OsStr> = program.iter().collect();
    let has = |wanted: &[&str]| parts.windows(wanted.len()).any(|window| window == wanted);
    match () {
        () if has(&["_npx"]) || has(&["dlx"]) => Way::Npx,
        () if has(&["uv", "tools"]) => Way::Uv,
        () if has(&[".cache", "uv"]) => Way::Uvx,
        () if has(&["pipx"]) => Way::Pipx,
        () if has(&["herma", "bin"]) && !has(&["node_modules"]) => Way::Npx,
        () if has(&["node_modules"]) => Way::Npm,
        () if has(&["Cellar", "herma"]) => Way::Homebrew,
        () if has(&[".cargo", "bin"]) => Way::Cargo,
        () if has(&["target", "release"]) || has(&["target", "debug"]) => Way::Source,
        () if has_package && program.starts_with("/usr/bin") => Way::Debian,
        () if is_beside_python || has(&["site-packages"]) => Way::Pip,
        () => Way::Unknown,
    }
}

/// Returns whether the list of `install.sh` has the program.
fn is_listed(program: &Path) -> bool {
    let list = program.parent().and_then(Path::parent).map(|prefix| prefix.join("share/doc/herma/installed"));
    let list = list.and_then(|list| own_file::read(&list, LIST).ok()).unwrap_or_default();
    String::from_utf8_lossy(&list).lines().any(|line| line == "bin/herma")
}

/// Returns the command that upgrades a program.
fn command(way: Way, program: &Path) -> Option<String> {
    let python = program.with_file_name("python");
    Some(match way {
        Way::Debian => "sudo apt install --only-upgrade herma".into(),
        Way::Homebrew => "brew upgrade herma".into(),
        Way::Npm => "npm install --global herma@latest".into(),
        Way::Npx => "npx herma@latest setup".into(),
        Way::Uv => "uv tool upgrade herma".into(),
        Way::Uvx => "uvx herma@latest setup".into(),
        Way::Pipx => "pipx upgrade herma".into(),
        Way::Pip => format!("{} -m pip install --upgrade herma", python.display()),
        Way::Cargo => "git pull && cargo install --locked --path .".into(),
        Way::Source => "git pull && cargo build --release --locked".into(),
        Way::Script => {
            let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
            format!("sh install.sh --prefix {}   # the install.sh of the new release", prefix.display())
        }
        Way::Unknown => return None,
    })
}

impl Report {
    fn text(&self) -> String {
        let Self { version, program, command, daemon, .. } = self;
        let mut rows = vec![("version", (*version).to_owned()), ("program", program.display().to_string())];
        rows.push(match command {
            Some(command) => ("upgrade", command.clone()),
            None => ("upgrade", "it is not known how this program was installed; install it the same way again".into()),
        });
        if let Some(daemon) = daemon.as_ref().filter(|_| self.daemon_differs) {
            rows.push((
                "daemon",
                format!("it runs as {daemon}; `herma daemon stop` ends it, and the next command starts the new one"),
            ));
        }
        out::columns(&rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_is_in_the_path() {
        for (program, has_package, is_beside_python, expected) in [
            ("/usr/bin/herma", true, true, Way::Debian),
            ("/usr/bin/herma", false, false, Way::Unknown),
            ("/usr/local/bin/herma", true, false, Way::Unknown),
            ("/opt/homebrew/Cellar/herma/0.1.0/bin/herma", false, false, Way::Homebrew),
            ("/usr/lib/node_modules/herma/node_modules/herma-linux-x64/bin/herma", false, false, Way::Npm),
            ("/h/.npm/_npx/5f2a/node_modules/herma-linux-x64/bin/herma", false, false, Way::Npx),
            ("/h/.local/share/herma/herma/bin/herma", false, false, Way::Npx),
            ("/h/.local/share/uv/tools/herma/bin/herma", false, true, Way::Uv),
            ("/h/.cache/uv/archive-v0/abc/bin/herma", false, true, Way::Uvx),
            ("/h/.local/share/pipx/venvs/herma/bin/herma", false, true, Way::Pipx),
            ("/h/venv/bin/herma", false, true, Way::Pip),
            ("/h/.cargo/bin/herma", false, false, Way::Cargo),
            ("/src/herma/target/release/herma", false, false, Way::Source),
        ] {
            assert_eq!(way(Path::new(program), has_package, is_beside_python), expected, "{program}");
        }
        let pip = command(Way::Pip, Path::new("/h/venv/bin/herma")).unwrap();
        assert_eq!(pip, "/h/venv/bin/python -m pip install --upgrade herma");
        assert_eq!(command(Way::Unknown, Path::new("/x/herma")), None);
    }

    #[test]
    fn a_daemon_of_another_version_is_named() {
        let report = |daemon: Option<&str>| Report {
            version: "0.2.0 (abc)",
            program: "/usr/bin/herma".into(),
            way: Way::Debian,
            command: Some("x".into()),
            daemon: daemon.map(str::to_owned),
            daemon_differs: daemon == Some("0.1.0"),
        };
        assert!(report(Some("0.1.0")).text().contains("runs as 0.1.0"));
        assert!(!report(Some("0.2.0")).text().contains("daemon"));
    }
}
