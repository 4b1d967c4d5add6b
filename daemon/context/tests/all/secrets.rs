//! A handoff without a model contains nothing of a secret, wherever in the conversation the secret was. A
//! model's prompt and the handoff around its summary show no more than a mask.
#![expect(clippy::unwrap_used, reason = "tests")]

use herma_context::compressor::prepare;
use herma_context::engine::{ArchiveNote, CompressRequest, Compressed, EngineState, Summary, Writer};
use herma_context::{Message, RawSettings, Settings};
use herma_guard::{RedactOptions, redact};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Successive chars of a secret that reveal something of it.
const TELLING: usize = 4;
/// Successive chars that no mask shows.
const UNMASKED: usize = 7;
/// The chars of random secrets: no word of the conversations has four of these in a row.
const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSVWXZ23456789";
const PREFIXES: [&str; 9] = ["sk-proj-", "ghp_", "github_pat_", "xoxb-", "AIza", "hf_", "npm_", "gsk_", "SG."];

/// A secret in its usual surroundings.
#[derive(Clone, Debug)]
struct Secret {
    /// The text with the secret.
    text: String,
    /// The parts of it that must stay secret.
    parts: Vec<String>,
}

/// Returns random letters that are the same for the same seed.
fn letters(seed: u64, length: usize, of: &[u8]) -> String {
    let mut state = seed | 1;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    };
    std::iter::repeat_with(next).take(length).map(|at| char::from(of[at % of.len()])).collect()
}

impl Secret {
    const KINDS: usize = 12;

    fn of(kind: usize, seed: u64) -> Self {
        let value = letters(seed, 36, LETTERS);
        let one = |text: String| Self { text, parts: vec![value.clone()] };
        match kind {
            0 => one(format!("{}{value}", PREFIXES[usize::try_from(seed % 9).unwrap()])),
            1 => one(format!("DEPLOY_TOKEN={value}")),
            2 => one(format!("export API_SECRET='{value}'")),
            3 => one(format!("{{\"password\": \"{value}\"}}")),
            4 => one(format!("Authorization: Bearer {value}")),
            5 => one(format!("101101101:{value}")),
            6 => one(format!("postgres://app:{value}@db.example/main")),
            7 => one(format!("eyJ{value}.{}.{}", value.to_lowercase().to_uppercase(), value)),
            8 => {
                let number = letters(seed, 9, b"23456789");
                Self { text: format!("+49{number}"), parts: vec![number] }
            }
            9 => {
                let body = letters(seed, 64 * 12, LETTERS);
                let lines: Vec<&str> = (0..12).map(|at| &body[at * 64..at * 64 + 64]).collect();
                let text =
                    format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", lines.join("\n"));
                Self { text, parts: vec![body.clone()] }
            }
            10 => {
                // No digits that the public part of a bot's token has, which a handoff may show.
                let hash = letters(seed, 40, b"23456789bcdf");
                Self { text: format!("BUILD_SECRET={hash}"), parts: vec![hash] }
            }
            _ => one(format!("GITHUB_TOKEN=ghp_{value}")),
        }
    }

    /// Returns so many successive chars of it found in a text, with the text around them.
    fn leaked_into<'a>(&self, text: &'a str, chars: usize) -> Option<&'a str> {
        let windows = self.parts.iter().flat_map(|part| part.as_bytes().windows(chars));
        windows.map(|window| std::str::from_utf8(window).unwrap()).find_map(|window| {
            let at = text.find(window)?;
            text.get(text.floor_char_boundary(at.saturating_sub(60))..text.ceil_char_boundary(at + 60))
        })
    }
}

fn words(chars: usize) -> String {
    "some words of it ".chars().cycle().take(chars).collect()
}

fn say(role: &str, content: impl Into<Value>) -> Value {
    json!({"role": role, "content": content.into()})
}

fn called(id: usize, name: &str, arguments: &Value, output: impl Into<Value>) -> Vec<Value> {
    let id = format!("call_{id}");
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": function}]});
    vec![call, json!({"role": "tool", "tool_call_id": id, "content": output.into()})]
}

const PLACES: usize = 20;

