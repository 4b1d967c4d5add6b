use proptest::prelude::*;

use super::*;
use crate::index::{MemoryText, OutputPart};
use crate::session::SessionRow;
use crate::testing::{archive, said, session};
use crate::{Archive, token};

fn all(query: &str) -> Search<'_> {
    Search::everywhere(query, 50)
}

fn handles(archive: &Archive, search: &Search<'_>) -> Vec<String> {
    archive.reader().search(search).unwrap().hits.into_iter().map(|hit| hit.source.handle()).collect()
}

fn told(archive: &mut Archive, session: &str, texts: &[&str], time: f64) {
    let bodies: Vec<String> = texts.iter().map(|text| said("user", text)).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let next = archive.reader().transcript(session).unwrap().len() as u64;
    archive.append(session, 0, next, &bodies, time).unwrap();
    while archive.index_pending(100).unwrap() > 0 {}
}

#[test]
fn words_are_found_in_every_script() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    told(
        &mut archive,
        "s",
        &[
            "we met at the café",
            "数据库连接失败",
            "fn retry_count(handleRequest: u64) in src/queue/worker.rs",
            "サーバーの設定を変更しました",
            "여러분 안녕하세요",
            "ภาษาไทยง่าย",
            "the reconnection was refused",
            "Connection refused by peer",
        ],
        1.0,
    );
    for (query, expect) in [
        ("cafe", &["msg_1"][..]),
        ("CAFÉ", &["msg_1"]),
        ("caf", &["msg_1"]),
        ("ca", &[]),
        ("afe", &[]),
        ("数据", &["msg_2"]),
        ("据库", &["msg_2"]),
        ("数据库连接", &["msg_2"]),
        ("数库", &[]),
        ("败", &["msg_2"]),
        ("据", &["msg_2"]),
        ("设定", &[]),
        ("設定", &["msg_4"]),
        ("サーバー", &["msg_4"]),
        ("ｻｰﾊﾞｰ", &["msg_4"]),
        ("안녕", &["msg_5"]),
        ("ไทย", &["msg_6"]),
        ("retry_count", &["msg_3"]),
        ("handlerequest", &["msg_3"]),
        ("request", &["msg_3"]),
        ("worker.rs", &["msg_3"]),
        ("src/queue", &["msg_3"]),
        ("queue src", &["msg_3"]),
        ("\"queue src\"", &[]),
        ("\"connection refused\"", &["msg_8"]),
        ("\"Refused by\"", &["msg_8"]),
        ("connection met", &["msg_1", "msg_8"]),
        ("absent zzz", &[]),
        ("§1", &[]),
        ("-", &[]),
        ("", &[]),
    ] {
        let mut found = handles(&archive, &all(query));
        found.sort();
        assert_eq!(found, expect, "{query}");
    }
}

#[test]
fn the_best_comes_first_and_of_equal_ones_the_newest() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let long = "filler words that make it long ".repeat(20) + "cobalt";
    told(&mut archive, "s", &["cobalt", &long, "cobalt cobalt cobalt", "cobalt", "x", "y", "z", "v", "w"], 1.0);
    let found = archive.reader().search(&all("cobalt")).unwrap();
    let order: Vec<String> = found.hits.iter().map(|hit| hit.source.handle()).collect();
    assert_eq!(order, ["msg_3", "msg_4", "msg_1", "msg_2"]);
    assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert!(!found.more);
    let two = archive.reader().search(&Search { limit: 2, ..all("cobalt") }).unwrap();
    assert_eq!((two.hits.len(), two.more), (2, true));
    assert_eq!(archive.reader().search(&Search { limit: 0, ..all("cobalt") }).unwrap(), Found::default());
}

#[test]
fn words_as_they_were_typed_come_before_other_forms() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    told(&mut archive, "s", &["connect", "connect", "connection"], 1.0);
    assert_eq!(handles(&archive, &all("connect")).len(), 3);
    let one = archive.reader().search(&Search { limit: 1, ..all("connect") }).unwrap();
    assert_eq!((one.hits[0].source.handle().as_str(), one.more), ("msg_2", true));
    assert_eq!(handles(&archive, &Search { limit: 2, ..all("connect") }).len(), 2);
    assert_eq!(handles(&archive, &Search { limit: 2, ..all("connection") }), ["msg_3", "msg_2"]);
}

