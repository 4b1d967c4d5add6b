//! Makes a change in the lines of a text. Whether it came out right is looked at afterwards.

use std::ops::Range;

use super::block::{Entry, Lines, Shape};
use super::flow::Flow;
use super::{Edit, Word};

/// Spaces before a key below another one, where there is none to take them from.
const INDENT: usize = 2;

/// A place of a text and what comes there.
type Patch = (Range<usize>, String);

/// Makes one change that is not made yet.
pub(super) fn apply(text: &str, edit: &Edit) -> Result<String, String> {
    match *edit {
        Edit::Set(section, key, word) => patched(text, put(text, section, key, Put::Word(word))?),
        Edit::Add(section, key, item) => patched(text, put(text, section, key, Put::Item(item))?),
        Edit::Take(section, key, item) => {
            let mut text = text.to_owned();
            while let Some(patch) = take(&text, section, key, item)? {
                text = patched(&text, patch)?;
            }
            Ok(text)
        }
        Edit::Drop(section, key, _) => patched(text, drop_key(text, section, key)?),
        Edit::DropSection(section) => {
            let lines = Lines::new(text)?;
            patched(text, rows(&lines, &section_of(&lines, section)?))
        }
    }
}

/// What is put below a key.
#[derive(Debug, Clone, Copy)]
enum Put {
    Word(Word),
    /// One more item of a list.
    Item(&'static str),
}

impl Put {
    /// The key with it, in brackets.
    fn flow(self, key: &str) -> String {
        format!("{key}: {}", self.flow_value())
    }

    fn flow_value(self) -> String {
        match self {
            Self::Word(word) => word.yaml().to_owned(),
            Self::Item(item) => format!("[{item}]"),
        }
    }

