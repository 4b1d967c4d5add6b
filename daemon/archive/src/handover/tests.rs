#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use tempfile::TempDir;

use super::give::identity;
use super::*;
use crate::compression::CompressionExtras;
use crate::constraint::ConstraintRow;
use crate::engine::EngineRow;
use crate::node::{NodeRow, Stands};
use crate::removed::{After, Removal};
use crate::session::SessionRow;
use crate::testing::{archive, said, session};
use crate::undo::{Undo, Undoable};
use crate::{Archive, ArchiveError};

/// A host with its archive.
struct Host {
    _folder: TempDir,
    archive: Archive,
}

impl Host {
    fn new() -> Self {
        let (_folder, mut archive) = archive();
        archive.begin_handing().unwrap();
        Self { _folder, archive }
    }

    fn say(&mut self, text: &str) {
        let reader = self.archive.reader();
        let (generation, position) = reader.place("s").unwrap();
        let message = said("user", text);
        self.archive.append("s", generation, position, &[&message], 5.0).unwrap();
    }

    /// Removes all but the first and the last message from the list.
    fn compress(&mut self, salt: &str) {
        let (generation, position) = self.archive.reader().place("s").unwrap();
        if position < 3 {
            return;
        }
        let list = self.archive.reader().transcript("s").unwrap();
        let messages: Vec<(u64, &str)> = (0..).zip(list.iter().map(String::as_str)).collect();
        let messages = &messages[1..messages.len() - 1];
        let handle = format!("cmp_{salt}_{}", generation + 1);
        let handoff = said("user", &format!("handoff of {handle}"));
        let after = [After::Kept(0), After::New(&handoff), After::Kept(position - 1)];
        let texts = [list[0].as_str(), &handoff, &list[list.len() - 1]];
        let removal = Removal {
            handle: &handle,
            session: "s",
            generation: generation + 1,
            time: 9.0,
            summary: "a summary",
            messages,
            after: Some(&after),
            is_transcript: true,
        };
        let number = self.archive.reader().map("s").unwrap().next;
        let node = NodeRow {
            id: format!("nod_{salt}_{number}"),
            number,
            depth: 0,
            first: 1,
            next: position - 1,
            since: 1.0,
            until: 2.0,
            tokens: 10,
            writer: "extractive".into(),
            of: Stands::Messages(1..position - 1),
            text: "text".into(),
            references: String::new(),
            state: String::new(),
            warnings: Vec::new(),
        };
        let undoable = Undoable { length: position, slots: &after, list: &texts };
        let engine = EngineRow { state: format!("{{\"at\":{generation}}}"), summary: Some("before".into()) };
        let nodes = [node];
        let extras = CompressionExtras {
            undo: Some(&undoable),
            engine: Some(&engine),
            nodes: &nodes,
            ..CompressionExtras::default()
        };
        self.archive.keep_compression(&removal, &extras).unwrap();
    }

    fn undo(&mut self, salt: &str) {
        let (generation, _) = self.archive.reader().place("s").unwrap();
        let handle = format!("cmp_{salt}_{}", generation + 1);
        let undo = Undo { session: "s", to: None, list: None };
        drop(self.archive.undo(&undo, &handle, 2.0, Option::unwrap_or_default).unwrap());
    }

    fn give(&self) -> Parts {
        self.archive.reader().session_parts("s", (|snapshot| snapshot, |_| None)).unwrap().unwrap()
    }

    /// Returns the texts that this host uploads, by their names.
    fn brings(&self) -> HashMap<Name, String> {
        let own = identity(self.archive.connection()).unwrap();
        let outbox = self.archive.reader().outbox(0, &["default".into()], (10_000, usize::MAX), |_| None).unwrap();
        outbox.messages.into_iter().map(|message| ((own, message.id), message.body)).collect()
    }

    fn takeover(parts: &Parts, texts: &HashMap<Name, String>, holder: Option<&str>) -> Takeover {
        Takeover {
            session: "s".into(),
            profile: "default".into(),
            birth: parts.held.birth.clone(),
            term: parts.held.term + 1,
            holder: holder.map(str::to_owned),
            version: parts.version,
            parts: parts.parts.clone(),
            texts: texts.clone(),
            fork: "s-fork".into(),
        }
    }

    fn take(
        &mut self,
        parts: &Parts,
        texts: &HashMap<Name, String>,
        holder: Option<&str>,
    ) -> Result<TakeoverResult, ArchiveError> {
        self.archive.take_session(&Self::takeover(parts, texts, holder))
    }

