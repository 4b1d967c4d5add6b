//! A progress bar on a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::out::{self, CLEAR_LINE};

/// The time between two drawings.
const PAUSE: Duration = Duration::from_millis(150);

/// The chars of the bar itself.
const WIDTH: usize = 24;

/// A line with a bar on standard error. It draws nothing if standard error is not a terminal.
#[derive(Debug)]
pub struct Progress {
    is_seen: bool,
    began: Instant,
    drawn: Option<Instant>,
    /// The bytes done before this run.
    from: u64,
    total: u64,
    /// The noun for one of the things that are counted next to the bar.
    noun: &'static str,
}

impl Progress {
    /// Creates a bar that starts at `from` of `total` bytes; `noun` names one of the counted things.
    #[must_use]
    pub fn new(is_wanted: bool, from: u64, total: u64, noun: &'static str) -> Self {
        let is_seen = is_wanted && std::io::stderr().is_terminal();
        Self { is_seen, began: Instant::now(), drawn: None, from, total, noun }
    }

    /// Draws the bar if enough time has passed. `done` is in bytes; `count` is the number of things this run has
    /// processed.
    pub fn draw(&mut self, done: u64, count: u64) {
        if !self.is_seen || self.drawn.is_some_and(|drawn| drawn.elapsed() < PAUSE) {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = line((self.from, done, self.total), (count, self.noun), self.began.elapsed());
        drop(write!(std::io::stderr(), "{CLEAR_LINE}{line}"));
    }

    /// Clears the line.
    pub fn clear(&mut self) {
        if self.is_seen && self.drawn.take().is_some() {
            drop(write!(std::io::stderr(), "{CLEAR_LINE}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

#[expect(clippy::cast_precision_loss, reason = "for the eye")]
fn line((from, done, total): (u64, u64, u64), (count, noun): (u64, &str), elapsed: Duration) -> String {
    let part = if total == 0 { 1.0 } else { out::share(done, total).min(1.0) };
    let bar = out::bar(part, WIDTH);
    let seconds = elapsed.as_secs_f64().max(0.001);
    let speed = done.saturating_sub(from) as f64 / seconds;
    let left = if speed > 0.0 { span(total.saturating_sub(done) as f64 / speed) } else { "–".to_owned() };
    let rate = count as f64 / seconds;
    format!("{bar} {:3.0} %  {}  {rate:.1}/s  {left} left", part * 100.0, out::count_of(count, noun))
}

/// Formats seconds as minutes or hours.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for the eye")]
pub fn span(seconds: f64) -> String {
    let seconds = seconds.clamp(0.0, 1e9).ceil() as u64;
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_left_are_of_this_run() {
        let bar = line((500, 750, 1000), (50, "line"), Duration::from_secs(10));
        assert_eq!(bar, "██████████████████░░░░░░  75 %  50 lines  5.0/s  0:10 left");
        assert_eq!(line((0, 0, 0), (0, "line"), Duration::ZERO).matches('█').count(), WIDTH);
        assert_eq!(span(3_725.0), "1:02:05");
    }
}
