//! `herma output list|search|read|rm|gc`.

use herma_client::protocol::Request;
use serde_json::{Value, json};

use super::fake::Fake;
use super::parts;

#[test]
fn kept_outputs_are_listed_and_expired_ones_on_request() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["output", "list", "--session", "s"]));
    assert!(code == 0 && out.contains("out_1 ") && !out.contains("out_0") && error.is_empty(), "{out} {error}");
    let (_, out, _) = parts(&fake.herma(&["output", "list", "--expired"]));
    assert!(out.contains("out_0 ") && out.contains(", too old\n"), "{out}");
    let (_, out, error) = parts(&fake.herma(&["output", "list", "--expired", "--limit", "1"]));
    assert!(!out.contains("out_0") && error.contains("there are older ones"), "{out} {error}");
    let (_, out, _) = parts(&fake.herma(&["output", "list", "--json", "--limit", "7"]));
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["outputs"].as_array().unwrap().len(), 2);
    let Some(Request::OutputList(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.limit, params.session), (Some(7), None));
}

#[test]
fn a_search_prints_and_ends_as_grep_does() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["output", "search", "failed", "-C", "1", "--output", "out_1"]));
    assert_eq!((code, out.as_str()), (0, "out_1-6-before\nout_1:7:it failed here\n"));
    assert!(error.contains("there are more matches"), "{error}");
    let Some(Request::OutputSearch(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.handle.as_deref(), params.context, params.regex), (Some("out_1"), Some(1), Some(false)));
    let (code, out, error) = parts(&fake.herma(&["output", "search", "nowhere"]));
    assert_eq!((code, out.as_str(), error.as_str()), (1, "", ""));
    let (code, out, error) = parts(&fake.herma(&["output", "search", "nowhere", "--json"]));
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, value, error.as_str()), (1, json!({ "matches": [], "more": false }), ""));
    for wrong in [&["x", "-C", "21"][..], &["x", "--limit", "0"], &[]] {
        assert_eq!(fake.herma(&[&["output", "search"], wrong].concat()).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_handle_may_carry_a_line_and_may_be_gone() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["output", "read", "out_1:120"]));
    assert_eq!((code, out.as_str(), error.as_str()), (0, "line 120\n", "\n[120 lines, 1,500 chars in all; end]\n"));
    let (code, out, error) = parts(&fake.herma(&["output", "read", "out_0", "--json"]));
    let value: Value = serde_json::from_str(&error).unwrap();
    assert_eq!((code, out.as_str(), &value["error"]["data"]["reason"]), (1, "", &json!("ttl")));
}

#[test]
fn what_cannot_be_removed_does_not_stop_the_rest() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["output", "rm", "out_none", "out_1"]));
    assert_eq!((code, out.as_str()), (1, "removed out_1, 1.5 KiB\n"));
    assert_eq!(error, "herma: out_none: there is no such thing\n");
    let (code, out, error) = parts(&fake.herma(&["output", "rm", "out_none", "out_1", "--json"]));
    let value: Value = serde_json::from_str(&out).unwrap();
    let expected = json!({
        "removed": [{ "name": "out_1", "bytes": 1536 }],
        "failed": [{ "name": "out_none", "kind": "not_found", "message": "there is no such thing" }],
    });
    assert_eq!((code, value, error.as_str()), (1, expected, ""));
    assert_eq!(fake.herma(&["output", "rm"]).status.code(), Some(2));
}

#[test]
fn removals_are_printed_before_and_after() {
    let fake = Fake::with_history(&[]);
    for (arguments, dry_run, words) in
        [(&["output", "gc"][..], false, "freed 7 B"), (&["output", "gc", "--dry-run"], true, "would free 7 B")]
    {
        let (code, out, _) = parts(&fake.herma(arguments));
        assert!(code == 0 && out.contains("over the quota") && out.contains(words), "{out}");
        let Some(Request::OutputGc(params)) = fake.state().last.take() else { panic!("nothing was asked") };
        assert_eq!(params.dry_run, Some(dry_run));
    }
}