    fn published(&self) {
        for unsent in self.archive.reader().unsent(&["default".into()], 10).unwrap() {
            self.archive.mark_published(&unsent).unwrap();
        }
    }
}

fn rule(id: &str) -> ConstraintRow {
    ConstraintRow {
        id: id.into(),
        text: "never push".into(),
        scope: "session".into(),
        source: "user".into(),
        at: 1.25,
        state: "active".into(),
    }
}

/// Returns everything that a host has of the session.
fn seen(host: &Host) -> impl PartialEq + std::fmt::Debug + use<> {
    let reader = host.archive.reader();
    let list = reader.transcript("s").unwrap();
    let map = reader.map("s").unwrap();
    let nodes: Vec<_> = map
        .nodes
        .iter()
        .map(|node| (node.id.clone(), reader.node_messages("s", &node.id).unwrap().unwrap().1))
        .collect();
    let row = SessionRow { settings: None, ..reader.session("s").unwrap().unwrap() };
    (list, nodes, row, reader.engine("s").unwrap(), reader.constraints("s").unwrap(), map.next)
}

#[test]
fn a_session_goes_to_another_host_and_back_with_all_that_it_has() {
    let (mut a, mut b) = (Host::new(), Host::new());
    a.archive.create_session(&session("s")).unwrap();
    (0..6).for_each(|at| a.say(&format!("a {at}")));
    a.compress("a");
    a.archive.save_constraint("s", &rule("r1")).unwrap();
    a.say("a again");
    let parts = a.give();
    a.published();
    let mut texts = a.brings();
    assert_eq!(parts.newest, a.brings().keys().map(|name| name.1).max().unwrap());
    let took = b.take(&parts, &texts, None).unwrap();
    assert_eq!((took.new, took.fork), (texts.len(), None));
    assert_eq!(seen(&a), seen(&b));
    let without = |mut parts: Parts| {
        parts.parts.remove(HEAD);
        parts.parts
    };
    assert_eq!(without(b.give()), without(parts), "told on, it is the same but for what says that it moved");
    assert_eq!(b.brings(), HashMap::new(), "what came is there already");
    assert_eq!(b.archive.reader().count_unsent(&["default".into()]).unwrap(), 0);
    a.archive.note_holder("s", Some("b"), 2, 7.0).unwrap();
    // The session continues on the other host, and comes back.
    b.say("b 0");
    b.say("b 1");
    b.compress("b");
    b.say("b 2");
    texts.extend(b.brings());
    let took = a.take(&b.give(), &texts, None).unwrap();
    assert_eq!(took.fork, None);
    assert_eq!(seen(&a), seen(&b));
    let held = a.archive.reader().held("s").unwrap().unwrap();
    assert_eq!((held.term, held.holder, held.has_strays), (3, None, false));
    // Compressions of both can be undone.
    a.undo("u");
    a.undo("u");
    let list = a.archive.reader().transcript("s").unwrap().join("");
    assert!(list.contains("a 3") && list.contains("b 2"), "{list}");
    a.archive.reader().check().unwrap();
    assert_eq!(a.archive.remove_session("s").unwrap().messages, u64::try_from(texts.len()).unwrap());
    assert_eq!(a.archive.reader().held("s").unwrap(), None);
    let origins: u64 = a.archive.connection().query_row("SELECT count(*) FROM origin", [], |row| row.get(0)).unwrap();
    assert_eq!(origins, 0);
}

#[test]
fn what_the_other_host_does_not_know_goes_on_by_itself() {
    let (mut a, mut b) = (Host::new(), Host::new());
    a.archive.create_session(&session("s")).unwrap();
    (0..5).for_each(|at| a.say(&format!("a {at}")));
    a.published();
    let (parts, texts) = (a.give(), a.brings());
    b.take(&parts, &texts, None).unwrap();
    b.say("b goes on");
    // This host does not know that yet.
    a.say("late 1");
    a.compress("late");
    a.say("late 2");
    let list = a.archive.reader().transcript("s").unwrap();
    a.archive.note_holder("s", Some("b"), 2, 7.0).unwrap();
    assert!(a.archive.reader().remote().unwrap()[0].has_strays);
    let all: HashMap<Name, String> = texts.into_iter().chain(b.brings()).collect();
    let through = a.archive.reader().shipped().unwrap().next - 1;
    let fork = a.take(&b.give(), &all, Some("b")).unwrap().fork.unwrap();
    assert_eq!(fork, "s-fork");
    // "late 1", "late 2" and the handoff have new ids, under which they are uploaded. The copies are not found.
    assert_eq!(a.archive.reader().strays().unwrap().len(), 3);
    let brought = a.archive.reader().outbox(through, &["default".into()], (99, usize::MAX), |_| None).unwrap().messages;
    assert_eq!(brought.iter().filter(|one| one.session == "s-fork" && one.is_found).count(), 3);
    assert_eq!(brought.iter().filter(|one| one.session == "s-fork").count(), 8);
    assert_eq!(a.archive.reader().transcript("s-fork").unwrap(), list);
    assert_eq!(a.archive.reader().transcript("s").unwrap(), b.archive.reader().transcript("s").unwrap());
    assert_eq!(a.archive.reader().removed("cmp_late_1").unwrap().len(), 4);
    assert!(!a.archive.reader().remote().unwrap()[0].has_strays);
    assert_eq!(a.archive.reader().session("s-fork").unwrap().unwrap().parent.as_deref(), Some("s"));
    a.archive.reader().check().unwrap();
    // Once everything is published, there is nothing to fork. And the state of this host is not replaced by an earlier
    // one of another host.
    assert_eq!(a.take(&b.give(), &all, None).unwrap().fork, None);
    let early = Parts { held: Held { term: 1, ..parts.held.clone() }, ..parts };
    assert!(a.take(&early, &all, Some("b")).is_err());
}

