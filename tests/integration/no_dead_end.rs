//! A compression of a list that is over the threshold brings it below.

use herma_client::Client;
use herma_protocol::Json;
use herma_protocol::context::check::{CheckParams, CheckReason};
use herma_protocol::context::{CompressParams, Compressed, ConfigureParams, EstimateParams, Part, ReplyForm};
use herma_protocol::output::ReadParams;
use herma_protocol::recall::SearchParams;
use herma_tests::random::Random;
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

use crate::compression::valid;

/// A session with a list that grows.
struct Talk {
    client: Client,
    session: String,
    threshold: u64,
    list: Vec<Value>,
    calls: usize,
}

impl Talk {
    fn begin(daemon: &Daemon, session: &str, window: u64) -> Self {
        let mut client = daemon.client();
        let params =
            ConfigureParams { session: session.into(), context_length: Some(window), ..ConfigureParams::default() };
        let threshold = client.context_configure(params).unwrap().threshold_tokens;
        let list = vec![json!({ "role": "system", "content": "You are an agent." })];
        Self { client, session: session.into(), threshold, list, calls: 0 }
    }

    fn say(&mut self, role: &str, content: &str) {
        self.list.push(json!({ "role": role, "content": content }));
    }

    /// Adds a call and its output. Returns the output's id.
    fn output(&mut self, text: &str) -> String {
        self.calls += 1;
        let id = format!("call_{}_{}", self.session, self.calls);
        let function = json!({ "name": "terminal", "arguments": "{\"command\": \"make test\"}" });
        self.list
            .push(json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "function": function }] }));
        self.list.push(json!({ "role": "tool", "tool_call_id": id, "content": text }));
        id
    }

    fn messages(&self) -> Vec<Json> {
        self.list.iter().map(|message| Json::from_value(message).unwrap()).collect()
    }

    /// Returns the tokens of the list, by the larger estimate.
    fn tokens(&mut self) -> u64 {
        let params = EstimateParams { messages: Some(self.messages()), ..EstimateParams::default() };
        let estimate = self.client.context_estimate(params).unwrap();
        estimate.tokens.max(estimate.own)
    }

    fn check(&mut self) -> CheckReason {
        let params =
            CheckParams { session: self.session.clone(), messages: Some(self.messages()), ..CheckParams::default() };
        self.client.context_check(params).unwrap().reason
    }

    /// Compresses the list and replaces it with the result.
    fn compress(&mut self) -> Compressed {
        let params = CompressParams {
            session: self.session.clone(),
            messages: Some(self.messages()),
            reply: Some(ReplyForm::Messages),
            ..CompressParams::default()
        };
        let before = std::mem::take(&mut self.list);
        let done = self.client.context_compress(params).unwrap().compressed().unwrap();
        let new = done.messages.as_deref().unwrap_or_default();
        self.list = new.iter().map(|message| serde_json::from_str(message.get()).unwrap()).collect();
        valid::check(&self.list);
        valid::check_roles(&before, &self.list);
        assert!(done.report.tokens_after < done.report.tokens_before || !done.report.compressed, "{:?}", done.report);
        done
    }
}

/// Returns an output of this many lines that differs from all others.
fn lines(count: u64, random: &mut Random) -> String {
    (0..count).map(|at| format!("{at}: part {} \"é\" took {} ms\n", random.next(), random.below(900))).collect()
}

/// Returns the path that a preview names.
fn path(block: &str) -> &str {
    let after = block.split_once("Full output saved to: ").unwrap().1;
    after.split_once('\n').unwrap().0
}

