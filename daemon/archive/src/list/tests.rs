use super::*;
use crate::Archive;
use crate::testing::{archive, said, session};
use crate::usage::{Buckets, UsageRow};

fn add(archive: &Archive, id: &str, parent: Option<&str>, started_at: f64, end: Option<(f64, &str)>) {
    let row = SessionRow {
        parent: parent.map(str::to_owned),
        started_at,
        ended_at: end.map(|(at, _)| at),
        end_reason: end.map(|(_, reason)| reason.to_owned()),
        profile: if id.starts_with("work") { "work" } else { "default" }.into(),
        ..session(id)
    };
    archive.create_session(&row).unwrap();
}

fn ids(archive: &Archive, list: &List) -> Vec<String> {
    archive.reader().list(list).unwrap().into_iter().map(|shown| shown.row.id).collect()
}

#[test]
fn a_list_shows_roots_and_branches_and_chains_as_their_tip() {
    let (_folder, archive) = archive();
    add(&archive, "root", None, 10.0, Some((20.0, "compression")));
    add(&archive, "middle", Some("root"), 20.0, Some((30.0, "compression")));
    add(&archive, "tip", Some("middle"), 30.0, None);
    add(&archive, "delegate", Some("root"), 15.0, None);
    add(&archive, "plain", None, 11.0, Some((12.0, "branched")));
    add(&archive, "branch", Some("plain"), 12.0, None);
    add(&archive, "early", Some("plain"), 11.5, None);
    add(&archive, "cleared", None, 3.0, Some((4.0, "clear")));
    add(&archive, "anew", Some("cleared"), 4.0, None);
    add(&archive, "lost", Some("unknown"), 5.0, None);
    add(&archive, "work", None, 5.0, Some((6.0, "compression")));
    let list = List { limit: 50, ..List::default() };
    assert_eq!(ids(&archive, &list), ["branch", "plain", "tip", "work", "lost", "anew", "cleared"]);
    let tip = &archive.reader().list(&list).unwrap()[2];
    assert_eq!((tip.lineage_root.as_str(), tip.row.ended_at), ("root", None));
    assert!((tip.row.started_at - 10.0).abs() < 1e-9);
    assert_eq!(ids(&archive, &List { before: Some(11.0), ..list.clone() }), ["tip", "work", "lost", "anew", "cleared"]);
    assert_eq!(ids(&archive, &List { before: Some(11.0), limit: 1, ..list.clone() }), ["tip"]);
    assert_eq!(ids(&archive, &List { profile: Some("work".into()), ..list.clone() }), ["work"]);
    assert_eq!(ids(&archive, &List { profile: Some("work".into()), before: Some(5.0), ..list.clone() }), [""; 0]);
    let raw = archive.reader().list(&List { raw: true, ..list.clone() }).unwrap();
    let raw: Vec<(&str, f64, &str)> =
        raw.iter().map(|shown| (shown.row.id.as_str(), shown.row.started_at, shown.lineage_root.as_str())).collect();
    assert_eq!(raw.len(), 11);
    assert_eq!(raw[0], ("tip", 30.0, "root"));
    assert!(raw.contains(&("root", 10.0, "root")) && raw.contains(&("delegate", 15.0, "delegate")));
}

#[test]
fn work_that_goes_on_in_another_agent_is_a_session_of_its_own() {
    let (_folder, archive) = archive();
    let of = |id: &str, parent: Option<&str>, agent: Option<&str>| {
        let [parent, agent] = [parent, agent].map(|text| text.map(str::to_owned));
        archive.create_session(&SessionRow { parent, agent, ..session(id) }).unwrap();
    };
    of("one", None, Some("claude-code"));
    of("delegate", Some("one"), Some("claude-code"));
    of("goes on", Some("one"), Some("codex"));
    of("unknown", Some("one"), None);
    let mut listed = ids(&archive, &List { limit: 50, ..List::default() });
    listed.sort();
    assert_eq!(listed, ["goes on", "one"]);
}

