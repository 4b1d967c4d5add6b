//! A query may be any text. No part of it is run as a query language of the database.

use std::collections::HashSet;

use herma_tests::{Daemon, Home, kind};
use serde_json::json;

use super::{expanded, query, say, search};

#[test]
fn what_looks_like_syntax_is_only_text() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let texts = ["alpha beta gamma", "near the column body:alpha and NOT that", "1=1 or nothing"];
    say(&mut raw, "s", &texts);
    for words in [
        "\" OR 1=1",
        "\"",
        "\"\"",
        "\"\"\"\"",
        "\"alpha",
        "alpha\"",
        "'",
        "'; DROP TABLE message; --",
        "NEAR(",
        "NEAR(alpha beta, 5)",
        "*",
        "alph*",
        "^alpha",
        "^",
        "col:",
        "body:alpha",
        "-alpha",
        "alpha AND",
        "AND OR NOT",
        "NOT",
        "(alpha",
        ")",
        "{alpha}",
        "[alpha]",
        "alpha + beta",
        "alpha\0beta",
        "\0",
        "\\",
        "%",
        "_",
        "?",
        "\u{202e}alpha",
        "\u{feff}",
        "\n\t",
        " ",
        "",
        "\u{301}",
        "🚀",
        "👨\u{200d}👩\u{200d}👧",
        "\u{200d}",
        &"alpha ".repeat(166),
        &"x".repeat(1000),
        &"本".repeat(1000),
        &"\"".repeat(1000),
        &"(".repeat(1000),
    ] {
        drop(query(&mut raw, words));
    }
    for (words, at) in [
        ("alpha beta", 0),
        ("\"beta gamma\"", 0),
        ("body:alpha", 1),
        ("NOT that", 1),
        ("near column", 1),
        ("1=1", 2),
        ("or nothing", 2),
        ("\"beta gamma", 0),
    ] {
        let hits = query(&mut raw, words);
        assert!(!hits.is_empty(), "{words:?}");
        assert_eq!(expanded(&mut raw, &hits[0]), texts[at], "{words:?}");
    }
    for length in [1001, 10_000, 1_000_000] {
        let reply = raw.call("recall.search", &json!({ "query": "本".repeat(length) }));
        assert!(reply["result"]["hits"].is_array(), "{length}: {reply:.200}");
    }
    assert_eq!(search(&mut raw, &json!({ "query": "alpha" })).len(), 2, "everything is still there");
}

#[test]
fn a_quotation_may_end_within_a_word() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let texts = [
        "the heron nests at kilometre 4711",
        "a kilometre from the nests a heron was seen",
        "the heron nest is empty",
        "der Straßenbahnhof ist zu",
        "数据库连接失败了",
    ];
    say(&mut raw, "s", &texts);
    for (words, all) in [
        ("\"the heron nests at kilom\"", &[0][..]),
        ("\"heron nests at kilometre 47", &[0]),
        // A quotation that occurs as whole words matches only those.
        ("\"heron nest\"", &[2]),
        ("\"heron nes\"", &[0, 2]),
        ("\"der straßenb\"", &[3]),
        ("\"数据库连接失\"", &[4]),
        ("\"数据库连\"", &[4]),
        ("\"h\"", &[]),
    ] {
        let found = raw.result("recall.search", &json!({ "query": words }));
        let hits = found["hits"].as_array().unwrap();
        let mut found_texts: Vec<String> = hits.iter().map(|hit| expanded(&mut raw, hit)).collect();
        found_texts.sort_by_key(|text| texts.iter().position(|one| one == text));
        assert_eq!(found_texts, all.iter().map(|at| texts[*at]).collect::<Vec<_>>(), "{words}");
    }
}

#[test]
fn a_word_with_a_sharp_s_is_found_by_either_spelling() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    // Alone, in German and in English, because the language of a text decides how its words are stemmed.
    let with = ["Straße", "Die Straße ist gesperrt", "We shall meet you at the Straße tomorrow, as it is the best"];
    let without = ["STRASSE", "Die Strasse ist frei", "There is nothing in the Strasse that we know of"];
    let both = "the Schlossstraße and its Messgröße";
    let texts = [with, without].concat();
    say(&mut raw, "s", &[&texts[..], &[both]].concat());
    for words in ["strasse", "Straße", "wo ist die Strasse", "where would the STRASSE be"] {
        let found: HashSet<String> = query(&mut raw, words).iter().map(|hit| expanded(&mut raw, hit)).collect();
        for text in &texts {
            assert!(found.contains(*text), "{words}: {text}");
        }
    }
    for words in ["schlossstrasse", "Schloßstraße", "messgrösse", "Meßgröße"] {
        assert_eq!(query(&mut raw, words).len(), 1, "{words}");
    }
}

#[test]
fn handles_that_lead_nowhere_are_not_found() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    say(&mut raw, "s", &["alpha"]);
    for handle in
        ["msg_999", "msg_0", "msg_-1", "mem_1", "out_00000000000000000000:1", "cmp_x_1", "", "x", "msg_", "../x"]
    {
        assert_eq!(kind(&raw.call("recall.expand", &json!({ "handle": handle }))), "not_found", "{handle}");
    }
    let hits = query(&mut raw, "alpha");
    for wrong in [json!({ "before": 101 }), json!({ "after": 101 }), json!({ "before": -1 })] {
        let mut params = json!({ "handle": hits[0]["handle"] });
        params.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert_eq!(kind(&raw.call("recall.expand", &params)), "invalid_params", "{wrong}");
    }
    let tools = raw.result("recall.schema", &json!({}))["tools"].take();
    assert_eq!(tools.as_array().unwrap().len(), 4, "search, expand, describe and state");
}
