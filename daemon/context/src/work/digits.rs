//! Ids of digits only. Such a number is an id by where it stands: directly after `#`, after a word or a field's name that
//! names a thing, in a table below such a name, or in quotes if it is long. By itself a number may be a count, a size or a
//! line.

use super::entity::plain_name;
use super::object::singular;

/// The fewest digits of an id.
const DIGITS: usize = 3;
/// The most digits of an id.
const MOST_DIGITS: usize = 24;
/// The fewest digits of a number that is an id if it stands alone or in quotes.
const LONG: usize = 5;
/// Bytes before a number that are searched for a word.
const WINDOW: usize = 64;
/// The most bytes between a number and the word before it.
const GAP: usize = 6;
/// The most bytes between two numbers of a list.
const BETWEEN: usize = 12;
/// The most columns of a table.
const COLUMNS: usize = 24;
/// Bytes of the longest row of a table.
const ROW: usize = 1_024;

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
    "ppid",
    "pr",
    "product",
    "reservation",
    "sku",
    "ticket",
    "tracking",
    "transaction",
    "uid",
    "variant",
    "zip",
];

/// Words between such a word and the number: `order number 4711`, `job no. 12`.
const NUMBER_WORDS: &[&str] = &["number", "numbers", "no", "nr", "num", "id", "ids", "code"];

/// Words in the names of fields that count or measure something.
const COUNTS: &[&str] = &[
    "age",
    "amount",
    "bytes",
    "column",
    "count",
    "date",
    "duration",
    "error",
    "exit",
    "height",
    "length",
    "limit",
    "line",
    "max",
    "min",
    "ms",
    "offset",
    "page",
    "phone",
    "port",
    "price",
    "row",
    "seconds",
    "size",
    "status",
    "step",
    "time",
    "timestamp",
    "total",
    "ts",
    "version",
    "width",
    "year",
];

/// What a word or the name of a field names.
struct Named {
    kind: String,
    /// Whether several numbers may follow; a single short one is their count.
    is_plural: bool,
}

/// Finds the kinds of the numbers of a text, in their order.
pub(super) struct Ids<'a> {
    text: &'a str,
    /// The end of the last number of a list, and the kind of its numbers.
    list: Option<(usize, String)>,
}

impl<'a> Ids<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, list: None }
    }

    /// Returns the kind of thing that a number names, which begins at `at`; `None` if it names none.
    pub(super) fn kind_of(&mut self, at: usize, number: &str) -> Option<String> {
        let end = at + number.len();
        let list = self.list.take();
        if is_part_of_number(self.text.as_bytes(), at, end) {
            return None;
        }
        let continued = list.filter(|(end, _)| self.text.get(*end..at).is_some_and(is_list)).map(|(_, kind)| kind);
        let (kind, continues) = match continued {
            Some(kind) => (kind, true),
            None => self.named(at, number)?,
        };
        if continues {
            self.list = Some((end, kind.clone()));
        }
        Some(kind)
    }

    /// Returns the kind, and whether a list of more numbers may follow.
    fn named(&self, at: usize, number: &str) -> Option<(String, bool)> {
        let start = self.text.ceil_char_boundary(at.saturating_sub(WINDOW));
        let before = self.text.get(start..at)?.rsplit('\n').next()?;
        let next = self.text.as_bytes().get(at + number.len());
        let marks = |char: char| char.is_whitespace() || "\"'`:=([{<>|*#：.,\\".contains(char);
        let trimmed = before.trim_end_matches(marks);
        let gap = before.get(trimmed.len()..)?;
        let is_marked = gap.ends_with('#');
        if is_marked && matches!(number.len(), 3 | 6) && matches!(next, Some(b';' | b'"' | b'\'')) {
            // A colour.
            return None;
        }
        let (rest, word) = last_word(trimmed);
        let named = (gap.len() <= GAP).then(|| name_of_prose(rest, word)).flatten();
        let in_brackets = gap.contains('[');
        match named {
            Some(Named { is_plural: true, .. }) if !in_brackets && number.len() < LONG => None,
            Some(Named { kind, is_plural }) => Some((kind, is_plural || in_brackets)),
            None if is_marked => Some(("id".to_owned(), false)),
            None if is_quoted(before, number, next) && !is_count(word) => Some(("id".to_owned(), false)),
            None => None,
        }
    }
}

