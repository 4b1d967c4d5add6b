//! Reads the files of the corpora.
//!
//! Each line begins with a mark and a space:
//!
//! - `==`: a section, named after the id of a pattern or a kind of note
//! - `@ origin:`: the origin of the ideas of the following lines, up to the next such line
//! - `!`: an attack
//! - `-`: a benign text
//! - `#`: a comment
//!
//! `\n` and `\t` are a newline and a tab, `\u{...}` is a character that is hard to see.

use herma_guard::{FindingId, Scope};

/// The files, each with the smallest scope that includes its patterns, or the widest scope at which its notes pass.
const FILES: [(&str, Scope); 21] = [
    (include_str!("../../corpus/attacks/instructions.txt"), Scope::All),
    (include_str!("../../corpus/attacks/hidden.txt"), Scope::All),
    (include_str!("../../corpus/attacks/exfiltration.txt"), Scope::All),
    (include_str!("../../corpus/attacks/invisible.txt"), Scope::All),
    (include_str!("../../corpus/attacks/persona.txt"), Scope::Context),
    (include_str!("../../corpus/attacks/beacons.txt"), Scope::Context),
    (include_str!("../../corpus/attacks/leaks.txt"), Scope::Strict),
    (include_str!("../../corpus/attacks/persistence.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/messages.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/access.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/agents.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/coding.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/operations.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/research.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/english.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/languages_of_europe.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/languages_of_asia.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/scripts.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/near_misses.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/nodes.txt"), Scope::Strict),
    (include_str!("../../corpus/benign/research_at_all.txt"), Scope::All),
];

/// One section of a file.
pub(crate) struct Section {
    /// The id of the pattern, or the kind of note.
    pub(crate) title: String,
    /// The smallest scope that includes the pattern, or the widest scope at which the notes pass.
    pub(crate) scope: Scope,
    pub(crate) attacks: Vec<Text>,
    pub(crate) benign: Vec<Text>,
}

/// One text.
pub(crate) struct Text {
    pub(crate) text: String,
    /// The origin of its idea; the wording is our own. Empty if the file names none.
    pub(crate) origin: &'static str,
}

impl Section {
    pub(crate) fn is_pattern(&self) -> bool {
        FindingId::all().any(|id| id.as_str() == self.title)
    }

    /// Returns the widest scope at which the benign texts pass. Those in a pattern's section pass at all scopes.
    pub(crate) fn passes_at(&self) -> Scope {
        if self.is_pattern() { Scope::Strict } else { self.scope }
    }

    pub(crate) fn is_invisible(&self) -> bool {
        self.title.starts_with("invisible_unicode_")
    }
}

/// Returns all sections of all files.
pub(crate) fn sections() -> Vec<Section> {
    FILES.into_iter().flat_map(read).collect()
}

fn read((file, scope): (&'static str, Scope)) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut origin = "";
    for line in file.lines().filter(|line| !line.is_empty()) {
        let (mark, rest) = line.split_once(' ').unwrap();
        let text = || Text { text: unescape(rest), origin };
        match mark {
            "==" => {
                sections.push(Section { title: rest.to_owned(), scope, attacks: Vec::new(), benign: Vec::new() });
                origin = "";
            }
            "@" => origin = rest.strip_prefix("origin: ").unwrap(),
            "!" => sections.last_mut().unwrap().attacks.push(text()),
            "-" => sections.last_mut().unwrap().benign.push(text()),
            "#" => {}
            other => panic!("a line begins with {other:?}"),
        }
    }
    sections
}

fn unescape(line: &str) -> String {
    let mut text = line.replace(r"\n", "\n").replace(r"\t", "\t");
    while let Some((before, rest)) = text.split_once(r"\u{") {
        let (code, after) = rest.split_once('}').unwrap();
        let c = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
        text = format!("{before}{c}{after}");
    }
    text
}
