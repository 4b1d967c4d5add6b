//! Redaction: replaces the secrets in a text.
//!
//! There is one pass for each kind of secret, and a first pass for the remains of masked secrets.
//! Each pass works on the result of the previous one. A pass returns a list of [`Edit`]s. It jumps
//! between the bytes that every secret of its kind contains (`=`, `:`, `+`, the first letters of a
//! key), and checks their surroundings. So ordinary text costs little, and every text takes linear
//! time.

use std::borrow::Cow;
use std::ops::Range;

mod assignment;
mod bearer;
mod database_url;
mod form;
mod json_field;
mod jwt;
mod key_prefix;
mod masked_remains;
mod named_value;
mod pem;
mod phone;
mod secret_kind;
mod telegram;

pub use json_field::is_secret_field;
pub use named_value::is_named_secret;
pub use secret_kind::{SecretCounts, SecretKind};

/// Tokens with fewer chars are masked completely, because [`mask`] would reveal too much of them.
const SHORT_TOKEN: usize = 18;

/// The replacement for a secret of which nothing is shown.
const HIDDEN: &str = "***";

/// The replacement for a secret with `MaskStyle::Nothing`: it only marks the position.
const REMOVED: &str = "[REDACTED]";

/// Options of a redaction. The default is for ordinary text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RedactOptions {
    /// Whether the text is the content of a source file.
    pub code: CodeFile,
    /// How much of a secret stays visible.
    pub shown: MaskStyle,
    /// Whether random values count as secrets by their names alone.
    pub names: NamedValues,
}

/// Which values count as secrets by the names before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NamedValues {
    /// Those of variables in capitals, and of fields with an exact name.
    #[default]
    Exact,
    /// Also random values under any name that ends like one of a secret, such as `datadog_token`.
    Any,
}

/// How much of a secret stays visible in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MaskStyle {
    /// The first and last letters of a long secret, so that its owner recognises it.
    #[default]
    Ends,
    /// The same, and a secret that was masked before stays as it is.
    EndsOnce,
    /// Nothing, also of a secret that was masked before.
    Nothing,
}

impl MaskStyle {
    /// Returns the replacement for a secret. A placeholder is not replaced again.
    fn of(self, secret: &str) -> String {
        let is_placeholder =
            secret.strip_prefix(REMOVED.trim_end_matches(']')).is_some_and(|rest| rest.trim_matches(']').is_empty());
        match self {
            _ if is_placeholder => secret.to_owned(),
            Self::EndsOnce if is_mask(secret) => secret.to_owned(),
            Self::Ends | Self::EndsOnce => mask(secret),
            Self::Nothing => REMOVED.to_owned(),
        }
    }
}

/// Whether a text is source code. There `API_KEY = …` and `"token": …` are mostly code and not
/// secrets, so the passes over assignments and JSON fields skip it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodeFile {
    /// Ordinary text: prose, logs, tool outputs.
    #[default]
    No,
    /// A source file.
    Yes,
}

/// The result of a redaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed if it contains no secret.
    pub text: Cow<'a, str>,
    /// Number of replacements that changed something. Several passes may replace the same secret.
    pub count: usize,
    /// The replacements by the kind of the secret.
    pub kinds: SecretCounts,
}

/// One replacement by a pass.
struct Edit {
    /// The bytes to replace. The edits of a pass are in ascending order and do not overlap.
    range: Range<usize>,
    /// The replacement.
    with: String,
}

/// One pass of the redaction, for one kind of secret.
struct Pass {
    /// The kind of secret that it finds.
    kind: SecretKind,
    /// Returns all edits of a text.
    edits: fn(&str, MaskStyle) -> Vec<Edit>,
    /// The texts that it applies to.
    over: Texts,
}

/// The texts that a pass applies to.
enum Texts {
    Any,
    NoCode,
    /// Those in which random values count by their names.
    Named,
}

