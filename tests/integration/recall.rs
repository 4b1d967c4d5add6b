//! Searches for past messages, outputs and memory entries, in the words that people use.

use std::process::Command;

use herma_tests::{Daemon, Home, Need, Raw, kind};
use serde_json::{Value, json};

mod again;
mod kinds;
mod pages;
mod syntax;

/// Appends messages of the user to a session from its beginning.
fn say(raw: &mut Raw, session: &str, texts: &[&str]) {
    let messages: Vec<Value> = texts.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    raw.result("session.append", &json!({ "session": session, "generation": 0, "position": 0, "messages": messages }));
}

/// Searches for single messages unless `around` is given, and checks that the snippet of every hit has a mark.
fn search(raw: &mut Raw, params: &Value) -> Vec<Value> {
    let mut all = json!({ "around": 0 });
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    let found = raw.result("recall.search", &all);
    assert_eq!(found["recalled"], true);
    let hits = found["hits"].as_array().unwrap().clone();
    for hit in &hits {
        assert!(!marked(hit).is_empty(), "{params}: {hit}");
        assert!(hit["handle"].is_string() && hit["time"].is_number() && hit["score"].is_number(), "{hit}");
    }
    let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "the best first: {scores:?}");
    hits
}

fn query(raw: &mut Raw, query: &str) -> Vec<Value> {
    search(raw, &json!({ "query": query }))
}

/// Returns the marked part of a hit's snippet.
fn marked(hit: &Value) -> String {
    let place = |name: &str| usize::try_from(hit[name].as_u64().unwrap()).unwrap();
    let (start, end) = (place("start"), place("end"));
    let snippet = hit["snippet"].as_str().unwrap();
    assert!(start <= end && end <= snippet.chars().count(), "{hit}");
    snippet.chars().skip(start).take(end - start).collect()
}

/// Returns the whole text of a hit.
fn expanded(raw: &mut Raw, hit: &Value) -> String {
    let params = json!({ "handle": hit["handle"], "before": 0, "after": 0 });
    let items = raw.result("recall.expand", &params)["items"].take();
    assert_eq!(items.as_array().unwrap().len(), 1);
    items[0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_hit_comes_with_the_messages_next_to_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let long = format!("{} it nests at the weir {}", "before ".repeat(100), "behind ".repeat(100));
    say(&mut raw, "s", &["where is the heron?", &long, "thanks", "bye"]);
    let near = |hit: &Value, side: &str| -> Vec<String> {
        let texts = hit.get(side).and_then(Value::as_array).into_iter().flatten();
        texts.map(|message| message["snippet"].as_str().unwrap().to_owned()).collect()
    };
    let hits = search(&mut raw, &json!({ "query": "heron weir", "around": 1 }));
    assert_eq!(json!(hits), raw.result("recall.search", &json!({ "query": "heron weir" }))["hits"], "the default");
    assert_eq!(hits.len(), 1, "the question and its answer are one place: {hits:?}");
    let answer = &near(&hits[0], "after")[0];
    assert!(answer.contains("nests at the weir") && answer.chars().count() < 210, "the part that fits: {answer}");
    assert_eq!(near(&hits[0], "before"), [""; 0]);
    for (around, count, first) in
        [(0, 2, vec![]), (1, 1, vec!["where is the heron?"]), (5, 1, vec!["where is the heron?"])]
    {
        let params = json!({ "query": "weir heron nests", "around": around });
        let hits = search(&mut raw, &params);
        assert_eq!((hits.len(), near(&hits[0], "before")), (count, first.into_iter().map(str::to_owned).collect()));
    }
    let wrong = raw.call("recall.search", &json!({ "query": "heron", "around": 6 }));
    assert_eq!(kind(&wrong), "invalid_params");
}

#[test]
fn a_question_about_a_time_finds_what_was_said_then() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let days_ago = |days: f64| now - days * 86_400.0;
    for (session, days, text) in [("a", 30.0, "we dropped the retry"), ("b", 2.0, "we dropped the retry of the sync")] {
        let messages = json!([{ "role": "user", "content": text }]);
        let import = json!({ "session": session, "position": 0, "messages": messages, "times": [days_ago(days)] });
        raw.result("session.import", &import);
    }
    let mut first = |asked: &str| query(&mut raw, asked)[0]["session"].clone();
    assert_eq!(first("who dropped the retry"), "a");
    assert_eq!(first("who dropped the retry two days ago?"), "b");
    assert_eq!(first("who dropped the retry 30 days ago"), "a");
}