#[test]
fn filters_hold_exactly_also_where_thousands_match() {
    let (_folder, mut archive) = archive();
    for (id, profile) in [("old", "work"), ("s", "default"), ("t", "default")] {
        archive.create_session(&SessionRow { profile: profile.into(), ..session(id) }).unwrap();
    }
    told(&mut archive, "old", &["cobalt in the beginning"], 1.0);
    archive
        .index_outputs(&[OutputPart {
            handle: "out",
            session: "old",
            profile: "work",
            time: 2.0,
            line: 11,
            start: 400,
            chars: 14,
            text: "cobalt printed",
            is_first: true,
            is_last: true,
        }])
        .unwrap();
    archive
        .index_memory(&MemoryText {
            profile: "work",
            target: "user",
            revision: 1,
            time: 3.0,
            session: Some("old"),
            action: "add",
            text: "cobalt remembered",
        })
        .unwrap();
    let many = vec!["cobalt again"; CANDIDATES + 100];
    told(&mut archive, "s", &many, 10.0);
    told(&mut archive, "t", &["cobalt last"], 20.0);
    let last = format!("msg_{}", CANDIDATES + 104);
    for (search, expect) in [
        (Search { session: Some("old"), ..all("cobalt") }, &["mem_3", "msg_1", "out"][..]),
        (Search { session: Some("unknown"), ..all("cobalt") }, &[]),
        (Search { profile: Some("work"), ..all("cobalt") }, &["mem_3", "msg_1", "out"]),
        (Search { profile: Some("work"), kinds: Kinds::MESSAGES, ..all("cobalt") }, &["msg_1"]),
        (Search { kinds: Kinds::OUTPUTS, ..all("cobalt") }, &["out"]),
        (Search { kinds: Kinds::MEMORY, ..all("cobalt") }, &["mem_3"]),
        (Search { kinds: Kinds { messages: false, ..Kinds::ALL }, ..all("cobalt") }, &["mem_3", "out"]),
        (
            Search { kinds: Kinds { outputs: false, ..Kinds::ALL }, until: Some(10.0), ..all("cobalt") },
            &["mem_3", "msg_1"],
        ),
        (Search { kinds: Kinds { messages: false, outputs: false, memory: false }, ..all("cobalt") }, &[]),
        (Search { until: Some(2.0), ..all("cobalt") }, &["msg_1"]),
        (Search { since: Some(2.0), until: Some(3.0), ..all("cobalt") }, &["out"]),
        (Search { since: Some(20.0), ..all("cobalt") }, &[&last]),
        (Search { session: Some("t"), since: Some(20.5), ..all("cobalt") }, &[]),
    ] {
        let mut found = handles(&archive, &search);
        found.sort();
        assert_eq!(found, expect, "{search:?}");
    }
    let everything = archive.reader().search(&all("cobalt")).unwrap();
    assert_eq!((everything.hits.len(), everything.more), (50, true));
    let output = &archive.reader().search(&Search { kinds: Kinds::OUTPUTS, ..all("cobalt") }).unwrap().hits[0];
    assert_eq!(output.source, Source::Output { handle: "out".into(), line: 11, start: 400, chars: 14 });
    assert_eq!((output.session.as_deref(), output.profile.as_str(), &output.text), (Some("old"), "work", &None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every text is a valid query.
    #[test]
    fn any_query_is_safe(query in any::<String>(), syntax in "[\"*():^{}+ ANDORNEAR§a数-]{0,40}") {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        told(&mut archive, "s", &["a 数据 and or near not"], 1.0);
        for query in [query, syntax] {
            archive.reader().search(&all(&query)).unwrap();
        }
    }

    /// Every token run of a text finds it, by itself and as a phrase.
    #[test]
    fn what_was_said_is_found(text in "[a-zA-Zäé数据库サーバ한국ไท0-9_. \"]{1,60}") {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        told(&mut archive, "s", &[&text], 1.0);
        let normalised = token::normalise(&text);
        for run in token::runs(&normalised) {
            prop_assert_eq!(handles(&archive, &all(run.text)), ["msg_1"], "{}", run.text);
        }
        if token::runs(&normalised).next().is_some() {
            let whole = format!("\"{}\"", text.replace('"', " "));
            prop_assert_eq!(handles(&archive, &all(&whole)), ["msg_1"]);
            prop_assert_eq!(handles(&archive, &all(&text)), ["msg_1"]);
        }
    }
}

#[test]
fn what_is_not_in_the_index_yet_hides_nothing_that_is() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    told(&mut archive, "s", &["the flight is late", "a calendar"], 1.0);
    let mut bodies: Vec<String> = (0..700).map(|at| said("user", &format!("because of the callable {at}"))).collect();
    bodies.insert(0, said("user", "my cat is ill\nwe tried it"));
    bodies.push(said("user", "another flight and retryFlight()"));
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    archive.append("s", 0, 2, &bodies, 2.0).unwrap();
    assert!(!archive.reader().must_index("flight").unwrap());
    assert!(archive.reader().must_index("\"flight\"").unwrap());
    for (query, expect) in [
        ("flightt", &["msg_1", "msg_704"][..]),
        ("calender", &["msg_2"]),
        ("cat", &["msg_3"]),
        ("try", &["msg_3"]),
        ("retry", &["msg_704"]),
    ] {
        let mut found = handles(&archive, &all(query));
        found.sort();
        assert_eq!(found, expect, "{query}");
    }
}

#[test]
fn messages_that_are_not_in_the_index_yet_are_found_as_if_they_were() {
    let (_folder, mut archive) = archive();
    for (id, profile) in [("s", "default"), ("t", "work")] {
        archive.create_session(&SessionRow { profile: profile.into(), ..session(id) }).unwrap();
    }
    told(&mut archive, "s", &["the first booking", "nothing of it"], 1.0);
    let texts = ["they booked a flight to Zürich", "数据库连接失败", "cancelled again", "a bookcase", "x"];
    let bodies: Vec<String> = texts.iter().map(|text| said("user", text)).collect();
    let escaped = r#"{"role":"user","content":"gr\u00f6\u00dfere Buchungen"}"#.to_owned();
    let system = said("system", "booking rules");
    let bodies: Vec<&str> = bodies.iter().chain([&escaped, &system]).map(String::as_str).collect();
    archive.append("t", 0, 0, &bodies, 2.0).unwrap();
    let queries =
        ["bookings", "fly to zurich", "数据库为什么失败", "cancelling", "größeren", "booking flights", "x", "absent"];
    let work = |query| Search { profile: Some("work"), ..all(query) };
    let late = |query| Search { since: Some(1.5), ..all(query) };
    let of_s = |query| Search { session: Some("s"), ..all(query) };
    let outputs = |query| Search { kinds: Kinds::OUTPUTS, ..all(query) };
    let answers = |archive: &Archive| -> Vec<Vec<String>> {
        let searches =
            queries.iter().flat_map(|query| [all(query), work(query), late(query), of_s(query), outputs(query)]);
        searches.map(|search| handles(archive, &search)).collect()
    };
    let before = answers(&archive);
    assert_eq!(before[0], ["msg_1", "msg_3"]);
    assert!(archive.reader().must_index("booking").unwrap(), "they are few");
    assert!(archive.reader().must_index("\"booking\"").unwrap() && archive.reader().must_index("数").unwrap());
    while archive.index_pending(100).unwrap() > 0 {}
    assert!(!archive.reader().must_index("\"booking\"").unwrap());
    let sorted = |mut answers: Vec<Vec<String>>| {
        answers.iter_mut().for_each(|answer| answer.sort());
        answers
    };
    assert_eq!(sorted(before), sorted(answers(&archive)));
}

#[test]
fn a_slip_stands_for_every_form_of_its_word_in_its_language() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    told(&mut archive, "s", &["Die Buchungen sind da und nicht bezahlt", "Ist die Buchung auch bei der Kundin"], 1.0);
    assert_eq!(handles(&archive, &all("wann war die Buchhungen")).len(), 2);
}

