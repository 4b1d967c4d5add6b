//! Pass 7: passwords in the URLs of databases and message brokers.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::memrchr;

use super::{Edit, HIDDEN, MaskStyle, disjoint};

/// The schemes, compared without case. Web URLs are not included.
const SCHEMES: [&str; 7] = ["postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "redis", "amqp"];

/// How many bytes after `://` are searched for a user and a password. The limit keeps a line of
/// many schemes linear; a longer password is not recognised.
const LONGEST_USER_INFO: usize = 512;

/// The separator between scheme and address.
const MARK: &str = "://";

static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(MARK));

pub(super) fn edits(text: &str, _: MaskStyle) -> Vec<Edit> {
    disjoint(FINDER.find_iter(text.as_bytes()), |at| {
        if !ends_with_scheme(&text.as_bytes()[..at]) {
            return None;
        }
        let from = at + MARK.len();
        let (start, end) = password(&text[from..])?;
        Some(Edit { range: from + start..from + end, with: HIDDEN.to_owned() })
    })
}

fn ends_with_scheme(before: &[u8]) -> bool {
    SCHEMES.iter().any(|scheme| {
        let start = before.len().checked_sub(scheme.len());
        start.is_some_and(|start| before[start..].eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Returns start and end of the password in `rest`, the text after the scheme: `user:password@…`. A
/// raw `/` or `@` may be part of it, unless the text after the colon is a port.
fn password(rest: &str) -> Option<(usize, usize)> {
    let url = &rest[..rest.floor_char_boundary(LONGEST_USER_INFO)];
    let last_at = memrchr(b'@', url.as_bytes())?;
    let url = url[..=last_at].split(is_outside_url).next()?;
    let colon = url.find([':', '/', '@']).filter(|at| url[*at..].starts_with(':'))?;
    let rest = &url[colon + 1..];
    let slash = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let is_port = rest[..slash].bytes().all(|byte| byte.is_ascii_digit());
    let at = match rest[..slash].rfind('@') {
        Some(at) => at,
        None if is_port => return None,
        None => rest.find('@')?,
    };
    (at > 0).then_some((colon + 1, colon + 1 + at))
}

fn is_outside_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>')
}
