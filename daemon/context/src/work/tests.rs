//! Results of single tests in the output of a test program.

use std::sync::LazyLock;

use crate::pattern::Pattern;

/// The most test lines of one output that are read.
const MOST: usize = 60;

/// The most bytes of a name.
const LONGEST: usize = 160;

static TOLD: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?m)^\s*(?:(?P<pytest>FAILED|ERROR|PASSED)\s+(?P<a>[\w./\\-]+::[\w:\[\].-]+)|(?P<b>[\w./\\-]+::[\w:\[\].-]+)\s+(?P<verbose>FAILED|ERROR|PASSED|SKIPPED)|test\s+(?P<c>[\w:]+)\s+\.\.\.\s+(?P<cargo>ok|FAILED|ignored)|---\s+(?P<go>FAIL|PASS):\s+(?P<d>[\w/.-]+))",
    )
});

/// Returns the tests in a text with their results, the last one first.
pub(super) fn results(text: &str) -> impl Iterator<Item = (&str, &'static str)> {
    let has_any = memchr::memmem::find(text.as_bytes(), b"FAIL").is_some()
        || memchr::memmem::find(text.as_bytes(), b"PASS").is_some()
        || memchr::memmem::find(text.as_bytes(), b" ... ok").is_some()
        || memchr::memmem::find(text.as_bytes(), b"ERROR ").is_some();
    let found: Vec<(&str, &'static str)> = if has_any {
        TOLD.captures_iter(text)
            .filter_map(|found| {
                let name = ["a", "b", "c", "d"].into_iter().find_map(|group| found.name(group))?;
                let result = ["pytest", "verbose", "cargo", "go"].into_iter().find_map(|group| found.name(group))?;
                (name.len() <= LONGEST).then(|| (name.as_str(), word(result.as_str())))
            })
            .collect()
    } else {
        Vec::new()
    };
    found.into_iter().rev().take(MOST)
}

fn word(described: &str) -> &'static str {
    match described {
        "ok" | "PASSED" | "PASS" => "passed",
        "ignored" | "SKIPPED" => "skipped",
        "ERROR" => "error",
        _ => "failed",
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn test_programs_are_understood() {
        let text = "FAILED tests/test_a.py::test_one - AssertionError\ntests/test_a.py::test_two PASSED [ 50%]\n\
                    test store::tests::keeps ... ok\ntest store::loses ... FAILED\n--- FAIL: TestThree (0.00s)\n";
        let mut found: Vec<_> = results(text).collect();
        found.reverse();
        assert_eq!(
            found,
            [
                ("tests/test_a.py::test_one", "failed"),
                ("tests/test_a.py::test_two", "passed"),
                ("store::tests::keeps", "passed"),
                ("store::loses", "failed"),
                ("TestThree", "failed")
            ]
        );
        assert_eq!(results("nothing FAILED here, PASSED there").count(), 0);
    }
}
