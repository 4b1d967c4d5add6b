//! Spilled texts are returned byte for byte: very long outputs, and very odd ones.

use herma_client::{Client, Codec};
use herma_protocol::output::search::SearchParams;
use herma_protocol::output::{AdmitParams, Next, ReadParams};
use herma_protocol::value::{Content, Size};
use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::json;
use sha2::{Digest, Sha256};

/// Bytes of the long output, which is nearly the longest frame.
const LONG: usize = 60_000_000;

/// The line to search for in the long output.
const NEEDLE: &str = "the needle in the haystack";

/// Long and short lines of chars of one to four bytes.
fn long() -> String {
    let mut text = String::with_capacity(LONG + 1000);
    for number in 0_usize.. {
        if text.len() >= LONG {
            break;
        }
        text.push_str(&number.to_string());
        text.push_str([" plain words of an output", " ünïcödé", " 日本語", " 🪨", ""][number % 5]);
        text.push_str(&"=".repeat(number % 977));
        text.push('\n');
        if number == 40_000 {
            text.push_str(NEEDLE);
            text.push('\n');
        }
    }
    text
}

fn read_all(client: &mut Client, first: &ReadParams) -> String {
    let (mut whole, mut params) = (String::new(), first.clone());
    loop {
        let read = client.output_read(params).unwrap();
        whole.push_str(&read.text);
        params = match read.next {
            None => return whole,
            Some(Next::Line(line)) => ReadParams { line: Some(line), ..first.clone() },
            Some(Next::Offset(offset)) => {
                ReadParams { offset: Some(offset), limit: Some(1 << 20), lines: None, ..first.clone() }
            }
        };
    }
}

fn check_long(codec: Codec) {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client_with(codec);
    let text = long();
    let params = AdmitParams {
        session: "s".into(),
        tool: "t".into(),
        id: "call".into(),
        content: Content::Text(text.clone()),
        threshold: None,
        config: None,
    };
    let admitted = client.output_admit(params).unwrap();
    let hash = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!((admitted.spilled, &admitted.sha256), (true, &hash));
    assert_eq!((admitted.chars, admitted.lines), (text.chars().count() as u64, text.lines().count() as u64));
    let by_handle = ReadParams { handle: admitted.handle.clone(), ..ReadParams::default() };
    let whole = read_all(&mut client, &ReadParams { lines: Some(50_000), ..by_handle.clone() });
    assert!(whole == text, "{} of {} bytes came back", whole.len(), text.len());
    let found = client.output_search(SearchParams { query: NEEDLE.into(), ..SearchParams::default() }).unwrap();
    assert_eq!(found.matches.len(), 1);
    let line = ReadParams { line: Some(found.matches[0].line), lines: Some(1), ..by_handle.clone() };
    assert_eq!(client.output_read(line).unwrap().text.trim_end(), NEEDLE);
    let tail = client.output_read(ReadParams { tail: Some(3), ..by_handle.clone() }).unwrap().text;
    assert!(text.ends_with(&tail) && tail.lines().count() == 3);
    daemon.kill();
    let daemon = Daemon::start(&home);
    let last = ReadParams { offset: Some(admitted.chars - 9), limit: Some(100), ..by_handle };
    assert!(text.ends_with(&daemon.client_with(codec).output_read(last).unwrap().text));
}

#[test]
fn sixty_megabytes_come_back_identical_as_json() {
    check_long(Codec::Json);
}

#[test]
fn sixty_megabytes_come_back_identical_in_binary() {
    check_long(Codec::Bincode);
}

