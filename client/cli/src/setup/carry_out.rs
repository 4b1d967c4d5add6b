//! Carries out the plan: installs, imports, and shows that it works.

use std::path::Path;
use std::time::Duration;

use herma_agents::lasting;
use herma_base::out::{self, short};
use herma_base::{CliContext, Failure};
use serde_json::{Value, json};

use super::finds::{self, Finding};
use super::hermes::Hermes;
use super::plan::{AgentPlan, HermesPlan, Plan, wrapped};
use super::record::SetupRecord;
use super::{Arguments, HERMES};
use crate::{import, memory};

/// How much less often the processor goes to an import than to other programs.
const NICE: i32 = 10;

/// A running setup.
struct Run<'a> {
    context: &'a CliContext<'a>,
    record: SetupRecord,
    /// What was done, for programs.
    done: Vec<Value>,
    /// What failed. The rest goes on.
    problems: Vec<String>,
}

/// Carries out a plan that the user agreed to.
pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments, plan: Plan) -> Result<(), Failure> {
    lasting::keep(&context.place.home)?;
    let record = SetupRecord::read(&context.place.home);
    let mut run = Run { context, record, done: Vec::new(), problems: plan.problems.clone() };
    if !arguments.no_import {
        // One that was stopped after its last file has nothing to go on with.
        run.record.importing.retain(|name| plan.has_new_sessions(name));
    }
    for agent in &plan.agents {
        run.install(agent)?;
    }
    if let Some(HermesPlan { hermes, .. }) = &plan.hermes {
        run.record.agents.insert(HERMES.to_owned());
        if let Some((path, text)) = hermes.planned_copy() {
            run.record.plan_backup(&context.place.home, &path, &text)?;
        }
        let installed = hermes.install();
        run.record.add_backups(installed.iter().filter_map(Hermes::backup));
        run.note(HERMES, "installed", installed.map(|done| (format!("written: {}", hermes.plugin().display()), done)))?;
        run.record.write(&context.place.home)?;
    }
    if !arguments.no_import && plan.has_imports() {
        if !context.common.json {
            out::line("Importing. If you stop it, `herma setup` goes on where it was.")?;
        }
        // The daemon is started first, so that it is not as nice as the import.
        drop(context.connect()?);
        // Without the permission, the import is as nice as any other program.
        let _ = rustix::process::nice(NICE);
        let hermes = plan.hermes.iter().filter(|plan| plan.stock.is_some()).map(|_| HERMES);
        let agents = plan.agents.iter().filter(|agent| agent.stock.is_some()).map(|agent| agent.found.agent.name());
        for name in agents.chain(hermes).collect::<Vec<_>>() {
            run.import(name)?;
        }
    }
    for agent in &plan.agents {
        let proved = agent.found.prove(context).map(|took| {
            let words = format!("a test event of {} arrived after {:.2} s", agent.found.agent.title(), seconds(took));
            (words, json!({ "seconds": seconds(took) }))
        });
        run.note(agent.found.agent.name(), "capture", proved)?;
    }
    let findings = finds::of(context).unwrap_or_default();
    run.end(&plan, &findings)
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

impl Run<'_> {
    /// Notes and prints the result of a step. A file that can't be used is a problem of that step alone.
    fn note(&mut self, agent: &str, step: &str, result: Result<(String, Value), Failure>) -> Result<(), Failure> {
        match result {
            Ok((words, done)) => {
                self.done.push(json!({ "agent": agent, "step": step, "result": done }));
                if self.context.common.json { Ok(()) } else { out::line(&wrapped(&words, 0)) }
            }
            Err(Failure::File(words)) => {
                out::error(&format!("herma: {words}"));
                self.problems.push(words);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Writes the settings of an agent.
    fn install(&mut self, plan: &AgentPlan) -> Result<(), Failure> {
        let home = &self.context.place.home;
        let (name, title) = (plan.found.agent.name(), plan.found.agent.title());
        let record = &mut self.record;
        record.agents.insert(name.to_owned());
        record.write(home)?;
        let mut before = |path: &Path, text: &str| record.plan_backup(home, path, text);
        let (mut files, written) = plan.installation.carry_out(home, &mut before);
        if written.is_ok() {
            match plan.installation.trust(&mut before) {
                Ok(trusted) => files.extend(trusted),
                Err(words) => self.problems.push(words),
            }
        }
        self.record.add_backups(files.iter().filter_map(|file| file.backup.clone()));
        self.record.write(home)?;
        let result = written.map(|()| {
            let words = match files.len() {
                0 => format!("{title} was set up already"),
                count => format!("{title} is set up: {} written", out::count_noun(count, "file", "files")),
            };
            (words, json!(files))
        });
        self.note(name, "installed", result)
    }

    /// Imports the sessions of a program.
    fn import(&mut self, name: &str) -> Result<(), Failure> {
        self.record.importing.insert(name.to_owned());
        self.record.write(&self.context.place.home)?;
        let imported = import::all_of(self.context, name).map(|report| {
            if report.has_problems() {
                let words = format!("{name}: not everything could be read; `herma import {name}` names it");
                self.problems.push(words);
            }
            let (sessions, messages) = (report.sessions(), report.messages());
            let masked = match report.masked {
                0 => String::new(),
                count => format!("; masked secrets in {}", out::count_of(count, "message")),
            };
            let words = match messages {
                0 => format!("{name}: nothing new to import"),
                _ => format!(
                    "{name}: imported {} from {}{masked}",
                    out::count_of(messages, "message"),
                    out::count_of(sessions, "session")
                ),
            };
            (words, json!(report))
        });
        // One that a stopped daemon ends, and not its own, goes on next time.
        if imported.is_ok() {
            self.record.importing.remove(name);
            self.record.write(&self.context.place.home)?;
        }
        self.note(name, "imported", imported)
    }

    /// Prints the findings and the end.
    fn end(self, plan: &Plan, findings: &[Finding]) -> Result<(), Failure> {
        let has_failed = !self.problems.is_empty();
        let mut shown = plan.shown(false);
        shown["done"] = json!(self.done);
        shown["findings"] = json!(findings);
        shown["problems"] = json!(self.problems);
        out::show(self.context.common, &shown, |_| {
            let mut text = finds::text(findings);
            for problem in &self.problems {
                text.push_str(&format!("\nfailed: {problem}"));
            }
            if !plan.agents.is_empty() {
                text.push_str("\nSessions that begin from now on have the hooks.");
                text.push_str("\nHow it is, and when an event came: herma doctor");
            }
            for path in memory::files_with_notes() {
                if let notes @ 1.. = memory::count_notes(&path) {
                    let notes = out::count_noun(notes, "note", "notes");
                    let words = format!("{notes} in {} could begin the memory: herma memory adopt", short(&path));
                    text.push_str(&format!("\n{}", wrapped(&words, 0)));
                }
            }
            text.push_str("\nUndo all of it: herma setup --undo");
            text.trim_start().to_owned()
        })?;
        if has_failed { Err(Failure::No) } else { Ok(()) }
    }
}