const PASSES: [Pass; 12] = [
    Pass::new(SecretKind::MaskedBefore, masked_remains::edits, Texts::Any),
    Pass::new(SecretKind::Key, key_prefix::edits, Texts::Any),
    Pass::new(SecretKind::Assignment, assignment::edits, Texts::NoCode),
    Pass::new(SecretKind::Field, json_field::edits, Texts::NoCode),
    Pass::new(SecretKind::Bearer, bearer::edits, Texts::Any),
    Pass::new(SecretKind::BotToken, telegram::edits, Texts::Any),
    Pass::new(SecretKind::PrivateKey, pem::edits, Texts::Any),
    Pass::new(SecretKind::Password, database_url::edits, Texts::Any),
    Pass::new(SecretKind::Jwt, jwt::edits, Texts::Any),
    Pass::new(SecretKind::FormField, form::edits, Texts::Any),
    Pass::new(SecretKind::NamedValue, named_value::edits, Texts::Named),
    Pass::new(SecretKind::Phone, phone::edits, Texts::Any),
];

impl Pass {
    const fn new(kind: SecretKind, edits: fn(&str, MaskStyle) -> Vec<Edit>, over: Texts) -> Self {
        Self { kind, edits, over }
    }

    fn looks_at(&self, options: RedactOptions) -> bool {
        match self.over {
            Texts::Any => true,
            Texts::NoCode => options.code == CodeFile::No,
            Texts::Named => options.names == NamedValues::Any,
        }
    }
}

/// Replaces every secret of a known form. Never fails; returns a text without secrets uncopied.
pub fn redact(text: &str, options: RedactOptions) -> Redacted<'_> {
    redact_each(text, options, &mut |_| {})
}

/// Does what [`redact`] does, and calls `found` with each secret that is replaced.
pub fn redact_each<'t>(text: &'t str, options: RedactOptions, found: &mut dyn FnMut(&str)) -> Redacted<'t> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), count: 0, kinds: SecretCounts::default() };
    for pass in PASSES.iter().filter(|pass| pass.looks_at(options)) {
        redacted.apply(pass.kind, &(pass.edits)(&redacted.text, options.shown), found);
    }
    redacted
}

/// Masks a secret: hides a short one completely, and shows the first 6 and last 4 chars of a long one.
pub fn mask(token: &str) -> String {
    let length = token.chars().count();
    if length < SHORT_TOKEN {
        return HIDDEN.to_owned();
    }
    let head: String = token.chars().take(6).collect();
    let tail: String = token.chars().skip(length - 4).collect();
    format!("{head}...{tail}")
}

/// Returns whether a text is what [`mask`] leaves of a long secret.
#[must_use]
pub fn is_mask(text: &str) -> bool {
    let mut chars = text.chars().skip(6);
    text.chars().count() == 13 && chars.by_ref().take(3).all(|char| char == '.')
}

impl Redacted<'_> {
    /// Applies the edits that change something, and counts them.
    fn apply(&mut self, kind: SecretKind, edits: &[Edit], found: &mut dyn FnMut(&str)) {
        let old = &*self.text;
        let mut new = String::new();
        let mut copied = 0;
        for edit in edits.iter().filter(|edit| old[edit.range.clone()] != edit.with) {
            new.push_str(&old[copied..edit.range.start]);
            new.push_str(&edit.with);
            copied = edit.range.end;
            found(&old[edit.range.clone()]);
            self.count += 1;
            self.kinds.add(kind, 1);
        }
        if copied > 0 {
            new.push_str(&old[copied..]);
            self.text = Cow::Owned(new);
        }
    }
}

/// Returns the edits around the given positions. Skips a position inside an earlier edit, and an
/// edit that begins inside one: two fields may share a quote.
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

/// Which bytes occur in most keys: ASCII letters and digits, `_` and `-`.
const KEY_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// Returns whether the byte occurs in most keys.
fn is_key_byte(byte: u8) -> bool {
    KEY_BYTES[usize::from(byte)]
}

/// Returns the end of the run of bytes of one kind that begins at `from`; `from` itself if there is none.
fn run_end(text: &str, from: usize, is_member: fn(u8) -> bool) -> usize {
    let rest = &text.as_bytes()[from..];
    let length = rest.iter().position(|byte| !is_member(*byte));
    from + length.unwrap_or(rest.len())
}

/// Returns the start of the run of bytes of one kind that ends at `to`; `to` itself if there is none.
fn run_start(text: &str, to: usize, is_member: fn(u8) -> bool) -> usize {
    let before = &text.as_bytes()[..to];
    let last_other = before.iter().rposition(|byte| !is_member(*byte));
    last_other.map_or(0, |at| at + 1)
}

/// Returns the byte before `at`, if there is one.
fn byte_before(text: &str, at: usize) -> Option<u8> {
    text.as_bytes()[..at].last().copied()
}
