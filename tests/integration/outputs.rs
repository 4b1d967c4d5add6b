//! Large tool results are spilled to disk and can be read back whole.

use std::fs;

use herma_client::{Client, ClientError};
use herma_protocol::memory::Target;
use herma_protocol::output::{
    AdmitParams, AdmitResult, BudgetConfig, Failure, Next, ReadParams, ReadResult, SettleTurnParams, TurnResult,
};
use herma_protocol::value::{Content, Size};
use herma_protocol::{ErrorKind, Json};
use herma_tests::{Daemon, Home};
use sha2::{Digest, Sha256};

fn admit(id: &str, content: &str) -> AdmitParams {
    AdmitParams {
        session: "s".into(),
        tool: "terminal".into(),
        id: id.into(),
        content: Content::Text(content.into()),
        threshold: None,
        config: None,
    }
}

/// Returns 150 KB with long and short lines, and chars of one to four bytes.
fn large() -> String {
    let lines = (0..).map(|number: usize| format!("{number} {} ünï 日本 🪨\n", "word ".repeat(number % 37)));
    let mut text = String::new();
    lines
        .take_while(|line| {
            text.push_str(line);
            text.len() < 150_000
        })
        .for_each(drop);
    text
}

fn text(content: &Content) -> &str {
    match content {
        Content::Text(text) => text,
        Content::Parts(_) => panic!("{content:?}"),
    }
}

fn read_all(client: &mut Client, first: ReadParams) -> (String, usize) {
    let mut whole = String::new();
    let mut pages = 0;
    let mut params = first.clone();
    loop {
        let ReadResult { text, next, .. } = client.output_read(params).unwrap();
        whole.push_str(&text);
        pages += 1;
        params = match next {
            None => return (whole, pages),
            Some(Next::Line(line)) => ReadParams { line: Some(line), ..first.clone() },
            Some(Next::Offset(offset)) => ReadParams { offset: Some(offset), ..first.clone() },
        };
    }
}

fn by_handle(admitted: &AdmitResult) -> ReadParams {
    ReadParams { handle: admitted.handle.clone(), ..ReadParams::default() }
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, ClientError>) -> ErrorKind {
    match outcome {
        Err(ClientError::Rpc(error)) => error.kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_spilled_output_is_paged_back_identical_and_survives_a_restart() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let whole = large();
    let admitted = client.output_admit(admit("call_1", &whole)).unwrap();
    assert!(admitted.spilled && admitted.failure.is_none());
    assert_eq!((admitted.chars, admitted.lines), (whole.chars().count() as u64, whole.lines().count() as u64));
    let digest = Sha256::digest(&whole).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(admitted.sha256, digest);
    let path = home.path().join("herma/outputs/s/call_1.txt");
    assert_eq!(admitted.path.as_deref(), path.to_str());
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    let block = text(&admitted.content);
    assert!(
        block.starts_with("<persisted-output>\n") && block.ends_with("\n</persisted-output>") && block.len() < 5000,
        "{block}"
    );
    assert!(block.contains(path.to_str().unwrap()) && block.contains(whole.lines().last().unwrap()), "{block}");

    let check = |client: &mut Client| {
        let (back, pages) = read_all(client, by_handle(&admitted));
        assert!(back == whole && pages > 1, "{pages} pages");
        let chars = ReadParams { limit: Some(7_001), ..by_handle(&admitted) };
        assert_eq!(read_all(client, chars).0, whole);
        let lines = ReadParams { path: admitted.path.clone(), lines: Some(13), ..ReadParams::default() };
        assert_eq!(read_all(client, lines).0, whole);
        let tail = client.output_read(ReadParams { tail: Some(2), ..by_handle(&admitted) }).unwrap();
        assert!(whole.ends_with(&tail.text) && tail.text.lines().count() == 2 && tail.next.is_none());
        let beyond = client.output_read(ReadParams { line: Some(1_000_000), ..by_handle(&admitted) }).unwrap();
        assert_eq!((beyond.text.as_str(), beyond.next), ("", None));
    };
    check(&mut client);
    daemon.kill();
    let daemon = Daemon::start(&home);
    check(&mut daemon.client());
}

#[test]
fn a_repeated_id_with_other_content_overwrites_nothing() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let contents: Vec<String> = (0..5).map(|number| format!("{number}").repeat(120_000)).collect();
    let admitted: Vec<AdmitResult> =
        contents.iter().map(|content| client.output_admit(admit("call_1", content)).unwrap()).collect();
    for (content, kept) in contents.iter().zip(&admitted) {
        let limit = ReadParams { limit: Some(200_000), ..by_handle(kept) };
        assert_eq!(&client.output_read(limit).unwrap().text, content);
        assert_eq!(&client.output_admit(admit("call_1", content)).unwrap(), kept);
    }
    assert_eq!(home.outputs().len(), 5);
}

