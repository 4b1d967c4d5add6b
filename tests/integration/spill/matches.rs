//! Searches in spilled texts.

use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

use super::spill;

fn search(raw: &mut Raw, params: &Value) -> (Vec<Value>, bool) {
    let found = raw.result("output.search", params);
    let matches = found["matches"].as_array().unwrap().clone();
    for one in &matches {
        assert!(one["line"].as_u64().unwrap() >= 1 && one["before"].is_array() && one["after"].is_array(), "{one}");
    }
    (matches, found["more"].as_bool().unwrap())
}

fn lines(matches: &[Value]) -> Vec<u64> {
    matches.iter().map(|one| one["line"].as_u64().unwrap()).collect()
}

#[test]
fn a_query_is_literal_unless_it_is_said_to_be_an_expression() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let handle = spill(&mut raw, "c", "alpha [1]\r\nbeta.gamma\nALPHA\nbeta-gamma\n日本語の本\n\nlast a+b");
    for (query, regex, expected) in [
        ("alpha", false, vec![1]),
        ("[1]", false, vec![1]),
        ("[1]", true, vec![1]),
        ("beta.gamma", false, vec![2]),
        ("beta.gamma", true, vec![2, 4]),
        ("(?i)alpha", true, vec![1, 3]),
        ("(?i)alpha", false, vec![]),
        ("本", false, vec![5]),
        ("^last", true, vec![7]),
        ("^last", false, vec![]),
        ("a+b", false, vec![7]),
        (r"\p{Han}+", true, vec![5]),
        (r"\d\]$", true, vec![1]),
        ("^$", true, vec![6]),
        ("nothing", false, vec![]),
        (" ", false, vec![1, 7]),
    ] {
        for scope in [json!({ "handle": handle }), json!({ "session": "s" }), json!({})] {
            let mut params = json!({ "query": query, "regex": regex });
            params.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
            let (matches, more) = search(&mut raw, &params);
            assert_eq!((lines(&matches), more), (expected.clone(), false), "{params}");
            assert!(matches.iter().all(|one| one["handle"] == json!(handle)));
        }
    }
    assert_eq!(search(&mut raw, &json!({ "query": "alpha", "session": "other" })), (vec![], false));
}

#[test]
fn context_limit_and_more_are_those_asked_for() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let text: String =
        (1..=100).map(|at| if at % 10 == 0 { format!("hit {at}\n") } else { format!("line {at}\n") }).collect();
    let handle = spill(&mut raw, "c", &text);
    let ask = |more: Value| {
        let mut params = json!({ "query": "hit", "handle": handle });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    for (limit, count, more) in [(1, 1, true), (9, 9, true), (10, 10, false), (1000, 10, false)] {
        let (matches, is_more) = search(&mut raw, &ask(json!({ "limit": limit })));
        assert_eq!((matches.len(), is_more), (count, more), "{limit}");
        assert_eq!(lines(&matches), (1..=count as u64).map(|at| at * 10).collect::<Vec<_>>());
    }
    for (context, before, after) in [
        (0, vec![], vec![]),
        (2, vec!["line 8", "line 9"], vec!["line 11", "line 12"]),
        (11, (1..=9).map(|_| "").collect(), (1..=11).map(|_| "").collect()),
    ] {
        let (matches, _) = search(&mut raw, &ask(json!({ "context": context })));
        let first = &matches[0];
        assert_eq!(first["before"].as_array().unwrap().len(), before.len(), "{first}");
        assert_eq!(first["after"].as_array().unwrap().len(), after.len(), "{first}");
        if context == 2 {
            assert_eq!((&first["before"], &first["after"]), (&json!(before), &json!(after)));
        }
        let last = &matches[9];
        assert_eq!(last["after"], json!([]), "there is nothing behind the last line");
    }
    for (more, about) in [
        (json!({ "query": "" }), "empty"),
        (json!({ "query": "x".repeat(1001) }), "long"),
        (json!({ "query": "(", "regex": true }), "expression"),
        (json!({ "query": "a{1000}{1000}{1000}", "regex": true }), "huge expression"),
        (json!({ "query": "(?P<x>a)(?=b)", "regex": true }), "look-ahead"),
        (json!({ "limit": 0 }), "limit"),
        (json!({ "limit": 1001 }), "limit"),
        (json!({ "context": 21 }), "context"),
        (json!({ "session": "s" }), "both scopes"),
    ] {
        assert_eq!(kind(&raw.call("output.search", &ask(more))), "invalid_params", "{about}");
    }
    for (query, regex) in [("(", false), ("x", true)] {
        let wanted = json!({ "query": query, "regex": regex, "handle": "out_00000000000000000000" });
        assert_eq!(kind(&raw.call("output.search", &wanted)), "not_found");
    }
}

#[test]
fn a_match_says_where_it_is_so_that_read_finds_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let giant = format!("{}é NEEDLE 👨\u{200d}👩{}", "日本語 ".repeat(200_000), " tail".repeat(200_000));
    let texts = ["first\r\nsecond NEEDLE here\nthird", "🪨🪨 NEEDLE", &giant, &"needle ".repeat(2_000)];
    for (at, text) in texts.into_iter().enumerate() {
        let handle = spill(&mut raw, &format!("c{at}"), text);
        for regex in [false, true] {
            let query = if regex { "(?i)needle" } else { "NEEDLE" };
            let (matches, _) = search(&mut raw, &json!({ "query": query, "regex": regex, "handle": handle }));
            assert_eq!(matches.is_empty(), at == 3 && !regex, "{at}");
            for one in &matches {
                let shown = one["text"].as_str().unwrap();
                let place = |name: &str| usize::try_from(one[name].as_u64().unwrap()).unwrap();
                let (start, end) = (place("start"), place("end"));
                let marked: String = shown.chars().skip(start).take(end - start).collect();
                assert_eq!(marked.to_uppercase(), "NEEDLE", "{at}");
                assert!(shown.chars().count() <= 2000 && !shown.ends_with(['\n', '\r']), "{at}: {}", shown.len());
                assert_eq!(one["cut"], json!(at >= 2), "{at}");
                let read = json!({ "handle": handle, "offset": one["offset"], "limit": 6 });
                assert_eq!(raw.result("output.read", &read)["text"].as_str().unwrap().to_uppercase(), "NEEDLE");
                let line = json!({ "handle": format!("{handle}:{}", one["line"]), });
                assert!(raw.result("output.read", &line)["text"].as_str().unwrap().to_uppercase().contains("NEEDLE"));
            }
        }
    }
}

#[test]
fn the_newest_output_comes_first_and_its_lines_in_their_order() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let handles: Vec<String> =
        (0..3).map(|at| spill(&mut raw, &format!("c{at}"), &format!("word {at}\nnone\nword again {at}\n"))).collect();
    let (matches, more) = search(&mut raw, &json!({ "query": "word" }));
    let found: Vec<(&str, u64)> =
        matches.iter().map(|one| (one["handle"].as_str().unwrap(), one["line"].as_u64().unwrap())).collect();
    let expected: Vec<(&str, u64)> =
        handles.iter().rev().flat_map(|handle| [(handle.as_str(), 1), (handle.as_str(), 3)]).collect();
    assert_eq!((found, more), (expected, false));
    assert!(search(&mut raw, &json!({ "query": "word", "limit": 5 })).1);
    raw.result("output.remove", &json!({ "handle": handles[1] }));
    assert_eq!(search(&mut raw, &json!({ "query": "word" })).0.len(), 4);
    assert_eq!(kind(&raw.call("output.search", &json!({ "query": "word", "handle": handles[1] }))), "not_found");
}