/// Whether a number is a group of digits of a longer one: `125,000`.
fn is_part_of_number(bytes: &[u8], at: usize, end: usize) -> bool {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_group = |at: usize| (at..at + 3).all(is_digit) && !is_digit(at + 3);
    let follows = bytes.get(end) == Some(&b',') && end - at <= 3 && is_group(end + 1);
    let continues = at >= 2 && bytes.get(at - 1) == Some(&b',') && is_digit(at - 2) && end - at == 3;
    follows || continues
}

/// Whether only separators, quotes or `and` are between two numbers.
fn is_list(between: &str) -> bool {
    if between.len() > BETWEEN || between.contains('\n') {
        return false;
    }
    let words = between.trim_matches(|char: char| char.is_whitespace() || "\"',#\\".contains(char));
    matches!(words, "and" | "or" | "&" | "und" | "et" | "y") || (words.is_empty() && between.contains(','))
}

/// Whether a long number is alone in quotes: JSON writes counts without them.
fn is_quoted(before: &str, number: &str, next: Option<&u8>) -> bool {
    let before = before.as_bytes();
    let last = before.last();
    number.len() >= LONG && matches!(last, Some(b'"' | b'\'')) && (next == last || next == Some(&b'\\'))
}

/// Returns the last word of a text, and what is before it.
fn last_word(text: &str) -> (&str, &str) {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    text.split_at(text.trim_end_matches(is_of_word).len())
}

/// Returns what the words before a number name.
fn name_of_prose(rest: &str, word: &str) -> Option<Named> {
    let lower = word.to_ascii_lowercase();
    let before = || last_word(rest.trim_end()).1;
    if lower == "request" && matches!(before().to_ascii_lowercase().as_str(), "pull" | "merge") {
        return Some(Named { kind: "pr".to_owned(), is_plural: false });
    }
    if NUMBER_WORDS.contains(&lower.as_str()) {
        let named = name_of_field(before()).map(|named| Named { is_plural: lower.ends_with('s'), ..named });
        return named.or_else(|| name_of_field(word));
    }
    name_of_field(word)
}

/// Returns what the name of a field names, or a single word.
fn name_of_field(name: &str) -> Option<Named> {
    if name.len() > WINDOW {
        return None;
    }
    let words = words_of(name);
    let (last, first) = words.split_last()?;
    let is_plural = singular(last) != last;
    let before = first.last().map(String::as_str);
    if before.is_some_and(|word| COUNTS.contains(&word)) {
        return None;
    }
    if THINGS.contains(&singular(last)) && (last != "id" && last != "ids" || before.is_none()) {
        return Some(Named { kind: singular(last).to_owned(), is_plural });
    }
    if before.is_none() || !NUMBER_WORDS.contains(&last.as_str()) {
        return None;
    }
    // As an object's kind is the name of its field: `lineItemId` is a `lineItem`.
    let thing = name.get(..name.len() - last.len())?.trim_end_matches(|char: char| !char.is_alphanumeric());
    let is_of_words = first.len() > 1 && thing.contains(|char: char| char.is_ascii_lowercase());
    let kind = if is_of_words { plain_name(singular(thing)) } else { plain_name(singular(&thing.to_lowercase())) };
    (!kind.is_empty()).then_some(Named { kind, is_plural })
}

/// Returns the words of a name, in lower case: `lineItemId`, `line_item_id` and `Line item ID` have the same.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for char in name.chars() {
        let begins = !last.is_alphanumeric() || (last.is_lowercase() && char.is_uppercase());
        last = char;
        if !char.is_alphanumeric() {
            continue;
        }
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(char.to_lowercase());
        }
    }
    words
}

/// Whether the name of a field counts or measures something.
fn is_count(name: &str) -> bool {
    name.len() <= WINDOW && words_of(name).iter().any(|word| COUNTS.contains(&word.as_str()))
}

/// Returns the kind of thing that a number alone in a field names. `text` is the number if the field is a text.
pub(super) fn kind_of_field(name: &str, number: &str, is_text: bool) -> Option<String> {
    match name_of_field(name) {
        Some(Named { is_plural: true, .. }) if !is_text && number.len() < LONG => None,
        Some(named) => Some(named.kind),
        None => (is_text && is_long(number) && !is_count(name)).then(|| "id".to_owned()),
    }
}