#[test]
fn a_hit_is_a_place_and_no_two_hits_are_of_one() {
    let (_folder, mut archive) = archive();
    for id in ["s", "t"] {
        archive.create_session(&session(id)).unwrap();
    }
    let handoff = "[CONTEXT COMPACTION] the heron again\n--- END OF CONTEXT SUMMARY ---";
    told(&mut archive, "s", &["one", "the heron", "a heron nests", handoff, "four", "five", "heron of six"], 1.0);
    told(&mut archive, "t", &["seven", "heron"], 1.0);
    let found = |around| {
        let hits = archive.reader().search(&Search { around, ..all("heron nests") }).unwrap().hits;
        let ids = |side: &[Nearby]| side.iter().map(|message| message.id).collect::<Vec<_>>();
        let mut found: Vec<_> =
            hits.iter().map(|hit| (hit.source.handle(), ids(&hit.around.before), ids(&hit.around.after))).collect();
        assert_eq!(found.remove(0).0, "msg_3");
        found.sort();
        (ids(&hits[0].around.before), ids(&hits[0].around.after), found)
    };
    let none = Vec::new;
    let alone = ["msg_2", "msg_7", "msg_9"].map(|id| (id.to_owned(), none(), none()));
    assert_eq!(found(0), (none(), none(), alone.to_vec()));
    // The handoff is skipped, and no message of another session is near.
    let places = vec![("msg_7".to_owned(), vec![6], none()), ("msg_9".to_owned(), vec![8], none())];
    assert_eq!(found(1), (vec![2], vec![5], places));
    assert_eq!(found(2).0, [1, 2], "in the order of the conversation");
    assert_eq!(found(50).2.len(), 1, "a whole session is one place");
}

