//! Renders the rules of a handoff, and parses them.

use super::{Constraint, Scope, Source, State};

/// The mark of a rule that applies to its task only.
const ONCE: &str = "(for its task only) ";
/// The mark of a rule whose task is over.
const DONE: &str = "(done with its task) ";
/// The beginning of the line about omitted rules.
const REST: &str = "(and ";

/// Rules as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// One rule per line.
    pub text: String,
    /// The number of rules in the text.
    pub shown: usize,
    /// The number of applicable rules without room.
    pub hidden: usize,
}

/// Renders the rules that apply, each word for word, within a number of chars, standing rules first. Rules
/// added by hand and the newest ones take precedence; the last line counts the omitted ones. Rules of a
/// finished task come last, and only if there is room.
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
    format!("{REST}{count} older rules, kept with the session)")
}

/// Returns the rules in a handoff. The text does not show which were added by hand, so all count as found.
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
