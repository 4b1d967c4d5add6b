//! The corpus: what every pattern must catch, and the everyday notes that must pass.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use herma_guard::{FindingId, Scope, scan};

const FILES: [(&str, Scope); 4] = [
    (include_str!("corpus/all.txt"), Scope::All),
    (include_str!("corpus/context.txt"), Scope::Context),
    (include_str!("corpus/strict.txt"), Scope::Strict),
    (include_str!("corpus/notes.txt"), Scope::Strict),
];

/// One section of a corpus file.
struct Section {
    /// The id of the pattern, or the subject of the notes.
    title: String,
    /// The smallest scope that looks for the pattern.
    scope: Scope,
    attacks: Vec<String>,
    twins: Vec<String>,
}

impl Section {
    fn is_pattern(&self) -> bool {
        FindingId::all().any(|id| id.as_str() == self.title)
    }
}

fn sections() -> Vec<Section> {
    FILES.into_iter().flat_map(read).collect()
}

fn read((file, scope): (&str, Scope)) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty()) {
        let (mark, rest) = line.split_once(' ').unwrap();
        let text = rest.replace(r"\n", "\n").replace(r"\t", "\t");
        match mark {
            "==" => sections.push(Section { title: text, scope, attacks: Vec::new(), twins: Vec::new() }),
            "!" => sections.last_mut().unwrap().attacks.push(text),
            "-" => sections.last_mut().unwrap().twins.push(text),
            "#" => {}
            other => panic!("a line begins with {other:?}"),
        }
    }
    sections
}

fn ids(text: &str, scope: Scope) -> Vec<&'static str> {
    let findings = scan(text, scope);
    findings.iter().map(|found| found.id.as_str()).collect()
}

#[test]
fn every_pattern_has_three_attacks_and_ten_twins() {
    let sections = sections();
    for id in FindingId::all().filter(|id| !id.as_str().starts_with("invisible")) {
        let section = sections.iter().find(|s| s.title == id.as_str());
        let section = section.unwrap_or_else(|| panic!("no section for {id}"));
        assert!(section.attacks.len() >= 3, "{id}");
    }
    for section in sections {
        assert!(section.twins.len() >= 10, "{}", section.title);
    }
}

#[test]
fn attacks_are_caught_from_their_scope_on() {
    for section in sections().iter().filter(|section| section.is_pattern()) {
        let id = section.title.as_str();
        for attack in &section.attacks {
            for scope in [Scope::All, Scope::Context, Scope::Strict] {
                let found = ids(attack, scope);
                assert_eq!(found.contains(&id), scope >= section.scope, "{attack:?} at {scope} gives {found:?}");
            }
        }
    }
}

#[test]
fn everyday_twins_pass_at_strict() {
    let mut caught = Vec::new();
    for section in sections() {
        for twin in section.twins {
            let found = ids(&twin, Scope::Strict);
            if !found.is_empty() {
                caught.push((section.title.clone(), twin, found));
            }
        }
    }
    assert!(caught.is_empty(), "{caught:#?}");
}
