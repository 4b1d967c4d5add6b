//! Ids of digits only. Such a number is an id by where it stands: after `#`, after a word or a field's name that names a
//! thing, in a table below such a name, or in quotes if it is long. By itself a number may be a count, a size or a line.

use super::object::singular;

/// The fewest digits of an id.
const DIGITS: usize = 3;

/// The fewest digits of a number that is an id if it stands alone or in quotes.
const LONG: usize = 5;

/// The most bytes between a number and the word before it.
const GAP: usize = 6;

/// Words before a number that names something, in the singular.
const THINGS: &[&str] = &[
    "account",
    "booking",
    "build",
    "customer",
    "employee",
    "id",
    "invoice",
    "issue",
    "item",
    "job",
    "member",
    "order",
    "payment",
    "pid",
    "pipeline",
    "pr",
    "product",
    "reservation",
    "sku",
    "ticket",
    "tracking",
    "transaction",
    "variant",
    "zip",
];

/// Words between such a word and the number: `order number 4711`, `job no. 12`.
const NUMBER_WORDS: &[&str] = &["number", "numbers", "no", "nr", "num", "id", "ids", "request", "code"];

/// Endings of the names of fields with ids.
const ENDINGS: &[&str] =
    &["_id", "_ids", "-id", "-ids", "id", "ids", "_number", "number", "_numbers", "_no", "_pid", "_sku"];

/// Names of fields that end like these, and number something else.
const COUNTS: &[&str] =
    &["line", "page", "exit", "status", "error", "port", "row", "column", "version", "step", "phone"];

/// Returns the kind of thing that a number names, which begins at `at` in a text; `None` if it names none. `previous` is
/// the end and the kind of the number before it that named something.
pub(super) fn kind_of(text: &str, at: usize, previous: Option<(usize, &str)>) -> Option<String> {
    let before = text.get(..at)?;
    let marks = |char: char| char.is_whitespace() || "\"'`:=([{<\\,".contains(char);
    let trimmed = before.trim_end_matches(marks);
    if let Some((end, kind)) = previous
        && is_list(text.get(end..at)?)
    {
        return Some(kind.to_owned());
    }
    let quoted = || is_quoted(text, at).then(|| "id".to_owned());
    if before.len() - trimmed.len() > GAP {
        return quoted();
    }
    let is_marked = trimmed.ends_with('#');
    let (rest, word) = last_word(trimmed.trim_end_matches(['#', '.', ' ']));
    let named = kind_of_name(word).or_else(|| {
        NUMBER_WORDS
            .contains(&word.to_ascii_lowercase().as_str())
            .then(|| kind_of_name(last_word(rest.trim_end()).1))?
    });
    named.or_else(|| is_marked.then(|| "id".to_owned())).or_else(quoted)
}

/// Whether a long number that begins at `at` stands alone in quotes: JSON writes counts without them.
fn is_quoted(text: &str, at: usize) -> bool {
    let digits = text.get(at..).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let is_quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\\'));
    let bytes = text.as_bytes();
    digits >= LONG && at > 0 && is_quote(bytes.get(at - 1)) && is_quote(bytes.get(at + digits))
}

/// Whether only separators, quotes or `and` are between two numbers.
fn is_list(between: &str) -> bool {
    let words = between.trim_matches(|char: char| char.is_whitespace() || "\"',[]#\\".contains(char));
    between.len() <= 12 && !between.contains('\n') && matches!(words, "" | "and" | "or" | "&" | "und" | "et" | "y")
}

/// Returns the last word of a text, and what is before it.
fn last_word(text: &str) -> (&str, &str) {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    text.split_at(text.trim_end_matches(is_of_word).len())
}

/// Returns the kind of thing that a word or the name of a field names.
pub(super) fn kind_of_name(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let word = singular(&lower);
    if THINGS.contains(&word) {
        return Some(word.to_owned());
    }
    let is_camel = name.ends_with("Id") || name.ends_with("Ids") || name.ends_with("ID") || name.ends_with("Number");
    let ending = ENDINGS.iter().find(|ending| lower.len() > ending.len() && lower.ends_with(**ending))?;
    // `paid` and `grid` end with `id`, too.
    if !ending.starts_with(['_', '-']) && !is_camel {
        return None;
    }
    let thing = lower.strip_suffix(ending)?.trim_end_matches(['_', '-']);
    let last = thing.rsplit(['_', '-']).next().unwrap_or(thing);
    (!last.is_empty() && !COUNTS.contains(&last)).then(|| singular(thing).to_owned())
}

/// Returns the kind of thing that a number alone in a field names. `text` is the number if the field is a text.
pub(super) fn kind_of_field(name: &str, text: Option<&str>) -> Option<String> {
    kind_of_name(name).or_else(|| is_long(text?).then(|| "id".to_owned()))
}

