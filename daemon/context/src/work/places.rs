//! Places of definitions in the output of a file search: `path:line:text`.

/// Words before the name of a definition.
const DEFINING: &[&str] =
    &["def", "class", "fn", "func", "function", "struct", "enum", "trait", "interface", "type", "impl"];

/// The most definitions of one output.
const MOST: usize = 120;

/// The fewest chars of a name.
const SHORTEST: usize = 3;

/// The most bytes of a name or path.
const LONGEST: usize = 120;

/// Returns the names defined in the lines of a text with their places, the last one first.
pub(super) fn definitions(text: &str) -> impl Iterator<Item = (&str, String)> {
    text.lines().rev().filter_map(definition).take(MOST)
}

fn definition(line: &str) -> Option<(&str, String)> {
    let (path, rest) = line.split_once(':')?;
    let (number, code) = rest.split_once(':')?;
    let is_place = (1..=LONGEST).contains(&path.len()) && !path.contains(' ') && path.contains(['.', '/']);
    if !is_place || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut words = code.split_whitespace().take(5);
    words.find(|word| DEFINING.contains(word))?;
    let name = words.next()?;
    let end = name.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(name.len());
    let name = name.get(..end).filter(|name| (SHORTEST..=LONGEST).contains(&name.len()))?;
    Some((name, format!("{}:{number}", path.trim_start_matches("./"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_a_place() {
        let text = "./src/queue.py:12:def drain_queue(limit):\nsrc/a.rs:7:    pub(crate) async fn open<T>(path: T) {\n\
                    src/a.rs:9: let x = open(y);\nnoise: 12: class\n10:30:fn main\nsrc/b.ts:1:export class Queue {";
        let found: Vec<_> = definitions(text).collect();
        assert_eq!(
            found,
            [
                ("Queue", "src/b.ts:1".to_owned()),
                ("open", "src/a.rs:7".to_owned()),
                ("drain_queue", "src/queue.py:12".to_owned())
            ]
        );
    }
}