/// Regression test: a list with equal outputs stayed over the threshold and was returned unchanged. After pruning,
/// everything but the handoff fitted into the tail.
#[test]
fn equal_outputs_never_lead_to_a_list_that_comes_back_over_the_threshold() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut previews = 0;
    for seed in 0..4 {
        let mut random = Random::seeded(seed);
        let mut talk = Talk::begin(&daemon, &format!("s{seed}"), 8_000 + 3_000 * seed);
        talk.say("user", "Please look after the tests.");
        talk.say("assistant", "I will.");
        // The sizes range from many outputs per threshold to one output that is larger than the threshold.
        let size = talk.threshold * (1 + 3 * seed) / 150;
        let mut texts: Vec<(String, String)> = Vec::new();
        for run in 1..=10 {
            let mut turn = 0;
            while talk.tokens() < talk.threshold {
                if turn % 5 == 0 {
                    talk.say("user", &format!("Go on with run {run}, turn {turn}."));
                }
                let text = lines(size, &mut random);
                texts.push((talk.output(&text), text));
                turn += 1;
            }
            let said = talk.list.iter().rfind(|message| message["role"] == "user").unwrap()["content"].clone();
            let report = talk.compress().report;
            assert!(report.compressed && report.over.is_none(), "{report:?}");
            assert_eq!((report.generation, report.compression_count), (run, run));
            assert!(talk.tokens() < talk.threshold, "{} of {}", talk.tokens(), talk.threshold);
            assert_eq!(talk.check(), CheckReason::BelowThreshold);
            let said = said.as_str().unwrap();
            assert!(
                talk.list.iter().any(|message| message["content"].as_str().is_some_and(|text| text.ends_with(said)))
            );
            // An output that is now a preview can be read back whole.
            let blocks: Vec<(String, String)> = talk
                .list
                .iter()
                .filter(|message| {
                    message["content"].as_str().is_some_and(|text| text.starts_with("<persisted-output>"))
                })
                .map(|message| ["tool_call_id", "content"].map(|key| message[key].as_str().unwrap().to_owned()))
                .map(|[id, block]| (id, block))
                .collect();
            for (id, block) in blocks {
                let whole = &texts.iter().find(|(known, _)| *known == id).unwrap().1;
                let read = ReadParams {
                    path: Some(path(&block).to_owned()),
                    offset: Some(0),
                    limit: Some(10_000_000),
                    ..ReadParams::default()
                };
                assert_eq!(talk.client.output_read(read).unwrap().text, *whole);
                previews += 1;
            }
        }
        // No message or output is lost: the first output is found by its words.
        let line = texts[0].1.lines().next().unwrap();
        let number = line.split(' ').nth(2).unwrap().to_owned();
        let found = talk.client.recall_search(SearchParams { query: number, ..SearchParams::default() }).unwrap();
        assert!(!found.hits.is_empty(), "{line}");
    }
    assert!(previews > 0);
}

#[test]
fn where_pruning_is_enough_nobody_writes_a_summary() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = Talk::begin(&daemon, "s", 8_000);
    let mut random = Random::seeded(1);
    talk.say("user", "Please look after the tests.");
    talk.say("assistant", "I will.");
    talk.say("user", "Run them all.");
    // This message is right after the head, so it stays, and nothing is in between.
    talk.say("user", "Tell me what fails.");
    let whole: Vec<String> = (0..40).map(|_| lines(12, &mut random)).collect();
    whole.iter().for_each(|text| drop(talk.output(text)));
    let before = talk.list.clone();
    let report = talk.compress().report;
    assert!(report.compressed && talk.tokens() < talk.threshold, "{report:?}");
    assert_eq!((report.dropped, report.messages_after, report.generation), (0, before.len() as u64, 1));
    assert!(talk.list.iter().all(|message| message["_compressed_summary"].is_null()));
    let changed = before.iter().zip(&talk.list).filter(|(one, other)| one != other).count() as u64;
    assert!(changed > 0 && report.archived.unwrap().messages == changed);
    assert_eq!(talk.list.iter().filter(|message| message["role"] == "user").count(), 3);
    // Without new messages there is nothing to do.
    assert_eq!(talk.check(), CheckReason::BelowThreshold);
    let found = talk.client.recall_search(SearchParams {
        query: whole[0].split(' ').nth(2).unwrap().to_owned(),
        ..SearchParams::default()
    });
    assert_eq!(found.unwrap().hits.len(), 1);
}

#[test]
fn what_alone_is_too_large_is_named_once_and_not_tried_again() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = Talk::begin(&daemon, "s", 8_000);
    talk.list[0]["content"] = json!("rules and more rules ".repeat(2_500));
    talk.say("user", "Please begin.");
    let before = talk.list.clone();
    let report = talk.compress().report;
    assert!(!report.compressed && talk.list == before, "{report:?}");
    let over = report.over.unwrap();
    assert_eq!(over.threshold, talk.threshold);
    assert!(over.tokens > over.threshold && over.parts[0].part == Part::System, "{over:?}");
    assert!(over.parts[0].tokens > talk.threshold && over.parts.iter().all(|part| part.tokens > 0), "{over:?}");
    assert!(report.reason.unwrap().contains("nothing in it can be made smaller"));
    assert!(report.warnings.iter().any(|warning| warning.contains("the system message takes")));
    assert_eq!(talk.check(), CheckReason::NothingToCompress);
    // The token count alone does not show that, so the breaker stays open.
    let tokens = Some(over.tokens);
    let checked = talk.client.context_check(CheckParams { session: "s".into(), tokens, ..CheckParams::default() });
    let checked = checked.unwrap();
    assert!(checked.reason == CheckReason::BreakerOpen && checked.wait_s > 0.0, "{checked:?}");
    // A long output after the list can be shortened, whatever the breaker says.
    talk.output(&lines(3_000, &mut Random::seeded(5)));
    assert_eq!(talk.check(), CheckReason::OverThreshold);
    assert!(talk.compress().report.compressed && talk.tokens() < over.tokens + 1_500);
}
