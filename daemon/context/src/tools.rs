//! Selects the tools that a conversation needs: counts uses and schema costs, and chooses a part under a
//! budget.
//!
//! The tools come before everything else in a prompt, and a prompt cache is valid only up to the first
//! change. So the chosen part stays the same within a generation: only uses before the generation count. Each
//! other tool has a line in the description of one extra tool, which returns their schemas. Tools that were
//! opened that way since, or called without a schema, follow at the end.

mod schema;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

pub use schema::{OPEN_TOOLS, Tool};

use crate::Message;

/// Generations whose tools always stay, the current one included.
const RECENT: u64 = 3;

/// The uses of tools in the messages of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    calls: HashMap<String, u64>,
    /// Calls before the current generation began.
    before: HashMap<String, u64>,
    /// Tools of the last generations, before the current one began.
    recent: HashSet<String>,
    /// Tools that were opened or called since, in that order.
    since: Vec<String>,
}

/// The age of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age {
    /// The number of compressions since it left the list; 0 for a message in the list.
    pub generations: u64,
    /// Whether it is newer than the last compression.
    pub is_since: bool,
}

impl Uses {
    /// Adds a message. Messages must come oldest first.
    pub fn add(&mut self, message: &Message, age: Age) {
        for call in message.tool_calls() {
            let Some(name) = &call.name else { continue };
            if name == OPEN_TOOLS {
                if age.is_since {
                    self.open(&names(&message.arguments(call)));
                }
                continue;
            }
            *self.calls.entry(name.clone()).or_default() += 1;
            if age.is_since {
                self.open(std::slice::from_ref(name));
                continue;
            }
            *self.before.entry(name.clone()).or_default() += 1;
            if age.generations < RECENT {
                self.recent.insert(name.clone());
            }
        }
    }

    /// Adds tools that the caller wants open.
    pub fn open(&mut self, names: &[String]) {
        for name in names {
            if !self.since.contains(name) {
                self.since.push(name.clone());
            }
        }
    }

    /// Returns the number of calls of a tool.
    pub fn calls(&self, name: &str) -> u64 {
        self.calls.get(name).copied().unwrap_or(0)
    }
}

/// Returns the tools that a call of [`OPEN_TOOLS`] names.
fn names(arguments: &str) -> Vec<String> {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let names = arguments.get("names").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Where a tool's schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its schema is in the list, at its place.
    Kept,
    /// Its schema is at the end of the list, because it was opened or called since the generation began.
    Opened,
    /// It has only a line.
    Stub,
}

/// The tools that are sent with a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The state of each tool, in the given order.
    pub states: Vec<State>,
    /// The list as JSON texts: kept tools in their order, the tool that opens the others, then opened tools.
    pub list: Vec<String>,
    /// The tokens of the list, by estimate.
    pub tokens: u64,
}

/// Chooses the tools under a budget of tokens. All are kept if there is no budget, if all fit, or if the
/// lines would cost more than the schemas. Tools of the last generations are always kept, whatever their
/// cost. After them come the most used ones, then the first ones. The list may cost more than the budget.
pub fn choose(tools: &[Tool], uses: &Uses, budget: Option<u64>) -> Chosen {
    let all: u64 = tools.iter().map(|tool| tool.tokens).sum();
    let whole = || {
        let list = tools.iter().map(|tool| tool.raw.clone()).collect();
        Chosen { states: vec![State::Kept; tools.len()], list, tokens: all }
    };
    let Some(budget) = budget.filter(|budget| all > *budget) else { return whole() };
    let kept = kept(tools, uses, budget);
    let opened: Vec<usize> = uses
        .since
        .iter()
        .filter_map(|name| tools.iter().position(|tool| tool.name.as_ref() == Some(name)))
        .filter(|at| !kept.contains(at))
        .collect();
    let stubs: Vec<&Tool> = (0..tools.len()).filter(|at| !kept.contains(at)).map(|at| &tools[at]).collect();
    let state = |at| match (kept.contains(&at), opened.contains(&at)) {
        (true, _) => State::Kept,
        (false, true) => State::Opened,
        (false, false) => State::Stub,
    };
    let opener = schema::opener(tools, &stubs);
    let cost = |tool: &String| crate::tokens::own_estimate_text(tool);
    let saved: u64 = stubs.iter().map(|tool| tool.tokens).sum();
    if opener.as_ref().is_none_or(|opener| cost(opener) >= saved) {
        return whole();
    }
    let mut list: Vec<String> =
        (0..tools.len()).filter(|at| kept.contains(at)).map(|at| tools[at].raw.clone()).collect();
    // Opened tools keep their line, so that nothing before them changes.
    list.extend(opener);
    list.extend(opened.iter().map(|at| tools[*at].raw.clone()));
    let tokens = list.iter().map(cost).sum();
    Chosen { states: (0..tools.len()).map(state).collect(), list, tokens }
}

/// Returns the tools that are in the list at their places.
fn kept(tools: &[Tool], uses: &Uses, budget: u64) -> HashSet<usize> {
    let is = |tool: &Tool, set: &HashSet<String>| tool.name.as_ref().is_some_and(|name| set.contains(name));
    // A tool without a name can't be opened, so it can't be left out.
    let is_needed = |at: &usize| tools[*at].name.is_none() || is(&tools[*at], &uses.recent);
    let (mut kept, mut rest): (HashSet<usize>, Vec<usize>) = {
        let (needed, rest): (Vec<usize>, Vec<usize>) = (0..tools.len()).partition(is_needed);
        (needed.into_iter().collect(), rest)
    };
    let before = |at: usize| tools[at].name.as_ref().and_then(|name| uses.before.get(name)).copied().unwrap_or(0);
    rest.sort_by_key(|at| std::cmp::Reverse(before(*at)));
    let lines: u64 = rest.iter().map(|at| tools[*at].line_tokens).sum();
    let mut spent = kept.iter().map(|at| tools[*at].tokens).sum::<u64>() + lines + schema::OPENER_TOKENS;
    for at in rest {
        let more = tools[at].tokens.saturating_sub(tools[at].line_tokens);
        if spent + more <= budget {
            spent += more;
            kept.insert(at);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
