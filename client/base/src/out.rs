//! Standard output: tables for people, JSON for programs.

mod bar;
mod colour;
mod locale;
mod mark;
mod screen;
mod table;

use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use herma_client::ClientError;
use herma_client::protocol::visible::visible;
use herma_client::protocol::{RpcError, limits};
use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{Common, Failure};

pub use bar::{BarStyle, bar, share};
pub use colour::{Colour, choose, is_coloured, wants_colours};
pub use locale::ellipsis;
pub use mark::{Mark, MarkedText};
pub use screen::{ago, paged, when, width};
pub use table::{Align, columns, padded, room, shown_width, sided, table};

/// The format of a date and time.
const TIME: &str = "%Y-%m-%d %H:%M:%S";

/// Clears the terminal line that contains the cursor.
pub const CLEAR_LINE: &str = "\r\u{1b}[K";

const GREEN: &str = "\u{1b}[32m";
const RED: &str = "\u{1b}[31m";
const PLAIN: &str = "\u{1b}[0m";

/// Prints a failure to standard error and returns its exit code.
pub fn report(failure: &Failure, json: bool) -> ExitCode {
    let line = match (failure, failure.words()) {
        (_, None) => return ExitCode::from(failure.code()),
        (Failure::Client(ClientError::Rpc(error)), Some(_)) if json => refusal(error).to_string(),
        (_, Some(words)) if json => json!({ "error": { "message": words } }).to_string(),
        (_, Some(words)) => format!("herma: {words}"),
    };
    error(&line);
    ExitCode::from(failure.code())
}

fn refusal(error: &RpcError) -> Value {
    let mut described = json!({ "kind": error.kind.name(), "code": error.kind.code(), "message": error.message });
    if let (Some(described), Some(details)) = (described.as_object_mut(), &error.details) {
        described.insert("data".into(), serde_json::from_str(details.get()).unwrap_or_default());
    }
    json!({ "error": described })
}

/// Prints a result: as JSON with `--json`, else as text.
pub fn show<T: Serialize>(common: &Common, result: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
    if common.json { json(result) } else { page(&text(result)) }
}

/// Prints a value as JSON. A program may read it on a terminal, so there is no pager.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::File(error.to_string()))?;
    let text = if std::io::stdout().is_terminal() { visible(&text) } else { text.into() };
    bytes(format!("{text}\n").as_bytes())
}

/// Prints a result and ends the line. On a terminal, one that is longer than the screen goes through a pager.
pub fn page(text: &str) -> Result<(), Failure> {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    self::text(&format!("{text}{newline}"))
}

/// Prints a text and ends the line, without a pager: something follows.
pub fn line(text: &str) -> Result<(), Failure> {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    piece(&format!("{text}{newline}"))
}

/// Prints a part of foreign text, without a pager. On a terminal, characters that move the cursor or change colours are
/// made visible.
pub fn piece(text: &str) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() { bytes(visible(text).as_bytes()) } else { bytes(text.as_bytes()) }
}

/// Prints a line to a program that may have closed its end. Errors are ignored.
pub fn say(text: &str) {
    drop(bytes(format!("{text}\n").as_bytes()));
}

/// Prints a whole foreign text without ending the line. On a terminal, characters that move the cursor or change colours are
/// made visible, and a pager shows what is longer than the screen. A file or another program gets the text unchanged.
pub fn text(text: &str) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() { paged(&visible(text)) } else { bytes(text.as_bytes()) }
}

/// Prints a line to standard error. If standard error is closed, the message is lost.
pub fn error(words: &str) {
    let mut errors = std::io::stderr();
    drop(if errors.is_terminal() { writeln!(errors, "{}", visible(words)) } else { writeln!(errors, "{words}") });
}

/// Prints a text in which new lines begin with `+` and removed lines with `-`. On a terminal with colours, both are
/// coloured.
pub fn changes(text: &str) -> Result<(), Failure> {
    if !is_coloured() {
        return line(text);
    }
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    paged(&format!("{}{newline}", painted(&visible(text))))
}

