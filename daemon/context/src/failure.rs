//! Whether a tool output reports a failure.

use std::ops::Range;
use std::sync::LazyLock;

use crate::pattern::Pattern;

static FAILURE: LazyLock<Pattern> =
    LazyLock::new(|| crate::pattern(r"(?i)\b(?:error|failed|exception|traceback|timeout|timed out|fatal)\b"));

/// Returns the first place where an output reports a failure. A field such as `error` with an empty value
/// does not count.
pub(crate) fn failure(output: &str) -> Option<Range<usize>> {
    FAILURE.find_iter(output).find(|found| says_so(output, found.end())).map(|found| found.range())
}

/// Whether a word of failure that ends at `end` is more than the name of an empty field.
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
