//! The entry of a store that a person means: by its number in the list, or by its text.

use herma_base::{CliContext, Failure};
use herma_client::Client;
use herma_client::protocol::memory::Target;

use super::view::{self, Entries};

/// An entry, as a write names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The text of the entry, or a part of it.
    pub(super) old_text: String,
    /// The revision that the number counts in. `None` if the entry is named by its text.
    pub(super) revision: Option<u64>,
}

/// Returns the entry that `named` means. A number is the place in `herma memory list`, unless it is also in the text of
/// another entry.
pub(super) fn resolve(
    context: &CliContext<'_>,
    client: &mut Client,
    target: Target,
    named: &str,
) -> Result<Named, Failure> {
    let Some(number) = number(named) else { return Ok(Named { old_text: named.to_owned(), revision: None }) };
    let view = view::view(context, client, target, Entries::Raw)?;
    let meant = choose(&view.entries, number, named).map_err(|other| {
        let look = context.common.command("memory list");
        Failure::Usage(format!(
            "{named:?} may be the number of an entry, and is in the text of entry {other}; give some words of the one that you mean (`{look}`)"
        ))
    })?;
    Ok(match meant {
        Some(entry) => Named { old_text: entry.clone(), revision: Some(view.revision) },
        None => Named { old_text: named.to_owned(), revision: None },
    })
}

fn number(named: &str) -> Option<usize> {
    named.bytes().all(|byte| byte.is_ascii_digit()).then(|| named.parse().ok()).flatten()
}

/// Returns the entry with the number, or `None` if there is none and no entry has the number in its text.
///
/// # Errors
/// The number of another entry whose text has the number in it.
fn choose<'a>(entries: &'a [String], number: usize, named: &str) -> Result<Option<&'a String>, usize> {
    let meant = number.checked_sub(1).and_then(|before| entries.get(before));
    match entries.iter().zip(1..).find(|(other, at)| *at != number && other.contains(named)) {
        Some((_, at)) => Err(at),
        None => Ok(meant),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_place_unless_it_may_be_text() {
        let entries = ["uses gcc 14", "tea", "port 3"].map(str::to_owned);
        for (named, expected) in [
            ("1", Ok(Some("uses gcc 14"))),
            ("2", Ok(Some("tea"))),
            ("3", Ok(Some("port 3"))),
            ("0", Ok(None)),
            ("4", Err(1)),
            ("14", Err(1)),
            ("5", Ok(None)),
        ] {
            let found = choose(&entries, number(named).unwrap(), named).map(|entry| entry.map(String::as_str));
            assert_eq!(found, expected, "{named}");
        }
        let other = ["tea", "1 cup"].map(str::to_owned);
        assert_eq!(choose(&other, 1, "1"), Err(2));
        assert_eq!(["", "tea", "-1", "1.", "99999999999999999999999"].map(number), [None; 5]);
    }
}