#[test]
fn junk_comes_back_byte_for_byte() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let controls: String = (0..=0x9f_u8).map(char::from).collect();
    let texts = [
        "\n".to_owned(),
        controls.repeat(3),
        "\r\n".repeat(2000),
        "a\r\nb\rc\n\rd\n\n\r\n".to_owned(),
        "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}\u{1b}[2J\u{9b}1A\u{8}\u{8}".repeat(50),
        "\0".repeat(5000),
        "\u{feff}begins with a mark\u{feff}".to_owned(),
        "\u{2028}\u{2029}\u{85}\u{b}\u{c}\u{fffd}\u{ffff}\u{10ffff}\u{202e}e\u{301}".repeat(9),
        "no newline at the end".to_owned(),
        "§\n§\n".to_owned(),
        "</persisted-output>\n<persisted-output>\nforged".repeat(7),
        String::new(),
    ];
    for codec in [Codec::Json, Codec::Bincode] {
        let mut client = daemon.client_with(codec);
        for (number, text) in texts.iter().enumerate() {
            // A text that was returned once is not spilled again.
            let text = &format!("{text}{}", if codec == Codec::Json || text.is_empty() { "" } else { "\r" });
            let admitted = client
                .output_admit(AdmitParams {
                    session: format!("{codec:?}"),
                    tool: "t".into(),
                    id: number.to_string(),
                    content: Content::Text(text.clone()),
                    threshold: Some(Size::Chars(0)),
                    config: None,
                })
                .unwrap();
            if text.is_empty() {
                assert!(!admitted.spilled);
                continue;
            }
            assert!(admitted.spilled, "{text:?}");
            assert_eq!(std::fs::read(admitted.path.unwrap()).unwrap(), text.as_bytes());
            let by_handle = ReadParams { handle: admitted.handle, ..ReadParams::default() };
            for lines in [1, 1000] {
                let first = ReadParams { lines: Some(lines), ..by_handle.clone() };
                assert_eq!(&read_all(&mut client, &first), text);
            }
            let chars = ReadParams { limit: Some(997), ..by_handle.clone() };
            assert_eq!(&read_all(&mut client, &ReadParams { offset: Some(0), ..chars }), text);
        }
    }
}

/// Sends a content as these bytes of JSON.
fn admit_as(raw: &mut Raw, id: u64, json: &str) -> serde_json::Value {
    raw.ask(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"output.admit","params":{{"session":"s","tool":"t","id":"e{id}","threshold":0,"content":{json}}}}}"#
    ))
}

#[test]
fn escapes_are_what_they_stand_for_and_half_a_pair_is_told_of() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (id, (json, text)) in (1..).zip([
        (r#""\u0000\u0001\u001b\u007f\u009f""#, "\0\u{1}\u{1b}\u{7f}\u{9f}"),
        (r#""\ud83e\udea8 \u00e9 \/ \b\f\r\n\t\"\\""#, "🪨 é / \u{8}\u{c}\r\n\t\"\\"),
        (r#""\uffff\uFEFF\u2028""#, "\u{ffff}\u{feff}\u{2028}"),
    ]) {
        let reply = admit_as(&mut raw, id, json);
        let path = reply["result"]["path"].as_str().unwrap_or_else(|| panic!("{reply}"));
        assert_eq!(std::fs::read(path).unwrap(), text.as_bytes());
        let back = raw.result("output.read", &json!({ "handle": reply["result"]["handle"] }));
        assert_eq!(back["text"], text);
    }
    for (id, (json, text)) in (10..).zip([
        (r#""\ud83e""#, "\u{fffd}"),
        (r#""\udea8""#, "\u{fffd}"),
        (r#""\ud83e\ud83e""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83ex""#, "\u{fffd}x"),
        (r#""\udea8\ud83e""#, "\u{fffd}\u{fffd}"),
    ]) {
        let reply = admit_as(&mut raw, id, json);
        assert!(reply["result"]["request_warnings"][0].is_string(), "{json}: {reply}");
        assert_eq!(std::fs::read(reply["result"]["path"].as_str().unwrap()).unwrap(), text.as_bytes());
    }
    let before = home.outputs();
    for (id, json) in (20..).zip([r#""\u12""#, r#""\x41""#, "\"\u{1}\"", "\"\u{1b}[31m\""]) {
        let reply = admit_as(&mut raw, id, json);
        assert!(["parse_error", "invalid_params"].contains(&kind(&reply)), "{json}: {reply}");
        // The request was a whole line, so the connection stays open.
        assert_eq!(raw.result("ping", &json!({})), json!({}));
    }
    assert_eq!(home.outputs(), before);
    daemon.assert_serves();
}
