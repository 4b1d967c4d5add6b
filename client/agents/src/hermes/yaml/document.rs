//! Edits of the syntax tree of a text. Bytes outside the edit stay as they are.

use std::str::FromStr;

use yaml_edit::{Document, Mapping, Sequence, YamlFile};

use super::{Edit, Word};

/// Applies an edit to a text.
///
/// # Errors
/// The tree has another type where the edit belongs. The error is for people.
pub(super) fn apply(text: &str, edit: &Edit<'_>) -> Result<String, String> {
    let file = YamlFile::from_str(text).map_err(|_| "its YAML is not understood".to_owned())?;
    let mut documents = file.documents();
    let (document, others) = (documents.next(), documents.count());
    if others > 0 {
        return Err("it has several documents".into());
    }
    let Some(root) = document.as_ref().and_then(Document::as_mapping) else { return Ok(appended(text, edit)) };
    match *edit {
        Edit::Set(section, key, word) => match inner(&root, section)? {
            Some(own)
                if own.get(key).is_some_and(|value| value.as_mapping().is_some() || value.as_sequence().is_some()) =>
            {
                return Err(format!("{section}.{key} is not a word"));
            }
            Some(own) => set(&own, key, word),
            None => {
                let own = Mapping::new();
                set(&own, key, word);
                root.set(section, &own);
            }
        },
        Edit::Add(section, key, item) => {
            let own = inner(&root, section)?.unwrap_or_else(|| {
                root.set(section, Mapping::new());
                root.get_mapping(section).unwrap_or_default()
            });
            match own.get_sequence(key) {
                Some(list) => list.push(item),
                None => {
                    let list = if own.is_flow_style() { Sequence::new_flow() } else { Sequence::new() };
                    list.push(item);
                    own.set(key, &list);
                }
            }
        }
        Edit::Take(section, key, item) => {
            let list = inner(&root, section)?.and_then(|own| own.get_sequence(key));
            let Some(list) = list else { return Err(format!("{section}.{key} is not a list")) };
            while let Some(at) = list.values().position(|value| value.yaml_eq(&item)) {
                drop(list.remove(at));
            }
        }
        Edit::Drop(section, key, _) => {
            let Some(own) = inner(&root, section)? else { return Ok(text.to_owned()) };
            drop(own.remove(key));
            if own.is_empty() {
                let emptied = file.to_string();
                drop(root.remove(section));
                // A comment that a person wrote there stays, and with it the section.
                if comments(&file.to_string()) < comments(&emptied) {
                    return Ok(emptied);
                }
            }
        }
        Edit::DropSection(section) => drop(root.remove(section)),
        Edit::Swap(section, key, _, word) => return apply(text, &Edit::Set(section, key, Word::Text(word))),
    }
    Ok(file.to_string())
}

/// Returns the mapping of a section, or `None` if it is missing or null.
fn inner(root: &Mapping, section: &str) -> Result<Option<Mapping>, String> {
    match root.get(section) {
        None => Ok(None),
        Some(value) if value.as_scalar().is_some_and(|scalar| scalar.is_null()) => Ok(None),
        Some(value) => value.as_mapping().cloned().map(Some).ok_or_else(|| format!("{section} is not a mapping")),
    }
}

fn set(own: &Mapping, key: &str, word: Word<'_>) {
    match word {
        Word::Text(text) => own.set(key, text),
        Word::True => own.set(key, true),
    }
}

/// Returns the number of lines that have a comment.
fn comments(text: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with('#') || line.contains(" #")).count()
}

/// Returns a text without data, with the section appended.
fn appended(text: &str, edit: &Edit<'_>) -> String {
    let section = match *edit {
        Edit::Set(section, key, word) => format!("{section}:\n  {key}: {}\n", word.yaml()),
        Edit::Add(section, key, item) => format!("{section}:\n  {key}:\n    - {item}\n"),
        Edit::Take(..) | Edit::Swap(..) | Edit::Drop(..) | Edit::DropSection(_) => return text.to_owned(),
    };
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let between = if text.is_empty() || text.ends_with('\n') { "" } else { line_end };
    format!("{text}{between}{}", section.replace('\n', line_end))
}
