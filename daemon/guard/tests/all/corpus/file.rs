//! Reading the files of the corpora.
//!
//! Each line begins with a mark and a space: `==` a section, named by the id of a pattern or by
//! a kind of note; `@ origin:` where the ideas of the lines below come from, up to the next such
//! line; `!` an attack; `-` a benign text; `#` a comment. `\n` and `\t` stand for a line's end and
//! a tab, `\u{...}` for a character that is hard to see.

use herma_guard::{FindingId, Scope};

/// The files, each with the smallest scope that looks for its patterns, or the widest at which
/// its notes pass.
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
    /// The id of the pattern, or the kind of the notes.
    pub(crate) title: String,
    /// The smallest scope that looks for the pattern; the widest at which the notes pass.
    pub(crate) scope: Scope,
    pub(crate) attacks: Vec<Text>,
    pub(crate) benign: Vec<Text>,
}

/// One text.
pub(crate) struct Text {
    pub(crate) text: String,
    /// Where its idea comes from; the wording is our own. Empty if the file does not say.
    pub(crate) origin: &'static str,
}

impl Section {
    pub(crate) fn is_pattern(&self) -> bool {
        FindingId::all().any(|id| id.as_str() == self.title)
    }

    /// The widest scope at which the benign texts pass: those beside a pattern pass at all of them.
    pub(crate) fn passes_at(&self) -> Scope {
        if self.is_pattern() { Scope::Strict } else { self.scope }
    }

    pub(crate) fn is_invisible(&self) -> bool {
        self.title.starts_with("invisible_unicode_")
    }
}

/// Every section of every file.
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
