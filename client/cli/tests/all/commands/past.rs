//! `herma memory log`, `show`, `diff`, `undo` and `restore`.

use super::fake::Fake;
use super::parts;

const HISTORY: &[&[&str]] = &[&["one"], &["one", "two"], &["one", "2"]];

#[test]
fn changes_are_listed_newest_first() {
    let fake = Fake::with_history(HISTORY);
    let (code, out, _) = parts(&fake.herma(&["memory", "log", "user", "--limit", "2"]));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((code, lines.len()), (0, 4), "{out}");
    assert!(lines[1].starts_with('3') && lines[1].ends_with("batch   coder  -two  +2"), "{out}");
    assert_eq!(lines[3], "older changes are kept: herma memory log user --before 2");
    fake.state().damaged = 2;
    let (_, out, _) = parts(&fake.herma(&["memory", "log", "--before", "2"]));
    assert!(out.ends_with("+one\n2 lines are damaged in the journal and left out\n"), "{out}");
    let (_, out, _) = parts(&fake.herma(&["memory", "log", "--before", "1"]));
    assert!(out.starts_with("No change fits.\n"), "{out}");
}

#[test]
fn a_store_is_shown_as_it_was() {
    let fake = Fake::with_history(HISTORY);
    for (revision, expected) in [
        ("0", "user at revision 0\n  (no entries)\n"),
        ("1", "user at revision 1\n  1. one\n"),
        ("2", "user at revision 2\n  1. one\n  2. two\n"),
        ("3", "user at revision 3\n  1. one\n  2. 2\n"),
    ] {
        let (code, out, error) = parts(&fake.herma(&["memory", "show", "user", revision]));
        assert_eq!((code, out.as_str()), (0, expected), "{error}");
    }
    // The row of revision 2 is lost, and so is the oldest one.
    fake.state().rows.remove(1);
    let (_, out, error) = parts(&fake.herma(&["memory", "show", "user", "2"]));
    assert_eq!((out.as_str(), error.as_str()), ("user at revision 2\n  1. one\n", ""));
    fake.state().damaged = 1;
    let (_, _, error) = parts(&fake.herma(&["memory", "show", "user", "2"]));
    assert!(error.contains("no row for revision 2; this is revision 1"), "{error}");
    fake.state().rows.remove(0);
    let (_, out, _) = parts(&fake.herma(&["memory", "show", "user", "2"]));
    assert_eq!(out, "user at revision 2\n  1. one\n  2. two\n");
    for (revision, words) in [
        ("1", "revision 1 of user is not kept; the oldest that is kept is 2"),
        ("4", "there is no revision 4 of user yet; it is at revision 3"),
    ] {
        let (code, _, error) = parts(&fake.herma(&["memory", "show", "user", revision]));
        assert_eq!((code, error), (1, format!("herma: {words}\n")));
    }
    fake.state().rows.clear();
    let (code, _, error) = parts(&fake.herma(&["memory", "show", "user", "2"]));
    assert!(code == 1 && error.contains("only revision 3 is"), "{error}");
}

#[test]
fn the_oldest_change_is_found_behind_many_others() {
    let fake = Fake::with_history(&vec![&["one"][..]; 1000]);
    let (code, out, _) = parts(&fake.herma(&["memory", "show", "user", "0"]));
    assert_eq!((code, out.as_str()), (0, "user at revision 0\n  (no entries)\n"));
}

#[test]
fn revisions_are_compared() {
    let fake = Fake::with_history(HISTORY);
    for (revisions, expected) in [
        (&[][..], "user, revision 2 to 3\n- two\n+ 2\n(1 entry unchanged)\n"),
        (&["1"], "user, revision 1 to 3\n+ 2\n(1 entry unchanged)\n"),
        (&["3", "1"], "user, revision 3 to 1\n- 2\n(1 entry unchanged)\n"),
        (&["2", "2"], "user, revision 2 to 2\nnothing changed (2 entries)\n"),
    ] {
        let (code, out, error) = parts(&fake.herma(&[&["memory", "diff", "user"], revisions].concat()));
        assert_eq!((code, out.as_str()), (0, expected), "{revisions:?} {error}");
    }
    let (_, out, _) = parts(&fake.herma(&["memory", "diff", "user", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["added"][0], "2");
    assert_eq!((&json["from"], &json["to"], &json["unchanged"]), (&2.into(), &3.into(), &1.into()));
    fake.state().rows.clear();
    let (code, _, error) = parts(&fake.herma(&["memory", "diff", "user"]));
    assert_eq!((code, error.as_str()), (1, "herma: no change of user is kept\n"));
}

#[test]
fn a_change_is_undone_and_printed() {
    let fake = Fake::with_history(HISTORY);
    let (code, out, _) = parts(&fake.herma(&["memory", "undo", "user"]));
    assert_eq!((code, out.as_str()), (0, "- 2\n+ two\n(1 entry unchanged)\nDone.\n1%, revision 4\n"));
    let (code, out, _) = parts(&fake.herma(&["memory", "restore", "user", "1"]));
    assert_eq!((code, out.as_str()), (0, "- two\n(1 entry unchanged)\nDone.\n1%, revision 5\n"));
    assert_eq!(fake.entries(), ["one"]);
    let (code, _, error) = parts(&fake.herma(&["memory", "restore", "user", "77"]));
    assert!(code == 1 && error.contains("not kept"), "{error}");
}