/// Returns the numbers of a table's columns that have the name of an id, each with its kind. Bars, tabs or white space
/// separate the columns, and an empty line ends a table.
pub(super) fn in_tables(text: &str) -> impl Iterator<Item = (&str, String)> {
    let mut header = Header::default();
    text.lines().flat_map(move |line| {
        if line.trim().is_empty() || line.len() > ROW {
            header = Header::default();
            return Vec::new();
        }
        match Header::of(line) {
            Some(new) => {
                header = new;
                Vec::new()
            }
            None => header.numbers(line),
        }
    })
}

/// The named columns of a table.
#[derive(Default)]
struct Header {
    separator: Separator,
    cells: usize,
    columns: Vec<(usize, String)>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Separator {
    #[default]
    Space,
    Tab,
    Bar,
}

impl Separator {
    fn cells(self, line: &str) -> Vec<&str> {
        let line = line.trim();
        match self {
            Self::Space => line.split_whitespace().take(COLUMNS + 1).collect(),
            Self::Tab => line.split('\t').map(str::trim).take(COLUMNS + 1).collect(),
            Self::Bar => line.trim_matches('|').split('|').map(str::trim).take(COLUMNS + 1).collect(),
        }
    }
}

impl Header {
    /// Returns the header in a line, which has several names and no digits. Columns in white space are only believed if
    /// they are wide, or all in capitals.
    fn of(line: &str) -> Option<Self> {
        if line.bytes().any(|byte| byte.is_ascii_digit()) || !line.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let separator = if line.contains('|') {
            Separator::Bar
        } else if line.trim().contains('\t') {
            Separator::Tab
        } else {
            Separator::Space
        };
        let is_wide = || line.trim().contains("  ");
        let is_loud = || !line.bytes().any(|byte| byte.is_ascii_lowercase());
        if separator == Separator::Space && !is_wide() && !is_loud() {
            return None;
        }
        let cells = separator.cells(line);
        if cells.len() < 2 || cells.len() > COLUMNS {
            return None;
        }
        let name = |cell: &str| Some(name_of_field(cell.trim_matches(['#', ':', '"', '*']))?.kind);
        let columns = (0..).zip(&cells).filter_map(|(at, cell)| Some((at, name(cell)?))).collect();
        Some(Self { separator, cells: cells.len(), columns })
    }

    /// Returns the ids in a row of the table.
    fn numbers<'a>(&self, row: &'a str) -> Vec<(&'a str, String)> {
        if self.columns.is_empty() {
            return Vec::new();
        }
        let cells = self.separator.cells(row);
        if cells.len() < self.cells {
            return Vec::new();
        }
        let id = |(at, kind): &(usize, String)| {
            let cell = cells.get(*at)?.trim_matches(['#', '"', ',', '`']);
            is_id(cell).then(|| (cell, kind.clone()))
        };
        self.columns.iter().filter_map(id).collect()
    }
}

/// Whether a text is a number that is too long for a count.
pub(super) fn is_long(text: &str) -> bool {
    is_id(text) && text.len() >= LONG
}

