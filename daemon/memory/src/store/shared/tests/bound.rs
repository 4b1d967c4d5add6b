//! Entries that never leave their host.

use super::*;

#[test]
fn what_is_for_one_host_never_leaves_it() {
    let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
    one.add(&mut central, "a");
    assert_eq!(one.bind(add("[host-bound] x")), Ok(vec!["a".into(), "[host-bound] x".into()]));
    assert_eq!((central.rows.len(), one.store.view().unwrap().revision, one.log().len()), (1, 1, 1));
    one.by_hand(|entries| entries.insert(0, "[host-bound] by hand".into()));
    assert!(!one.store.holds_an_edit().unwrap(), "there is nothing to give a revision to");
    other.add(&mut central, "b");
    one.sync(&mut central);
    assert_eq!(one.file(), ["a", "b", "[host-bound] by hand", "[host-bound] x"]);
    assert_eq!(other.file(), ["a", "b"]);
    one.reopen();
    let replaced = one.bind(Change::Replace { old_text: "by hand".into(), content: "here".into() });
    assert_eq!(replaced, Ok(["a", "b", "[host-bound] here", "[host-bound] x"].map(String::from).into()));
    assert_eq!(one.bind(Change::Remove { old_text: "[host-bound] x".into() }).map(|entries| entries.len()), Ok(3));
    assert_eq!(one.file(), ["a", "b", "[host-bound] here"]);
    one.write(&mut central, Some(Change::Remove { old_text: "a".into() }));
    other.sync(&mut central);
    assert_eq!((one.file(), other.file()), (vec!["b".into(), "[host-bound] here".into()], vec!["b".into()]));
    assert!(!central.rows.iter().flat_map(|row| row.before.iter().chain(&*row.after)).any(|entry| is_bound(entry)));
}

#[test]
fn what_is_of_both_is_refused_and_what_is_shared_left_alone() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.add(&mut central, "a");
    assert_eq!(one.bind(add("b")), Err(None), "nothing is bound here");
    one.bind(add("[host-bound] x")).unwrap();
    for (change, refusal) in [
        (add("b"), None),
        (Change::Remove { old_text: "a".into() }, None),
        (Change::Remove { old_text: "nowhere".into() }, None),
        (Change::Replace { old_text: "a".into(), content: "[host-bound] a".into() }, Some(Refusal::Mixed)),
    ] {
        assert_eq!(one.bind(change.clone()), Err(refusal), "{change:?}");
    }
    let unmarked = Change::Replace { old_text: "x".into(), content: "x".into() };
    assert_eq!(one.bind(unmarked).map(|entries| entries.len()), Ok(2), "it stays here, and nothing else is said");
    let lock = Lock::try_now(&one.home.path().join("m/MEMORY.md.lock")).unwrap();
    assert_eq!(one.bind(add("c")), Err(None), "what is shared waits for no lock");
    drop(lock);
    let refusal = one.bind(add(&format!("[host-bound] {}", "x".repeat(2_000))));
    assert!(matches!(refusal, Err(Some(Refusal::Overflow { .. }))), "{refusal:?}");
    assert_eq!(one.bind(add("[host-bound] x")).map(|entries| entries.len()), Ok(2), "it is there already");
    // A proposal to the other hosts refuses a host-bound entry.
    let (edit, author) =
        (Edit::Change { changes: Changes::Single(add("[host-bound] y")), drift: Drift::Refused }, one.author());
    let mut proposal = one.store.propose(&[], &author).unwrap();
    assert!(matches!(proposal.apply(&edit, &author), Err(EditError::Bound)));
    assert!(proposal.rows().is_empty());
    assert_eq!(one.file(), ["a", "[host-bound] x"]);
}

#[test]
fn what_is_for_one_host_stays_when_the_file_goes_and_when_sharing_begins_and_ends() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.by_hand_before("mine\n§\n[host-bound] x");
    one.store.share(false);
    let seen = one.store.view().unwrap().revision;
    central.rows.push(Row { after: ["a", "mine"].map(Entry::from).into(), ..row(seen + 1) });
    assert!(one.store.begin_shared(seen, &central.rows).unwrap());
    assert_eq!(one.file(), ["a", "mine", "[host-bound] x"]);
    for is_lazy in [false, true] {
        one.is_lazy = is_lazy;
        fs::write(one.home.path().join("m/MEMORY.md"), "").unwrap();
        assert_eq!(one.store.view().unwrap().entries.len(), 3);
        one.sync(&mut central);
        assert!(one.store.settle().unwrap());
        assert_eq!(one.file(), ["a", "mine", "[host-bound] x"]);
    }
    one.store.share(false);
    assert_eq!(one.store.view().unwrap().entries.len(), 3);
    assert_eq!(one.file(), ["a", "mine", "[host-bound] x"]);
}

#[test]
fn what_is_for_one_host_stays_in_a_bad_moment() {
    for (is_killed, leaves) in [(true, false), (false, true), (true, true)] {
        let (mut central, mut one) = (Central::default(), Host::new("one"));
        one.add(&mut central, "a");
        one.bind(add("[host-bound] x")).unwrap();
        // The last change is by a person, so the file has it already.
        one.by_hand(|entries| entries.push("by hand".into()));
        one.sync(&mut central);
        let mut expected = vec!["a", "by hand", "[host-bound] x"];
        if is_killed {
            // A revision that is in the journal did not reach the file.
            let path = one.home.path().join("m/MEMORY.md");
            let (text, before) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
            one.add(&mut central, "late");
            fs::write(&path, text).unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
            expected.insert(2, "late");
        }
        one.reopen_as(!leaves);
        one.store.tidy().unwrap();
        let mut entries: Vec<String> =
            one.store.view().unwrap().entries.iter().map(|entry| entry.to_string()).collect();
        entries.sort_by_key(|entry| expected.iter().position(|known| known == entry));
        assert_eq!(entries, expected, "killed: {is_killed}, leaves: {leaves}");
        assert_eq!(one.file().len(), expected.len());
    }
}
