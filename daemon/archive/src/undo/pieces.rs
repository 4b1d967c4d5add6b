//! A short text form of a list: the stored rows, and the messages of another list, that it consists of.

use std::fmt::Write;

/// The source of one message of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The row of this id.
    Row(i64),
    /// The message at this position of the list after the compression.
    After(u64),
}

impl Source {
    fn at(self, count: u64) -> Option<Self> {
        match self {
            Self::Row(id) => id.checked_add_unsigned(count).map(Self::Row),
            Self::After(place) => place.checked_add(count).map(Self::After),
        }
    }
}

/// Encodes the sources as text: `12+5` are five rows from id 12 on, `a3+2` two messages from position 3 on.
pub(crate) fn write(sources: impl Iterator<Item = Source>) -> String {
    let mut text = String::new();
    let mut run: Option<(Source, u64)> = None;
    for source in sources {
        run = match run {
            Some((first, count)) if first.at(count) == Some(source) => Some((first, count + 1)),
            before => {
                write_run(&mut text, before);
                Some((source, 1))
            }
        };
    }
    write_run(&mut text, run);
    text
}

fn write_run(text: &mut String, run: Option<(Source, u64)>) {
    let Some((first, count)) = run else { return };
    let space = if text.is_empty() { "" } else { " " };
    let written = match first {
        Source::Row(id) => write!(text, "{space}{id}+{count}"),
        Source::After(place) => write!(text, "{space}a{place}+{count}"),
    };
    debug_assert!(written.is_ok(), "a string takes everything");
}

/// Decodes a text that [`write`] made. Returns `None` for any other text, and for more than `most` sources.
pub(crate) fn read(text: &str, most: u64) -> Option<Vec<Source>> {
    let mut sources = Vec::new();
    let mut left = most;
    for run in text.split_ascii_whitespace() {
        let (first, count) = run.split_once('+')?;
        let count: u64 = count.parse().ok()?;
        left = left.checked_sub(count)?;
        let first = match first.strip_prefix('a') {
            Some(place) => Source::After(place.parse().ok()?),
            None => Source::Row(first.parse().ok()?),
        };
        for at in 0..count {
            sources.push(first.at(at)?);
        }
    }
    Some(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_short_and_come_back() {
        let cases = [
            (vec![], ""),
            (vec![Source::Row(7)], "7+1"),
            (vec![Source::Row(7), Source::Row(8), Source::Row(3)], "7+2 3+1"),
            (
                vec![Source::After(0), Source::After(1), Source::Row(1), Source::Row(2), Source::After(2)],
                "a0+2 1+2 a2+1",
            ),
        ];
        for (sources, text) in cases {
            assert_eq!(write(sources.iter().copied()), text);
            assert_eq!(read(text, 5), Some(sources), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["7", "7+", "+1", "b7+1", "a-1+1", "7+6", "9223372036854775807+2", "a18446744073709551615+2"] {
            assert_eq!(read(text, 5), None, "{text}");
        }
    }
}