fn is_id(text: &str) -> bool {
    (DIGITS..=MOST_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::value::{ValueKind, values};
    use super::*;

    /// Returns the kind of each number of a text that has one.
    fn kinds(text: &str) -> Vec<String> {
        let mut ids = Ids::of(text);
        let numbers = values(text).filter(|value| value.kind == ValueKind::Number);
        let at = |number: &str| number.as_ptr().addr() - text.as_ptr().addr();
        numbers
            .filter_map(|value| Some(format!("{} {}", ids.kind_of(at(value.text), value.text)?, value.text)))
            .collect()
    }

    #[test]
    fn a_number_is_an_id_by_where_it_stands() {
        for (text, expected) in [
            ("my order 4711002 is late", &["order 4711002"][..]),
            ("order number 4711002", &["order 4711002"]),
            ("**Order ID:** 4711002, <order_id>4711003</order_id>", &["order 4711002", "order 4711003"]),
            (
                "Order #4711002: two items, 1008292230 and 2554056026",
                &["order 4711002", "item 1008292230", "item 2554056026"],
            ),
            (
                "the items 1008292230, 2554056026 and 3098764622",
                &["item 1008292230", "item 2554056026", "item 3098764622"],
            ),
            (r#"{"item_ids": ["1008292230", "2554056026"], "total": 30512}"#, &["item 1008292230", "item 2554056026"]),
            ("{\"item_ids\":[12345,67890]}", &["item 12345", "item 67890"]),
            (r#"{"productId":9523456873,"price":19999}"#, &["product 9523456873"]),
            (r#"{"lineItemId": 4711002}"#, &["lineItem 4711002"]),
            ("fixed in #4711", &["id 4711"]),
            ("PR 812 and issue 790, merge request 813", &["pr 812", "issue 790", "pr 813"]),
            ("killed pid 48213; SSH_AGENT_PID=48214", &["pid 48213", "pid 48214"]),
            (r#"{"Desk Lamp": "6817146515", "Tea": "120", "size": 6817146}"#, &["id 6817146515"]),
            ("{'Desk Lamp': '6817146515'}", &["id 6817146515"]),
            ("return 500; case 404: process 100", &[]),
            ("took 4711 ms for 30000 rows, 512 MB", &[]),
            ("line_number: 120, exit_code 137, status 404, startLineNumber 200", &[]),
            (r#"{"Phone Number": 14155550123, "phone_number": "4915112345678", "size": "1048576"}"#, &[]),
            (r#"{"orders": 350, "customers": 1200}"#, &[]),
            ("Items: 1200; items: 125,000", &[]),
            ("paid 4711 and the grid 300, PAID: 4500", &[]),
            ("color: #333; background: #112233;", &[]),
            ("# 404 Not Found\n## 100 users", &[]),
            ("Here is your order:\n\n500 g coffee", &[]),
            ("pid 48213 1024 2048", &["pid 48213"]),
            ("in 2024", &[]),
        ] {
            assert_eq!(kinds(text), expected, "{text}");
        }
    }

    #[test]
    fn a_kind_is_a_short_word() {
        let long = format!("{}_id 4711002", "a".repeat(5_000));
        for text in [long.as_str(), "\"x\\n## rules\\nignore the user_ids\": [12345]", "é".repeat(500).as_str()] {
            for kind in kinds(text) {
                assert!(kind.len() < 100 && !kind.contains('\n'), "{kind}");
            }
        }
    }

    #[test]
    fn a_column_says_what_its_numbers_are() {
        for (table, expected) in [
            (
                "  PID TTY      TIME CMD\n48213 pts/0 00:00 bash\n 48399 pts/0 00:01 cargo\n",
                &["pid 48213", "pid 48399"][..],
            ),
            ("| order_id | total |\n|---|---|\n| 4711002 | 30512 |\n", &["order 4711002"]),
            ("| order_id | coupon_id | total |\n|---|---|---|\n| 4711002 |  | 30512 |\n", &["order 4711002"]),
            ("| customer name | order_id |\n| Anna Smith | 4711002 |", &["order 4711002"]),
            ("name\torder_id\n\t4711002\nAnna\t4711003", &["order 4711003"]),
            ("PID TTY CMD\n48213 pts/0 bash\n\n120345 total of it", &["pid 48213"]),
            ("Running job\nProcessed 4500 rows", &[]),
            ("rows 500\nbytes 30000\n", &[]),
        ] {
            let found: Vec<_> = in_tables(table).map(|(number, kind)| format!("{kind} {number}")).collect();
            assert_eq!(found, expected, "{table}");
        }
    }

    #[test]
    fn the_time_is_linear() {
        let long = 1 << 20;
        for text in [
            "é123".repeat(long / 5),
            format!("items 12345{}{}", " ".repeat(long), "x 456 ".repeat(long / 6)),
            format!("{}\n{}", "ID ".repeat(long / 3), "123\n".repeat(long / 4)),
            "a1_id 123 ".repeat(long / 10),
        ] {
            let began = std::time::Instant::now();
            kinds(&text);
            in_tables(&text).for_each(drop);
            assert!(began.elapsed().as_secs() < 10, "{}: {:?}", &text[..4], began.elapsed());
        }
    }
}
