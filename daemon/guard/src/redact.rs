//! Taking the secrets out of a text.
//!
//! One pass for each kind of secret, and before them one for what is left of secrets that were
//! masked; each works on what the one before it left. A pass lists its [`Edit`]s; it jumps from
//! one byte that a secret cannot do without to the next (`=`, `:`, `+`, a key's first letters)
//! and looks at the neighbourhood by hand, so that ordinary text costs little and no text costs
//! more than linear time.

use std::borrow::Cow;
use std::ops::Range;

mod assignment;
mod bearer;
mod database_url;
mod form;
mod json_field;
mod jwt;
mod key_prefix;
mod pem;
mod phone;
mod remains;
mod telegram;

pub use json_field::is_secret_field;

/// Tokens of fewer chars are masked whole: what [`mask`] would leave of them gives too much away.
const SHORT_TOKEN: usize = 18;

/// What stands for a secret of which nothing is shown.
const HIDDEN: &str = "***";

/// What stands for a secret where its place is all that may be told.
const REMOVED: &str = "[REDACTED]";

/// How a text is to be redacted. The default is that of ordinary text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RedactOptions {
    /// Whether the text is the content of a source file.
    pub code: CodeFile,
    /// How much of a secret stays.
    pub shown: Shown,
}

/// How much of a secret stays in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shown {
    /// Of a long one its first and last letters, by which its owner knows it.
    #[default]
    Ends,
    /// Nothing, neither of a secret nor of one that was masked before.
    Nothing,
}

impl Shown {
    /// What stands for a secret. A placeholder stays what it is.
    fn of(self, secret: &str) -> String {
        let is_placeholder =
            secret.strip_prefix(REMOVED.trim_end_matches(']')).is_some_and(|rest| rest.trim_matches(']').is_empty());
        match self {
            _ if is_placeholder => secret.to_owned(),
            Self::Ends => mask(secret),
            Self::Nothing => REMOVED.to_owned(),
        }
    }
}

/// Whether a text is source code, where `API_KEY = …` and `"token": …` are mostly program, not
/// secret: the passes over assignments and JSON fields leave it alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodeFile {
    /// Ordinary text: prose, logs, output of tools.
    #[default]
    No,
    /// A source file.
    Yes,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed if it held no secret.
    pub text: Cow<'a, str>,
    /// How many replacements changed something. One secret may be replaced by several passes.
    pub count: usize,
}

/// One replacement that a pass asks for.
struct Edit {
    /// The bytes to be replaced. The edits of a pass are in ascending order and do not overlap.
    range: Range<usize>,
    /// What stands there instead.
    with: String,
}

/// One kind of secret.
struct Pass {
    /// Lists all edits of a text.
    edits: fn(&str, Shown) -> Vec<Edit>,
    /// Which texts it looks at.
    over: Texts,
}

/// Which texts a pass looks at.
enum Texts {
    Any,
    NoCode,
}

const PASSES: [Pass; 11] = [
    Pass::new(remains::edits, Texts::Any),
    Pass::new(key_prefix::edits, Texts::Any),
    Pass::new(assignment::edits, Texts::NoCode),
    Pass::new(json_field::edits, Texts::NoCode),
    Pass::new(bearer::edits, Texts::Any),
    Pass::new(telegram::edits, Texts::Any),
    Pass::new(pem::edits, Texts::Any),
    Pass::new(database_url::edits, Texts::Any),
    Pass::new(jwt::edits, Texts::Any),
    Pass::new(form::edits, Texts::Any),
    Pass::new(phone::edits, Texts::Any),
];

impl Pass {
    const fn new(edits: fn(&str, Shown) -> Vec<Edit>, over: Texts) -> Self {
        Self { edits, over }
    }

    fn looks_at(&self, code: CodeFile) -> bool {
        match self.over {
            Texts::Any => true,
            Texts::NoCode => code == CodeFile::No,
        }
    }
}

/// Replaces every secret it knows the shape of. Never fails; a text without secrets comes back
/// as it was, not copied.
pub fn redact(text: &str, options: RedactOptions) -> Redacted<'_> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), count: 0 };
    for pass in PASSES.iter().filter(|pass| pass.looks_at(options.code)) {
        redacted.apply(&(pass.edits)(&redacted.text, options.shown));
    }
    redacted
}

/// What is shown of a secret: nothing of a short one, of a long one the first 6 and last 4 chars.
pub fn mask(token: &str) -> String {
    let length = token.chars().count();
    if length < SHORT_TOKEN {
        return HIDDEN.to_owned();
    }
    let head: String = token.chars().take(6).collect();
    let tail: String = token.chars().skip(length - 4).collect();
    format!("{head}...{tail}")
}

impl Redacted<'_> {
    /// Carries out the edits that change anything, and counts them.
    fn apply(&mut self, edits: &[Edit]) {
        let old = &*self.text;
        let mut new = String::new();
        let mut copied = 0;
        for edit in edits.iter().filter(|edit| old[edit.range.clone()] != edit.with) {
            new.push_str(&old[copied..edit.range.start]);
            new.push_str(&edit.with);
            copied = edit.range.end;
            self.count += 1;
        }
        if copied > 0 {
            new.push_str(&old[copied..]);
            self.text = Cow::Owned(new);
        }
    }
}

/// The edits round the given places. A place inside an earlier edit is passed over, and so is an
/// edit that begins in one: two fields may share a quote.
fn disjoint(places: impl Iterator<Item = usize>, edit_at: impl Fn(usize) -> Option<Edit>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut done = 0;
    for place in places {
        if place < done {
            continue;
        }
        if let Some(edit) = edit_at(place).filter(|edit| edit.range.start >= done) {
            done = edit.range.end;
            edits.push(edit);
        }
    }
    edits
}

/// The letters of most keys: ASCII letters and digits, `_` and `-`.
fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Where the run of bytes of one kind ends that begins at `from`; `from` itself if there is none.
fn run_end(text: &str, from: usize, is_member: fn(u8) -> bool) -> usize {
    let rest = &text.as_bytes()[from..];
    let length = rest.iter().position(|byte| !is_member(*byte));
    from + length.unwrap_or(rest.len())
}

/// Where the run of bytes of one kind begins that ends at `to`; `to` itself if there is none.
fn run_start(text: &str, to: usize, is_member: fn(u8) -> bool) -> usize {
    let before = &text.as_bytes()[..to];
    let last_other = before.iter().rposition(|byte| !is_member(*byte));
    last_other.map_or(0, |at| at + 1)
}

/// The byte before `at`, if there is one.
fn byte_before(text: &str, at: usize) -> Option<u8> {
    text.as_bytes()[..at].last().copied()
}
