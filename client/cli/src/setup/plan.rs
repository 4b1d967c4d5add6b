//! What a setup would do, for people and for programs.

use std::path::PathBuf;

use herma_agents::installation::{Installation, InstalledAgent, PlannedFile};
use herma_agents::known::AGENTS;
use herma_base::out::{self, short};
use herma_base::{CliContext, Failure};
use serde_json::{Value, json};

use super::hermes::Hermes;
use super::{Arguments, HERMES};
use crate::import::{self, Stock};

/// The chars of a line of the plan.
const LINE: usize = 80;

/// How much an import needs, in per cent of the files that it reads: the texts and their index, measured on sessions of
/// engineers (12.1 MiB gave 23 MB, 200 MB gave 347).
const ROOM: u64 = 180;

/// What a setup would do.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) home: PathBuf,
    pub(super) agents: Vec<AgentPlan>,
    pub(super) hermes: Option<HermesPlan>,
    /// Why agents that were found can't be set up.
    pub(super) problems: Vec<String>,
}

/// What it would do for one agent with hooks.
#[derive(Debug)]
pub(super) struct AgentPlan {
    pub(super) found: InstalledAgent,
    pub(super) installation: Installation,
    files: Vec<PlannedFile>,
    pub(super) stock: Option<Stock>,
}

/// What it would do for an agent of the Hermes family.
#[derive(Debug)]
pub(super) struct HermesPlan {
    pub(super) hermes: Hermes,
    pub(super) stock: Option<Stock>,
}

impl Plan {
    /// Looks for agents, all at the same time because each is asked for its version.
    pub(super) fn make(context: &CliContext<'_>, arguments: &Arguments) -> Result<Self, Failure> {
        let home = context.place.home.clone();
        let wanted = AGENTS.into_iter().filter(|agent| arguments.has(agent.name()));
        let found: Vec<Option<InstalledAgent>> = std::thread::scope(|scope| {
            let looks: Vec<_> = wanted.map(|agent| scope.spawn(move || InstalledAgent::find(agent))).collect();
            looks.into_iter().map(|look| look.join().ok().flatten()).collect()
        });
        let stock = |name: &str| if arguments.no_import { None } else { import::stock(context, name) };
        let (mut agents, mut problems) = (Vec::new(), Vec::new());
        for found in found.into_iter().flatten() {
            let (title, lowest) = (found.agent.title(), found.agent.lowest());
            if found.is_too_old() {
                let version = found.version.map(|version| version.to_string()).unwrap_or_default();
                problems.push(format!("{title} {version} is too old: herma's hooks need {lowest} or newer"));
                continue;
            }
            match found.installation(context) {
                Ok(installation) => {
                    let (files, stock) = (installation.files(), stock(found.agent.name()));
                    agents.push(AgentPlan { found, installation, files, stock });
                }
                Err(Failure::File(words)) => problems.push(format!("{title}: {words}")),
                Err(failure) => return Err(failure),
            }
        }
        let hermes = Hermes::find(context).filter(|_| arguments.has(HERMES));
        let hermes = hermes.map(|hermes| HermesPlan { stock: stock(HERMES), hermes });
        Ok(Self { home, agents, hermes, problems })
    }

    /// Returns whether no agent was found.
    pub(super) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.hermes.is_none() && self.problems.is_empty()
    }

    /// Returns whether sessions are to be imported.
    pub(super) fn has_imports(&self) -> bool {
        self.stocks().any(|stock| stock.new_files > 0)
    }

    /// Returns whether sessions of this agent are to be imported.
    pub(super) fn has_new_sessions(&self, name: &str) -> bool {
        let is_open = |stock: Option<&Stock>| stock.is_some_and(|stock| stock.new_files > 0);
        let agent = self.agents.iter().find(|plan| plan.found.agent.name() == name);
        is_open(agent.and_then(|plan| plan.stock.as_ref()))
            || name == HERMES && is_open(self.hermes.as_ref().and_then(|plan| plan.stock.as_ref()))
    }

    /// Returns whether there is nothing to change and nothing to import.
    pub(super) fn is_done(&self) -> bool {
        let is_open = self.agents.iter().any(|agent| !agent.files.is_empty());
        !is_open
            && self.hermes.iter().all(|plan| plan.hermes.plugin().exists())
            && self.stocks().all(|stock| stock.new_files == 0)
    }

    /// Returns the plan for programs.
    pub(super) fn shown(&self, is_dry: bool) -> Value {
        let agents = self.agents.iter().map(|agent| {
            json!({
                "name": agent.found.agent.name(), "title": agent.found.agent.title(), "program": agent.found.program,
                "version": agent.found.version, "plugin": agent.found.has_plugin, "files": agent.files,
                "sessions": agent.stock,
            })
        });
        let hermes = self.hermes.iter().map(|plan| {
            json!({
                "name": HERMES, "title": Hermes::TITLE, "program": plan.hermes.program, "home": plan.hermes.home,
                "files": [{ "path": plan.hermes.plugin(), "is_new": !plan.hermes.plugin().exists() }],
                "sessions": plan.stock,
            })
        });
        json!({
            "dry_run": is_dry, "home": self.home, "agents": agents.chain(hermes).collect::<Vec<_>>(),
            "problems": self.problems,
        })
    }

    /// Returns the plan for people: some lines for each agent.
    pub(super) fn text(&self, has_diffs: bool) -> String {
        let mut text = String::new();
        for agent in &self.agents {
            text.push_str(&agent.text(has_diffs));
        }
        if let Some(HermesPlan { hermes, stock }) = &self.hermes {
            text.push_str(&format!("{}  {}\n", Hermes::TITLE, short(&hermes.home)));
            text.push_str(&rows(&[
                ("changes", format!("config.yaml, and the plugin in {}", short(&hermes.plugin()))),
                ("reads", described(stock.as_ref(), "")),
                ("keeps", "its conversations, shorter without loss".to_owned()),
            ]));
        }
        for problem in &self.problems {
            text.push_str(&format!("left out: {problem}\n"));
        }
        text.push('\n');
        let bytes: u64 = self.stocks().map(|stock| stock.new_bytes).sum();
        let room = out::size(bytes.saturating_mul(ROOM) / 100);
        let imported = if bytes > 0 { format!(", which grows by about {room}") } else { String::new() };
        text.push_str(&rows(&[
            ("home", format!("{}{imported}", short(&self.home))),
            ("leaves", "nothing leaves this machine".to_owned()),
            ("undo", "herma setup --undo".to_owned()),
        ]));
        text.truncate(text.trim_end().len());
        text
    }

    fn stocks(&self) -> impl Iterator<Item = &Stock> {
        let hermes = self.hermes.iter().filter_map(|plan| plan.stock.as_ref());
        self.agents.iter().filter_map(|agent| agent.stock.as_ref()).chain(hermes)
    }
}

