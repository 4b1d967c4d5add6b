//! Compression through the daemon, on a long chain of real conversations.

pub(crate) mod valid;

use std::sync::Barrier;

use herma_client::{Client, ClientError};
use herma_protocol::context::{
    Breaker, CompressParams, Compressed, ConfigureParams, ConstantsParams, Edits, ReplyForm, StatusParams, StatusResult,
};
use herma_protocol::{ErrorKind, Json};
use herma_tests::{Daemon, Home, eventually, python};
use serde_json::Value;
use serde_json::value::RawValue;

/// Real conversations, one per line.
const FIXTURES: &str = include_str!("../../daemon/context/tests/fixtures/airline.jsonl");

/// Chains the fixtures to about `count` messages. Every third has unusual white space, key order and escapes, which
/// must survive.
pub(crate) fn conversation(count: usize) -> Vec<Json> {
    #[derive(serde::Deserialize)]
    struct Line {
        messages: Vec<Box<RawValue>>,
    }
    let lines: Vec<Line> = FIXTURES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all: Vec<&str> = lines.iter().flat_map(|line| &line.messages).map(|message| message.get()).collect();
    let system = all[..1].iter();
    let turns = all[1..].iter().cycle();
    let odd = |(at, text): (usize, &&str)| match at % 3 {
        0 => format!("{{ \"x_\\u00e9\" : 1.0,{}", &text[1..]),
        _ => (*text).to_owned(),
    };
    let mut list: Vec<Json> =
        system.chain(turns).take(count).enumerate().map(odd).map(|text| Json::parse(text).unwrap()).collect();
    // The list ends with a message of the user.
    while value(list.last().unwrap())["role"] != "user" {
        list.pop();
    }
    list
}

fn value(message: &Json) -> Value {
    serde_json::from_str(message.get()).unwrap()
}

fn values(list: &[Json]) -> Vec<Value> {
    list.iter().map(value).collect()
}

fn configured(daemon: &Daemon, context_length: u64) -> Client {
    let mut client = daemon.client();
    let context_length = Some(context_length);
    client
        .context_configure(ConfigureParams { session: "s".into(), context_length, ..ConfigureParams::default() })
        .unwrap();
    client
}

fn params(list: &[Json]) -> CompressParams {
    CompressParams { session: "s".into(), messages: Some(list.to_vec()), ..CompressParams::default() }
}

fn status(client: &mut Client) -> StatusResult {
    client.context_status(StatusParams { session: "s".into() }).unwrap()
}

/// Builds the new list from the old one and the edits, as WIRE defines it.
pub(crate) fn edited(input: &[Json], edits: &Edits) -> Vec<Json> {
    let at = |position: u64| usize::try_from(position).unwrap();
    let inserted = |position| edits.insert.iter().filter(move |insert| at(insert.at) == position);
    let mut list = Vec::new();
    for (position, message) in input.iter().enumerate() {
        list.extend(inserted(position).map(|insert| insert.message.clone()));
        if edits.keep.iter().any(|(from, to)| (at(*from)..at(*to)).contains(&position)) {
            let replaced = edits.replace.iter().find(|replace| at(replace.index) == position);
            list.push(replaced.map_or_else(|| message.clone(), |replace| replace.message.clone()));
        }
    }
    list.extend(inserted(input.len()).map(|insert| insert.message.clone()));
    list
}

/// Reads a compression's archived messages with another program.
fn archived(home: &Home, handle: &str) -> Vec<(usize, String)> {
    let script = r"
import json, sqlite3, sys
archive = sqlite3.connect(sys.argv[1])
rows = archive.execute('SELECT position, body FROM message WHERE compression = ? ORDER BY position', (sys.argv[2],))
json.dump(rows.fetchall(), sys.stdout)
";
    let path = home.path().join("herma/archive.db");
    serde_json::from_str(&python::run(script, &[path.to_str().unwrap(), handle])).unwrap()
}