/// Returns messages that contain a secret; `shift` changes its position.
fn placed(place: usize, shift: usize, at: usize, secret: &str) -> Vec<Value> {
    let reply = say("assistant", "Done.");
    let ask = |text: String| vec![say("user", text), reply.clone()];
    let run = |output: String| called(at, "terminal", &json!({"command": "make"}), output);
    match place {
        0 => ask(format!("Please deploy with {secret} today.")),
        1 => ask(format!("Never print {secret} in a log. Always use {secret} for it.")),
        2 => ask(format!("{} {secret} {}", words(11_800 + shift), words(12_000))),
        3 => ask(format!("Please use {} {secret} {}", words(300 + shift), words(500))),
        4 => run(format!("{} Error: login failed with {secret} at host", words(shift * 3))),
        5 => run(format!("{} {secret} {} fatal: denied", words(900), words(shift))),
        6 => called(at, "terminal", &json!({"command": format!("{} {secret} more", words(shift / 2))}), words(400)),
        7 => called(at, "lookup", &json!({"from": format!("{} {secret}", words(shift / 4)), "to": secret}), words(400)),
        8 => called(at, "execute_code", &json!({"code": format!("{} {secret}", words(shift / 3))}), words(400)),
        9 => ask("go on".into())
            .into_iter()
            .chain([say("assistant", format!("I used {secret} for that, as decided."))])
            .collect(),
        10 => run(format!("{} {secret} {}\nerror: it failed\n", words(65_300 + shift), words(66_000))),
        11 => {
            vec![say("user", json!([{"type": "text", "text": words(shift)}, {"type": "text", "text": secret}])), reply]
        }
        12 => called(at, "write_file", &json!({"path": format!("/srv/{secret}/x"), "content": secret}), "ok"),
        13 => run(json!({"output": format!("error: {secret}\nnext line"), "exit_code": 1}).to_string()),
        14 => called(
            at,
            "http",
            &json!({"headers": {"Authorization": format!("Bearer {secret}")}, "token": secret}),
            "ok",
        ),
        15 => ask(format!("{} {secret}", words(7_900 + shift))),
        16 => run(format!("We decided to use {secret}. Connection refused: exit code 7, {secret}")),
        17 => run(format!("$ curl -H '{secret}' https://x.example/{secret}\n")),
        18 => ask(format!("```\n{secret}\n```\nplease")),
        _ => run(secret.to_owned()),
    }
}

fn messages(values: &[Value]) -> Vec<Message> {
    values.iter().map(|value| Message::parse(value.to_string()).unwrap()).collect()
}

fn settings() -> Settings {
    RawSettings { context_length: 64_000, protect_first_n: Some(1), ..RawSettings::default() }.check().unwrap()
}

/// Returns a conversation with messages between head and tail.
fn around(middle: Vec<Value>) -> Vec<Value> {
    let begin = [say("system", "You are an agent."), say("user", "hello"), say("assistant", "yes")];
    let end = (0..24).map(|at| say(if at % 2 == 0 { "user" } else { "assistant" }, words(3_200)));
    begin.into_iter().chain(middle).chain(end).collect()
}

/// Returns the handoff of a run without a model.
fn recorded(list: &[Message], failure: Option<&str>) -> Compressed {
    let prepared = prepare(list, &settings(), &EngineState::default(), &CompressRequest::default()).unwrap();
    let body = prepared.extractive_summary(failure);
    let note = ArchiveNote { handle: "cmp_x_1".into(), messages: prepared.dropped() };
    prepared.finish(Summary { body, writer: Writer::Extractive, ..Summary::default() }, note)
}

/// Returns the prompt for a model about a list, and the handoff around its answer.
fn summarised(list: &[Message], said: &str) -> (String, Compressed) {
    let prepared = prepare(list, &settings(), &EngineState::default(), &CompressRequest::default()).unwrap();
    let prompt = prepared.request().prompt;
    let note = ArchiveNote { handle: "cmp_x_0".into(), messages: prepared.dropped() };
    let masked = redact(said, RedactOptions::default()).text.into_owned();
    let body =
        format!("## Goal\nship it\n\n## Critical Context\n{masked}\n\n## Key Decisions\n- it is {masked}, decided");
    (prompt, prepared.finish(Summary { body, ..Summary::default() }, note))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_secret_is_removed_without_a_model_and_masked_with_one(
        all in prop::collection::vec((0..Secret::KINDS, 0..PLACES, 0_usize..240, 1_u64..u64::MAX), 1..5),
        failed in any::<bool>(),
        again in any::<bool>(),
    ) {
        let secrets: Vec<Secret> = all.iter().map(|(kind, .., seed)| Secret::of(*kind, *seed)).collect();
        let middle = all.iter().zip(&secrets).enumerate();
        let middle = middle.flat_map(|(at, ((_, place, shift, _), secret))| placed(*place, *shift, at, &secret.text));
        let filler = vec![say("user", words(3_000)), say("assistant", words(3_000))];
        let mut list = messages(&around(middle.chain(filler).collect()));
        let said: Vec<&str> = secrets.iter().map(|secret| secret.text.as_str()).collect();
        let (prompt, done) = summarised(&list, &said.join("\n"));
        for secret in &secrets {
            let leaked = secret.leaked_into(&prompt, UNMASKED).or_else(|| secret.leaked_into(&done.handoff, UNMASKED));
            prop_assert!(leaked.is_none(), "{:?} of {:?}", leaked, secret);
        }
        if again {
            let more = messages(&around(vec![say("user", "and now?"), say("assistant", "we go on")])[3..]);
            list = done.messages(&list).cloned().chain(more).collect();
        }
        let failure = format!("status 401: {}", said.join(", "));
        let done = recorded(&list, failed.then_some(failure.as_str()));
        for secret in &secrets {
            let held = done.state.previous_summary.as_deref().unwrap();
            let leaked = secret.leaked_into(&done.handoff, TELLING).or_else(|| secret.leaked_into(held, TELLING));
            prop_assert!(leaked.is_none(), "{:?} of {:?}", leaked, secret);
        }
    }
}
