//! Replaces what differs from run to run, so that outputs can be compared.

use herma_tests::cli;

/// Units of sizes and times that no two runs share, and the one that is shown for each.
const UNITS: [(&str, &str); 7] =
    [("µs", "ms"), ("ms", "ms"), ("s", "s"), ("s,", "s,"), ("KiB", "MiB"), ("MiB", "MiB"), ("GiB", "MiB")];

pub(super) fn steady(text: &str, home: &str) -> String {
    let program = cli::program().display().to_string();
    let text = text.replace(home, "/home").replace(&program, "/bin/herma").replace('\u{1b}', "␛");
    text.lines().map(|line| steady_line(line) + "\n").collect()
}

fn steady_line(line: &str) -> String {
    // What a bar has drawn depends on the pace.
    let line = match line.rsplit_once("␛[K") {
        Some((_, rest)) => rest,
        None => line,
    };
    let is_hex = |byte: u8| byte.is_ascii_hexdigit();
    let line = ["out_", "c_", "pin_"].iter().fold(line.to_owned(), |line, beginning| mask(&line, beginning, is_hex));
    // Entries of the memory are numbered with the messages, as soon as the index gets to them.
    let line = mask(&line, "msg_", |byte| byte.is_ascii_digit());
    let line = ["pid ", "pid=", "requests     "].iter().fold(line, |line, beginning| without_number(&line, beginning));
    // The version has the commit in a build of a clean tree.
    let line = match line.split_once(", home ") {
        Some((version, home)) if version.starts_with("herma  ") => format!("herma     0.1.0, home {home}"),
        _ if line.starts_with("herma 0.1.0 ") => "herma 0.1.0".to_owned(),
        _ => line,
    };
    without_measures(&without_dates(&line))
}

/// Replaces the chars of a kind after each beginning by zeros.
fn mask(line: &str, beginning: &str, is_masked: impl Fn(u8) -> bool) -> String {
    let mut bytes = line.as_bytes().to_vec();
    let starts: Vec<usize> = line.match_indices(beginning).map(|(at, _)| at + beginning.len()).collect();
    for start in starts {
        bytes[start..].iter_mut().take_while(|byte| is_masked(**byte)).for_each(|byte| *byte = b'0');
    }
    String::from_utf8(bytes).unwrap()
}

/// Replaces the number after the beginning by one digit.
fn without_number(line: &str, beginning: &str) -> String {
    match line.split_once(beginning) {
        Some((before, after)) if after.starts_with(|char: char| char.is_ascii_digit()) => {
            format!("{before}{beginning}0{}", after.trim_start_matches(|char: char| char.is_ascii_digit()))
        }
        _ => line.to_owned(),
    }
}

/// Replaces numbers before a unit, with the spaces before them.
fn without_measures(line: &str) -> String {
    let is_number = |word: &str| word.contains(|char: char| char.is_ascii_digit()) && word.parse::<f64>().is_ok();
    let words: Vec<&str> = line.split(' ').collect();
    let mut steady: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let unit_of = |at: usize| UNITS.iter().find(|(unit, _)| words.get(at) == Some(unit));
        if is_number(word) && unit_of(at + 1).is_some() {
            // At most one empty word, which is two spaces.
            while steady.len() > 1 && steady[steady.len() - 2..] == ["", ""] {
                steady.pop();
            }
            steady.push("0");
        } else if let Some((_, shown)) = unit_of(at).filter(|_| steady.last() == Some(&"0")) {
            steady.push(shown);
        } else {
            steady.push(word);
        }
    }
    steady.join(" ")
}

/// Replaces the digits of dates and of the times behind them by zeros.
fn without_dates(line: &str) -> String {
    let is_date = |at: usize| {
        let date = line.as_bytes().get(at..at + 10);
        date.is_some_and(|date| date[4] == b'-' && date[7] == b'-' && date[8].is_ascii_digit())
    };
    let starts: Vec<usize> = line.match_indices("20").map(|(at, _)| at).filter(|at| is_date(*at)).collect();
    let mut bytes = line.as_bytes().to_vec();
    for start in starts {
        let moment = bytes[start..].iter_mut().take(27).take_while(|byte| b"0123456789-: T.Z".contains(byte));
        moment.filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b'0');
    }
    String::from_utf8(bytes).unwrap()
}
