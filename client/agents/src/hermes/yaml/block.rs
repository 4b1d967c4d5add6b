//! The lines of a text, and the keys of the mappings that stand in them one below the other.

use std::ops::Range;

use super::flow::{self, Flow};

/// A text in lines.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    /// Each line with its end.
    spans: Vec<Range<usize>>,
    /// The lines of the document: neither directives nor its markers.
    pub(super) document: Range<usize>,
}

/// A key of a mapping, and where its value is.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// The line of the key.
    pub(super) line: usize,
    /// Behind the last line of the value that is no comment.
    pub(super) end: usize,
    /// Spaces before the key.
    pub(super) indent: usize,
    /// Behind the colon.
    pub(super) colon: usize,
    /// What stands in the line of the key, or in brackets that begin there, without properties.
    pub(super) value: Range<usize>,
}

/// What kind of value an entry has.
#[derive(Debug)]
pub(super) enum Shape {
    /// None at all, or a word for it.
    Null,
    /// A word, maybe in quotes.
    Word,
    /// A collection in brackets.
    Flow(Flow),
    /// Whatever stands in the lines below.
    Block,
    /// Something else, in words.
    Other(&'static str),
}

impl<'a> Lines<'a> {
    /// Refuses what an indentation can't be understood of.
    pub(super) fn new(text: &'a str) -> Result<Self, String> {
        let mut start = 0;
        let spans: Vec<_> = text
            .split_inclusive('\n')
            .map(|line| {
                start += line.len();
                start - line.len()..start
            })
            .collect();
        let lines = Self { text, document: 0..spans.len(), spans };
        let mut document = lines.document.clone();
        let is_marker = |line: &str, marker: &str| line.trim_end() == marker || line.starts_with(&format!("{marker} "));
        for at in lines.document.clone() {
            let line = lines.line(at);
            if is_marker(line, "---") {
                let behind = line.trim_end().trim_start_matches('-').trim_start();
                if !(behind.is_empty() || behind.starts_with('#')) {
                    return Err("there is something behind the marker ---".into());
                }
                document.start = at + 1;
            } else if is_marker(line, "...") {
                document.end = at;
                break;
            } else if line.trim_start_matches(' ').starts_with('\t') && !line.trim().is_empty() {
                return Err(format!("line {} is indented with a tab", at + 1));
            }
        }
        Ok(Self { document, ..lines })
    }

    /// A line without its end.
    fn line(&self, at: usize) -> &'a str {
        self.spans.get(at).map_or("", |span| self.text[span.clone()].trim_end_matches(['\n', '\r']))
    }

    /// Where a line begins; behind the last one the end of the text.
    pub(super) fn start(&self, at: usize) -> usize {
        self.spans.get(at).map_or(self.text.len(), |span| span.start)
    }

    /// Whether the line says something.
    fn is_content(&self, at: usize) -> bool {
        let line = self.line(at).trim_start_matches('\u{feff}').trim_start();
        !line.is_empty() && !line.starts_with('#')
    }

    fn indent(&self, at: usize) -> usize {
        let line = self.line(at);
        line.len() - line.trim_start_matches(' ').len()
    }

    fn is_item(&self, at: usize) -> bool {
        let line = self.line(at).trim_start();
        line == "-" || line.starts_with("- ")
    }

    /// The first line in the range that says something.
    pub(super) fn first(&self, range: Range<usize>) -> Option<usize> {
        range.into_iter().find(|at| self.is_content(*at))
    }

    /// The keys of the mapping that fills the lines.
    pub(super) fn entries(&self, range: Range<usize>) -> Result<Vec<Entry>, String> {
        let Some(first) = self.first(range.clone()) else { return Ok(Vec::new()) };
        let indent = self.indent(first);
        let mut entries: Vec<Entry> = Vec::new();
        for at in range.filter(|at| self.is_content(*at)) {
            let key = (self.indent(at) == indent && !self.is_item(at)).then(|| self.entry(at, indent)).flatten();
            match (key, entries.last_mut()) {
                (Some(entry), Some(last)) if entry.line >= last.end => entries.push(entry),
                (Some(entry), None) => entries.push(entry),
                (_, Some(last)) if self.indent(at) >= indent => last.end = last.end.max(at + 1),
                _ => return Err(format!("line {} is not understood", at + 1)),
            }
        }
        Ok(entries)
    }

