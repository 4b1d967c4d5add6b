//! `herma hermes …`: the plugin folder by which an agent of the Hermes family compresses with herma.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use clap::Subcommand;
use serde_json::json;

use super::exit::Failure;
use super::{Session, out};

/// The files of the plugin, the same that the Python package carries.
const FILES: [(&str, &str); 2] = [
    ("__init__.py", include_str!("../../python/src/herma/hermes/plugin/__init__.py")),
    ("plugin.yaml", include_str!("../../python/src/herma/hermes/plugin/plugin.yaml")),
];

/// What belongs into the agent's `config.yaml`.
const LINES: &str = "context:\n  engine: herma";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write the plugin folder into the home, and say what to put into config.yaml
    #[command(after_help = "Example:\n  herma --home ~/.hermes hermes install")]
    Install,
    /// Say whether the plugin is there, is this version's, is named in config.yaml, and can be loaded;
    /// exit code 1 when it is not in use
    Check {
        /// The agent's Python
        #[arg(long, value_name = "PROGRAM", default_value = "python3")]
        python: PathBuf,
    },
    /// Remove the plugin folder
    Uninstall,
}

pub(super) fn run(session: &Session<'_>, command: &Command) -> Result<(), Failure> {
    let folder = session.place.home.join("plugins/context_engine/herma");
    match command {
        Command::Install => install(session, &folder),
        Command::Check { python } => check(session, &folder, python),
        Command::Uninstall => uninstall(session, &folder),
    }
}

fn install(session: &Session<'_>, folder: &Path) -> Result<(), Failure> {
    for (name, text) in FILES {
        out::write_file(&folder.join(name), text)?;
    }
    let is_named = engine(session).as_deref() == Some("herma");
    out::show(session.common, &json!({ "folder": folder, "configured": is_named }), |_| {
        let written = format!("written: {}", folder.display());
        match is_named {
            true => format!("{written}\nconfig.yaml names it already"),
            false => format!(
                "{written}\nput this into {}:\n\n{LINES}\n\nand into the agent's Python environment: pip install ./client/python",
                session.place.home.join("config.yaml").display()
            ),
        }
    })
}

fn check(session: &Session<'_>, folder: &Path, python: &Path) -> Result<(), Failure> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let is_there = FILES.iter().all(|(name, _)| text(name).is_some());
    let is_current = FILES.iter().all(|(name, own)| text(name).as_deref() == Some(own));
    let engine = engine(session);
    let package = package(python);
    let is_used = is_there && engine.as_deref() == Some("herma") && package.is_ok();
    let result = json!({
        "installed": is_there, "current": is_current, "engine": engine, "package": package.as_ref().ok(), "in_use": is_used,
    });
    out::show(session.common, &result, |_| {
        let plugin = match (is_there, is_current) {
            (false, _) => "missing: herma hermes install".to_owned(),
            (true, false) => "there, of another version: herma hermes install writes it anew".to_owned(),
            (true, true) => folder.display().to_string(),
        };
        let named = match &engine {
            Some(engine) if engine == "herma" => "names herma".to_owned(),
            Some(engine) => format!("names {engine:?}; it must be\n\n{LINES}\n"),
            None => format!("names no engine; put in\n\n{LINES}\n"),
        };
        let loaded = match &package {
            Ok(version) => format!("herma {version}"),
            Err(words) => format!("{words}; pip install ./client/python"),
        };
        let rows = [("plugin", plugin), ("config.yaml", named), ("package", loaded)];
        let verdict = if is_used { "in use" } else { "not in use" };
        format!("{}\n{verdict}", out::columns(&rows).trim_end())
    })?;
    if is_used { Ok(()) } else { Err(Failure::No) }
}

/// The version of the package that the agent's Python finds.
fn package(python: &Path) -> Result<String, String> {
    let script = "import herma; print(herma.__version__)";
    let ran = Process::new(python).args(["-c", script]).stdin(Stdio::null()).output();
    match ran {
        Ok(ran) if ran.status.success() => Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned()),
        Ok(_) => Err(format!("{} can't import herma", python.display())),
        Err(error) => Err(format!("{}: {error}", python.display())),
    }
}

#[expect(clippy::disallowed_methods, reason = "the files are the agent's, in its own home")]
fn uninstall(session: &Session<'_>, folder: &Path) -> Result<(), Failure> {
    let removed = FILES.iter().filter(|(name, _)| std::fs::remove_file(folder.join(name)).is_ok()).count();
    // What the agent's Python compiled goes too; a folder with files of somebody else stays.
    drop(std::fs::remove_dir_all(folder.join("__pycache__")));
    drop(std::fs::remove_dir(folder));
    let is_named = engine(session).as_deref() == Some("herma");
    out::show(session.common, &json!({ "removed": removed > 0, "configured": is_named }), |_| {
        let words = if removed > 0 { "removed" } else { "it was not there" };
        match is_named {
            true => format!("{words}; config.yaml still names it: take `engine: herma` out"),
            false => words.to_owned(),
        }
    })
}

/// The context engine that the agent's configuration names.
fn engine(session: &Session<'_>) -> Option<String> {
    engine_of(&std::fs::read_to_string(session.place.home.join("config.yaml")).ok()?)
}

/// The `engine` of the top-level `context` in a YAML text. Only the two usual forms are understood:
/// a block, and a mapping on one line.
fn engine_of(text: &str) -> Option<String> {
    let value = |line: &str| {
        let rest = line.trim().strip_prefix("engine:")?;
        let word = rest.split(" #").next().unwrap_or(rest).trim().trim_matches(['"', '\'']);
        (!word.is_empty()).then(|| word.to_owned())
    };
    let mut lines = text.lines();
    let own = lines.find_map(|line| line.strip_prefix("context:"))?.trim();
    if let Some(inner) = own.strip_prefix('{') {
        return inner.split(['}', ',']).find_map(value);
    }
    let is_inside = |line: &&str| line.is_empty() || line.starts_with([' ', '\t', '#']);
    let block: Vec<&str> = lines.take_while(is_inside).filter(|line| !line.trim_start().starts_with('#')).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = block.iter().find(|line| !line.trim().is_empty()).map(|line| indent(line))?;
    block.iter().filter(|line| indent(line) == first).find_map(|line| value(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_found_where_it_counts() {
        for (text, engine) in [
            ("context:\n  engine: herma\n", Some("herma")),
            ("model: x\ncontext:\n  # engine: no\n  engine: \"herma\" # ours\nother:\n  engine: b\n", Some("herma")),
            ("context: {threshold: 0.5, engine: herma}\n", Some("herma")),
            ("context:\n  deep:\n    engine: b\n  engine: compressor\n", Some("compressor")),
            ("other:\n  engine: herma\n", None),
            ("context:\n  threshold: 0.5\nengine: herma\n", None),
            ("", None),
        ] {
            assert_eq!(engine_of(text).as_deref(), engine, "{text}");
        }
    }
}