#[test]
fn a_rule_that_came_late_is_kept_and_figures_are_not_worth_a_session() {
    for (late, is_forked) in [(true, true), (false, false)] {
        let (mut a, mut b) = (Host::new(), Host::new());
        a.archive.create_session(&session("s")).unwrap();
        a.say("one");
        a.published();
        let (parts, texts) = (a.give(), a.brings());
        b.take(&parts, &texts, None).unwrap();
        if late {
            a.archive.save_constraint("s", &rule("late")).unwrap()
        } else {
            a.archive.save_engine_state("s", "{}").unwrap()
        }
        let fork = a.take(&b.give(), &texts, Some("b")).unwrap().fork;
        assert_eq!(fork.is_some(), is_forked);
        if let Some(fork) = fork {
            assert_eq!(a.archive.reader().constraints(&fork).unwrap().len(), 1);
        }
    }
}

#[test]
fn what_can_t_be_taken_changes_nothing() {
    let (mut a, mut b) = (Host::new(), Host::new());
    a.archive.create_session(&session("s")).unwrap();
    (0..5).for_each(|at| a.say(&format!("a {at}")));
    a.compress("a");
    let (parts, texts) = (a.give(), a.brings());
    let missing: HashMap<Name, String> = texts.clone().into_iter().skip(1).collect();
    let other: HashMap<Name, String> = texts.keys().map(|name| (*name, "{}".into())).collect();
    let with = |name: &str, text: Option<&str>| {
        let mut parts = parts.clone();
        match text {
            Some(text) => parts.parts.insert(name.into(), text.into()),
            None => parts.parts.remove(name),
        };
        parts
    };
    let column = parts.parts[HEAD].replace("\"agent\"", "\"agent, title\"");
    for (what, parts, texts) in [
        ("a text is missing", parts.clone(), &missing),
        ("a text is another one", parts.clone(), &other),
        ("a later version", Parts { version: 1_000, ..parts.clone() }, &texts),
        ("a version that knew nothing of it", Parts { version: 17, ..parts.clone() }, &texts),
        ("no head", with(HEAD, None), &texts),
        ("a head of another form", with(HEAD, Some("[]")), &texts),
        ("a column that nobody knows", with(HEAD, Some(&column)), &texts),
        ("messages of another form", with("messages.0", Some("[[1,2]]")), &texts),
        ("a compression of another form", with("made.cmp_a_1", Some("7")), &texts),
        ("a compression that is missing", with("made.cmp_a_1", None), &texts),
        ("messages that are missing", with("messages.0", None), &texts),
        ("a part that nobody knows", with("more", Some("{}")), &texts),
        ("a head without tables", with(HEAD, Some("{\"count\":7,\"handles\":[\"cmp_a_1\"]}")), &texts),
    ] {
        assert!(b.take(&parts, texts, None).is_err(), "{what}");
        assert_eq!(b.archive.reader().count_sessions().unwrap(), (0, 0), "{what}");
    }
    b.archive.try_session(&Host::takeover(&parts, &texts, None)).unwrap();
    assert_eq!(b.archive.reader().count_sessions().unwrap(), (0, 0), "it was only tried");
    b.take(&parts, &texts, None).unwrap();
}

