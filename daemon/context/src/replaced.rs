//! Statements that a later one replaced: a later statement about the same thing takes the place of an earlier
//! one.
//!
//! The text is not interpreted. A later statement replaces an earlier one in two cases:
//! * Both are about a fact that is always unique, such as the time zone.
//! * The later one says that something changed, and both contain a value of the same sort (a sum, a day, a
//!   person, an id). In addition, they have the same subject, or share a kind of fact and, for most kinds, a word
//!   of their scope.
//!
//! Near-duplicates about different things share no such word, so both stay.

mod words;

use std::collections::HashSet;

pub(crate) use words::announces_change;
use words::{FactKind, ValueSort};

use crate::handoff::{self, Section, SectionKind};
use crate::message::{Message, Role};
use crate::user_messages;

/// The most texts that are compared, newest first; older ones are never replaced.
const MOST: usize = 300;
/// The most statements that earlier ones are compared with.
const MOST_NEW: usize = 120;
/// Chars of the longest text that counts as a statement.
const LONGEST: usize = 400;

/// Texts that the user later replaced. Only the archive keeps them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replaced(HashSet<String>);

impl Replaced {
    /// Finds them in the messages of a list, in the quotations of an earlier handoff in it, and in rules.
    pub(crate) fn of<'a>(messages: &[Message], carried: &[Section], rules: impl Iterator<Item = &'a str>) -> Self {
        let users = messages.iter().rev().filter(|message| message.is(Role::User) && !handoff::is_handoff(message));
        let mut texts: Vec<String> = users.map(|message| message.text().trim().to_owned()).take(MOST).collect();
        if let Some(said) = carried.iter().find(|section| section.kind == SectionKind::UserMessages) {
            texts.extend(user_messages::parse(&said.text).texts);
        }
        texts.extend(rules.map(str::to_owned));
        let places = replaced(&texts);
        let (mut gone, mut stays) = (HashSet::new(), HashSet::new());
        for (text, by) in texts.into_iter().zip(places) {
            if by.is_some() {
                gone.insert(text)
            } else {
                stays.insert(text)
            };
        }
        gone.retain(|text| !stays.contains(text));
        Self(gone)
    }

    /// Whether a text was replaced.
    pub(crate) fn has(&self, text: &str) -> bool {
        !self.0.is_empty() && self.0.contains(text.trim())
    }
}

/// The content of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Statement {
    /// Sorts of the values in it.
    sorts: HashSet<ValueSort>,
    /// Kinds of standing facts that it may be about.
    families: HashSet<FactKind>,
    /// Words that name its scope: not values, not family words, not filler words.
    scope: HashSet<String>,
    /// The words of its subject, about which it states something.
    subject: HashSet<String>,
    /// Whether it says that something changed.
    changes: bool,
}

/// For each text, newest first, returns the index of the newer one that replaces it.
fn replaced(texts: &[String]) -> Vec<Option<usize>> {
    let mut newer: Vec<(usize, Statement)> = Vec::new();
    let mut found = vec![None; texts.len()];
    for (at, text) in texts.iter().enumerate().take(MOST) {
        if text.chars().nth(LONGEST).is_some() || text.trim_end().ends_with('?') {
            continue;
        }
        let statement = Statement::of(text);
        if let Some(place) = found.get_mut(at) {
            *place = newer.iter().find(|(_, newer)| newer.replaces(&statement)).map(|(at, _)| *at);
        }
        let may_replace = statement.changes || statement.families.iter().any(|family| family.is_only_one());
        if may_replace && newer.len() < MOST_NEW {
            newer.push((at, statement));
        }
    }
    found
}

impl Statement {
    fn of(text: &str) -> Self {
        let words = words::words(text);
        let families: HashSet<FactKind> = words::families(text);
        let scope = words.iter().filter(|word| !words::is_of_family(word) && !words::says_nothing(word));
        Self {
            sorts: words::sorts(text),
            scope: scope.cloned().collect(),
            subject: words::subject(text),
            families,
            changes: announces_change(text),
        }
    }

