//! The params of a request, in both codecs. They are read in one pass: params that every method
//! accepts go into the [`Header`], and unknown ones are refused with a suggestion.

use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use crate::nearest::nearest;
use crate::{Header, Json, Request, attached};

/// Why params can't be read: the name of the param and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParamsError(String);

/// Reads params and header from JSON text; null counts as empty. Lone surrogates become U+FFFD, and
/// the header counts them.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<(Header, T), ParamsError> {
    // An attachment can be taken only once, so there is no second attempt; a text with attachments is short.
    if attached::is_reading() {
        return without_lone_surrogates(text).unwrap_or_else(|| parse(text));
    }
    // Valid text is parsed unchanged, so that messages keep their bytes.
    parse(text).or_else(|error| {
        let whole = || with_whole_numbers(text).and_then(|text| parse(&text).ok());
        without_lone_surrogates(text).and_then(Result::ok).or_else(whole).ok_or(error)
    })
}

/// Returns the text with `3` in place of `3.0` for every param that is a number: some languages
/// have no integers, and models write them so. `None` if there is no such param.
fn with_whole_numbers(text: &str) -> Option<String> {
    let members = herma_json::fields(text);
    members.iter().any(|(_, value)| herma_json::whole_number(value).is_some()).then(|| {
        let member = |(key, value): &(&str, &str)| {
            format!("{key}:{}", herma_json::whole_number(value).as_deref().unwrap_or(value))
        };
        format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
    })
}

/// Reads the text with its lone surrogates replaced; `None` if it has none.
fn without_lone_surrogates<T: DeserializeOwned>(text: &str) -> Option<Result<(Header, T), ParamsError>> {
    let (text, replaced) = herma_json::replace_lone_surrogates(text)?;
    Some(parse(&text).map(|(header, params)| (Header { replaced, ..header }, params)))
}

/// Refuses a JSON value with lone surrogates, so that the params are read again with them replaced.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    let json = Json::deserialize(deserializer)?;
    match herma_json::replace_lone_surrogates(json.get()) {
        Some(_) => Err(de::Error::custom("lone surrogate in hex escape")),
        None => Ok(json),
    }
}

fn parse<'de, T: Deserialize<'de>>(text: &'de str) -> Result<(Header, T), ParamsError> {
    let mut header = Header::default();
    let mut json = serde_json::Deserializer::from_str(if text == "null" { "{}" } else { text });
    let params = T::deserialize(ParamsObject { json: &mut json, header: &mut header });
    let params = params.and_then(|params| json.end().map(|()| params)).map_err(|error| describe(&error))?;
    Ok((header, params))
}

/// Appends the params of a request; those of the header come first.
pub(crate) fn write(header: &Header, request: &Request, text: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    if *header == Header::default() {
        return serde_json::to_writer(text, request);
    }
    serde_json::to_writer(&mut *text, header)?;
    text.pop();
    text.push(b',');
    let own = text.len();
    serde_json::to_writer(&mut *text, request)?;
    text.remove(own);
    if text.ends_with(b",}") {
        text.truncate(own - 1);
        text.push(b'}');
    }
    Ok(())
}

fn describe(error: &serde_json::Error) -> ParamsError {
    ParamsError(without_position(&error.to_string()).replacen("missing field", "missing param", 1))
}

/// Removes the position from a parser's message: it is relative to the params and would mislead.
fn without_position(words: &str) -> &str {
    words.rfind(" at line ").map_or(words, |at| &words[..at])
}

/// A params object as a deserializer.
struct ParamsObject<'a, D> {
    json: D,
    header: &'a mut Header,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ParamsObject<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.json.deserialize_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.json.deserialize_map(Sorted { visitor, fields, header: self.header })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Passes the method's own params to its visitor.
struct Sorted<'a, V> {
    visitor: V,
    fields: &'static [&'static str],
    header: &'a mut Header,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Sorted<'_, V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("params as an object with named members")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(OwnParams { map, fields: self.fields, header: self.header, current: "" })
    }
}

/// The members of a params object except those of the header.
struct OwnParams<'a, A> {
    map: A,
    fields: &'static [&'static str],
    header: &'a mut Header,
    current: &'static str,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OwnParams<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.next_own()? {
            Some(name) => seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.map.next_value_seed(seed).map_err(|error| self.named(&error))
    }
}

// These functions don't depend on the params' type, so they are compiled once and not for each method.
impl<'de, A: MapAccess<'de>> OwnParams<'_, A> {
    /// Returns the name of the next member that is not in the header.
    fn next_own(&mut self) -> Result<Option<&'static str>, A::Error> {
        while let Some(name) = self.map.next_key_seed(Known(self.fields))? {
            self.current = name;
            match name {
                "profile" => self.header.profile = self.value()?,
                "deadline_ms" => self.header.deadline_ms = self.value()?,
                "idempotency_key" => self.header.idempotency_key = self.value()?,
                name => return Ok(Some(name)),
            }
        }
        Ok(None)
    }

    /// Returns the error of a value with the name of its param.
    fn named(&self, error: &A::Error) -> A::Error {
        de::Error::custom(format_args!("param `{}`: {}", self.current, without_position(&error.to_string())))
    }

    fn value<T: Deserialize<'de>>(&mut self) -> Result<T, A::Error> {
        self.next_value_seed(std::marker::PhantomData)
    }
}

