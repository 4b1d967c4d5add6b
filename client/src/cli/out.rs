//! Standard output: tables for people, JSON for programs.

use std::io::{IsTerminal, Read, Write};
use std::path::Path;

use serde::Serialize;

use super::Common;
use super::exit::Failure;

/// Prints a result: as JSON when that is asked for, else as text.
pub(crate) fn show<T: Serialize>(common: &Common, result: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
    if common.json { json(result) } else { line(&text(result)) }
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::File(error.to_string()))?;
    line(&text)
}

/// Prints a text and ends the line.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    if std::io::stdout().is_terminal() {
        return bytes(format!("{}{newline}", harmless(text)).as_bytes());
    }
    bytes(format!("{text}{newline}").as_bytes())
}

/// A text that can't move the cursor or change colours: what models wrote stands
/// in it.
fn harmless(text: &str) -> String {
    let visible = |char: char| if char.is_control() && !matches!(char, '\n' | '\t') { '\u{fffd}' } else { char };
    text.chars().map(visible).collect()
}

/// Prints bytes as they are. A reader that went away is no error.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::Closed),
        Err(error) => Err(Failure::File(format!("standard output: {error}"))),
    }
}

/// Two columns, the left one as wide as its longest cell.
pub(crate) fn columns(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        text.push_str(&format!("{name:width$}  {value}\n"));
        text
    })
}

/// A size in bytes, for people.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4);
    match unit {
        0 => format!("{bytes} B"),
        unit => format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * unit)) as f64, units[unit as usize]),
    }
}

/// A number with commas between groups of three digits.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Reads a file of the user, or standard input for `-`.
pub(crate) fn read_input(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", path.display()));
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers_are_for_people() {
        assert_eq!([0, 1023, 1024, 1536, 5 << 30].map(size), ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 GiB"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
