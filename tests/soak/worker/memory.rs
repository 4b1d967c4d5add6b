//! A writer with its own entries in a shared store.

use std::collections::BTreeSet;

use herma_protocol::memory::{AddParams, ListParams, RemoveParams, ReplaceParams, Target};
use serde_json::{Value, json};

use super::Worker;
use crate::ledger;

/// Maximum number of own entries.
const MOST: usize = 3;
/// Calls without an answer that may still take effect.
const LATE: usize = 10;

/// The entries that a call removes and adds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Change {
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
}

/// The expected entries of one writer.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) own: BTreeSet<String>,
    /// Calls without an answer. They may still take effect.
    open: Vec<Change>,
}

impl Model {
    /// Builds the model from a ledger.
    pub(crate) fn read(lines: &[(String, Value)]) -> Self {
        let mut model = Self::default();
        let texts = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap_or_default() };
        for (kind, what) in lines {
            match kind.as_str() {
                "try" => model.begin(Change { added: texts(&what["add"]), removed: texts(&what["remove"]) }),
                "done" => {
                    model.open.pop();
                    model.own = texts(what).into_iter().collect();
                }
                "seen" => model.own = texts(what).into_iter().collect(),
                _ => {}
            }
        }
        model
    }

    fn begin(&mut self, change: Change) {
        self.open.push(change);
        if self.open.len() > LATE {
            self.open.remove(0);
        }
    }

    /// Returns how the found entries differ from the expected ones, if they do.
    pub(crate) fn wrong(&self, found: &BTreeSet<String>) -> Option<String> {
        let taken: BTreeSet<&String> = self.open.iter().flat_map(|change| &change.removed).collect();
        let put: BTreeSet<&String> = self.open.iter().flat_map(|change| &change.added).collect();
        let missing: Vec<_> = self.own.iter().filter(|text| !found.contains(*text) && !taken.contains(text)).collect();
        let extra: Vec<_> = found.iter().filter(|text| !self.own.contains(*text) && !put.contains(text)).collect();
        (!missing.is_empty() || !extra.is_empty()).then(|| format!("missing {missing:?}, too many {extra:?}"))
    }
}

/// Returns the entries of one writer.
pub(crate) fn own(name: &str, entries: &[String]) -> BTreeSet<String> {
    entries.iter().filter(|entry| entry.starts_with(&format!("{name}:"))).cloned().collect()
}

pub(super) fn run(mut worker: Worker) {
    let target = if worker.name.ends_with("user") { Target::User } else { Target::Memory };
    let mut model = Model::read(&ledger::lines(&worker.out, &worker.name));
    if look(&mut worker, target, &mut model).is_none() {
        return;
    }
    while !worker.is_stopped() {
        let present: Vec<String> = model.own.iter().cloned().collect();
        let new = format!("{}: note {:x} of what was learnt", worker.name, worker.random.next() >> 16);
        let at = worker.below(present.len().max(1));
        let choice = match present.len() {
            0 => 0,
            length if length >= MOST => 1 + worker.below(2),
            _ => worker.below(3),
        };
        let change = match choice {
            0 => Change { added: vec![new.clone()], removed: vec![] },
            1 => Change { added: vec![new.clone()], removed: vec![present[at].clone()] },
            _ => Change { added: vec![], removed: vec![present[at].clone()] },
        };
        worker.ledger.note("try", &json!({ "add": change.added, "remove": change.removed }));
        model.begin(change.clone());
        let (content, old_text) = (new, change.removed.first().cloned().unwrap_or_default());
        let (session, agent, expected_revision, allow_drift) = (None, None, None, None);
        let result = worker.once(|client| match choice {
            0 => client.memory_add(AddParams { target, content, session, agent, expected_revision }),
            1 => client.memory_replace(ReplaceParams {
                target,
                old_text,
                content,
                session,
                agent,
                expected_revision,
                allow_drift,
            }),
            _ => {
                client.memory_remove(RemoveParams { target, old_text, session, agent, expected_revision, allow_drift })
            }
        });
        match result {
            Ok(result) if result.success => {
                model.open.pop();
                model.own.retain(|text| !change.removed.contains(text));
                model.own.extend(change.added);
                worker.ledger.note("done", &json!(model.own));
                let found = own(&worker.name, &result.entries.unwrap_or_default());
                if let Some(words) = model.wrong(&found) {
                    worker.loss(&words);
                }
                model.own = found;
            }
            Ok(_) => {
                model.open.pop();
                worker.ledger.note("done", &json!(model.own));
                worker.ledger.note("error", &json!("refused"));
            }
            Err(_) => {
                if look(&mut worker, target, &mut model).is_none() {
                    return;
                }
            }
        }
        worker.pace();
    }
}

/// Compares the store with the model.
fn look(worker: &mut Worker, target: Target, model: &mut Model) -> Option<()> {
    let listed = worker.until(|client| client.memory_list(ListParams { target: Some(target), raw: Some(true) }))?;
    let listed = match listed {
        Ok(listed) => listed,
        Err(error) => {
            worker.loss(&format!("the store can't be listed: {error}"));
            return Some(());
        }
    };
    let entries = listed.memory.or(listed.user).map(|view| view.entries).unwrap_or_default();
    let found = own(&worker.name, &entries);
    if let Some(words) = model.wrong(&found) {
        worker.loss(&words);
    }
    worker.ledger.note("seen", &json!(found));
    model.own = found;
    Some(())
}