#[test]
fn a_long_conversation_stays_valid_and_what_leaves_it_is_archived_before_the_answer() {
    let input = conversation(1000);
    assert!(input.len() > 990);
    valid::check(&values(&input));
    let forms = [ReplyForm::Messages, ReplyForm::Edits].map(|form| {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut client = configured(&daemon, 16_000);
        let result = client
            .context_compress(CompressParams { reply: Some(form), ..params(&input) })
            .unwrap()
            .compressed()
            .unwrap();
        // The answer has arrived, so a kill must lose nothing.
        daemon.kill();
        let kept = archived(&home, &result.report.archived.as_ref().unwrap().handle);
        (result, kept)
    });
    let [(Compressed { messages, report, .. }, kept), (Compressed { edits, .. }, _)] = forms;
    let (output, edits) = (messages.unwrap(), edits.unwrap());
    assert!(report.compressed && report.generation == 1, "{report:?}");
    assert_eq!((report.messages_before, report.messages_after), (input.len() as u64, output.len() as u64));
    assert!(output.len() < input.len() / 2 && report.tokens_after < report.tokens_before / 2, "{report:?}");
    assert_eq!(edited(&input, &edits), output);

    valid::check(&values(&output));
    valid::check_roles(&values(&input), &values(&output));
    let constants = configured(&Daemon::start(&Home::new()), 64_000).context_constants(ConstantsParams {}).unwrap();
    let handoff = valid::handoff(&values(&output), &constants);
    let last_user = output.iter().rposition(|message| value(message)["role"] == "user").unwrap();
    assert!(last_user > handoff);
    assert_eq!(output.last(), input.last());

    // Every message whose text left the list is unchanged in the archive.
    let gone: Vec<(usize, String)> = (0..input.len())
        .filter(|at| {
            let position = *at as u64;
            let stays = edits.keep.iter().any(|(from, to)| (*from..*to).contains(&position));
            !stays || edits.replace.iter().any(|replace| replace.index == position)
        })
        .map(|at| (at, input[at].get().to_owned()))
        .collect();
    assert_eq!(report.archived.unwrap().messages, gone.len() as u64);
    let merged_only = |at: usize| {
        edits.replace.iter().any(|replace| replace.index == at as u64 && keeps_text(&input[at], &replace.message))
    };
    for (at, text) in &gone {
        assert!(kept.contains(&(*at, text.clone())) || merged_only(*at), "message {at} is nowhere: {text}");
    }
    assert!(kept.iter().all(|(at, text)| input[*at].get() == text));
}

/// Whether a message has all of another's text, so that text was only added.
fn keeps_text(before: &Json, after: &Json) -> bool {
    let [before, after] = [before, after].map(|message| value(message)["content"].as_str().map(str::to_owned));
    matches!((before, after), (Some(before), Some(after)) if after.contains(&before))
}

#[test]
fn messages_that_stay_are_the_same_bytes() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = configured(&daemon, 16_000);
    let input = conversation(300);
    let output = client.context_compress(params(&input)).unwrap().compressed().unwrap().messages.unwrap();
    let same = output.iter().filter(|message| input.contains(message)).count();
    let odd = output.iter().filter(|message| message.get().contains(r#""x_\u00e9" : 1.0,"#)).count();
    assert!(same >= output.len() - 6 && same > 10 && odd > 2, "{same} and {odd} of {}", output.len());
}

#[test]
fn compressing_again_and_again_keeps_one_handoff_and_counts_generations() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut client = configured(&daemon, 16_000);
    let constants = client.context_constants(ConstantsParams {}).unwrap();
    let all = conversation(600);
    let mut list: Vec<Json> = Vec::new();
    let mut runs = 0;
    for chunk in all.chunks(150) {
        list.extend_from_slice(chunk);
        // A chunk may end with a call whose result follows later.
        let open = values(&list);
        let result = client.context_compress(params(&list)).unwrap().compressed().unwrap();
        runs += 1;
        assert_eq!((result.report.compressed, result.report.generation), (true, runs), "{:?}", result.report);
        let output = result.messages.unwrap();
        valid::check_roles(&open, &values(&output));
        valid::handoff(&values(&output), &constants);
        let expected = format!("_{runs}");
        assert!(result.report.archived.unwrap().handle.ends_with(&expected));
        list = output;
        if runs == 2 {
            daemon.kill();
            daemon = Daemon::start(&home);
            client = daemon.client();
            assert_eq!(status(&mut client).generation, runs);
        }
    }
    assert_eq!(status(&mut client).generation, runs);
    assert_eq!((status(&mut client).last_prompt_tokens, status(&mut client).awaiting_real_usage), (-1, true));
    let reopened =
        client.session_open(herma_protocol::session::OpenParams { session: "s".into(), ..Default::default() });
    assert_eq!(reopened.unwrap().generation, runs);
}