    /// The key with it, in lines of their own.
    fn block(self, key: &str, indent: usize, newline: &str) -> String {
        let spaces = " ".repeat(indent);
        match self {
            Self::Word(word) => format!("{spaces}{key}: {}{newline}", word.yaml()),
            Self::Item(item) => {
                let deeper = " ".repeat(indent + INDENT);
                format!("{spaces}{key}:{newline}{deeper}- {item}{newline}")
            }
        }
    }
}

fn put(text: &str, section: &str, key: &str, what: Put) -> Result<Patch, String> {
    let lines = Lines::new(text)?;
    let newline = lines.newline();
    let entries = root(&lines)?;
    let Some(own) = entries.into_iter().find(|entry| entry.key == section) else {
        return new_section(&lines, section, &what.block(key, INDENT, newline));
    };
    let child_indent = own.indent + INDENT;
    match lines.shape(&own) {
        Shape::Flow(flow) => in_flow(text, &flow, key, what),
        Shape::Null => Ok(below_null(&lines, &own, &what.block(key, child_indent, newline))),
        Shape::Block => {
            let children = lines.entries(lines.below(&own))?;
            match children.iter().find(|child| child.key == key) {
                Some(child) => in_block(&lines, child, what),
                None => {
                    let indent = lines.indent_of(lines.below(&own)).unwrap_or(child_indent);
                    let at = lines.start(own.line + 1);
                    Ok((at..at, what.block(key, indent, newline)))
                }
            }
        }
        Shape::Word => Err(format!("{section} is no mapping")),
        Shape::Other(kind) => Err(format!("{section} is {kind}")),
    }
}

/// A section behind everything else.
fn new_section(lines: &Lines<'_>, section: &str, rows: &str) -> Result<Patch, String> {
    let newline = lines.newline();
    let at = lines.start(lines.document.end);
    if let Some(first) = lines.first(lines.document.clone())
        && lines.text[lines.start(first)..at].trim() == "{}"
    {
        return Ok((lines.start(first)..at, format!("{section}:{newline}{rows}")));
    }
    let before = &lines.text[..at];
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    let indent = lines.indent_of(lines.document.clone()).unwrap_or(0);
    let own = format!("{section}:{newline}{rows}");
    let spaces = " ".repeat(indent);
    let own: String = own.split_inclusive('\n').map(|row| format!("{spaces}{row}")).collect();
    Ok((at..at, format!("{end}{own}")))
}

/// Lines below a key that has no value yet.
fn below_null(lines: &Lines<'_>, own: &Entry, rows: &str) -> Patch {
    let at = lines.start(own.line + 1);
    let newline = if lines.text[..at].ends_with('\n') { "" } else { lines.newline() };
    let behind = &lines.text[own.value.end..at];
    // The word for nothing goes; what stands behind it stays.
    if own.value.is_empty() {
        (at..at, format!("{newline}{rows}"))
    } else {
        (own.value.start..at, format!("{}{newline}{rows}", behind.trim_start_matches([' ', '\t'])))
    }
}

fn in_flow(text: &str, flow: &Flow, key: &str, what: Put) -> Result<Patch, String> {
    let Some(item) = flow.items.iter().find(|item| item.key == key) else {
        return Ok(flow.insertion(&what.flow(key)));
    };
    let value = &text[item.value.clone()];
    match what {
        Put::Item(word) if value.starts_with('[') => {
            let list = Flow::read(text, item.value.start).ok_or("a list in brackets is not understood")?;
            Ok(list.insertion(word))
        }
        Put::Item(_) if !["", "null", "~"].contains(&value) => Err(format!("{key} is no list")),
        _ => {
            let space = if value.is_empty() { " " } else { "" };
            Ok((item.value.clone(), format!("{space}{}", what.flow_value())))
        }
    }
}

fn in_block(lines: &Lines<'_>, child: &Entry, what: Put) -> Result<Patch, String> {
    let newline = lines.newline();
    match (lines.shape(child), what) {
        (Shape::Null | Shape::Word, Put::Word(word)) => Ok(if child.value.is_empty() {
            (child.colon..child.colon, format!(" {}", word.yaml()))
        } else {
            (child.value.clone(), word.yaml().to_owned())
        }),
        (Shape::Other(_), Put::Word(word)) if lines.text[child.value.clone()].starts_with('*') => {
            Ok((child.value.clone(), word.yaml().to_owned()))
        }
        (Shape::Flow(flow), Put::Item(item)) => Ok(flow.insertion(item)),
        (Shape::Null, Put::Item(item)) => {
            let row = format!("{}- {item}{newline}", " ".repeat(child.indent + INDENT));
            Ok(below_null(lines, child, &row))
        }
        (Shape::Block, Put::Item(item)) => {
            lines.items(lines.below(child))?;
            let indent = lines.indent_of(lines.below(child)).unwrap_or(child.indent);
            let at = lines.start(child.end);
            let end = if lines.text[..at].ends_with('\n') { "" } else { newline };
            Ok((at..at, format!("{end}{}- {item}{newline}", " ".repeat(indent))))
        }
        (_, Put::Word(_)) => Err(format!("{} is no word", child.key)),
        (_, Put::Item(_)) => Err(format!("{} is no list", child.key)),
    }
}

/// What takes one item out of a list; nothing where it is not in.
fn take(text: &str, section: &str, key: &str, item: &str) -> Result<Option<Patch>, String> {
    let lines = Lines::new(text)?;
    let own = section_of(&lines, section)?;
    let from_flow = |list: Flow| {
        let at = list.items.iter().position(|value| value.key == item);
        at.and_then(|at| list.removal(at)).map(|range| (range, String::new()))
    };
    match lines.shape(&own) {
        Shape::Flow(flow) => {
            let list = flow.items.iter().find(|item| item.key == key).ok_or_else(|| missing(section, key))?;
            Ok(Flow::read(text, list.value.start).and_then(from_flow))
        }
        Shape::Block => {
            let children = lines.entries(lines.below(&own))?;
            let list = children.iter().find(|child| child.key == key).ok_or_else(|| missing(section, key))?;
            match lines.shape(list) {
                Shape::Flow(flow) => Ok(from_flow(flow)),
                Shape::Block => {
                    let items = lines.items(lines.below(list))?;
                    let Some((at, _)) = items.iter().find(|(_, word)| *word == item) else { return Ok(None) };
                    if items.len() > 1 {
                        return Ok(Some((lines.start(*at)..lines.start(at + 1), String::new())));
                    }
                    // A list without items would be nothing at all.
                    let before = &text[list.colon..lines.start(*at)];
                    Ok(Some((list.colon..lines.start(at + 1), format!(" []{before}"))))
                }
                _ => Err(format!("{section}.{key} is no list")),
            }
        }
        _ => Err(format!("{section} is no mapping")),
    }
}

fn drop_key(text: &str, section: &str, key: &str) -> Result<Patch, String> {
    let lines = Lines::new(text)?;
    let own = section_of(&lines, section)?;
    match lines.shape(&own) {
        Shape::Flow(flow) => {
            let at = flow.items.iter().position(|item| item.key == key).ok_or_else(|| missing(section, key))?;
            match (flow.items.len(), flow.removal(at)) {
                (2.., Some(range)) => Ok((range, String::new())),
                _ => Ok(rows(&lines, &own)),
            }
        }
        Shape::Block => {
            let children = lines.entries(lines.below(&own))?;
            let child = children.iter().find(|child| child.key == key).ok_or_else(|| missing(section, key))?;
            if children.len() > 1 {
                return Ok(rows(&lines, child));
            }
            // Comments between the two stay.
            let between = &text[lines.start(own.line + 1)..lines.start(child.line)];
            Ok((lines.start(own.line)..lines.start(child.end), between.to_owned()))
        }
        _ => Err(format!("{section} is no mapping")),
    }
}

/// The lines of an entry go.
fn rows(lines: &Lines<'_>, entry: &Entry) -> Patch {
    (lines.start(entry.line)..lines.start(entry.end), String::new())
}

fn root(lines: &Lines<'_>) -> Result<Vec<Entry>, String> {
    let document = lines.document.clone();
    match lines.first(document.clone()) {
        Some(first) if lines.text[lines.start(first)..].trim_start().starts_with('{') => {
            let end = lines.start(document.end);
            match lines.text[lines.start(first)..end].trim() {
                "{}" => Ok(Vec::new()),
                _ => Err("everything is in one pair of brackets".into()),
            }
        }
        _ => lines.entries(document),
    }
}

fn section_of(lines: &Lines<'_>, section: &str) -> Result<Entry, String> {
    let found = root(lines)?.into_iter().find(|entry| entry.key == section);
    found.ok_or_else(|| format!("the line of {section} was not found"))
}

fn missing(section: &str, key: &str) -> String {
    format!("the line of {section}.{key} was not found")
}

fn patched(text: &str, (range, words): Patch) -> Result<String, String> {
    match (text.get(..range.start), text.get(range.end..)) {
        (Some(before), Some(behind)) => Ok(format!("{before}{words}{behind}")),
        _ => Err("a place in it was not found".into()),
    }
}