#[test]
fn common_words_are_combined() {
    assert_eq!(any_of(&["a", "b"]), "a OR b");
    assert_eq!(two_of(&["a", "b", "c"]), "(a AND (b OR c)) OR (b AND (c))");
    assert_eq!(three_of(&["a", "b", "c"]), "(a AND ((b AND (c))))");
    assert_eq!([any_of(&[]), two_of(&["a"]), three_of(&["a", "b"])], [""; 3]);
}

#[test]
fn a_document_with_more_of_the_common_words_is_found_behind_many_with_one() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    told(&mut archive, "s", &["the queue and the worker lost a socket", "queue worker", "socket queue"], 1.0);
    for word in ["queue", "worker", "socket"] {
        let texts = vec![word; BUDGET + 1];
        told(&mut archive, "s", &texts, 1.0);
    }
    let found = handles(&archive, &Search { limit: 3, ..all("which worker had the socket of the queue?") });
    assert_eq!(found[0], "msg_1", "{found:?}");
}

#[test]
fn what_was_said_at_the_time_of_the_question_comes_first() {
    let (_folder, mut archive) = archive();
    let texts = [
        ("a", "we changed the parser", 10.0),
        ("b", "we changed the parser again", 20.0),
        ("c", "changed", 30.0),
        ("d", "a parser", 0.0),
    ];
    for (id, text, time) in texts {
        archive.create_session(&session(id)).unwrap();
        told(&mut archive, id, &[text], time);
    }
    let first = |period| handles(&archive, &Search { period, ..all("who changed the parser") })[0].clone();
    assert_eq!(first(None), "msg_1");
    assert_eq!(first(Some((15.0, 25.0))), "msg_2");
    assert_eq!(first(Some((25.0, 35.0))), "msg_3", "a part of the words is enough");
    assert_eq!(first(Some((40.0, 50.0))), "msg_1", "nothing of that time has the words");
}

#[test]
fn what_no_search_finds_is_not_next_to_a_hit_either() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"recall_search","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c","content":"an earlier heron","recalled":true}"#;
    let [system, hit, said] = [said("system", "you are kind"), said("user", "the heron"), said("user", "thanks")];
    archive.append("s", 0, 0, &[&system, &hit, call, result, &said], 1.0).unwrap();
    while archive.index_pending(100).unwrap() > 0 {}
    let hits = archive.reader().search(&Search { around: 2, ..all("heron") }).unwrap().hits;
    let near = |side: &[Nearby]| side.iter().map(|message| message.id).collect::<Vec<_>>();
    assert_eq!((hits.len(), near(&hits[0].around.before), near(&hits[0].around.after)), (1, vec![], vec![3, 5]));
}

#[test]
fn only_sessions_of_an_agent_or_a_folder_are_searched() {
    let (_folder, mut archive) = archive();
    for (id, agent, cwd) in
        [("a", "claude-code", "/work/shop"), ("b", "codex", "/work/shop/api"), ("c", "codex", "/work/shopping")]
    {
        let row = SessionRow { agent: Some(agent.into()), cwd: Some(cwd.into()), ..session(id) };
        archive.create_session(&row).unwrap();
        told(&mut archive, id, &["cobalt said"], 1.0);
    }
    // The newest one is not indexed yet.
    archive.append("b", 0, 1, &[said("user", "cobalt said again").as_str()], 2.0).unwrap();
    for (search, expect) in [
        (Search { agent: Some("codex"), ..all("cobalt") }, ["b", "b", "c"].as_slice()),
        (Search { folder: Some("/work/shop"), ..all("cobalt") }, &["a", "b", "b"]),
        (Search { folder: Some("/work/shop"), agent: Some("codex"), ..all("cobalt") }, &["b", "b"]),
        (Search { folder: Some(""), ..all("cobalt") }, &["a", "b", "b", "c"]),
        (Search { agent: Some("nobody"), ..all("cobalt") }, &[]),
        (Search { agent: Some("codex"), session: Some("a"), ..all("cobalt") }, &[]),
        (Search { agent: Some("codex"), session: Some("c"), ..all("cobalt") }, &["c"]),
    ] {
        let found = archive.reader().search(&search).unwrap().hits;
        let mut sessions: Vec<String> = found.iter().filter_map(|hit| hit.session.clone()).collect();
        sessions.sort();
        assert_eq!(sessions, expect, "{search:?}");
        assert!(found.iter().all(|hit| hit.folder.is_some()));
    }
}