#[test]
fn an_input_with_too_little_to_compress_comes_back_unchanged() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = configured(&daemon, 64_000);
    let input = conversation(6);
    let result = client.context_compress(params(&input)).unwrap().compressed().unwrap();
    assert_eq!(result.messages.as_deref(), Some(&input[..]));
    assert!(!result.report.compressed && result.report.reason.is_some() && result.report.archived.is_none());
    assert_eq!((result.report.messages_before, result.report.messages_after), (input.len() as u64, input.len() as u64));
    let edits = client
        .context_compress(CompressParams { reply: Some(ReplyForm::Edits), ..params(&input) })
        .unwrap()
        .compressed()
        .unwrap();
    assert_eq!(edited(&input, &edits.edits.unwrap()), input);
    assert_eq!(status(&mut client).generation, 0);
}

#[test]
fn of_two_compressions_of_a_session_at_once_none_is_mixed_with_the_other() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    drop(configured(&daemon, 16_000));
    let input = conversation(400);
    let barrier = Barrier::new(2);
    let outcomes: Vec<Result<Compressed, ClientError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let mut client = daemon.client();
                let (barrier, input) = (&barrier, &input);
                scope.spawn(move || {
                    barrier.wait();
                    client.context_compress(params(input))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap().map(|result| result.compressed().unwrap())).collect()
    });
    let mut generations = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(result) => {
                valid::check(&values(&result.messages.unwrap()));
                generations.push(result.report.generation);
            }
            Err(ClientError::Rpc(error)) => assert_eq!(error.kind, ErrorKind::Busy, "{error}"),
            Err(error) => panic!("{error}"),
        }
    }
    generations.sort_unstable();
    assert!(generations == [1] || generations == [1, 2], "{generations:?}");
    assert_eq!(status(&mut daemon.client()).generation, generations.len() as u64);
}

#[test]
fn two_compressions_on_one_connection_run_one_after_the_other() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    drop(configured(&daemon, 16_000));
    let input = serde_json::json!({ "session": "s", "messages": values(&conversation(200)) });
    let mut raw = daemon.raw();
    let asked = [raw.request("context.compress", &input), raw.request("context.compress", &input)];
    let replies = [raw.read(), raw.read()];
    for (id, generation) in asked.into_iter().zip(1..) {
        let reply = replies.iter().find(|reply| reply["id"] == id).unwrap();
        assert_eq!(reply["result"]["report"]["generation"], generation, "{}", reply["error"]);
    }
}

/// Regression test: a compression that timed out while the archive was busy advanced the session in the archive, but
/// not in memory. Every later one failed.
#[test]
fn a_compression_that_ran_out_of_time_does_not_spoil_the_next_one() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = configured(&daemon, 9_000);
    let input = conversation(120);
    let script = r"
import sqlite3, sys
archive = sqlite3.connect(sys.argv[1], isolation_level=None)
archive.execute('BEGIN IMMEDIATE')
print('held', flush=True)
sys.stdin.readline()
archive.execute('ROLLBACK')
";
    let path = home.path().join("herma/archive.db");
    let mut holder = python::start(script, &[path.to_str().unwrap()]);
    let mut held = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(holder.stdout.take().unwrap()), &mut held).unwrap();
    assert_eq!(held.trim(), "held");
    client.set_timeout(Some(std::time::Duration::from_millis(1500))).unwrap();
    let given_up = client.context_compress(params(&input));
    assert!(
        matches!(&given_up, Err(ClientError::Rpc(error)) if error.kind == ErrorKind::DeadlineExceeded),
        "{given_up:?}"
    );
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let mut client = daemon.client();
    let next = eventually("the compression before", || match client.context_compress(params(&input)) {
        Err(ClientError::Rpc(error)) if error.kind == ErrorKind::Busy => None,
        outcome => Some(outcome.unwrap()),
    });
    let next = next.compressed().unwrap();
    assert!(next.report.compressed);
    assert_eq!(status(&mut client).generation, next.report.generation);
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(status(&mut daemon.client()).generation, next.report.generation);
}

