//! The block that replaces a spilled text in the conversation, byte for byte.

use herma_tests::{Daemon, Home};
use serde_json::json;

use super::admit;

/// A family of one grapheme and five chars.
const FAMILY: &str = "👨\u{200d}👩\u{200d}👧";

/// The lines of a block up to the preview.
fn beginning(count: &str, size: &str, path: &str, shown: usize) -> String {
    format!(
        "<persisted-output>\n\
         This tool result was too large ({count} characters, {size}).\n\
         Full output saved to: {path}\n\
         Use the read_file tool with offset and limit to access specific sections of this output.\n\
         \n\
         Preview (first {shown} chars):\n"
    )
}

#[test]
fn without_a_tail_the_block_is_the_one_that_programs_match_on() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let lines = |count: usize| "line of text\n".repeat(count);
    let family = format!("{}{FAMILY}{}", "a".repeat(1498), "b".repeat(600));
    // Text, size of the preview, count of chars, size, and the expected preview.
    let table: Vec<(String, usize, &str, &str, String)> = vec![
        ("x".into(), 1500, "1", "0.0 KB", "x".into()),
        ("x".repeat(1500), 1500, "1,500", "1.5 KB", "x".repeat(1500)),
        ("x".repeat(1501), 1500, "1,501", "1.5 KB", "x".repeat(1500)),
        ("é日🪨".repeat(400), 1500, "1,200", "1.2 KB", "é日🪨".repeat(400)),
        ("日".repeat(1_048_575), 2, "1,048,575", "1024.0 KB", "日日".into()),
        ("日".repeat(1_048_576), 2, "1,048,576", "1.0 MB", "日日".into()),
        ("y".repeat(2_700_000), 0, "2,700,000", "2.6 MB", String::new()),
        // The preview is cut after the last newline beyond its middle.
        (lines(200), 1500, "2,600", "2.5 KB", lines(115)),
        (
            format!("{}\n{}", "a".repeat(751), "b".repeat(2000)),
            1500,
            "2,752",
            "2.7 KB",
            format!("{}\n", "a".repeat(751)),
        ),
        (
            format!("{}\n{}", "a".repeat(750), "b".repeat(2000)),
            1500,
            "2,751",
            "2.7 KB",
            format!("{}\n{}", "a".repeat(750), "b".repeat(749)),
        ),
        // Sizes count chars, even within one grapheme.
        (family, 1500, "2,103", "2.1 KB", format!("{}👨\u{200d}", "a".repeat(1498))),
        ("e\u{301}".repeat(3), 3, "6", "0.0 KB", "e\u{301}e".into()),
    ];
    for (at, (text, size, count, kilobytes, preview)) in table.into_iter().enumerate() {
        let id = format!("call_{at}");
        let config = json!({ "preview_size": size, "preview_tail_size": 0 });
        let admitted = admit(&mut raw, &json!(text), &json!({ "id": id, "threshold": 0, "config": config }));
        let path = home.path().join(format!("herma/outputs/s/{id}.txt"));
        assert_eq!(admitted["path"].as_str(), path.to_str());
        let dots = if preview == text { "" } else { "\n..." };
        let start = beginning(count, kilobytes, path.to_str().unwrap(), preview.chars().count());
        let expected = format!("{start}{preview}{dots}\n</persisted-output>");
        assert_eq!(admitted["content"], json!(expected), "{id}");
        assert_eq!(admitted["chars"], json!(text.chars().count()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn with_a_tail_neither_end_splits_what_is_seen_as_one() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let middle = "-".repeat(50);
    // Head, tail, and their expected parts of at most 6 and 4 chars.
    let table = [
        ("abcdefgh", "wxyz", "abcdef", "wxyz"),
        (&format!("abc{FAMILY}"), &format!("{FAMILY}yz"), "abc", "yz"),
        (&format!("a{FAMILY}b"), &format!("y{FAMILY}"), &format!("a{FAMILY}"), ""),
        ("abcdee\u{301}f", "we\u{301}yz", "abcde", "e\u{301}yz"),
        ("abcdee\u{301}f", "e\u{301}xyz", "abcde", "xyz"),
        ("日本語日本語日本語", "終わりです", "日本語日本語", "わりです"),
        ("abcde🇩🇪f", "🇫🇷xyz", "abcde", "xyz"),
        ("abcde👍🏽f", "👍🏽xyz", "abcde", "xyz"),
        // A newline beyond the middle ends the head.
        ("abcd\nefgh", "w\nyz", "abcd\n", "w\nyz"),
    ];
    for (at, (head, tail, shown, end)) in table.into_iter().enumerate() {
        let id = format!("call_{at}");
        let text = format!("{head}{middle}{tail}");
        let count = text.chars().count();
        let config = json!({ "preview_size": 6, "preview_tail_size": 4 });
        let admitted = admit(&mut raw, &json!(text), &json!({ "id": id, "threshold": 10, "config": config }));
        let block = admitted["content"].as_str().unwrap();
        let start = beginning(&count.to_string(), "0.1 KB", admitted["path"].as_str().unwrap(), shown.chars().count());
        let lines = text.lines().count();
        let last = match end {
            "" => String::new(),
            end => format!("Tail (last {} chars, {lines} lines in all):\n{end}\n", end.chars().count()),
        };
        assert_eq!(block, format!("{start}{shown}\n...\n{last}</persisted-output>"), "{id}");
    }
}

#[test]
fn the_tail_begins_where_the_head_ends_and_counts_all_lines() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (at, (text, tail, shown)) in [
        // The rest is shorter than a tail.
        ("x".repeat(1510), 500, Some(("x".repeat(10), 1))),
        ("x".repeat(1500), 500, None),
        (format!("{}\n{}\n", "a".repeat(1499), "b".repeat(20)), 500, Some((format!("{}\n", "b".repeat(20)), 2))),
        ("one\n".repeat(1000), 8, Some(("one\none\n".into(), 1000))),
        (format!("{}end", "one\r\n".repeat(1000)), 4, Some(("end".into(), 1001))),
    ]
    .into_iter()
    .enumerate()
    {
        let config = json!({ "preview_tail_size": tail });
        let id = format!("call_{at}");
        let admitted = admit(&mut raw, &json!(text), &json!({ "id": id, "threshold": 0, "config": config }));
        let block = admitted["content"].as_str().unwrap();
        match shown {
            None => assert!(block.ends_with("x\n</persisted-output>") && !block.contains("Tail ("), "{id}"),
            Some((shown, lines)) => {
                let count = shown.chars().count();
                let end =
                    format!("\n...\nTail (last {count} chars, {lines} lines in all):\n{shown}\n</persisted-output>");
                assert!(block.ends_with(&end), "{id}: {block}");
            }
        }
    }
}

#[test]
fn a_preview_by_itself_follows_the_same_rule() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (params, text, has_more, tail) in [
        (json!({ "content": "" }), "", false, json!(null)),
        (json!({ "content": "abc", "max": 3 }), "abc", false, json!(null)),
        (json!({ "content": "abcd", "max": 3 }), "abc", true, json!(null)),
        (json!({ "content": "abcd", "max": 3, "tail": 2 }), "abc", true, json!("d")),
        (json!({ "content": "abcdefgh", "max": 3, "tail": 2 }), "abc", true, json!("gh")),
        (json!({ "content": "abc\ndefgh", "max": 6 }), "abc\nde", true, json!(null)),
        (json!({ "content": "abcd\nefgh", "max": 6 }), "abcd\n", true, json!(null)),
        (json!({ "content": "日本語", "max": 0 }), "", true, json!(null)),
    ] {
        let preview = raw.result("output.preview", &params);
        assert_eq!(preview["text"], json!(text), "{params}");
        assert_eq!((&preview["has_more"], &preview["tail"]), (&json!(has_more), &tail), "{params}");
    }
}