fn painted(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.as_bytes().first() {
        Some(b'+') => format!("{GREEN}{line}{PLAIN}"),
        Some(b'-') => format!("{RED}{line}{PLAIN}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Prints a note to standard error, in addition to the result, unless the command is quiet.
pub fn note(common: &Common, words: &str) {
    if !common.quiet {
        problem(common, words);
    }
}

/// Prints to standard error what went wrong with a part of the work, or what a person must know to lose nothing.
pub fn problem(common: &Common, words: &str) {
    error(&if common.json { json!({ "note": words }).to_string() } else { format!("herma: {words}") });
}

/// Prints a report to standard error, because standard output has the result, unless the command is quiet.
pub fn report_aside(common: &Common, words: &str) {
    if !common.quiet {
        error(words.trim_end_matches('\n'));
    }
}

/// Prints bytes unchanged. If the reader closed its end, the error is `Failure::Closed`, whose exit code is 0.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::Closed),
        Err(error) => Err(Failure::File(format!("standard output: {error}"))),
    }
}

/// Returns a count with its noun: `1 entry`, `2 entries`.
pub fn count_noun(count: usize, one: &str, many: &str) -> String {
    let name = if count == 1 { one } else { many };
    format!("{} {name}", thousands(u64::try_from(count).unwrap_or(u64::MAX)))
}

/// Returns a large count with its noun: `1 message`, `1,200 messages`.
pub fn count_of(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// Returns a text as one line of at most `columns` columns of a terminal. A wide char takes two.
pub fn cut(text: &str, columns: usize) -> String {
    shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), columns, ellipsis())
}

fn shortened(line: &str, columns: usize, ellipsis: &str) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut room = columns.saturating_sub(ellipsis.width());
    let fits = |char: &char| {
        let left = room.checked_sub(char.width().unwrap_or(0));
        left.inspect(|left| room = *left).is_some()
    };
    let kept: String = line.chars().take_while(fits).collect();
    format!("{kept}{ellipsis}")
}

/// Returns a text as one line, which on a terminal has at most so many columns.
pub fn fit(text: &str, columns: usize) -> String {
    cut(text, if std::io::stdout().is_terminal() { columns } else { usize::MAX })
}

/// Returns a path with `~` for the user's folder.
pub fn short(path: &Path) -> String {
    let user = std::env::var_os("HOME").map(PathBuf::from).filter(|user| user.components().count() > 1);
    match user.as_deref().and_then(|user| path.strip_prefix(user).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Returns Unix seconds as the local date and time, or the number itself if it is outside the calendar.
pub fn local_time(seconds: f64) -> String {
    time_in(seconds, jiff::tz::TimeZone::system())
}

/// Returns the local date and time of now.
pub fn now() -> String {
    jiff::Zoned::now().strftime(TIME).to_string()
}

#[expect(clippy::cast_possible_truncation, reason = "seconds that don't fit are refused by the calendar")]
fn time_in(seconds: f64, zone: jiff::tz::TimeZone) -> String {
    match jiff::Timestamp::from_second(seconds.floor() as i64) {
        Ok(time) => time.to_zoned(zone).strftime(TIME).to_string(),
        Err(_) => format!("{seconds}"),
    }
}

/// Returns the local time of day, for lines that report events as they happen.
pub fn clock() -> String {
    jiff::Zoned::now().strftime("%H:%M:%S").to_string()
}

/// Formats a duration in microseconds for people.
pub fn microseconds(us: f64) -> String {
    if us < 1000.0 { format!("{us:.0} µs") } else { format!("{:.1} ms", us / 1000.0) }
}

/// Formats a size in bytes for people.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4);
    match unit {
        0 => format!("{bytes} B"),
        unit => format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * unit)) as f64, units[unit as usize]),
    }
}

/// Formats a number with commas between groups of three digits.
pub fn thousands(number: u64) -> String {
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

/// The most bytes read from a file or standard input: the largest request that any daemon can be configured to accept.
const INPUT: u64 = limits::FRAME_CEILING as u64;

/// Returns the text of an argument, or standard input for `-`.
pub fn text_or_input(argument: &str) -> Result<String, Failure> {
    match argument {
        "-" => read_input(Path::new("-")),
        text => Ok(text.to_owned()),
    }
}

/// Reads a file of the user, or standard input for `-`.
pub fn read_input(path: &Path) -> Result<String, Failure> {
    read_at_most(path, INPUT)
}

/// Reads a file of the user, or standard input for `-`, with a limit in bytes.
pub fn read_at_most(path: &Path, most: u64) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        // A text may be meant.
        let advice = if error.kind() == std::io::ErrorKind::NotFound {
            "; a text goes to standard input, with - as the file"
        } else {
            ""
        };
        Failure::File(format!("{}: {error}{advice}", path.display()))
    };
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(failed)?)
    };
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        return Err(Failure::File(format!("{}: it is longer than {}", path.display(), size(most))));
    }
    in_utf8(bytes).map_err(|words| Failure::File(format!("{}: {words}", path.display())))
}