    fn entry(&self, at: usize, indent: usize) -> Option<Entry> {
        let line = self.line(at);
        let mark = if line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let start = self.start(at) + indent + mark;
        let end = self.start(at) + line.len();
        let own = &self.text[start..end];
        let key = if own.starts_with(['"', '\'']) {
            flow::quoted_end(own, 0)?
        } else {
            own.match_indices(':')
                .map(|(place, _)| place)
                .find(|place| own[place + 1..].is_empty() || own[place + 1..].starts_with([' ', '\t']))?
        };
        let colon = start + key + own[key..].find(':')? + 1;
        if !own[key..colon - start - 1].trim().is_empty() || own[..key].contains(" #") {
            return None;
        }
        let mut value = colon;
        loop {
            value += self.text[value..end].len() - self.text[value..end].trim_start().len();
            let rest = &self.text[value..end];
            if !rest.starts_with(['&', '!']) {
                break;
            }
            value += rest.find([' ', '\t']).unwrap_or(rest.len());
        }
        let value = value..self.value_end(value, end)?;
        let last = self.spans.partition_point(|span| span.start < value.end.max(start + 1));
        Some(Entry { key: flow::unquoted(own[..key].trim()).to_owned(), line: at, end: last, indent, colon, value })
    }

    /// Behind the value that begins at the place, in a line that ends at the other one; brackets and
    /// quotes may close in a later line.
    fn value_end(&self, start: usize, end: usize) -> Option<usize> {
        let rest = &self.text[start..end];
        match rest.chars().next() {
            None | Some('#') => Some(start),
            Some('{' | '[') => Some(Flow::read(self.text, start)?.span.end),
            Some('"' | '\'') => flow::quoted_end(self.text, start),
            Some(_) => {
                let words = rest.match_indices('#').find(|(at, _)| rest[..*at].ends_with([' ', '\t']));
                Some(start + rest[..words.map_or(rest.len(), |(at, _)| at)].trim_end().len())
            }
        }
    }

    /// The value's text and kind.
    pub(super) fn shape(&self, entry: &Entry) -> Shape {
        let word = &self.text[entry.value.clone()];
        let has_lines = self.first(entry.line + 1..entry.end).is_some();
        match (word.chars().next(), has_lines) {
            (Some('{' | '['), _) => Flow::read(self.text, entry.value.start)
                .map_or(Shape::Other("brackets that are not understood"), Shape::Flow),
            (None, true) => Shape::Block,
            (None, false) => Shape::Null,
            (Some('*'), _) => Shape::Other("an alias"),
            (Some('|' | '>'), _) | (Some(_), true) => Shape::Other("a text of several lines"),
            (Some(_), false) if ["null", "Null", "NULL", "~"].contains(&word) => Shape::Null,
            (Some(_), false) => Shape::Word,
        }
    }

    /// The lines below an entry.
    pub(super) fn below(&self, entry: &Entry) -> Range<usize> {
        entry.line + 1..entry.end
    }

    /// The items of the list that fills the lines: the line of each, and its word.
    pub(super) fn items(&self, range: Range<usize>) -> Result<Vec<(usize, &'a str)>, String> {
        let Some(first) = self.first(range.clone()) else { return Ok(Vec::new()) };
        if !self.is_item(first) {
            return Err(format!("line {} is no item of a list", first + 1));
        }
        let indent = self.indent(first);
        let own = range.filter(|at| self.is_content(*at) && self.indent(*at) == indent && self.is_item(*at));
        let word = |at: usize| {
            let word = self.line(at).trim_start().trim_start_matches('-');
            let end = word.match_indices('#').find(|(at, _)| word[..*at].ends_with([' ', '\t']));
            flow::unquoted(word[..end.map_or(word.len(), |(at, _)| at)].trim())
        };
        Ok(own.map(|at| (at, word(at))).collect())
    }

    /// How far the first line of the range is indented.
    pub(super) fn indent_of(&self, range: Range<usize>) -> Option<usize> {
        self.first(range).map(|at| self.indent(at))
    }

    /// How lines end.
    pub(super) fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }
}
