//! A line of a file: its content, and writing it with another conversation.

use std::fmt;

use herma_client::protocol::Json;
use herma_client::protocol::json_text::check_depth;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The member with the turns.
const CONVERSATIONS: &str = "conversations";

/// The member with the metrics of a compression.
const METRICS: &str = "compression_metrics";

/// The content of a line.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    /// A blank line.
    Blank,
    /// An object without a conversation.
    Other,
    /// A recorded conversation.
    Trajectory(Members<'a>, Vec<Json>),
}

/// The members of an object in their order.
#[derive(Debug)]
pub(super) struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Entry<'a> {
    /// Parses a line.
    ///
    /// # Errors
    /// The reason why the line is not an entry.
    pub(super) fn read(line: &'a str) -> Result<Self, String> {
        // Some editors write a byte order mark before the first line.
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.trim().is_empty() {
            return Ok(Self::Blank);
        }
        check_depth(line.as_bytes()).map_err(|error| error.to_string())?;
        let members = Members::read(line)?;
        let Some(turns) = members.get(CONVERSATIONS) else { return Ok(Self::Other) };
        let turns =
            serde_json::from_str::<Vec<Json>>(turns.get()).map_err(|_| "`conversations` is no list".to_owned())?;
        Ok(Self::Trajectory(members, turns))
    }
}

impl<'a> Members<'a> {
    fn read(line: &'a str) -> Result<Self, String> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    members.push((name, map.next_value::<&RawValue>()?));
                }
                Ok(members)
            }
        }
        let mut json = serde_json::Deserializer::from_str(line);
        let members = (&mut json).deserialize_map(Object).and_then(|members| json.end().map(|()| members));
        members.map(Self).map_err(|error| {
            let words = error.to_string();
            // The parser counts lines within this one, so its column is the char of the line.
            words.replacen("line 1 column", "char", 1)
        })
    }

    fn get(&self, wanted: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| *value)
    }

    /// Returns the line with other turns, and with metrics if given.
    pub(super) fn with(&self, turns: &[Json], metrics: Option<&str>) -> String {
        let turns: Vec<&str> = turns.iter().map(Json::get).collect();
        let turns = format!("[{}]", turns.join(","));
        let kept = self.0.iter().filter(|(name, _)| metrics.is_none() || name != METRICS);
        let mut members: Vec<String> = kept
            .map(|(name, value)| {
                let value = if name == CONVERSATIONS { turns.as_str() } else { value.get() };
                format!("{}:{value}", serde_json::Value::from(name.as_str()))
            })
            .collect();
        members.extend(metrics.map(|metrics| format!("\"{METRICS}\":{metrics}")));
        format!("{{{}}}", members.join(","))
    }
}

/// Checks a property of every line: written with its own turns, it is read again as the same conversation.
#[cfg(feature = "fuzzing")]
#[allow(clippy::missing_panics_doc, reason = "a panic is the finding")]
pub fn recorded_holds(line: &str) {
    let Ok(Entry::Trajectory(members, turns)) = Entry::read(line) else { return };
    for metrics in [None, Some("{}")] {
        let written = members.with(&turns, metrics);
        let Ok(Entry::Trajectory(_, again)) = Entry::read(&written) else { panic!("{written}") };
        assert_eq!(again, turns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_other_members() {
        let line = r#" { "id": 1.50, "conversations": [{"from":"gpt"}], "compression_metrics": 7, "é": "\u00e9" } "#;
        let Ok(Entry::Trajectory(members, turns)) = Entry::read(line) else { panic!("{line}") };
        assert_eq!(turns.len(), 1);
        let new = [Json::parse("{ }".into()).unwrap()];
        let expected = r#"{"id":1.50,"conversations":[{ }],"é":"\u00e9","compression_metrics":{"a":1}}"#;
        assert_eq!(members.with(&new, Some("{\"a\":1}")), expected);
        assert!(members.with(&new, None).contains("\"compression_metrics\":7"));
    }

    #[test]
    fn what_is_no_trajectory_is_told_apart() {
        assert!(matches!(Entry::read("  \r"), Ok(Entry::Blank)));
        assert!(matches!(Entry::read("\u{feff}{\"conversations\":[]}"), Ok(Entry::Trajectory(..))));
        assert!(matches!(Entry::read("{\"messages\":[]}"), Ok(Entry::Other)));
        for (line, words) in [
            ("{\"a\":", "EOF"),
            ("[1]", "an object"),
            ("{} {}", "trailing"),
            ("{\"conversations\":{}}", "is no list"),
            (&"[".repeat(500), "deeper"),
        ] {
            let error = Entry::read(line).err().unwrap_or_default();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
