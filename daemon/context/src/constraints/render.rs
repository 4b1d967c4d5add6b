//! Rules as they stand in a handoff, and back.

use super::{Constraint, Scope, Source, State};

/// What marks a rule that holds for its task only.
const ONCE: &str = "(for its task only) ";
/// What marks one whose task is over.
const DONE: &str = "(done with its task) ";
/// How a line about the rest begins.
const REST: &str = "(and ";

/// Rules as a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// One rule a line.
    pub text: String,
    /// Rules in it.
    pub shown: usize,
    /// Rules that hold and had no room.
    pub hidden: usize,
}

/// The rules that hold, standing ones first, each word for word, within a number of chars. Those
/// added by hand and the newest win; the last line says how many are missing. Rules of a task that
/// is over come last, and only where there is room.
pub fn render(rules: &[Constraint], chars: usize) -> Rendered {
    let rest_room = rest(rules.len()).chars().count() + 1;
    let holding = || rules.iter().filter(|rule| rule.state == State::Active);
    let mut order: Vec<&Constraint> = holding().filter(|rule| rule.source == Source::Explicit).rev().collect();
    order.extend(holding().filter(|rule| rule.source == Source::Found && rule.scope == Scope::Standing).rev());
    order.extend(holding().filter(|rule| rule.source == Source::Found && rule.scope == Scope::Once).rev());
    let wanted: usize = order.iter().map(|rule| line(rule).chars().count() + 1).sum();
    let mut room = if wanted <= chars { chars } else { chars.saturating_sub(rest_room) };
    let fits = |room: &mut usize, rule: &Constraint| {
        let cost = line(rule).chars().count() + 1;
        let fits = cost <= *room;
        *room -= if fits { cost } else { 0 };
        fits
    };
    let all = order.len();
    order.retain(|rule| fits(&mut room, rule));
    let (shown, hidden) = (order.len(), all - order.len());
    let by_scope = |scope| order.iter().rev().filter(move |rule| rule.scope == scope);
    let mut lines: Vec<String> =
        by_scope(Scope::Standing).chain(by_scope(Scope::Once)).map(|rule| line(rule)).collect();
    let done = rules.iter().rev().filter(|rule| rule.state == State::Done);
    lines.extend(done.filter(|rule| hidden == 0 && fits(&mut room, rule)).map(line));
    if hidden > 0 && chars > rest_room {
        lines.push(rest(hidden));
    }
    Rendered { text: lines.join("\n"), shown, hidden }
}

fn line(rule: &Constraint) -> String {
    let mark = match (rule.state, rule.scope) {
        (State::Done, _) => DONE,
        (_, Scope::Once) => ONCE,
        _ => "",
    };
    format!("- {mark}{}", rule.text.replace('\n', " "))
}

fn rest(count: usize) -> String {
    format!("{REST}{count} older rules that have no room here; all of them are kept with the session)")
}

/// The rules that a handoff lists. It does not say which were added by hand: all count as found.
pub(crate) fn parse(text: &str, at: f64) -> Vec<Constraint> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
    lines
        .map(|line| match (line.strip_prefix(ONCE), line.strip_prefix(DONE)) {
            (Some(text), _) => Constraint::new(text, Scope::Once, Source::Found, at),
            (None, Some(text)) => {
                Constraint { state: State::Done, ..Constraint::new(text, Scope::Once, Source::Found, at) }
            }
            (None, None) => Constraint::new(line, Scope::Standing, Source::Found, at),
        })
        .collect()
}
