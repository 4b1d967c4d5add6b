//! The initial text of [`Config::file`]: every key at its default, commented out.

use toml::Value;

use super::key::{Field, Key, KeyValue, Section, join};
use super::{Config, units};

/// The text above all keys.
const HEAD: &str = "\
# The configuration of herma. Every line is a default; take the `#` away to change it.
# `herma config check` looks for mistakes, `herma config show` prints what is in force.
# The daemon reads this file when it starts.
";

/// The column of the comments.
const COLUMN: usize = 32;

/// Returns the whole file.
#[must_use]
pub fn template() -> String {
    format!("{HEAD}\n{}", sections("#"))
}

/// Returns all sections. `mark` precedes each line except the headings of sections.
fn sections(mark: &str) -> String {
    let mut text = String::new();
    write(&mut Config::default(), "", mark, &mut text);
    text.trim_start().to_owned()
}

/// Appends the keys of the section at `path`.
fn write(section: &mut dyn Section, path: &str, mark: &str, text: &mut String) {
    for Key { name, comment, held } in section.keys() {
        let path = join(path, name);
        let comment = comment.trim().trim_end_matches('.');
        match held {
            KeyValue::Value(Field { shown: None, .. }) => {}
            KeyValue::Value(Field { shown: Some(value), range, .. }) => {
                let value = match value {
                    Value::Integer(number) if number >= 10_000 => units::grouped(number, '_'),
                    value => value.to_string(),
                };
                let range = if range.is_empty() { range } else { format!(" ({range})") };
                line(text, &format!("{mark}{name} = {value}"), &format!("{comment}{range}"));
            }
            KeyValue::Section(section) => {
                text.push_str(&format!("\n[{path}]\n"));
                write(section, &path, mark, text);
            }
            KeyValue::Optional { mut example, .. } => {
                text.push('\n');
                line(text, &format!("{mark}[{path}]"), comment);
                write(&mut *example, &path, mark, text);
            }
            KeyValue::Named { example, .. } => {
                text.push('\n');
                line(text, &format!("[{path}]"), comment);
                example.lines().for_each(|line| text.push_str(&format!("{mark}{line}\n")));
            }
        }
    }
}

fn line(text: &mut String, said: &str, comment: &str) {
    text.push_str(&format!("{said:<COLUMN$} # {comment}\n"));
}

#[cfg(test)]
mod tests;