    /// Whether this later statement replaces an earlier one.
    fn replaces(&self, earlier: &Self) -> bool {
        let same: Vec<&FactKind> = self.families.intersection(&earlier.families).collect();
        if same.iter().any(|family| family.is_only_one()) {
            return true;
        }
        if !self.changes || self.sorts.intersection(&earlier.sorts).next().is_none() {
            return false;
        }
        let is_apart = self.scope.intersection(&earlier.scope).next().is_none();
        if same.is_empty() {
            // Without a common kind of fact the subjects must be the same.
            !self.subject.is_empty() && self.subject == earlier.subject
        } else {
            // With a common kind of fact they must share a scope word, or the fact must be unique at any
            // time.
            !is_apart || same.iter().any(|family| family.needs_no_scope())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_replaced(earlier: &str, later: &str) -> bool {
        replaced(&[later.to_owned(), earlier.to_owned()])[1] == Some(0)
    }

    #[test]
    fn later_statements_about_the_same_thing_replace_earlier_ones() {
        for (earlier, later) in [
            ("Report all times in UTC.", "From now on, report all times in Pacific time."),
            ("Alle Zeiten bitte in UTC.", "Ab jetzt bitte alle Zeiten in MEZ."),
            ("The project budget is $900.", "Keep the project's spending under six hundred dollars from now on."),
            ("The demo is on 2027-03-04.", "Update: the demo moved to March 9."),
            ("Mira Lund is on call this week.", "Jon Berg has the pager now."),
            ("We work on branch spike/one-12.", "We switched to branch spike/two-31."),
            ("Please keep your answers terse.", "I would rather get warm, playful answers."),
            ("The gate code is abcde-12.", "The gate code rotated: it is fghij-34 now."),
            ("The deploy target is eu-north-1.", "The deploy target changed to us-west-2."),
        ] {
            assert!(is_replaced(earlier, later), "{earlier} / {later}");
        }
    }

    #[test]
    fn statements_about_different_things_stay_apart() {
        for (earlier, later) in [
            ("The travel budget is $900.", "The project budget is $600 now."),
            ("Production runs Postgres 15 in eu-north-1.", "Staging runs MySQL 8 in us-west-2."),
            ("The primary region is eu-north-1.", "The backup region is us-west-2 now."),
            ("Run unit tests with pytest before pushing.", "Now run integration tests with make test-integration."),
            ("Mira Lund approves the release.", "Jon Berg is the design reviewer now."),
            ("The launch is on 2027-03-04.", "The documentation freeze moved to 2027-04-01."),
            ("Change my flight HAT113 to HAT204.", "Now change my flight HAT300 to HAT301."),
            ("Please add one bag to UM3OG5.", "I would like to cancel UM3OG5 now."),
            (
                "My user ID is noah_muller_9847, but I don't remember the reservation ID.",
                "My user ID is raj_sanchez_7340. I don't have the reservation ID with me right now.",
            ),
            (
                "I want to book a one-way flight from New York to Seattle.",
                "I want to modify my flight booking from New York to Chicago.",
            ),
            (
                "I would like to cancel the reservation with ID MZDDS4.",
                "I need to change my reservation H9ZU1C. If that's not possible, I might need to cancel now.",
            ),
            ("The log says 12:00 UTC.", "From now on, report all times in Pacific time."),
            ("Le billet est gratuit.", "Todos os timestamps em UTC."),
            ("What is the budget?", "The budget is $600 now."),
            ("Fix the test in src/a.rs", "Now fix the test in src/b.rs"),
        ] {
            assert!(!is_replaced(earlier, later), "{earlier} / {later}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_replaces_is_newer(texts in proptest::collection::vec("\\PC{0,60}", 0..12)) {
            for (at, by) in replaced(&texts).into_iter().enumerate() {
                proptest::prop_assert!(by.is_none_or(|by| by < at));
            }
        }
    }
}
