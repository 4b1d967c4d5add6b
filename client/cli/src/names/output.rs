//! The output that a person means: by its handle, or by the beginning of it.

use herma_base::Failure;
use herma_client::Client;
use herma_client::protocol::output::shelf::ListParams;

/// The beginning of every handle.
const PREFIX: &str = "out_";

/// The hex digits of a whole handle.
const DIGITS: usize = 20;

/// The fewest digits that name an output.
const FEWEST: usize = 4;

/// The most handles that an unclear beginning names.
const SHOWN: u64 = 10;

/// Returns the handle that `named` means, with the line behind it. A name that is no beginning of a handle stays as it
/// is: the daemon says why it can't be used.
pub(crate) fn resolve(client: &mut Client, named: &str) -> Result<String, Failure> {
    let Some((beginning, line)) = beginning(named) else { return Ok(named.to_owned()) };
    let asked = ListParams { prefix: Some(beginning.clone()), limit: Some(SHOWN), ..ListParams::default() };
    let found: Vec<String> = client.output_list(asked)?.outputs.into_iter().map(|row| row.handle).collect();
    match found.as_slice() {
        [] => Ok(named.to_owned()),
        [handle] => Ok(format!("{handle}{line}")),
        _ => {
            let handles = found.iter().map(|handle| format!("  {handle}")).collect::<Vec<_>>().join("\n");
            Err(Failure::Usage(format!("several outputs begin with {beginning}; give more of the handle:\n{handles}")))
        }
    }
}

/// Returns the beginning of a handle, and the line behind it. `None` if the name is a whole handle, or none.
fn beginning(named: &str) -> Option<(String, &str)> {
    let (handle, line) = named.split_at(named.find(':').unwrap_or(named.len()));
    // Tables and texts shorten handles.
    let handle = handle.trim_end_matches(['…', '.']);
    let digits = handle.strip_prefix(PREFIX).unwrap_or(handle);
    let is_beginning = (FEWEST..DIGITS).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_beginning.then(|| (format!("{PREFIX}{digits}"), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_told_from_whole_handles_and_other_names() {
        for (named, expected) in [
            ("out_1f2e", Some(("out_1f2e", ""))),
            ("1f2e", Some(("out_1f2e", ""))),
            ("out_1f2e…:120", Some(("out_1f2e", ":120"))),
            ("out_1f2e...", Some(("out_1f2e", ""))),
            ("1f2e:7", Some(("out_1f2e", ":7"))),
            ("out_0123456789abcdef0123", None),
            ("out_0123456789abcdef0123:4", None),
            ("out_1f2", None),
            ("out_", None),
            ("msg_1234", None),
            ("/tmp/1f2e", None),
            ("OUT_1F2E", None),
            ("", None),
        ] {
            let found = beginning(named);
            assert_eq!(found.as_ref().map(|(handle, line)| (handle.as_str(), *line)), expected, "{named}");
        }
    }
}
