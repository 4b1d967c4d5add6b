//! `herma setup`: finds the agents of this machine, installs herma for them, imports their sessions, and shows that it
//! works.

mod carry_out;
mod finds;
mod hermes;
mod plan;
mod record;
mod undo;

use std::io::IsTerminal;
use std::path::Path;

use herma_agents::agent::Agent;
use herma_agents::known::AGENTS;
use herma_base::own_file::Lock;
use herma_base::{CliContext, Failure, interrupt, out, owner};

use self::plan::Plan;

/// The name of an agent of the Hermes family. It has a plugin instead of hooks.
const HERMES: &str = "hermes";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Shows a plan first, and asks on a terminal. The plan has the files that change, with --diff how, and what would be read.\nRunning it again adds what is new, also after it was stopped in whatever way. Nothing leaves this machine.\n\nIt changes the settings of Claude Code, Codex and Qwen Code, and writes the plugin of Hermes. CLAUDE.md and AGENTS.md stay as\nthey are. It imports the sessions that are on the disk. Then it sends a test event through the hooks, and shows three findings\nof your own past.\n\nExit codes: 0 done; 1 something failed, the answer was no, or no agent was found (each problem is\nlisted; the rest was done); 2 wrong\narguments; 3 no daemon answers.\n\nExamples:\n  herma setup --dry-run --diff\n  herma setup\n  herma setup --yes --agent claude-code\n  herma setup --undo"
)]
pub(super) struct Arguments {
    /// Show the plan, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Don't ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Remove everything that a setup made, except the home with your data
    #[arg(long, conflicts_with_all = ["no_import", "diff"])]
    undo: bool,
    /// Show how each file changes
    #[arg(long)]
    diff: bool,
    /// Only this agent; can be given several times [default: all that are found]
    #[arg(long = "agent", value_name = "NAME", value_parser = names())]
    agents: Vec<String>,
    /// Don't import the sessions that are there
    #[arg(long)]
    no_import: bool,
}

/// Returns the parser of an agent's name.
fn names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(AGENTS.map(Agent::name).into_iter().chain([HERMES]))
}

impl Arguments {
    /// Returns whether an agent is asked for.
    fn has(&self, name: &str) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|agent| agent == name)
    }

    /// Asks a question unless `--yes` answers it. `nothing` says what did not happen. The answer `d` shows the details.
    fn confirm(
        &self,
        context: &CliContext<'_>,
        question: &str,
        nothing: &str,
        details: impl Fn() -> Option<String>,
    ) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        if context.common.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Err(Failure::File(format!("{nothing}; --yes does it, and --dry-run only shows it")));
        }
        loop {
            let answer = out::answer(question, &mut std::io::stdin().lock(), &mut std::io::stderr());
            match (answer.as_str(), details()) {
                ("y" | "yes", _) => return Ok(()),
                ("d" | "--diff", Some(details)) => out::line(&details)?,
                _ => return Err(Failure::File(nothing.to_owned())),
            }
        }
    }
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    owner::check(&context.place.home)?;
    interrupt::say("stopped; nothing was changed");
    if arguments.undo {
        return undo::run(context, arguments);
    }
    let plan = Plan::make(context, arguments)?;
    if plan.is_empty() {
        return Err(Failure::File(plan::none_found(context, arguments)));
    }
    if arguments.dry_run {
        out::show(context.common, &plan.shown(true), |_| plan.text(arguments.diff))?;
        return if plan.problems.is_empty() { Ok(()) } else { Err(Failure::No) };
    }
    if !context.common.json {
        out::line(&plan.text(arguments.diff))?;
    }
    if plan.agents.is_empty() && plan.hermes.is_none() {
        return Err(Failure::File("no agent can be set up, so nothing was changed".into()));
    }
    if !plan.is_done() {
        let details = || Some(plan.text(true));
        arguments.confirm(
            context,
            "Set this up? (y: yes, d: show every line) [y/d/N] ",
            "nothing was changed",
            details,
        )?;
    }
    let _lock = lock(context)?;
    interrupt::say("stopped. What was done stays: `herma setup` goes on, and `herma setup --undo` undoes it");
    carry_out::run(context, arguments, plan)
}

/// Returns the agents whose sessions a setup began to import and did not to the end.
pub(super) fn unfinished(home: &Path) -> Vec<String> {
    record::SetupRecord::read(home).importing.into_iter().collect()
}

/// Takes the lock of all setups of this home.
fn lock(context: &CliContext<'_>) -> Result<Lock, Failure> {
    let folder = context.place.home.join("herma");
    herma_base::user_file::create_folder(&folder)?;
    let path = folder.join("setup.lock");
    Lock::try_now(&path)?.ok_or_else(|| Failure::File(format!("{}: another setup is running", path.display())))
}
