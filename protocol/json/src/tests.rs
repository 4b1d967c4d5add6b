//! Compares every function with serde_json, over values written in every way that JSON allows.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::*;

/// White space between tokens.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

/// A string in any spelling: each char as itself where JSON allows it, or as an escape.
fn string() -> impl Strategy<Value = String> {
    let char = prop_oneof![any::<char>(), "[\"\\\\/\n\t{}\\[\\],: a😀]".prop_map(|c| c.chars().next().unwrap())];
    let written = (char, 0_u8..3).prop_map(|(c, form)| match (c, form) {
        ('"', 0) => r#"\""#.to_owned(),
        ('\\', 0) => r"\\".to_owned(),
        ('/', 0) => r"\/".to_owned(),
        ('\n', 0) => r"\n".to_owned(),
        ('\t', 0) => r"\t".to_owned(),
        ('"' | '\\' | '\0'..' ', _) | (_, 0) => {
            c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
        _ => c.to_string(),
    });
    prop::collection::vec(written, 0..12).prop_map(|chars| format!("\"{}\"", chars.concat()))
}

/// A value in any spelling.
fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        string(),
        any::<i64>().prop_map(|number| number.to_string()),
        prop::sample::select(vec!["true", "false", "null", "-1.50e+3", "0.0"]).prop_map(str::to_owned),
    ];
    scalar.prop_recursive(5, 40, 6, |inner| {
        let spaced = (space(), inner, space()).prop_map(|(before, value, behind)| before + &value + &behind).boxed();
        let member =
            (space(), string(), space(), spaced.clone()).prop_map(|(a, key, b, value)| a + &key + &b + ":" + &value);
        prop_oneof![
            prop::collection::vec(spaced, 1..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 1..6).prop_map(|members| format!("{{{}}}", members.join(","))),
            space().prop_map(|space| format!("[{space}]")),
            space().prop_map(|space| format!("{{{space}}}")),
        ]
    })
}

/// Collects every key and value at any depth, in order.
fn walked(raw: &str, at: usize, out: &mut Vec<String>) -> usize {
    let token = |at: usize| raw[at..value_end(raw.as_bytes(), at)].to_owned();
    match raw.as_bytes().get(at) {
        Some(b'{') => members(raw, at, |key, at| {
            out.extend([key.to_owned(), token(at)]);
            walked(raw, at, out)
        }),
        Some(b'[') => items(raw, at, |at| {
            out.push(token(at));
            walked(raw, at, out)
        }),
        _ => value_end(raw.as_bytes(), at),
    }
}

/// Collects the same with `serde_json`; the keys are decoded.
fn parsed(raw: &str, out: &mut Vec<String>) {
    if raw.starts_with('[') {
        for item in serde_json::from_str::<Vec<&RawValue>>(raw).unwrap() {
            out.push(item.get().to_owned());
            parsed(item.get(), out);
        }
    } else if raw.starts_with('{') {
        let map: serde_json::Map<String, Value> = serde_json::from_str(raw).unwrap();
        let values: HashMap<String, &RawValue> = serde_json::from_str(raw).unwrap();
        for key in map.keys() {
            out.extend([serde_json::to_string(key).unwrap(), values[key].get().to_owned()]);
            parsed(values[key].get(), out);
        }
    }
}

/// Returns how deep a value nests, including the values of duplicate keys.
fn depth(raw: &str) -> usize {
    let inner = |values: Vec<&str>| 1 + values.into_iter().map(depth).max().unwrap_or(0);
    match raw.as_bytes().first() {
        Some(b'[') => {
            inner(serde_json::from_str::<Vec<&RawValue>>(raw).unwrap().into_iter().map(RawValue::get).collect())
        }
        Some(b'{') => inner(fields(raw).into_iter().map(|(_, value)| value).collect()),
        _ => 0,
    }
}

#[test]
fn every_value_is_found_where_the_parser_finds_it() {
    for raw in [
        "{}",
        "[]",
        r#"{"a":1}"#,
        " {\"a\" : -1.5e3 ,\n\"b\":\t[ true , null,{ } , [ ] ,\"x\" ] , \"c\":{\"d\":\"}]\\\"{[\"}}\n",
        r#"[[[1],2],"\\",{"k":"\\\""},"é日😀"]"#,
        "7",
        " \"s\" ",
    ] {
        let (mut walk, mut expected) = (Vec::new(), Vec::new());
        let end = walked(raw, start(raw), &mut walk);
        parsed(raw.trim(), &mut expected);
        assert_eq!(walk, expected, "{raw}");
        assert_eq!(end, raw.trim_end().len(), "{raw}");
    }
}