#[test]
fn writers_of_the_same_id_at_once_each_keep_their_own() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let kept: Vec<(String, AdmitResult)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|thread| {
                let mut client = daemon.client();
                scope.spawn(move || {
                    let content = format!("{} by {thread}", "x".repeat(101_000));
                    let params = AdmitParams { session: format!("s{}", thread % 2), ..admit("call_1", &content) };
                    (content, client.output_admit(params).unwrap())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (content, admitted) in kept {
        let limit = ReadParams { limit: Some(200_000), ..by_handle(&admitted) };
        assert_eq!(daemon.client().output_read(limit).unwrap().text, content);
    }
}

#[test]
fn what_is_outside_the_outputs_can_not_be_read() {
    let home = Home::new();
    home.write_store(Target::User, b"private");
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let kept = client.output_admit(AdmitParams { threshold: Some(Size::Chars(0)), ..admit("c", "kept") }).unwrap();
    let inside = kept.path.unwrap();
    let outputs = home.path().join("herma/outputs");
    let file = home.store(Target::User);
    let up = outputs.join("s/../../../memories/USER.md");
    for path in [
        "/etc/passwd",
        "USER.md",
        "",
        "s/c.txt",
        file.to_str().unwrap(),
        up.to_str().unwrap(),
        outputs.to_str().unwrap(),
        &format!("{inside}/"),
        &format!("{inside}\0"),
    ] {
        let read = client.output_read(ReadParams { path: Some(path.into()), ..ReadParams::default() });
        if let Ok(read) = &read {
            assert_eq!(read.text, "kept", "{path}");
            continue;
        }
        assert!(matches!(refused(read), ErrorKind::InvalidParams | ErrorKind::NotFound), "{path}");
    }
    for handle in ["out_none", "", "../../x", "out_", &"x".repeat(100_000)] {
        let read = client.output_read(ReadParams { handle: Some(handle.into()), ..ReadParams::default() });
        assert_eq!(refused(read), ErrorKind::NotFound);
    }
}

#[test]
fn a_link_out_of_the_outputs_is_not_followed() {
    let home = Home::new();
    home.write_store(Target::User, b"private");
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    client.output_admit(AdmitParams { threshold: Some(Size::Chars(0)), ..admit("c", "kept") }).unwrap();
    let outputs = home.path().join("herma/outputs");
    std::os::unix::fs::symlink(home.store(Target::User), outputs.join("s/link.txt")).unwrap();
    std::os::unix::fs::symlink(home.path().join("memories"), outputs.join("t")).unwrap();
    for link in ["s/link.txt", "t/USER.md"] {
        let path = outputs.join(link).to_str().map(str::to_owned);
        let read = client.output_read(ReadParams { path, ..ReadParams::default() });
        assert!(read.is_err(), "{link}: {read:?}");
    }
}

#[test]
fn a_turn_is_settled_largest_first_until_it_fits() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let result = |id: &str, length: usize| TurnResult {
        id: Some(id.into()),
        tool: None,
        content: Content::Text(id.repeat(length)),
    };
    let results =
        vec![result("a", 42_000), result("b", 90_000), result("c", 10), result("d", 60_000), result("e", 50_000)];
    let params =
        SettleTurnParams { session: "s".into(), results: Some(results.clone()), ..SettleTurnParams::default() };
    let settled = client.output_settle_turn(params).unwrap();
    let indexes: Vec<u64> = settled.replacements.iter().map(|one| one.index).collect();
    assert_eq!(indexes, [1]);
    let replaced = &settled.replacements[0];
    assert_eq!(settled.total, (42_000 + 10 + 60_000 + 50_000 + text(&replaced.content).chars().count()) as u64);
    assert!(settled.total <= 200_000);
    let read = ReadParams { handle: replaced.handle.clone(), limit: Some(100_000), ..ReadParams::default() };
    assert_eq!(client.output_read(read).unwrap().text, "b".repeat(90_000));

    // The same results as chat messages. An output that was already spilled is left alone.
    let messages = results.iter().enumerate().map(|(at, result)| {
        let content = if at == 1 { replaced.content.clone() } else { result.content.clone() };
        Json::from_value(&serde_json::json!({ "role": "tool", "tool_call_id": result.id, "content": content })).unwrap()
    });
    let config = BudgetConfig { turn_budget: Some(60_000), ..BudgetConfig::default() };
    let params = SettleTurnParams {
        session: "s".into(),
        messages: Some(messages.collect()),
        config: Some(config),
        results: None,
    };
    let settled = client.output_settle_turn(params).unwrap();
    let indexes: Vec<u64> = settled.replacements.iter().map(|one| one.index).collect();
    assert_eq!(indexes, [3, 4]);
    assert!(settled.total <= 60_000, "{}", settled.total);
}

#[test]
fn an_output_that_can_not_be_kept_is_truncated_and_says_why() {
    let home = Home::new();
    fs::create_dir(home.path().join("herma")).unwrap();
    fs::write(home.path().join("herma/outputs"), "a file").unwrap();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let admitted = client.output_admit(admit("call_1", &"x".repeat(120_000))).unwrap();
    assert_eq!((admitted.spilled, admitted.failure), (false, Some(Failure::StorageFailed)));
    assert_eq!((&admitted.handle, &admitted.path), (&None, &None));
    let expected = format!(
        "{}\n\n[Truncated: tool response was 120,000 chars. Full output could not be saved to sandbox.]",
        "x".repeat(1500)
    );
    assert_eq!(text(&admitted.content), expected);
    let result = TurnResult { id: None, tool: None, content: Content::Text("y".repeat(300_000)) };
    let params = SettleTurnParams { session: "s".into(), results: Some(vec![result]), ..SettleTurnParams::default() };
    let settled = client.output_settle_turn(params).unwrap();
    assert_eq!(settled.replacements[0].handle, None);
    assert!(text(&settled.replacements[0].content).contains("[Truncated: tool response was 300,000 chars."));
    assert_eq!(fs::read_to_string(home.path().join("herma/outputs")).unwrap(), "a file");
    // A small output needs no disk.
    assert_eq!(client.output_admit(admit("call_2", "small")).unwrap().failure, None);
}

#[test]
fn thresholds_are_those_of_the_tool() {
    let home = Home::configured(
        "[output]\ndefault_result_size = 1000\n[output.tool_overrides]\ngrep = 10\nlog = \"inf\"\nread_file = 10\n",
    );
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let mut spilled = |tool: &str, length: usize| {
        let params = AdmitParams { tool: tool.into(), ..admit("c", &"x".repeat(length)) };
        client.output_admit(params).unwrap().spilled
    };
    for (tool, length, expected) in [
        ("my_tool", 1000, false),
        ("my_tool", 1001, true),
        // A tool that sends its own limit keeps it.
        ("terminal", 100_000, false),
        ("terminal", 100_001, true),
        ("grep", 10, false),
        ("grep", 11, true),
        ("log", 300_000, false),
        ("read_file", 300_000, false),
    ] {
        assert_eq!(spilled(tool, length), expected, "{tool} {length}");
    }
}

#[test]
fn what_was_spilled_is_not_spilled_again_by_its_turn() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let kept = client.output_admit(admit("c", &"x".repeat(150_000))).unwrap();
    let result = TurnResult { id: Some("c".into()), tool: None, content: kept.content };
    let config = Some(BudgetConfig { turn_budget: Some(10), ..BudgetConfig::default() });
    let params = SettleTurnParams { session: "s".into(), results: Some(vec![result]), messages: None, config };
    assert!(client.output_settle_turn(params).unwrap().replacements.is_empty());
}

#[test]
fn the_text_of_a_list_is_spilled_and_its_other_parts_stay() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let (one, two) = ("first ".repeat(10_000), "second ".repeat(10_000));
    let image = r#"{"type": "image_url","image_url":{"url":"data:image/png;base64,AA\u003d\u003d"}}"#;
    let part = |text: &str| Json::from_value(&serde_json::json!({ "type": "text", "text": text })).unwrap();
    let parts = vec![part(&one), Json::parse(image.into()).unwrap(), part(&two)];
    let params = AdmitParams { content: Content::Parts(parts), ..admit("c", "") };
    let admitted = client.output_admit(params).unwrap();
    assert!(admitted.spilled);
    let Content::Parts(parts) = &admitted.content else { panic!("{:?}", admitted.content) };
    assert!(parts.iter().any(|part| part.get() == image), "{parts:?}");
    assert!(parts.iter().map(|part| part.get().len()).sum::<usize>() < 5000);
    let read = ReadParams { limit: Some(1_000_000), ..by_handle(&admitted) };
    assert_eq!(client.output_read(read).unwrap().text, format!("{one}\n{two}"));
}