/// Phrases that GNU date reads, too.
const PHRASES: [&str; 20] = [
    "today",
    "yesterday",
    "2 days ago",
    "30 days ago",
    "last monday",
    "last tuesday",
    "last wednesday",
    "last thursday",
    "last friday",
    "last saturday",
    "last sunday",
    "last week",
    "1 week ago",
    "3 weeks ago",
    "last year",
    "2 years ago",
    "5 march 2025",
    "march 5 2025",
    "december 24 2024",
    "2026-11-20",
];

#[test]
fn a_phrase_means_the_time_that_gnu_date_says() {
    if !Need::GnuDate.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let told = |phrase: &str| {
        let date = Command::new("date").args(["-d", phrase, "+%s"]).env("LC_ALL", "C").output().unwrap();
        String::from_utf8(date.stdout).unwrap().trim().parse::<f64>().unwrap()
    };
    let found: Vec<Value> = PHRASES
        .iter()
        .enumerate()
        .map(|(at, phrase)| {
            let text = format!("we changed part{at}");
            // Of two equal texts the newer one comes first, if the time does not count.
            for (session, time) in [("then", told(phrase)), ("another time", told(phrase) - 1e8)] {
                let messages = json!([{ "role": "user", "content": text }]);
                let session = format!("{session} {at}");
                raw.result(
                    "session.import",
                    &json!({ "session": session, "position": 0, "messages": messages, "times": [time] }),
                );
            }
            query(&mut raw, &format!("who changed part{at} {phrase}?"))[0]["session"].clone()
        })
        .collect();
    let then: Vec<Value> = (0..PHRASES.len()).map(|at| json!(format!("then {at}"))).collect();
    assert_eq!(found, then);
}

#[test]
fn words_of_any_language_lead_to_what_was_said() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let texts = [
        "The connection pool was exhausted at midnight.",
        "call parse_context_limit() in HttpServerConfig::from_env, then retryCount += 1",
        "see /etc/nginx/conf.d/site-a.conf and C:\\Users\\me\\notes.txt",
        "Die Größe der Überschrift müssen wir für Zürich ändern",
        "Настройки подключения к серверу были изменены",
        "会议改到下周三下午，请更新日历",
        "東京駅で待ち合わせ、データベースを移行する",
        "데이터베이스 서버를 다시 시작했습니다",
        "การประชุมเลื่อนไปวันพุธหน้า",
        "تم تحديث إعدادات الخادم اليوم",
        "deployed the rocket 🚀 and the family 👨\u{200d}👩\u{200d}👧 cheered",
        "error E0382 in v1.2.3-rc.4 (commit 9f3a7c1), issue #4711, mail ops@example.com",
    ];
    say(&mut raw, "s", &texts);
    for (words, at) in [
        ("connection exhausted", 0),
        ("EXHAUSTED pool", 0),
        ("\"connection pool\"", 0),
        ("midnigh", 0),
        ("parse_context_limit", 1),
        ("HttpServerConfig", 1),
        ("HttpServerConfig::from_env", 1),
        ("retryCount", 1),
        ("/etc/nginx/conf.d/site-a.conf", 2),
        ("nginx/conf.d", 2),
        ("C:\\Users\\me\\notes.txt", 2),
        ("notes.txt", 2),
        ("Größe", 3),
        ("große", 3),
        ("GRÖßE", 3),
        ("uberschrift", 3),
        ("Überschrift", 3),
        ("U\u{308}berschrift", 3),
        ("zurich", 3),
        ("настройки", 4),
        ("ПОДКЛЮЧЕНИЯ серверу", 4),
        ("会议", 5),
        ("日历", 5),
        ("周", 5),
        ("下周三", 5),
        ("東京", 6),
        ("移行", 6),
        ("駅", 6),
        ("データベース", 6),
        ("待ち合わせ", 6),
        ("서버", 7),
        ("데이터베이스", 7),
        ("시작", 7),
        ("ประชุม", 8),
        ("พุธ", 8),
        ("الخادم", 9),
        ("تحديث", 9),
        ("rocket 🚀", 10),
        ("👨\u{200d}👩\u{200d}👧 cheered family", 10),
        ("E0382", 11),
        ("v1.2.3-rc.4", 11),
        ("9f3a7c1", 11),
        ("#4711", 11),
        ("ops@example.com", 11),
    ] {
        let hits = query(&mut raw, words);
        assert!(!hits.is_empty(), "{words:?} finds nothing");
        assert_eq!(expanded(&mut raw, &hits[0]), texts[at], "{words:?}");
        assert_eq!(
            (&hits[0]["kind"], &hits[0]["role"], &hits[0]["session"]),
            (&json!("message"), &json!("user"), &json!("s"))
        );
    }
    for words in ["zebra", "会社", "qqqq", "駐車", "\"pool connection\""] {
        assert_eq!(query(&mut raw, words), Vec::<Value>::new(), "{words:?}");
    }
}