#[test]
fn sessions_are_chosen_by_what_is_known_of_them() {
    let (_folder, mut archive) = archive();
    for (id, agent, cwd, branch, title) in [
        ("claude-code:5f2a", "claude-code", "/work/shop", Some("main"), Some("The Sync sends twice")),
        ("claude-code:5f3b", "claude-code", "/work/shop/api", Some("retry"), None),
        ("codex:5f2a", "codex", "/work/shopping", None, None),
        ("5f", "coder", "/", None, None),
    ] {
        let row = SessionRow {
            agent: Some(agent.into()),
            cwd: Some(cwd.into()),
            branch: branch.map(str::to_owned),
            title: title.map(str::to_owned),
            ..session(id)
        };
        archive.create_session(&row).unwrap();
    }
    archive.append("codex:5f2a", 0, 0, &[said("user", "how is the SYNC?").as_str()], 50.0).unwrap();
    let some = |text: &str| Some(text.to_owned());
    let all = List { limit: 50, raw: true, ..List::default() };
    for (list, expected) in [
        (List { agent: some("claude-code"), ..all.clone() }, ["claude-code:5f2a", "claude-code:5f3b"].as_slice()),
        (List { folder: some("/work/shop"), ..all.clone() }, &["claude-code:5f2a", "claude-code:5f3b"]),
        (List { folder: some(""), ..all.clone() }, &["5f", "claude-code:5f2a", "claude-code:5f3b", "codex:5f2a"]),
        (List { branch: some("main"), ..all.clone() }, &["claude-code:5f2a"]),
        (List { text: some("sync"), ..all.clone() }, &["claude-code:5f2a", "codex:5f2a"]),
        (List { text: some("RETRY"), ..all.clone() }, &["claude-code:5f3b"]),
        (List { since: Some(50.0), ..all.clone() }, &["codex:5f2a"]),
        (List { prefix: some("5f2a"), ..all.clone() }, &["claude-code:5f2a", "codex:5f2a"]),
        (List { prefix: some("claude-code:5f3"), ..all.clone() }, &["claude-code:5f3b"]),
        (List { prefix: some("5%"), ..all.clone() }, &[]),
        (List { text: some("sync"), agent: some("codex"), ..all.clone() }, &["codex:5f2a"]),
    ] {
        let mut found = ids(&archive, &list);
        found.sort();
        assert_eq!(found, expected, "{list:?}");
    }
}

#[test]
fn a_session_is_shown_with_what_happened_in_it() {
    let (_folder, mut archive) = archive();
    add(&archive, "s", None, 1.0, None);
    let shown = archive.reader().show("s").unwrap().unwrap();
    assert_eq!((shown.preview.as_str(), shown.messages, shown.usage), ("", 0, Totals::default()));
    assert!((shown.last_active - 1.0).abs() < 1e-9);
    let call = r#"{"role":"assistant","tool_calls":[{"id":"1"},{"id":"2"}]}"#;
    let bodies = [said("system", "be kind"), said("user", " hello\n there "), call.into(), said("user", "second")];
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    archive.append("s", 0, 0, &bodies, 4.0).unwrap();
    let buckets = Buckets { input: 1, output: 2, ..Buckets::default() };
    archive
        .record_usage(&UsageRow {
            session: Some("s"),
            call: None,
            time: 4.0,
            model: None,
            agent: None,
            provider: None,
            buckets,
        })
        .unwrap();
    let shown = archive.reader().show("s").unwrap().unwrap();
    assert_eq!((shown.preview.as_str(), shown.messages, shown.tool_calls), ("hello there", 4, 2));
    assert_eq!((shown.usage.calls, shown.usage.total(), shown.lineage_root.as_str()), (1, 3, "s"));
    assert!((shown.last_active - 4.0).abs() < 1e-9);
    assert_eq!(archive.reader().show("unknown").unwrap(), None);
}

#[test]
fn a_preview_is_short() {
    for (text, expect) in [
        ("a  b\n\tc", "a b c".to_owned()),
        (&"x".repeat(60), "x".repeat(60)),
        (&"x".repeat(61), "x".repeat(60) + "..."),
        (&("é".repeat(59) + " zz"), "é".repeat(59) + " ..."),
        (&("é".repeat(60) + "  "), "é".repeat(60)),
        ("", String::new()),
    ] {
        assert_eq!(preview(text), expect);
    }
}