#[test]
fn an_archive_that_counts_as_another_one_keeps_the_names_that_others_know() {
    let (mut a, mut b) = (Host::new(), Host::new());
    a.archive.create_session(&session("s")).unwrap();
    (0..3).for_each(|at| a.say(&format!("a {at}")));
    a.published();
    let (before, identity) = (a.give(), identity(a.archive.connection()).unwrap());
    let texts = a.brings();
    a.archive.note_shipped(identity, before.newest).unwrap();
    a.archive.reset_identity().unwrap();
    let after = a.give();
    assert_eq!(after.parts["messages.0"], before.parts["messages.0"]);
    assert_eq!((after.held.term, a.brings().len()), (2, 0));
    assert_eq!(a.archive.reader().received().unwrap()[0].archive, identity);
    b.take(&before, &texts, None).unwrap();
    assert_eq!(b.take(&after, &texts, Some("a")).unwrap().fork, None);
}

#[test]
fn what_was_masked_on_the_way_is_not_handed_over() {
    let mut a = Host::new();
    a.archive.create_session(&session("s")).unwrap();
    a.say("one");
    let identity = identity(a.archive.connection()).unwrap();
    a.archive.note_masked(identity, 1).unwrap();
    assert_eq!(a.archive.reader().session_parts("s", (|snapshot| snapshot, |_| None)).unwrap(), None);
}

#[test]
fn sessions_of_before_are_told_once() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    assert!(archive.reader().is_unsent("s").unwrap(), "nobody knows of it");
    assert!(archive.begin_handing().unwrap());
    assert!(!archive.begin_handing().unwrap(), "it is noted already");
    let unsent = archive.reader().unsent(&["default".into()], 5).unwrap();
    assert_eq!(unsent.len(), 1);
    archive.mark_published(&unsent[0]).unwrap();
    assert_eq!(archive.reader().unsent(&["default".into()], 5).unwrap(), []);
    archive.touch("s", 9.0).unwrap();
    assert_eq!(archive.reader().unsent(&["default".into()], 5).unwrap().len(), 1);
    assert_eq!(archive.reader().unsent(&["other".into()], 5).unwrap(), []);
}

#[test]
fn every_table_of_a_session_is_told_or_stays_on_purpose() {
    let (_folder, archive) = archive();
    let mut query = archive
        .connection()
        .prepare(
            "SELECT DISTINCT master.name FROM sqlite_master AS master, pragma_table_info(master.name) AS info
             WHERE master.type = 'table' AND info.name = 'session' AND master.name NOT IN ('message_row', 'document_terms')",
        )
        .unwrap();
    let tables: HashSet<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let known = HEAD_TABLES.iter().chain(&MADE_TABLES).map(|(table, _)| *table).chain(STAY);
    let known: HashSet<String> = known.filter(|table| *table != "session").map(str::to_owned).collect();
    assert_eq!(tables, known);
}

/// What a host does with the session.
#[derive(Debug, Clone, Copy)]
enum Step {
    Say,
    Compress,
    Undo,
    Rule,
    /// The other host takes the session over, and this host learns of it.
    Move,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_session_that_moves_is_what_it_would_be_on_one_host(
        steps in prop::collection::vec(
            prop_oneof![
                6 => Just(Step::Say), 1 => Just(Step::Compress), 1 => Just(Step::Undo), 1 => Just(Step::Rule),
                2 => Just(Step::Move),
            ],
            1..40,
        )
    ) {
        let mut hosts = [Host::new(), Host::new()];
        let mut one = Host::new();
        hosts[0].archive.create_session(&session("s")).unwrap();
        one.archive.create_session(&session("s")).unwrap();
        let (mut here, mut texts) = (0, HashMap::new());
        for (at, step) in steps.iter().enumerate() {
            let salt = format!("x{at}");
            let (now, other) = match &mut hosts {
                [a, b] if here == 0 => (a, b),
                [a, b] => (b, a),
            };
            for host in [&mut *now, &mut one] {
                match step {
                    Step::Say => host.say(&salt),
                    Step::Compress => host.compress(&salt),
                    Step::Undo => host.undo(&salt),
                    Step::Rule => host.archive.save_constraint("s", &rule(&salt)).unwrap(),
                    Step::Move => {}
                }
            }
            if matches!(step, Step::Move) {
                now.published();
                texts.extend(now.brings());
                let parts = now.give();
                prop_assert_eq!(other.take(&parts, &texts, None).unwrap().fork, None);
                now.archive.note_holder("s", Some("other"), parts.held.term + 1, 7.0).unwrap();
                here = 1 - here;
            }
        }
        prop_assert_eq!(format!("{:?}", seen(&hosts[here])), format!("{:?}", seen(&one)));
        hosts[here].archive.reader().check().unwrap();
    }
}
