//! `herma hermes install`: writes the plugin with all its imports, and shows or makes the changes to config.yaml.

use std::io::IsTerminal;

use herma_base::{CliContext, Failure, out};
use serde_json::json;

use super::config::{self, State};
use super::folder::Folder;
use super::needs::Parts;
use super::old_plugin::{self, OldPlugin};
use super::package::{self, VERSION};
use super::place::Plugins;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The plugin goes to plugins/herma in the home, with the Python package in it, so that nothing has to be\ninstalled into the agent's environment. Files that you changed are not overwritten without a question.\nconfig.yaml is written only with --write-config; a copy of it is kept, and every other line stays as it is.\n\nExit code 1 when files were changed by you, or config.yaml has to be changed by hand.\n\nExamples:\n  herma --home ~/.hermes hermes install\n  herma hermes install --write-config\n  herma hermes install --write-config --provider --memory --results\n  herma hermes check"
)]
pub struct Arguments {
    /// Write the missing lines into config.yaml
    #[arg(long)]
    write_config: bool,
    #[command(flatten)]
    parts: Parts,
    /// Overwrite files of the plugin that you changed; each is kept as FILE.bak
    #[arg(long)]
    force: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let home = &context.place.home;
    let path = Folder::path(home);
    let plugins = Plugins::open(path.parent().unwrap_or(home))?;
    let own = package::files();
    let folder = Folder::look(&path)?;
    let mut edited = folder.edited(&own)?;
    // A changed file that is no longer part of the plugin stays as it is.
    edited.retain(|path| own.iter().any(|file| file.path == *path));
    if !edited.is_empty() && !arguments.force {
        ask(context, &folder, &edited)?;
    }
    let is_current = folder.is_current(&own)?;
    let kept = if is_current { Vec::new() } else { plugins.replace(&folder, &own, &edited)? };
    let was = old_plugin::clear(home)?;
    let status = config::install(context, arguments.parts, arguments.write_config)?;

    let is_refused = arguments.write_config && status.is_open();
    let result = json!({
        "folder": path, "version": VERSION, "files": own.len(), "written": !is_current, "kept": kept,
        "earlier": was, "config": status,
    });
    out::show(context.common, &result, |_| {
        let verb = if is_current { "there already" } else { "written" };
        let count = out::count_noun(own.len(), "file", "files");
        let mut text = format!("{verb}: {} (herma {VERSION}, {count})\n", path.display());
        for name in &kept {
            text.push_str(&format!("kept: {name}\n"));
        }
        let old = old_plugin::path(home);
        match was {
            OldPlugin::None => {}
            OldPlugin::Removed => text.push_str(&format!("removed: {} of an earlier version\n", old.display())),
            OldPlugin::Kept => text.push_str(&format!(
                "REMOVE THIS: {} is of an earlier version and was changed, so it was left alone;\nwith it the engine is registered twice. Save what you need of it, and remove the folder.\n",
                old.display()
            )),
        }
        text.push_str(&format!("\n{} needs\n", status.path.display()));
        text.push_str(&status.rows(|state| match state {
            State::Done => "  there",
            State::Open => "  MISSING",
            State::Written => "  written",
        }));
        if status.is_open() {
            let hint = "`herma hermes install --write-config` does it";
            let how = if status.refused.is_some() { "do it by hand" } else { hint };
            text.push_str(&format!("\n{how}; what is missing:\n\n{}", status.snippet));
        }
        text
    })?;
    if is_refused { Err(Failure::No) } else { Ok(()) }
}

/// Asks whether to overwrite changed files. Without a terminal, the answer is no.
fn ask(context: &CliContext<'_>, folder: &Folder, edited: &[String]) -> Result<(), Failure> {
    let names = edited.join(", ");
    let path = folder.path.display();
    if context.common.json || !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        let words = "these files were changed after herma installed them";
        return Err(Failure::File(format!(
            "{path}: {words}: {names}; --force overwrites them, and keeps each as FILE.bak"
        )));
    }
    let question = format!("{path}: you changed {names}. Overwrite, and keep yours as FILE.bak? [y/N] ");
    if out::confirm(&question, &mut std::io::stdin().lock(), &mut std::io::stderr()) {
        Ok(())
    } else {
        Err(Failure::File("nothing was written".into()))
    }
}