/// Finds a member's name among the params of the method and the header.
struct Known(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Known {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Known {
    type Value = &'static str;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a param")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<&'static str, E> {
        let known = Header::NAMES.iter().chain(self.0).find(|known| **known == name);
        known.copied().ok_or_else(|| E::custom(unknown(name, self.0)))
    }
}

fn unknown(name: &str, fields: &[&'static str]) -> String {
    let shown: String = name.chars().take(80).collect();
    let known = || fields.iter().copied().chain(Header::NAMES);
    match nearest(&shown, known()) {
        Some(near) => format!("unknown param `{shown}`; did you mean `{near}`?"),
        None => format!("unknown param `{shown}`; known are {}", known().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::AddParams;
    use crate::{Json, memory, recall, session};

    fn add(params: &str) -> Result<(Header, AddParams), String> {
        read(params).map_err(|error| error.to_string())
    }

    #[test]
    fn the_header_is_taken_out_of_the_params() {
        let read = add(r#"{"target":"memory","profile":"work","deadline_ms":5,"content":"x","idempotency_key":null}"#);
        let header = Header { profile: Some("work".into()), deadline_ms: Some(5), ..Header::default() };
        assert_eq!(read.map(|(header, params)| (header, params.content)), Ok((header, "x".into())));
    }

    #[test]
    fn bad_params_are_named() {
        for (params, words) in [
            (r#"{"content":"x"}"#, "missing param `target`"),
            (r#"{"target":"memory"}"#, "missing param `content`"),
            (r#"{"target":"memory","contents":"x"}"#, "unknown param `contents`; did you mean `content`?"),
            (r#"{"target":"disk","content":"x"}"#, "param `target`: unknown variant `disk`"),
            (r#"{"target":"memory","content":5}"#, "param `content`: invalid type: integer `5`, expected a string"),
            (r#"{"target":"memory","content":"x","deadline_ms":-1}"#, "param `deadline_ms`"),
            ("[1]", "params as an object"),
            ("7", "params as an object"),
            (r#"{"target":"memory","content":"x"} {}"#, "trailing characters"),
            (r#"{"target":"memory","content":"#, "EOF"),
        ] {
            let error = add(params).err().unwrap_or_default();
            assert!(error.contains(words), "{params}: {error}");
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_are_taken_for_the_replacement_and_counted() {
        let read = add(r#"{"target":"memory","content":"party \ud83c","profile":"\udf89"}"#);
        let header = Header { profile: Some("\u{fffd}".into()), replaced: 2, ..Header::default() };
        assert_eq!(read.map(|(header, params)| (header, params.content)), Ok((header, "party \u{fffd}".into())));
        let (header, tool): (_, memory::ToolParams) = super::read(r#"{"arguments":{"content":"\ud83c"}}"#).unwrap();
        assert_eq!((header.replaced, tool.arguments.get()), (1, r#"{"content":"\ufffd"}"#));
        let wrong = add(r#"{"target":"memory","contents":"\ud83c"}"#).unwrap_err();
        assert!(wrong.contains("did you mean"), "{wrong}");
    }

    #[test]
    fn a_whole_number_may_have_a_point() {
        let limit = |text: &str| read::<recall::SearchParams>(text).map(|(_, params)| params.limit);
        for (text, expected) in [
            (r#"{"query":"a","limit":3.0}"#, Some(Some(3))),
            (r#"{"query":"1.0","limit":3e0}"#, Some(Some(3))),
            (r#"{"query":"a","limit":3}"#, Some(Some(3))),
            (r#"{"query":"a","limit":3.5}"#, None),
            (r#"{"query":"a","limit":"3.0"}"#, None),
            (r#"{"query":"a","limit":-3.0}"#, None),
            (r#"{"query":"a","limit":1e300}"#, None),
        ] {
            assert_eq!(limit(text).ok(), expected, "{text}");
        }
        // A message keeps the bytes that were sent.
        let append = r#"{"session":"s","generation":0.0,"position":0,"messages":[{"n":1.0}]}"#;
        let (_, read): (_, session::transcript::AppendParams) = read(append).unwrap();
        assert_eq!(read.messages[0].get(), r#"{"n":1.0}"#);
    }

    #[test]
    fn nested_json_keeps_its_bytes() {
        let params = read(r#"{"arguments": {"b":1.50, "a":"\u00e9"}}"#);
        let params: Option<memory::ToolParams> = params.ok().map(|(_, params)| params);
        let expected = Json::parse(r#"{"b":1.50, "a":"\u00e9"}"#.into()).ok();
        assert_eq!(params.map(|params| params.arguments), expected);
    }
}