/// Returns the bytes as text, or a message with the place of the first byte that is not UTF-8.
fn in_utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let (good, bad) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = good.split(|byte| *byte == b'\n').count();
        let byte = bad.first().copied().unwrap_or_default();
        format!(
            "byte {} (0x{byte:02x}, in line {line}) is not UTF-8; convert the file first, with iconv for instance",
            good.len() + 1
        )
    })
}

/// Returns an error if there is no terminal to ask in, before anything is prepared for a question.
///
/// # Errors
/// There is no terminal. `instead` says which options make the question unnecessary.
pub fn can_ask(instead: &str) -> Result<(), Failure> {
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        return Ok(());
    }
    Err(Failure::Usage(format!("no terminal to ask for confirmation; {instead}")))
}

/// Asks the user a question in the terminal and returns whether the answer is yes.
///
/// # Errors
/// There is no terminal. `instead` says which options make the question unnecessary.
pub fn ask(question: &str, instead: &str) -> Result<bool, Failure> {
    can_ask(instead)?;
    Ok(confirm(question, &mut std::io::stdin().lock(), &mut std::io::stderr()))
}

/// Asks a question and returns whether the answer is yes. Any other answer means no.
pub fn confirm(question: &str, answers: &mut impl BufRead, asks: &mut impl Write) -> bool {
    matches!(answer(question, answers, asks).as_str(), "y" | "yes")
}

/// Asks a question and returns the answer in lower case; an empty one if nobody answers.
pub fn answer(question: &str, answers: &mut impl BufRead, asks: &mut impl Write) -> String {
    let mut answer = String::new();
    let asked = write!(asks, "{question}").and_then(|()| asks.flush());
    match asked.and_then(|()| answers.read_line(&mut answer)) {
        Ok(_) => answer.trim().to_lowercase(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers_are_for_people() {
        assert_eq!([0, 1023, 1024, 1536, 5 << 30].map(size), ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 GiB"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_with_the_place() {
        assert_eq!(in_utf8("é\n".into()), Ok("é\n".to_owned()));
        for (bytes, expected) in
            [(&b"\xff\xfe["[..], "byte 1 (0xff, in line 1)"), (b"a\n\xc3\xa9\nb\xe9", "byte 7 (0xe9, in line 3)")]
        {
            let words = in_utf8(bytes.to_vec()).unwrap_err();
            assert!(words.starts_with(expected) && words.contains("iconv"), "{words}");
        }
    }

    #[test]
    fn texts_are_cut_to_one_line() {
        for (text, columns, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("日本語", 2, "…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ] {
            assert_eq!(shortened(text, columns, "…"), expected);
        }
        assert_eq!(shortened("longer", 5, "..."), "lo...");
        assert_eq!(cut("two\n  lines", 20), "two lines");
    }

    #[test]
    fn things_are_counted_in_words() {
        assert_eq!(
            [0, 1, 1200].map(|count| count_noun(count, "entry", "entries")),
            ["0 entries", "1 entry", "1,200 entries"]
        );
    }

    #[test]
    fn times_are_local_and_never_fail() {
        let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(2));
        for (seconds, expected) in [
            (0.0, "1970-01-01 02:00:00"),
            (1_700_000_000.9, "2023-11-15 00:13:20"),
            (1e30, "1000000000000000000000000000000"),
        ] {
            assert_eq!(time_in(seconds, zone.clone()), expected);
        }
    }

    #[test]
    fn only_changes_are_painted() {
        assert_eq!(painted("+ a\n- b\n  c\n"), "\u{1b}[32m+ a\u{1b}[0m\n\u{1b}[31m- b\u{1b}[0m\n  c\n");
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        for (answer, expected) in
            [("y\n", true), (" Yes \n", true), ("n\n", false), ("\n", false), ("", false), ("yep\n", false)]
        {
            let mut asked = Vec::new();
            assert_eq!(confirm("Sure? ", &mut answer.as_bytes(), &mut asked), expected, "{answer:?}");
            assert_eq!(asked, b"Sure? ");
        }
    }

    #[test]
    fn a_program_gets_the_data_of_a_refusal() {
        let plain = RpcError::new(herma_client::protocol::ErrorKind::Conflict, "there is a gap");
        let kind = json!({ "kind": "conflict", "code": -32006, "message": "there is a gap" });
        assert_eq!(refusal(&plain), json!({ "error": kind }));
        let described = refusal(&plain.with_details(&json!({ "generation": 2, "position": 7 })));
        assert_eq!(described["error"]["data"], json!({ "generation": 2, "position": 7 }));
    }
}
