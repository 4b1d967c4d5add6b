//! Outputs that somebody removes or edits by hand while the daemon runs.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::{Value, json};

/// A word that only these texts have.
const WORD: &str = "zirconium";

/// Returns a long text, which gets its own index, or a short one.
fn text(is_long: bool) -> String {
    let lines = if is_long { 30_000 } else { 30 };
    (0..lines).map(|number| format!("line {number} of {WORD} ünï\n")).collect()
}

fn keep(raw: &mut Raw, id: &str, text: &str) -> (Value, PathBuf) {
    let params = json!({ "session": "s", "tool": "t", "id": id, "content": text, "threshold": 0 });
    let admitted = raw.result("output.admit", &params);
    assert_eq!(admitted["spilled"], true);
    (admitted["handle"].clone(), admitted["path"].as_str().unwrap().into())
}

/// Returns the handles of the outputs that a search finds, once the text index is complete.
fn recalled(raw: &mut Raw, query: &str) -> Vec<String> {
    let found = eventually("the index", || {
        let found = raw.result("recall.search", &json!({ "query": query, "limit": 100 }));
        found["notice"].is_null().then_some(found)
    });
    let hits = found["hits"].as_array().unwrap().iter();
    let mut handles: Vec<String> =
        hits.map(|hit| hit["handle"].as_str().unwrap().split(':').next().unwrap().to_owned()).collect();
    handles.sort();
    handles.dedup();
    handles
}

fn row(raw: &mut Raw, handle: &Value) -> Value {
    let listed = raw.result("output.list", &json!({}));
    listed["outputs"].as_array().unwrap().iter().find(|row| row["handle"] == *handle).cloned().unwrap()
}

fn assert_gone(raw: &mut Raw, handle: &Value, path: &std::path::Path) {
    for params in [json!({ "handle": handle }), json!({ "path": path }), json!({ "handle": handle, "view": "json" })] {
        let reply = raw.call("output.read", &params);
        assert_eq!(kind(&reply), "not_found", "{params}: {reply}");
    }
    for method in ["output.search", "recall.expand"] {
        let reply = raw.call(method, &json!({ "query": WORD, "handle": handle }));
        assert!(["not_found", "invalid_params"].contains(&kind(&reply)), "{method}: {reply}");
    }
}

#[test]
fn an_output_that_is_removed_by_hand_is_not_found_and_marked_by_the_next_gc() {
    for is_long in [false, true] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let (stays, _) = keep(&mut raw, "stays", &text(is_long));
        let (goes, path) = keep(&mut raw, "goes", &format!("{WORD} to go\n{}", text(is_long)));
        assert_eq!(recalled(&mut raw, WORD).len(), 2);
        fs::remove_file(&path).unwrap();
        assert_gone(&mut raw, &goes, &path);
        assert_eq!(recalled(&mut raw, WORD), [stays.as_str().unwrap()]);
        let found = raw.result("output.search", &json!({ "query": WORD, "limit": 1000 }));
        assert!(found["matches"].as_array().unwrap().iter().all(|row| row["handle"] == stays), "{is_long}");
        assert_eq!(raw.result("output.gc", &json!({ "dry_run": true }))["expired"], json!([]));
        assert_eq!(raw.result("output.gc", &json!({}))["files"], 1);
        let marked = row(&mut raw, &goes);
        assert_eq!((&marked["state"], &marked["reason"]), (&json!("expired"), &json!("removed")), "{marked}");
        assert_gone(&mut raw, &goes, &path);
        assert_eq!(recalled(&mut raw, WORD), [stays.as_str().unwrap()]);
        // The same text can be stored again.
        let (again, _) = keep(&mut raw, "goes", "another text of zirconium");
        assert_eq!(again, goes);
        assert_eq!(recalled(&mut raw, WORD).len(), 2);
    }
}

#[test]
fn a_start_marks_what_was_removed_by_hand_and_forgets_its_words() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let (stays, _) = keep(&mut raw, "stays", &text(false));
    let (goes, path) = keep(&mut raw, "goes", &text(true));
    assert_eq!(recalled(&mut raw, WORD).len(), 2);
    daemon.kill();
    fs::remove_file(&path).unwrap();
    daemon = Daemon::start(&home);
    raw = daemon.raw();
    eventually("the mark", || (row(&mut raw, &goes)["state"] == "expired").then_some(()));
    assert_gone(&mut raw, &goes, &path);
    assert_eq!(recalled(&mut raw, WORD), [stays.as_str().unwrap()]);
    assert!(!path.with_extension("txt.idx").exists());
}