#[test]
fn the_snippet_marks_the_hit_itself() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let long = format!("{} the needle 日本語 lies here {}", "é🪨 hay ".repeat(3000), "more 日本 ".repeat(3000));
    say(&mut raw, "s", &[&long, "short: Größe!", "a FULL phrase of words", "会议改到下周三"]);
    for (words, expected) in [
        ("needle", "needle"),
        ("needle 日本語", "needle 日本語"),
        ("größe", "Größe"),
        ("große", "Größe"),
        ("\"full phrase\"", "FULL phrase"),
        ("下周", "下周"),
        ("三", "三"),
    ] {
        let hits = query(&mut raw, words);
        let found = marked(&hits[0]);
        let is_there = expected.split(' ').any(|word| found == word) || found == expected;
        assert!(is_there, "{words:?}: {found:?} in {}", hits[0]);
        assert!(hits[0]["snippet"].as_str().unwrap().chars().count() < 1000);
    }
}

#[test]
fn of_a_long_query_the_beginning_counts() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    say(&mut raw, "s", &["the platypus lays eggs"]);
    let long = format!("where is the platypus? {}", "ß and some more of it ".repeat(2_000));
    let hits = query(&mut raw, &long);
    assert!(hits.iter().any(|hit| marked(hit).contains("platypus")), "{hits:?}");
    let asked = raw.result("recall.ask", &json!({ "question": long, "session": "s" }));
    assert!(asked["evidence"].to_string().contains("platypus"), "{asked}");
}

#[test]
fn filters_hold_exactly() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let began = now();
    say(&mut raw, "a", &["the walrus is in a"]);
    let between = now();
    say(&mut raw, "b", &["the walrus is in b", "the walrus is in b again", "and the walrus is still in b"]);
    raw.result("session.open", &json!({ "session": "w", "profile": "work" }));
    let spoken = json!([{ "role": "assistant", "content": "the walrus is at work" }]);
    raw.result(
        "session.append",
        &json!({ "session": "w", "profile": "work", "generation": 0, "position": 0, "messages": spoken }),
    );
    let after = now();
    raw.result("memory.add", &json!({ "target": "user", "content": "Likes the walrus." }));
    let admit = json!({ "session": "a", "tool": "t", "id": "c", "content": "walrus\nin a file", "threshold": 0 });
    raw.result("output.admit", &admit);
    for (filter, count) in [
        (json!({}), 7),
        (json!({ "session": "a" }), 2),
        (json!({ "session": "b" }), 3),
        (json!({ "session": "nobody" }), 0),
        (json!({ "kinds": ["message"] }), 5),
        (json!({ "kinds": ["output"] }), 1),
        (json!({ "kinds": ["memory"] }), 1),
        (json!({ "kinds": ["output", "memory"] }), 2),
        (json!({ "kinds": [] }), 0),
        (json!({ "since": began }), 7),
        (json!({ "since": between, "until": after }), 4),
        (json!({ "until": between }), 1),
        (json!({ "until": began }), 0),
        (json!({ "since": now() + 1.0 }), 0),
        (json!({ "profile": "work" }), 1),
        (json!({ "profile": "default" }), 6),
        (json!({ "session": "b", "kinds": ["message"], "since": between }), 3),
        (json!({ "limit": 2 }), 2),
        (json!({ "limit": 7 }), 7),
    ] {
        let mut params = json!({ "query": "walrus" });
        params.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let hits = search(&mut raw, &params);
        assert_eq!(hits.len(), count, "{filter}");
        let more = raw.result("recall.search", &params)["more"].take();
        assert_eq!(more, json!(filter.get("limit").is_some_and(|limit| limit == 2)), "{filter}");
        for hit in &hits {
            let at = hit["time"].as_f64().unwrap();
            assert!(filter["since"].as_f64().is_none_or(|since| at >= since), "{hit}");
            assert!(filter["until"].as_f64().is_none_or(|until| at < until), "{hit}");
            assert!(filter["session"].is_null() || filter["session"] == hit["session"], "{hit}");
        }
    }
    for wrong in
        [json!({ "limit": 0 }), json!({ "limit": 101 }), json!({ "kinds": ["mesage"] }), json!({ "since": "today" })]
    {
        let mut params = json!({ "query": "walrus" });
        params.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert_eq!(kind(&raw.call("recall.search", &params)), "invalid_params", "{wrong}");
    }
}

