//! `herma hermes uninstall`: removes the files that an install wrote.

use herma_base::{CliContext, Failure, out};
use serde_json::json;

use super::config::{self, State};
use super::folder::Folder;
use super::package;
use super::place::{self, Plugins};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Files that you changed, or put there, stay. Memories, outputs and conversations in the home stay.\nExit code 1 when something has to be done by hand.\n\nExamples:\n  herma hermes uninstall --write-config\n  herma --home ~/.hermes hermes uninstall --force"
)]
pub struct Arguments {
    /// Undo the install's changes of config.yaml too, and keep a copy of it
    #[arg(long)]
    write_config: bool,
    /// Remove changed files of the plugin, too
    #[arg(long)]
    force: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let home = &context.place.home;
    let path = Folder::path(home);
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    let own = package::files();
    // An install that was killed may have left parts of the plugin without the plugin.
    let plugins = path.parent().filter(|plugins| plugins.is_dir()).map(Plugins::open).transpose()?;
    let is_there = path.symlink_metadata().is_ok();
    if is_there {
        let folder = Folder::look(&path)?;
        kept = if arguments.force { Vec::new() } else { folder.edited(&own)? };
        removed = place::clear(&folder, &own, &kept)?;
    }
    let is_left = path.exists();
    plugins.into_iter().for_each(Plugins::remove_if_empty);
    let status = config::uninstall(context, arguments.write_config)?;
    let result = json!({ "folder": path, "removed": removed.len(), "kept": kept, "left": is_left, "config": status });
    out::show(context.common, &result, |_| {
        let mut text = match (is_there, is_left) {
            (false, _) => format!("there was no {}\n", path.display()),
            (true, false) => format!("removed: {}\n", path.display()),
            (true, true) => {
                let count = out::count_noun(removed.len(), "file", "files");
                format!("removed {count} of {}; what herma did not write is left there\n", path.display())
            }
        };
        for name in &kept {
            text.push_str(&format!("kept because you changed it: {name} (--force removes it)\n"));
        }
        let is_named = status.lines.iter().any(|line| line.state != State::Done);
        if is_named || status.refused.is_some() {
            text.push_str(&format!("\n{} mentioned herma\n", status.path.display()));
            text.push_str(&status.rows(|state| match state {
                State::Done => "  not there",
                State::Open => "  STILL THERE",
                State::Written => "  taken out",
            }));
        }
        if is_named && status.is_open() {
            let hint = "`herma hermes uninstall --write-config` takes it out";
            text.push_str(if status.refused.is_some() { "take it out by hand\n" } else { hint });
        }
        text
    })?;
    let is_refused = arguments.write_config && status.is_open();
    if is_refused || !kept.is_empty() { Err(Failure::No) } else { Ok(()) }
}