#[test]
fn constants_are_those_of_the_contract() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let constants = daemon.client().context_constants(ConstantsParams {}).unwrap();
    assert!(constants.prefix.starts_with("[CONTEXT COMPACTION") && constants.prefix.contains("REFERENCE ONLY"));
    assert!(!constants.prefix.contains('\n'));
    for words in ["MEMORY.md", "USER.md", "latest user message"] {
        assert!(constants.prefix.contains(words), "{words} in {}", constants.prefix);
    }
    let headings = &constants.headings;
    for heading in [&headings.task, &headings.in_progress, &headings.pending, &headings.remaining] {
        assert!(constants.prefix.contains(heading.trim_start_matches("## ")), "{heading} in {}", constants.prefix);
    }
    assert!(constants.end_marker.contains("END OF CONTEXT SUMMARY"));
    assert!(constants.end_marker.ends_with("respond to the message below, not the summary above ---"));
    assert_eq!(constants.metadata_key, "_compressed_summary");
    assert_eq!((constants.image_tokens, constants.image_chars, constants.min_context), (1500, 6400, 64_000));
    assert!(constants.probe_tiers.is_sorted_by(|one, next| one > next) && !constants.probe_tiers.is_empty());
}

/// Regression test: the handoff made a list of a few short messages twice as long.
#[test]
fn a_list_that_a_handoff_would_make_longer_comes_back() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut came_back = 0;
    for count in (7..90).step_by(2) {
        let input: Vec<Json> = std::iter::once(("system", "You are an agent.".to_owned()))
            .chain((1..count).map(|at| match at % 2 {
                1 => (
                    "user",
                    format!("Question number {at}, which asks for a {} and no more?", "little ".repeat(at % 7)),
                ),
                _ => ("assistant", format!("Answer {at}, {} as short.", "almost ".repeat(at % 5))),
            }))
            .map(|(role, text)| Json::from_value(&serde_json::json!({ "role": role, "content": text })).unwrap())
            .collect();
        let (session, input) = (format!("s{count}"), &input);
        let mut client = daemon.client();
        let configure =
            ConfigureParams { session: session.clone(), context_length: Some(64_000), ..ConfigureParams::default() };
        client.context_configure(configure).unwrap();
        let params = CompressParams { session: session.clone(), ..params(input) };
        let done = client.context_compress(params.clone()).unwrap().compressed().unwrap();
        let status = client.context_status(StatusParams { session: session.clone() }).unwrap();
        assert!(done.report.chars_after <= done.report.chars_before, "{count}: {:?}", done.report);
        if done.report.compressed {
            assert!(came_back > 0 && done.report.chars_after < done.report.chars_before, "{:?}", done.report);
            continue;
        }
        let reason = done.report.reason.clone().unwrap();
        let is_too_few = reason == "too few messages to compress";
        assert!(is_too_few || reason == "the handoff would be longer than what it replaces", "{count}: {reason}");
        came_back += usize::from(!is_too_few);
        assert_eq!(done.messages.as_deref(), Some(input.as_slice()));
        assert_eq!((done.report.archived.is_none(), done.report.dropped, done.report.generation), (true, 0, 0));
        // A run that finds nothing counts as ineffective. A list that is too short counts as no run.
        assert_eq!((status.compression_count, status.ineffective_count), (0, u64::from(!is_too_few)));
        assert_eq!(status.breaker == Breaker::Open, !is_too_few);
        let edits = CompressParams { reply: Some(ReplyForm::Edits), ..params.clone() };
        let edits = client.context_compress(edits).unwrap().compressed().unwrap().edits.unwrap();
        assert_eq!(edited(input, &edits), *input);
        let overflow = CompressParams { overflow: Some(true), ..params.clone() };
        let overflow = client.context_compress(overflow).unwrap().compressed().unwrap().report;
        assert!(overflow.chars_after <= overflow.chars_before, "{overflow:?}");
        let forced = CompressParams { force: Some(true), ..params };
        let forced = client.context_compress(forced).unwrap().compressed().unwrap().report;
        assert_eq!(forced.compressed, !is_too_few, "{forced:?}");
    }
    assert!(came_back > 2);
}