#[test]
fn a_handoff_names_the_functions_that_give_back_what_it_replaces() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000 }));
    let said = |at: usize| {
        let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": format!("{at} {}", "of the conversation ".repeat(60)) })
    };
    let list: Vec<Value> = (0..80).map(said).collect();
    let done = raw.result("context.compress", &json!({ "session": "s", "messages": list }));
    let handoff = done["messages"].as_array().unwrap().iter().find(|message| message["_compressed_summary"] == true);
    let handoff = handoff.unwrap()["content"].as_str().unwrap().to_owned();
    let (_, recall) = handoff.split_once("## Archived Messages\n").unwrap();
    let tools = raw.result("recall.schema", &json!({}))["tools"].take();
    let named: Vec<&str> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["recall_search", "recall_expand", "recall_describe", "recall_state"]);
    assert!(recall.contains("recall_expand") && recall.contains("recall_search"), "{recall}");
    let handle = done["report"]["archived"]["handle"].as_str().unwrap();
    assert!(recall.contains(handle), "{recall}");
    let items = raw.result("recall.expand", &json!({ "handle": handle }))["items"].take();
    assert!(items.as_array().unwrap().iter().all(|item| list.contains(&item["message"])), "{items}");
}

#[test]
fn the_state_of_the_work_is_told_with_where_it_stands() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "s" }));
    let call = |id: &str, cabin: &str| {
        let order = json!({ "reservation_id": "UM3OG5", "cabin": cabin, "user_id": "omar_1" }).to_string();
        let function = json!({ "name": "get_reservation", "arguments": "{\"reservation_id\": \"UM3OG5\"}" });
        [
            json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] }),
            json!({ "role": "tool", "tool_call_id": id, "content": order }),
        ]
    };
    let messages: Vec<Value> = call("1", "economy").into_iter().chain(call("2", "business")).collect();
    let appended = json!({ "session": "s", "generation": 0, "position": 0, "messages": messages });
    raw.result("session.append", &appended);
    let state = raw.result("recall.state", &json!({ "session": "s", "entity": "UM3OG5" }));
    let [entity] = state["entities"].as_array().unwrap().as_slice() else { panic!("{state}") };
    assert_eq!((&entity["kind"], &entity["given"]), (&json!("reservation"), &json!(2)));
    let cabin = entity["attributes"].as_array().unwrap().iter().find(|known| known["name"] == "cabin").unwrap();
    assert_eq!((&cabin["value"], &cabin["was"]), (&json!("business"), &json!("economy")));
    let said = raw.result("recall.expand", &json!({ "handle": cabin["handle"], "before": 0, "after": 0 }));
    assert_eq!(said["items"][0]["message"], messages[3]);
    // A removed session is unknown.
    raw.result("session.remove", &json!({ "session": "s" }));
    assert_eq!(kind(&raw.call("recall.state", &json!({ "session": "s" }))), "not_found");
}

#[test]
fn no_handoff_is_found_in_the_place_of_what_was_said() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("context.configure", &json!({ "session": "s", "context_length": 9_000 }));
    let turn = |number: usize| {
        let said = match number % 40 {
            3 => format!("the numbat of round {number} listens on port {}", 4_000 + number),
            _ => format!("step {number} of the work ").repeat(20),
        };
        let role = if number.is_multiple_of(2) { "assistant" } else { "user" };
        json!({ "role": role, "content": said })
    };
    let mut list: Vec<Value> = Vec::new();
    for round in 0..6 {
        list.extend((round * 40..round * 40 + 40).map(turn));
        let compressed = raw.result("context.compress", &json!({ "session": "s", "messages": list, "force": true }));
        assert_eq!(compressed["report"]["compressed"], true, "{}", compressed["report"]);
        list = compressed["messages"].as_array().unwrap().clone();
    }
    assert!(
        list.iter().any(|message| message["content"].to_string().contains("numbat")),
        "the handoff has it: {list:?}"
    );
    let hits = raw.result("recall.search", &json!({ "query": "numbat port", "limit": 20 }))["hits"].clone();
    let texts: Vec<&str> = hits.as_array().unwrap().iter().map(|hit| hit["snippet"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), 6, "{texts:?}");
    assert!(texts.iter().all(|text| text.starts_with("the numbat of round")), "{texts:?}");
    let asked = raw.result(
        "recall.ask",
        &json!({ "session": "s", "question": "on which port does the numbat of round 43 listen?" }),
    );
    assert!(asked["evidence"][0]["quote"].as_str().unwrap().contains("4043"), "{asked}");
}