#[test]
fn a_member_is_the_last_that_has_the_key() {
    let raw = r#" {"a":1, "b" : {"c":2}, "\u0061": [3] ,"":"x"}"#;
    for (key, expect) in [("a", Some("[3]")), ("b", Some(r#"{"c":2}"#)), ("c", None), ("", Some("\"x\""))] {
        assert_eq!(member(raw, key), expect, "{key}");
    }
    assert_eq!(member(r#"[{"a":1}]"#, "a"), None);
}

#[test]
fn depth_is_limited_outside_of_strings_only() {
    let nest = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(check_depth(nest(8).as_bytes(), 8), Ok(()));
    assert_eq!(check_depth(nest(9).as_bytes(), 8), Err(TooDeep { at: 8 }));
    for (text, expect) in [
        (format!("\"\\\"{}\"", "[".repeat(500)), Ok(())),
        (format!("[\"{}\\\\\",{}]", "{".repeat(500), nest(7)), Ok(())),
        (format!("[\"{}\\\\\",{}]", "{".repeat(500), nest(8)), Err(TooDeep { at: 513 })),
        (format!("[{}]", vec![nest(2); 500].join(",")), Ok(())),
        (format!("\"\\{}", nest(9)), Ok(())),
        (format!("]]]]{}", nest(9)), Err(TooDeep { at: 12 })),
    ] {
        assert_eq!(check_depth(text.as_bytes(), 8), expect, "{text}");
    }
}

proptest! {
    #[test]
    fn a_string_is_what_the_parser_says(token in string(), behind in "[\"\\\\,} a]{0,6}") {
        let text: String = serde_json::from_str(&token).unwrap();
        prop_assert_eq!(&*decode(&token), &text);
        prop_assert_eq!(unescape(&token), Ok(text.clone()));
        let line = format!("é{token}{behind}");
        prop_assert_eq!(string_end(line.as_bytes(), 2), 2 + token.len());
        prop_assert_eq!(closing_quote(line.as_bytes(), 3), Some(1 + token.len()));
        prop_assert_eq!(closing_quote(&token.as_bytes()[..token.len() - 1], 1), None);
        prop_assert_eq!(unescape_within(line.into_bytes(), 3..1 + token.len()), Ok(text.clone()));
        prop_assert_eq!(StringLength::of(&token).decoded, text.chars().count());
    }

    #[test]
    fn a_value_is_walked_through_as_it_was_written(raw in value(), before in space(), behind in space()) {
        let text = format!("{before}{raw}{behind}");
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(start(&text), before.len());
        let mut tokens = Vec::new();
        prop_assert_eq!(walked(&text, before.len(), &mut tokens), before.len() + raw.len());
        for token in &tokens {
            prop_assert!(serde_json::from_str::<&RawValue>(token).is_ok_and(|value| value.get() == token), "{}", token);
        }
        prop_assert_eq!(value_end(text.as_bytes(), before.len()), before.len() + raw.len());
        if let Value::Object(members) = &read {
            for (key, value) in members {
                let found = member(&text, key).and_then(|value| serde_json::from_str(value).ok());
                prop_assert_eq!(found.as_ref(), Some(value), "{}", key);
            }
        }
        let depth = depth(&raw);
        prop_assert_eq!(check_depth(text.as_bytes(), depth), Ok(()));
        prop_assert!(depth == 0 || check_depth(text.as_bytes(), depth - 1).is_err());
    }

    #[test]
    fn broken_text_ends_all_the_same(pieces in prop::collection::vec(
        prop::sample::select(vec!["{", "}", "[", "]", "\"", "\\", ",", ":", " ", "a", "é", "1", "\"a\":", "\\u12"]), 0..40)) {
        let raw = pieces.concat();
        let mut out = Vec::new();
        let inside = |at: usize| at <= raw.len();
        for at in (0..raw.len()).filter(|at| raw.is_char_boundary(*at)) {
            prop_assert!(inside(value_end(raw.as_bytes(), at)) && inside(string_end(raw.as_bytes(), at)));
            prop_assert!(Pieces::new(&raw, at).count() <= raw.len() + 1);
        }
        members(&raw, start(&raw), |key, at| {
            out.push(key);
            value_end(raw.as_bytes(), at)
        });
        prop_assert!(out.len() <= raw.len() && fields(&raw).len() <= raw.len());
        prop_assert!(member(&raw, "a").is_none_or(|value| value.len() <= raw.len()));
        prop_assert!(unescape_within(raw.clone().into_bytes(), 0..raw.len()).is_ok_and(|text| text.len() <= raw.len()) || raw.contains('\\'));
        prop_assert!(canonical_chars(&raw) <= 2 + 6 * raw.len() && check_depth(raw.as_bytes(), raw.len()).is_ok());
    }
}
