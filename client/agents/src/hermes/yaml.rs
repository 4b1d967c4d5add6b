//! Edits a few keys of a YAML file. Every other byte stays as it is.
//!
//! [`document`] edits the text with the crate yaml-edit. Another parser then reads the result. It is returned only if
//! its data is the old data with exactly the change.

mod document;

use serde_json::{Map, Value, json};

/// An edit of a text whose root is a mapping of sections. Applying it twice has the same result as once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit<'a> {
    /// Set the key of the section to a value.
    Set(&'static str, &'static str, Word<'a>),
    /// Set the key of the section to the second word if its value is the first one.
    Swap(&'static str, &'static str, &'static str, &'a str),
    /// Add the item to the list of the section.
    Add(&'static str, &'static str, &'static str),
    /// Remove the item from the list of the section.
    Take(&'static str, &'static str, &'static str),
    /// Remove the key of the section if its value is the word. Then also remove the section if it is empty, unless a
    /// person wrote a comment into it.
    Drop(&'static str, &'static str, &'static str),
    /// Remove the section.
    DropSection(&'static str),
}

/// A value that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word<'a> {
    Text(&'a str),
    True,
}

impl<'a> Word<'a> {
    /// Returns the word in YAML. Texts are plain words.
    fn yaml(self) -> &'a str {
        match self {
            Self::Text(word) => word,
            Self::True => "true",
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Text(word) => word.into(),
            Self::True => true.into(),
        }
    }
}

/// Parses a text. An empty text is an empty mapping.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let parsed = serde_saphyr::from_str::<Value>(text).map_err(|error| {
        // The message continues with an excerpt of the file, which may contain a secret.
        let words = error.to_string();
        words.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })?;
    match parsed {
        Value::Null => Ok(json!({})),
        Value::Object(_) => Ok(parsed),
        _ => Err("it is not a mapping".into()),
    }
}

/// Applies the edits, or returns the reason why it can't.
pub(super) fn edit(text: &str, edits: &[Edit<'_>]) -> Result<String, String> {
    let mut expected = parse(text)?;
    let mut edited = text.to_owned();
    for edit in edits.iter().filter(|edit| !is_done(&parse(text).unwrap_or_default(), edit)) {
        apply(&mut expected, edit)?;
        edited = document::apply(&edited, edit)?;
    }
    let expected = without_emptied(expected, edits);
    match parse(&edited).map(|data| without_emptied(data, edits)) {
        Ok(data) if data == expected => Ok(edited),
        _ => Err("its lines are not understood well enough to be changed".into()),
    }
}

/// Returns whether the data already has the edit.
pub(super) fn is_done(data: &Value, edit: &Edit<'_>) -> bool {
    let has = |section: &str, key: &str, item: &str| {
        data[section][key].as_array().is_some_and(|items| items.iter().any(|value| value == item))
    };
    match *edit {
        Edit::Set(section, key, word) => data[section][key] == word.value(),
        Edit::Add(section, key, item) => has(section, key, item),
        Edit::Take(section, key, item) => !has(section, key, item),
        Edit::Swap(section, key, word, _) | Edit::Drop(section, key, word) => data[section][key] != word,
        Edit::DropSection(section) => data.get(section).is_none(),
    }
}

/// Returns the data without the sections that an edit emptied: in a text, a comment can keep such a section.
fn without_emptied(mut data: Value, edits: &[Edit<'_>]) -> Value {
    for edit in edits {
        let Edit::Drop(section, ..) = *edit else { continue };
        let is_empty = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if let Some(root) = data.as_object_mut().filter(|root| root.get(section).is_some_and(is_empty)) {
            root.shift_remove(section);
        }
    }
    data
}

/// Applies the edit to the data.
fn apply(data: &mut Value, edit: &Edit<'_>) -> Result<(), String> {
    match *edit {
        Edit::Set(section, key, word) => {
            map_in(data, section)?.insert(key.to_owned(), word.value());
        }
        Edit::Swap(section, key, _, word) => return apply(data, &Edit::Set(section, key, Word::Text(word))),
        Edit::Add(section, key, item) => {
            let list = map_in(data, section)?.entry(key).or_insert(Value::Null);
            if list.is_null() {
                *list = json!([]);
            }
            list.as_array_mut().ok_or_else(|| format!("{section}.{key} is not a list"))?.push(item.into());
        }
        Edit::Take(section, key, item) => {
            if let Some(items) = data[section][key].as_array_mut() {
                items.retain(|value| value != item);
            }
        }
        Edit::Drop(section, key, _) => {
            let own = map_in(data, section)?;
            own.shift_remove(key);
            if own.is_empty() {
                return apply(data, &Edit::DropSection(section));
            }
        }
        Edit::DropSection(section) => {
            if let Some(root) = data.as_object_mut() {
                root.shift_remove(section);
            }
        }
    }
    Ok(())
}

/// Returns the section as a mapping. A missing or null section becomes an empty one.
fn map_in<'a>(data: &'a mut Value, section: &str) -> Result<&'a mut Map<String, Value>, String> {
    let root = data.as_object_mut().ok_or("it is not a mapping")?;
    let own = root.entry(section).or_insert(Value::Null);
    if own.is_null() {
        *own = json!({});
    }
    own.as_object_mut().ok_or_else(|| format!("{section} is not a mapping"))
}

/// Checks a property of every text: a successful edit changes the data as requested, and a second edit changes nothing.
#[cfg(feature = "fuzzing")]
#[allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a panic is the finding")]
pub fn yaml_holds(text: &str) {
    for wanted in [
        Edit::Set("context", "engine", Word::Text("herma")),
        Edit::Set("herma", "memory", Word::True),
        Edit::Add("plugins", "enabled", "herma"),
        Edit::Take("plugins", "disabled", "herma"),
        Edit::Swap("context", "engine", "herma", "mine: # no"),
        Edit::Drop("memory", "provider", "herma"),
        Edit::DropSection("herma"),
    ] {
        let Ok(edited) = edit(text, &[wanted]) else { continue };
        assert!(is_done(&parse(&edited).unwrap(), &wanted));
        assert_eq!(edit(&edited, &[wanted]).as_deref(), Ok(edited.as_str()));
    }
}

#[cfg(test)]
mod tests;
