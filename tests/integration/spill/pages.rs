//! A spilled text can be read page by page, whatever its lines are like.

use herma_tests::{Daemon, Home, kind};
use serde_json::json;

use super::{spill, walk};

/// Maximum chars of a page.
const PAGE: usize = 1_000_000;

#[test]
fn pages_one_behind_the_other_are_the_whole_text() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let lines = |end: &str, last: &str| (0..450).map(|at| format!("ligne {at} é🪨{end}")).collect::<String>() + last;
    let texts = [
        (lines("\n", ""), 450),
        (lines("\n", "no newline at the end"), 451),
        (lines("\r\n", ""), 450),
        (lines("\r\n", "last\r"), 451),
        (lines("\r", ""), 1),
        ("\n".repeat(450), 450),
        (lines("\u{2028}", "\u{85}\u{b}\u{c}"), 1),
        (format!("{}\n{}", "long ".repeat(250_000), "behind"), 2),
        ("日本語🪨".repeat(600_000), 1),
        ("x".into(), 1),
        ("\n".into(), 1),
        ("\r\n".into(), 1),
        ("nul \0 and bell \u{7}\nnext".into(), 2),
    ];
    // All texts are spilled before one is read, because a text that was returned is not spilled again.
    let handles: Vec<String> =
        texts.iter().enumerate().map(|(at, (text, _))| spill(&mut raw, &format!("c{at}"), text)).collect();
    for (at, ((text, count), handle)) in texts.into_iter().zip(handles).enumerate() {
        let path = home.path().join(format!("herma/outputs/s/c{at}.txt"));
        let size = text.chars().count();
        for first in [
            json!({ "handle": handle }),
            json!({ "path": path }),
            json!({ "handle": handle, "lines": 7 }),
            json!({ "handle": handle, "line": 1, "lines": 449 }),
            json!({ "handle": handle, "lines": 1_000_000 }),
            json!({ "handle": handle, "offset": 0 }),
            json!({ "handle": handle, "limit": (size / 7).max(1) }),
            json!({ "handle": handle, "limit": 2 * PAGE }),
            json!({ "handle": format!("{handle}:1") }),
        ] {
            let (whole, pages) = walk(&mut raw, &first);
            assert!(whole == text, "{at} {first}: {pages} pages, {} of {size} chars", whole.chars().count());
            let page = raw.result("output.read", &first);
            assert!(page["text"].as_str().unwrap().chars().count() <= PAGE, "{first}");
            assert_eq!((&page["total_lines"], &page["total_chars"]), (&json!(count), &json!(size)), "{at}");
        }
    }
}

#[test]
fn a_page_holds_what_was_asked_for_and_says_where_it_goes_on() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let text = "a1\r\nb22\nç333\n\ne5";
    let handle = spill(&mut raw, "c", text);
    for (part, expected, next) in [
        (json!({ "line": 1, "lines": 2 }), "a1\r\nb22\n", json!({ "line": 3 })),
        (json!({ "line": 3, "lines": 1 }), "ç333\n", json!({ "line": 4 })),
        (json!({ "line": 4, "lines": 2 }), "\ne5", json!(null)),
        (json!({ "line": 5 }), "e5", json!(null)),
        (json!({ "line": 6 }), "", json!(null)),
        (json!({ "offset": 0, "limit": 3 }), "a1\r", json!({ "offset": 3 })),
        (json!({ "offset": 8, "limit": 2 }), "ç3", json!({ "offset": 10 })),
        (json!({ "offset": 14 }), "e5", json!(null)),
        (json!({ "offset": 16 }), "", json!(null)),
        (json!({ "tail": 1 }), "e5", json!(null)),
        (json!({ "tail": 2 }), "\ne5", json!(null)),
        (json!({ "tail": 3 }), "ç333\n\ne5", json!(null)),
        (json!({ "tail": 99 }), text, json!(null)),
        (json!({ "tail": 0 }), "", json!(null)),
    ] {
        let mut params = json!({ "handle": handle });
        params.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        let page = raw.result("output.read", &params);
        assert_eq!((&page["text"], &page["next"]), (&json!(expected), &next), "{part}");
        assert_eq!((&page["total_lines"], &page["total_chars"]), (&json!(5), &json!(16)), "{part}");
    }
    let at = |raw: &mut herma_tests::Raw, place: &str| raw.result("output.read", &json!({ "handle": place }));
    assert_eq!(at(&mut raw, &format!("{handle}:3"))["text"], "ç333\n\ne5");
    // Explicit params override the line in the handle.
    let both = raw.result("output.read", &json!({ "handle": format!("{handle}:3"), "line": 2, "lines": 1 }));
    assert_eq!(both["text"], "b22\n");
    // It said where to begin, and so a number of lines alone began at the first one.
    let lines = raw.result("output.read", &json!({ "handle": format!("{handle}:2"), "lines": 1 }));
    assert_eq!((&lines["text"], &lines["next"]), (&json!("b22\n"), &json!({ "line": 3 })));
    for (params, expected) in [
        (json!({ "handle": handle, "line": 1, "offset": 1 }), "invalid_params"),
        (json!({ "handle": handle, "tail": 1, "lines": 1 }), "invalid_params"),
        (json!({ "handle": handle, "line": 0 }), "invalid_params"),
        (json!({ "handle": handle, "line": -1 }), "invalid_params"),
        (json!({ "handle": handle, "path": "x" }), "invalid_params"),
        (json!({ "handle": handle, "view": "yaml" }), "invalid_params"),
        (json!({}), "invalid_params"),
        (json!({ "handle": format!("{handle}x") }), "not_found"),
        (json!({ "handle": "out_00000000000000000000" }), "not_found"),
    ] {
        assert_eq!(kind(&raw.call("output.read", &params)), expected, "{params}");
    }
}

