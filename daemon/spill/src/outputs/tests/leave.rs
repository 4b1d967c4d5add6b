//! Removal of outputs: by age, with their session, one by one.

use super::*;

#[test]
fn a_machine_that_runs_some_hours_a_day_leaves_the_doubt_about_its_clock() {
    let home = Home::new();
    let (hour, limits) = (3_600.0, Retention { ttl_seconds: 100.0, quota_bytes: u64::MAX });
    let (outputs, _) = home.open();
    keep(&outputs, "s", "1", "text");
    drop(outputs);
    let day = |start: f64, hours: f64| {
        let (outputs, _) = home.open();
        let last_seen = outputs.last_seen();
        let wall = start + hours * hour;
        let clock = Clock { wall, started_wall: start, monotonic_since_start: hours * hour, last_seen };
        outputs.collect(|_| SessionState::Unknown, limits, clock, false).unwrap().expired.len()
    };
    assert_eq!(day(NOW - 60.0, 0.01), 0);
    // Three days off, then eight hours a day.
    let monday = NOW + 72.0 * hour;
    let days: Vec<usize> = (0..3).map(|number| day(monday + f64::from(number) * 24.0 * hour, 8.0)).collect();
    assert_eq!(days, [0, 0, 1]);
}

/// Outputs that were found in a folder after the catalog was lost have the folder's name as their session. That is
/// another name if the session's own name is not a safe file name.
#[test]
fn what_was_found_in_a_folder_belongs_to_its_session() {
    let home = Home::new();
    let session = "agent:1";
    let kept = keep(&home.open().0, session, "1", "text");
    file::remove(&home.catalog()).unwrap();
    let (outputs, swept) = home.open();
    assert_eq!(swept.adopted, 1);
    let again = keep(&outputs, session, "2", "more");
    let other = keep(&outputs, "agent:2", "1", "text");
    let listed: Vec<Handle> = outputs.list(Some(session), 9).iter().map(|record| record.handle).collect();
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&kept.handle) && listed.contains(&again.handle));
    let query = |needle: &str| {
        let (needle, scope) = (Needle::Literal(needle.into()), Scope::Session(session.into()));
        outputs.search(&Query { needle, scope, context: 0, limit: 9 }, &|| false).unwrap().matches.len()
    };
    assert_eq!((query("text"), query("more")), (1, 1));
    let gone = outputs.remove_session(session, 2.0).unwrap();
    assert_eq!(gone.iter().map(|one| one.bytes).collect::<Vec<_>>(), [4, 4]);
    assert!(!kept.path.exists() && !again.path.exists() && other.path.exists());
    assert_eq!(outputs.list(None, 9).len(), 1);
}

#[test]
fn the_newest_are_listed_first_and_only_as_many_as_asked_for() {
    let home = Home::new();
    let (outputs, _) = home.open();
    for number in [3_u8, 1, 4, 1, 5, 9, 2, 6] {
        let text = number.to_string();
        let origin = Origin { session: "s", profile: "default", tool: "terminal", id: &text };
        outputs.keep(&origin, &text, &Facts::of(&text), f64::from(number)).unwrap();
    }
    let ids = |records: Vec<Record>| records.iter().map(|record| record.id.to_string()).collect::<String>();
    for (limit, expected) in [(0, ""), (1, "9"), (3, "965"), (7, "9654321"), (usize::MAX, "9654321")] {
        assert_eq!(ids(outputs.list(Some("s"), limit)), expected);
    }
    assert_eq!(ids(outputs.list_where(None, 2, |record| record.created_at < 5.0)), "43");
}

/// Removing an output that was just being kept returned that there is none.
#[test]
fn who_removes_an_output_waits_for_whoever_works_on_it() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let kept = keep(&outputs, "s", "1", "text");
    let lock = outputs.path_locks.wait(kept.handle, "s");
    std::thread::scope(|scope| {
        let removing = scope.spawn(|| outputs.remove(&kept.handle.to_string(), NOW));
        let mut turns = 0;
        while !removing.is_finished() && turns < 1_000 {
            turns += 1;
            std::thread::yield_now();
        }
        drop(lock);
        assert_eq!(removing.join().unwrap().unwrap().bytes, 4);
    });
    assert!(!kept.path.exists());
}

#[test]
fn empty_folders_of_sessions_go() {
    let home = Home::new();
    let (outputs, _) = home.open();
    folder::create(&home.root().join("left")).unwrap();
    keep(&outputs, "s", "1", "text");
    let collect = |wall: f64| {
        let clock = Clock { wall, started_wall: NOW, monotonic_since_start: wall - NOW, last_seen: None };
        let limits = Retention { ttl_seconds: 10.0, quota_bytes: u64::MAX };
        outputs.collect(|_| SessionState::Unknown, limits, clock, false).unwrap();
        folder::names(&home.root()).unwrap()
    };
    assert_eq!(collect(NOW), ["s"]);
    assert!(collect(NOW + 20.0).is_empty());
    keep(&outputs, "s", "1", "text");
}

/// A collection found a folder empty and removed it between the steps of creating it, so the output that was being kept
/// was lost.
#[test]
fn an_output_is_kept_while_its_empty_folder_is_being_removed() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                outputs.remove_folder("s").unwrap();
            }
        });
        let failure = (0..400).find_map(|number| {
            let (id, text) = (number.to_string(), format!("text {number}"));
            let origin = Origin { session: "s", profile: "default", tool: "terminal", id: &id };
            let kept = outputs.keep(&origin, &text, &Facts::of(&text), NOW);
            kept.and_then(|kept| outputs.remove(&kept.handle.to_string(), NOW).map_err(|_| unreachable!())).err()
        });
        is_done.store(true, Ordering::Relaxed);
        assert!(failure.is_none(), "{failure:?}");
    });
}

#[test]
fn after_a_stop_a_sweep_and_a_collection_do_nothing_more() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let kept = keep(&outputs, "s", "1", "text");
    drop(outputs);
    home.write("s/found.txt", "found");
    let outputs = Outputs::open(home.root(), &home.catalog());
    outputs.stop();
    assert_eq!(outputs.sweep(NOW).unwrap(), Swept::default());
    let clock = Clock { wall: NOW, started_wall: NOW, monotonic_since_start: 0.0, last_seen: None };
    let limits = Retention { ttl_seconds: 0.0, quota_bytes: 0 };
    let collected = outputs.collect(|_| SessionState::Unknown, limits, clock, false).unwrap();
    assert_eq!((collected.expired.len(), collected.files_left), (0, 1));
    assert_eq!(outputs.read(&kept.handle.to_string()).unwrap(), "text");
    keep(&outputs, "s", "2", "two");
    drop(outputs);
    assert_eq!(home.open().1, Swept { adopted: 1, ..Swept::default() });
}
