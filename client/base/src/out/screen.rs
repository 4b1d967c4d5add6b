//! What a person at a terminal gets: a pager for what is longer than the screen, and times in relation to now.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use signal_hook::consts::SIGINT;
use signal_hook::{flag, low_level};
use terminal_size::{Height, Width, terminal_size};
use unicode_width::UnicodeWidthStr;

use super::{bytes, local_time};
use crate::Failure;

/// The pager if no variable names one. It ends by itself if all fits, and shows colours.
const PAGER: &str = "less -FRX";

/// The variables that name a pager, the first one counts. An empty one, or `cat`, means none.
const VARIABLES: [&str; 2] = ["HERMA_PAGER", "PAGER"];

/// The variable with the options of less: end if all fits, show colours, leave the screen as it is.
const LESS: &str = "LESS";

/// Seconds of a minute, an hour and a day.
const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// Returns the columns of the terminal that standard output is; `None` if it is none.
#[must_use]
pub fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let (Width(width), _) = terminal_size()?;
    Some(usize::from(width))
}

/// Prints a text that may be long: through a pager if it is longer than the terminal. Foreign parts of the text must be
/// visible already, because colours pass.
///
/// # Errors
/// Standard output can't be written.
pub fn paged(long: &str) -> Result<(), Failure> {
    // A terminal without a name, or a "dumb" one, can't move its cursor.
    let is_able = std::env::var("TERM").is_ok_and(|name| !matches!(name.as_str(), "" | "dumb"));
    let is_seen = is_able && std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let rows = terminal_size().map_or(usize::MAX, |(_, Height(rows))| usize::from(rows));
    if !is_seen || shown_rows(long, width().unwrap_or(usize::MAX)) < rows || !through_pager(long) {
        return bytes(long.as_bytes());
    }
    Ok(())
}

/// Returns how many rows of a terminal a text takes.
fn shown_rows(text: &str, columns: usize) -> usize {
    text.lines().map(|line| line.width().div_ceil(columns.max(1)).max(1)).sum()
}

/// Pipes a text into the pager. Returns false if there is none.
fn through_pager(long: &str) -> bool {
    let named = VARIABLES.iter().find_map(|name| std::env::var(name).ok());
    let command = named.unwrap_or_else(|| PAGER.to_owned());
    if matches!(command.trim(), "" | "cat") {
        return false;
    }
    let mut pager = Command::new("sh");
    pager.args(["-c", &format!("exec {command}")]).stdin(Stdio::piped());
    if std::env::var_os(LESS).is_none() {
        pager.env(LESS, "FRX");
    }
    // Ctrl-C is for the pager, which stays.
    let ignored = flag::register(SIGINT, Arc::default());
    let pager = pager.spawn();
    let Ok(mut pager) = pager else { return false };
    // A pager that is left early reads no further.
    drop(pager.stdin.take().map(|mut input| input.write_all(long.as_bytes())));
    let ended = pager.wait();
    ignored.ok().map(low_level::unregister);
    // A shell that finds no such program ends with this code.
    ended.is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

/// Returns a time for people: in relation to now on a terminal, else as date and time.
#[must_use]
pub fn when(seconds: f64) -> String {
    if std::io::stdout().is_terminal() { ago(seconds) } else { local_time(seconds) }
}

/// Returns how long ago a time was; the date if it is more than a week ago or in the future.
#[must_use]
pub fn ago(seconds: f64) -> String {
    // Whole seconds would put what happened in this second into the future.
    relative(seconds, jiff::Timestamp::now().as_duration().as_secs_f64())
}

fn relative(seconds: f64, now: f64) -> String {
    let ago = now - seconds;
    match ago {
        _ if !(0.0..7.0 * DAY).contains(&ago) => local_time(seconds).split(' ').next().unwrap_or_default().to_owned(),
        ..MINUTE => "just now".to_owned(),
        ..HOUR => format!("{:.0} min ago", (ago / MINUTE).floor()),
        ..DAY => format!("{:.0} h ago", (ago / HOUR).floor()),
        _ if ago < 2.0 * DAY => "yesterday".to_owned(),
        _ => format!("{:.0} days ago", (ago / DAY).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        let now = 1_790_000_000.0;
        for (ago, expected) in [
            (0.0, "just now"),
            (59.0, "just now"),
            (60.0, "1 min ago"),
            (3_599.0, "59 min ago"),
            (2.0 * HOUR, "2 h ago"),
            (30.0 * HOUR, "yesterday"),
            (3.0 * DAY, "3 days ago"),
        ] {
            assert_eq!(relative(now - ago, now), expected, "{ago}");
        }
        let date = |seconds: f64| local_time(seconds)[..10].to_owned();
        for seconds in [now - 8.0 * DAY, now + HOUR] {
            assert_eq!(relative(seconds, now), date(seconds));
        }
    }
}