impl AgentPlan {
    fn text(&self, has_diffs: bool) -> String {
        let InstalledAgent { agent, program, version, has_plugin } = &self.found;
        let version = version.map_or_else(|| "(version unknown)".to_owned(), |version| version.to_string());
        let program = program.as_deref().map_or_else(|| "its program is not on the PATH".to_owned(), short);
        let mut text = format!("{} {version}  {program}\n", agent.title());
        let deletes = agent.deletes_after_days().filter(|_| self.stock.is_some());
        let deletes = deletes.map(|days| format!("; the agent deletes them after {days} days")).unwrap_or_default();
        let (plugin, compactions) = match (has_plugin, agent.lowest_of_plugin()) {
            (true, Some(_)) => ("; a plugin that compacts without a request", String::new()),
            (false, Some(low)) => ("", format!("; compactions stay its own, because herma's plugin needs {low}")),
            (_, None) => ("", String::new()),
        };
        text.push_str(&rows(&[
            ("changes", self.changes()),
            ("reads", described(self.stock.as_ref(), &deletes)),
            ("adds", format!("{}{plugin}", agent.additions())),
            ("keeps", format!("every message and every long output from now on{compactions}")),
        ]));
        for file in self.files.iter().filter(|_| has_diffs) {
            text.push_str(&format!("\n{}\n{}\n", file.path.display(), file.diff));
        }
        text
    }

    fn changes(&self) -> String {
        let (new, old): (Vec<_>, Vec<_>) = self.files.iter().partition(|file| file.is_new);
        let named = |files: &[&PlannedFile]| {
            let mut names: Vec<String> = files.iter().map(|file| short(&file.own_folder())).collect();
            names.dedup();
            names.join(", ")
        };
        match (old.is_empty(), new.is_empty()) {
            (true, true) => "nothing, it is set up already".to_owned(),
            (false, true) => named(&old),
            (true, false) => format!("new: {}", named(&new)),
            (false, false) => format!("{}; new: {}", named(&old), named(&new)),
        }
    }
}

/// Says that no agent was found, and where they were looked for.
pub(super) fn none_found(context: &CliContext<'_>, arguments: &Arguments) -> String {
    let wanted = AGENTS.into_iter().filter(|agent| arguments.has(agent.name()));
    let places = wanted.map(|agent| {
        let folder = agent.folder().map(|folder| format!(", {}", short(&folder))).unwrap_or_default();
        format!("{} (`{}` on the PATH{folder})", agent.title(), agent.program())
    });
    let hermes = arguments.has(HERMES).then(|| format!("{} ({})", Hermes::TITLE, short(&Hermes::of(context).config())));
    let places: Vec<String> = places.chain(hermes).collect();
    format!("no agent was found; looked for {}", places.join("; "))
}

/// Describes the files with sessions. `deletes` says what becomes of them without herma.
fn described(stock: Option<&Stock>, deletes: &str) -> String {
    let Some(Stock { files, bytes, oldest, new_files, .. }) = stock else { return "nothing".to_owned() };
    let imported = match files - new_files {
        0 => String::new(),
        known => format!("; {} of them imported already", out::thousands(known)),
    };
    let age = oldest.map(|oldest| format!(", the oldest of {}", day(oldest))).unwrap_or_default();
    format!("{} with sessions, {}{age}{imported}{deletes}", out::count_of(*files, "file"), out::size(*bytes))
}

/// Returns the day of a time: its date in the local time zone.
pub(super) fn day(seconds: f64) -> String {
    out::local_time(seconds).split(' ').next().unwrap_or_default().to_owned()
}

/// Returns indented rows with a name each. Long ones take several lines.
pub(super) fn rows(rows: &[(&str, String)]) -> String {
    let indent = 2 + rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    rows.iter().map(|(name, text)| format!("  {name:width$}{}\n", wrapped(text, indent), width = indent - 2)).collect()
}

/// Returns a text in lines that fit behind an indent. The first line is not indented.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > LINE {
            lines.push(std::mem::take(&mut line));
        }
        let blank = if line.is_empty() { "" } else { " " };
        line.push_str(&format!("{blank}{word}"));
    }
    lines.push(line);
    lines.join(&format!("\n{:indent$}", ""))
}