#[test]
fn outputs_that_vanish_while_they_are_searched_are_passed_over() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let kept: Vec<(Value, PathBuf)> = (0..120)
        .map(|number| keep(&mut raw, &format!("c{number}"), &format!("{number} {}", text(number % 9 == 0))))
        .collect();
    recalled(&mut raw, WORD);
    std::thread::scope(|scope| {
        let searching: Vec<_> = (0..3)
            .map(|number| {
                let mut raw = daemon.raw();
                scope.spawn(move || {
                    for _ in 0..15 {
                        let (method, params) = match number {
                            0 => ("output.search", json!({ "query": WORD, "limit": 500, "context": 2 })),
                            1 => ("output.search", json!({ "query": "z.rcon", "regex": true, "limit": 500 })),
                            _ => ("recall.search", json!({ "query": WORD, "limit": 100 })),
                        };
                        assert!(raw.result(method, &params).is_object());
                    }
                })
            })
            .collect();
        for (_, path) in &kept[1..] {
            fs::remove_file(path).unwrap();
            std::thread::yield_now();
        }
        searching.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(recalled(&mut raw, WORD), [kept[0].0.as_str().unwrap()]);
    assert_eq!(raw.result("output.gc", &json!({}))["files"], 1);
    assert!(home.outputs().iter().all(|path| path.starts_with(kept[0].1.parent().unwrap())));
    daemon.assert_serves();
}

/// Checks the pages of the file's current content, whatever it was before.
fn assert_pages(raw: &mut Raw, handle: &Value, now: &str) {
    let total = now.lines().count();
    for line in [1, 2, total / 2 + 1, total.max(1), total + 1, 29_000] {
        let read = raw.result("output.read", &json!({ "handle": handle, "line": line, "lines": 2 }));
        let expected: String = now.split_inclusive('\n').skip(line - 1).take(2).collect();
        assert_eq!((&read["text"], &read["total_lines"]), (&json!(expected), &json!(total)), "line {line}");
    }
    let tail = raw.result("output.read", &json!({ "handle": handle, "tail": 1 }));
    assert_eq!(tail["text"], json!(now.split_inclusive('\n').next_back().unwrap_or_default()));
    let chars = now.chars().count();
    let read = raw.result("output.read", &json!({ "handle": handle, "offset": chars.saturating_sub(3), "limit": 10 }));
    let expected: String = now.chars().skip(chars.saturating_sub(3)).collect();
    assert_eq!(read["text"], json!(expected));
}

/// Overwrites the file in place, as some editors do.
fn overwrite(path: &std::path::Path, bytes: &[u8]) {
    File::options().write(true).truncate(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn an_output_that_is_edited_by_hand_is_paged_as_it_is_now() {
    for was_long in [false, true] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let (handle, path) = keep(&mut raw, "edited", &text(was_long));
        assert_pages(&mut raw, &handle, &text(was_long));
        let same_length = text(was_long).replace("of", "ab");
        let with_more_lines = text(was_long).replace(' ', "\n");
        for now in ["short\n", "", &text(true).repeat(2), &same_length, &with_more_lines, "é", &text(false)] {
            overwrite(&path, now.as_bytes());
            assert_pages(&mut raw, &handle, now);
            raw.result("output.search", &json!({ "query": WORD, "handle": handle }));
            raw.result("recall.search", &json!({ "query": WORD }));
            assert_eq!(raw.result("output.gc", &json!({}))["files"], 1);
        }
        overwrite(&path, same_length.as_bytes());
        daemon.kill();
        daemon = Daemon::start(&home);
        assert_pages(&mut daemon.raw(), &handle, &same_length);
    }
}

#[test]
fn an_output_that_is_no_text_any_more_is_a_clear_error_and_harms_no_other() {
    for was_long in [false, true] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let (handle, path) = keep(&mut raw, "edited", &text(was_long));
        let (other, _) = keep(&mut raw, "other", &format!("the other {WORD}\n"));
        assert_eq!(recalled(&mut raw, WORD).len(), 2);
        let cut = text(was_long).as_bytes()[..text(was_long).find('ü').unwrap() + 1].to_vec();
        let junk = [
            b"\xff\xfe\x80\n".repeat(100_000),
            cut,
            [text(true).as_bytes(), b"\xc3\x28\n", text(true).as_bytes()].concat(),
        ];
        for bytes in junk {
            overwrite(&path, &bytes);
            for params in [json!({ "handle": handle, "tail": 1_000_000 }), json!({ "handle": handle, "view": "json" })]
            {
                let reply = raw.call("output.read", &params);
                let error = &reply["error"];
                assert!(["unreadable", "invalid_params"].contains(&kind(&reply)), "{reply}");
                assert!(error["message"].as_str().unwrap().contains("UTF-8"), "{reply}");
            }
            let found = raw.result("output.search", &json!({ "query": "the other" }));
            assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
            let found = raw.result("output.search", &json!({ "query": "the .ther", "regex": true }));
            assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
            assert!(recalled(&mut raw, WORD).contains(&other.as_str().unwrap().to_owned()));
            assert_eq!(raw.result("output.gc", &json!({}))["files"], 2);
            daemon.kill();
            daemon = Daemon::start(&home);
            raw = daemon.raw();
            assert!(recalled(&mut raw, WORD).contains(&other.as_str().unwrap().to_owned()));
        }
        overwrite(&path, text(was_long).as_bytes());
        assert_pages(&mut raw, &handle, &text(was_long));
    }
}