/// Removes the white space between the tokens of a JSON text.
fn squeezed(json: &str) -> String {
    let (mut out, mut is_text, mut is_escaped) = (String::with_capacity(json.len()), false, false);
    for char in json.chars() {
        if is_text || !char.is_ascii_whitespace() {
            out.push(char);
        }
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ => {}
        }
    }
    out
}

#[test]
fn json_of_one_line_is_shown_in_lines_with_every_token_as_it_was() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let row = r#"{"n":1e400,"n":-0,"id":123456789012345678901234567890,"f":1.0,"e":1E+2,"s":"\u00e9\ud83d\ude00 \/ { , : ] \" é日","":[],"o":{},"t":[true,false,null]}"#;
    let text = format!("[{}]", vec![row; 5_000_000 / row.len() + 1].join(","));
    assert!(text.len() > 5_000_000 && !text.contains('\n'));
    let handle = spill(&mut raw, "c", &text);
    let first = raw.result("output.read", &json!({ "handle": handle, "view": "json", "lines": 40 }));
    let shown = first["text"].as_str().unwrap();
    assert_eq!(shown.lines().count(), 40, "{shown}");
    for token in ["1e400", "-0", "123456789012345678901234567890", "1.0", "1E+2", r"\u00e9\ud83d\ude00 \/ { , : ]"] {
        assert!(shown.contains(token), "{token}: {shown}");
    }
    assert_eq!(shown.lines().filter(|line| line.contains("\"n\"")).count(), 2 * shown.matches("\"id\"").count());
    assert!(first["total_lines"].as_u64().unwrap() > 300_000, "{}", first["total_lines"]);
    for first in [
        json!({ "handle": handle, "view": "json", "lines": 60_000 }),
        json!({ "handle": handle, "view": "json", "limit": 900_001 }),
    ] {
        let (whole, pages) = walk(&mut raw, &first);
        assert!(pages > 5 && squeezed(&whole) == text, "{first}");
    }
    assert!(walk(&mut raw, &json!({ "handle": handle })).0 == text);
    let tail = raw.result("output.read", &json!({ "handle": handle, "view": "json", "tail": 3 }));
    assert_eq!(squeezed(tail["text"].as_str().unwrap()), "]}]");
}

#[test]
fn what_is_no_json_is_shown_as_it_is() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (at, text) in ["{\"a\": 1", "plain\ntext", "{'a': 1}", "[1,]", "{} {}"].into_iter().enumerate() {
        let handle = spill(&mut raw, &format!("c{at}"), text);
        let reply = raw.call("output.read", &json!({ "handle": handle, "view": "json" }));
        let is_told = kind(&reply) == "invalid_params";
        assert!(is_told || squeezed(reply["result"]["text"].as_str().unwrap()) == squeezed(text), "{text}: {reply}");
    }
}
