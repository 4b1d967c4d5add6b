//! The corpora: attacks that every pattern must catch, plain and disguised, and notes that must pass.
//!
//! `cargo test -p herma-guard corpus -- --nocapture` prints the figures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "the figures are for whoever runs the tests by hand")]

use std::collections::HashSet;

use herma_guard::{FindingId, Scope, scan};

mod disguise;
mod file;

use disguise::DISGUISES;
use file::{Section, Text};

/// The least number of attacks, not counting those with invisible characters.
const MIN_ATTACKS: usize = 400;
/// The least number of benign texts without a finding at any scope.
const MIN_BENIGN: usize = 600;
/// The least number of attacks per pattern, and of benign texts per kind.
const MIN_PER_KIND: usize = 10;
/// The least number of attacks per invisible character.
const MIN_PER_INVISIBLE: usize = 5;
/// The least number of languages other than English with benign prose.
const MIN_LANGUAGES: usize = 8;
/// The percentage of disguised attacks that must be caught, for each disguise and in total.
const MIN_DISGUISED_PERCENT: usize = 95;

/// Notes that only this row matches literally, which the contract requires to be caught.
const NODES: &str = "workers that register as a node";

fn ids(text: &str, scope: Scope) -> Vec<&'static str> {
    let findings = scan(text, scope);
    findings.iter().map(|found| found.id.as_str()).collect()
}

/// Returns the sections of patterns, except those of invisible characters.
fn patterns() -> Vec<Section> {
    file::sections().into_iter().filter(|section| section.is_pattern() && !section.is_invisible()).collect()
}

#[test]
fn the_corpora_are_large_enough() {
    let sections = file::sections();
    for id in FindingId::all() {
        let section = sections.iter().find(|section| section.title == id.as_str());
        let section = section.unwrap_or_else(|| panic!("no section for {id}"));
        let least = if section.is_invisible() { MIN_PER_INVISIBLE } else { MIN_PER_KIND };
        assert!(section.attacks.len() >= least, "{id} has {} attacks", section.attacks.len());
    }
    for section in sections.iter().filter(|section| !section.is_invisible()) {
        assert!(section.benign.len() >= MIN_PER_KIND, "{} has {} benign texts", section.title, section.benign.len());
        assert!(section.is_pattern() || section.attacks.is_empty(), "{} is no pattern", section.title);
    }
    let attacks: usize = patterns().iter().map(|section| section.attacks.len()).sum();
    assert!(attacks >= MIN_ATTACKS, "{attacks} attacks");
    let clean = sections.iter().filter(|section| section.passes_at() == Scope::Strict && section.title != NODES);
    let benign: usize = clean.map(|section| section.benign.len()).sum();
    assert!(benign >= MIN_BENIGN, "{benign} benign texts");
    let languages = sections.iter().filter(|section| section.title.starts_with("prose in ")).count();
    assert!(languages >= MIN_LANGUAGES, "{languages} languages");
}

#[test]
fn no_text_stands_twice_and_each_has_an_origin() {
    let mut seen = HashSet::new();
    for section in file::sections() {
        for Text { text, origin } in section.attacks.into_iter().chain(section.benign) {
            assert!(!origin.is_empty(), "{text:?} has no origin");
            assert!(seen.insert(text.clone()), "{text:?} stands twice");
        }
    }
}

#[test]
fn attacks_are_caught_from_their_scope_on() {
    let (mut caught, mut all, mut wrong) = (0, 0, Vec::new());
    for section in file::sections().iter().filter(|section| section.is_pattern()) {
        let id = section.title.as_str();
        for attack in &section.attacks {
            all += 1;
            caught += usize::from(ids(&attack.text, section.scope).contains(&id));
            for scope in [Scope::All, Scope::Context, Scope::Strict] {
                let found = ids(&attack.text, scope);
                if found.contains(&id) != (scope >= section.scope) {
                    wrong.push(format!("{id} at {scope} gives {found:?}: {:?}", attack.text));
                }
            }
        }
    }
    println!("plain attacks caught {caught}/{all}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The pattern's id must be found; the id of an invisible character in the disguise is not enough.
#[test]
fn disguised_attacks_are_caught() {
    let (mut caught_in_all, mut all, mut poor) = (0, 0, Vec::new());
    let sections = patterns();
    for disguise in &DISGUISES {
        let (mut caught, mut tried, mut missed) = (0, 0, Vec::new());
        for section in &sections {
            let id = section.title.as_str();
            for attack in &section.attacks {
                let Some(disguised) = disguise.put_on(id, &attack.text) else { continue };
                tried += 1;
                if ids(&disguised, section.scope).contains(&id) {
                    caught += 1;
                } else {
                    missed.push(format!("{id}: {disguised:?}"));
                }
            }
        }
        println!("disguised attacks caught {caught}/{tried}: {}", disguise.name);
        if caught * 100 < tried * MIN_DISGUISED_PERCENT {
            poor.push(format!("{caught}/{tried} in {}; missed:\n  {}", disguise.name, missed.join("\n  ")));
        }
        caught_in_all += caught;
        all += tried;
    }
    println!("disguised attacks caught {caught_in_all}/{all} in all");
    assert!(poor.is_empty(), "{}", poor.join("\n"));
    assert!(caught_in_all * 100 >= all * MIN_DISGUISED_PERCENT, "{caught_in_all}/{all} in all");
}

#[test]
fn benign_texts_pass() {
    for scope in [Scope::All, Scope::Strict] {
        let (mut all, mut refused) = (0, Vec::new());
        for section in file::sections().into_iter().filter(|section| section.passes_at() == scope) {
            let allowed: &[&str] = if section.title == NODES { &["c2_node_registration"] } else { &[] };
            for Text { text, .. } in section.benign {
                all += 1;
                let found = ids(&text, scope);
                if found != allowed {
                    refused.push(format!("{} gives {found:?}: {text:?}", section.title));
                }
            }
        }
        println!("benign texts refused {}/{all} at {scope}", refused.len());
        assert!(refused.is_empty(), "{refused:#?}");
    }
}