/// Returns the numbers of a table's columns that have the name of an id, each with its kind. The columns are separated by
/// white space or bars.
pub(super) fn in_tables(text: &str) -> impl Iterator<Item = (&str, String)> {
    let mut columns: Vec<(usize, String)> = Vec::new();
    text.lines().flat_map(move |line| {
        let cells: Vec<&str> =
            line.split(|char: char| char.is_whitespace() || char == '|').filter(|cell| !cell.is_empty()).collect();
        let is_header = cells.len() > 1 && cells.iter().all(|cell| !cell.bytes().any(|byte| byte.is_ascii_digit()));
        let named: Vec<(usize, String)> = if is_header {
            cells
                .iter()
                .enumerate()
                .filter_map(|(at, cell)| Some((at, kind_of_name(cell.trim_matches(['#', ':']))?)))
                .collect()
        } else {
            Vec::new()
        };
        if is_header && !cells.iter().all(|cell| cell.bytes().all(|byte| b"-+=:".contains(&byte))) {
            columns = named;
        }
        let found: Vec<(&str, String)> = columns
            .iter()
            .filter_map(|(at, kind)| {
                let cell = cells.get(*at)?.trim_matches(['#', '"', ',']);
                is_id(cell).then(|| (cell, kind.clone()))
            })
            .collect();
        found
    })
}

/// Whether a text is a number that is too long for a count.
pub(super) fn is_long(text: &str) -> bool {
    is_id(text) && text.len() >= LONG
}

fn is_id(text: &str) -> bool {
    text.len() >= DIGITS && text.len() <= 24 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the kind of each number of a text.
    fn kinds(text: &str) -> Vec<(&str, String)> {
        let mut found: Vec<(&str, String)> = Vec::new();
        let mut previous: Option<(usize, String)> = None;
        for (at, number) in numbers(text) {
            if let Some(kind) = kind_of(text, at, previous.as_ref().map(|(end, kind)| (*end, kind.as_str()))) {
                previous = Some((at + number.len(), kind.clone()));
                found.push((number, kind));
            }
        }
        found
    }

    fn numbers(text: &str) -> Vec<(usize, &str)> {
        let ends: Vec<usize> =
            text.char_indices().filter(|(_, char)| !char.is_ascii_digit()).map(|(at, _)| at).collect();
        let mut from = 0;
        let mut found = Vec::new();
        for end in ends.into_iter().chain([text.len()]) {
            if end - from >= DIGITS && text[from..end].bytes().all(|byte| byte.is_ascii_digit()) {
                found.push((from, &text[from..end]));
            }
            from = end + text[end..].chars().next().map_or(0, char::len_utf8);
        }
        found
    }

    #[test]
    fn a_number_is_an_id_by_where_it_stands() {
        for (text, expected) in [
            ("my order 4711002 is late", &[("4711002", "order")][..]),
            ("order number 4711002", &[("4711002", "order")]),
            (
                "Order #4711002: two items, 1008292230 and 2554056026",
                &[("4711002", "order"), ("1008292230", "item"), ("2554056026", "item")],
            ),
            (
                "the items 1008292230, 2554056026 and 3098764622",
                &[("1008292230", "item"), ("2554056026", "item"), ("3098764622", "item")],
            ),
            (
                r#"{"item_ids": ["1008292230", "2554056026"], "total": 30512}"#,
                &[("1008292230", "item"), ("2554056026", "item")],
            ),
            (r#"{"productId":9523456873,"price":19999}"#, &[("9523456873", "product")]),
            ("fixed in #4711", &[("4711", "id")]),
            ("PR 812 and issue 790", &[("812", "pr"), ("790", "issue")]),
            ("merge job request 812, case #4711", &[("812", "job"), ("4711", "id")]),
            ("killed pid 48213", &[("48213", "pid")]),
            (r#"{"Desk Lamp": "6817146515", "Tea": "120", "size": 6817146}"#, &[("6817146515", "id")]),
            ("return 500; case 404: process 100", &[]),
            ("took 4711 ms for 30000 rows, 512 MB", &[]),
            ("line_number: 120, exit_code 137, status 404", &[]),
            ("paid 4711 and the grid 300", &[]),
            ("in 2024", &[]),
        ] {
            let found = kinds(text);
            let found: Vec<(&str, &str)> = found.iter().map(|(number, kind)| (*number, kind.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_column_says_what_its_numbers_are() {
        let table = "  PID TTY      TIME CMD\n48213 pts/0 00:00 bash\n 48399 pts/0 00:01 cargo\n";
        let found: Vec<_> = in_tables(table).map(|(number, kind)| format!("{kind} {number}")).collect();
        assert_eq!(found, ["pid 48213", "pid 48399"]);
        let bars = "| order_id | total |\n|---|---|\n| 4711002 | 30512 |\n";
        let found: Vec<_> = in_tables(bars).map(|(number, kind)| format!("{kind} {number}")).collect();
        assert_eq!(found, ["order 4711002"]);
        assert_eq!(in_tables("rows 500\nbytes 30000\n").count(), 0);
    }
}
