//! Whether an output says that something failed.

use std::ops::Range;
use std::sync::LazyLock;

use crate::pattern::Pattern;

static FAILURE: LazyLock<Pattern> =
    LazyLock::new(|| crate::pattern(r"(?i)\b(?:error|failed|exception|traceback|timeout|timed out|fatal)\b"));

/// Where an output says so first, if it does; a field of that name that says that there is none does not.
pub(crate) fn failure(output: &str) -> Option<Range<usize>> {
    FAILURE.find_iter(output).find(|found| says_so(output, found.end())).map(|found| found.range())
}

/// Whether a word of failure at `end` is more than the name of an empty field.
fn says_so(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or("");
    let value = rest.trim_start_matches(['"', '\'', ' ']);
    let Some(value) = value.strip_prefix(':').map(str::trim_start) else {
        return true;
    };
    !["null", "None", "false", "False", "\"\"", "''", "0,", "0}", "[]", "{}"]
        .iter()
        .any(|empty| value.starts_with(empty))
}
