//! Lists for whose parts the two estimates differ: a list over the threshold ends below it, or the run
//! reports which parts alone are too large.
#![expect(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "tests")]

use herma_context::engine::{CompressRequest, EngineState, Over, Part, Prompt, Summary};
use herma_context::{Engine, Message, RawSettings, Settings, tokens};
use proptest::prelude::*;
use serde_json::json;

/// The allowed difference in tokens between the threshold and the fixed parts that are reported as too large:
/// the smallest handoff, and the additions of a run.
const SLACK: u64 = 1_000;

/// The kind of a text.
#[derive(Clone, Copy, Debug)]
enum Kind {
    English,
    Chinese,
    Hex,
    Log,
    Symbols,
    /// Runs of one sign: the rough estimate is the larger one.
    Blank,
}

impl Kind {
    fn piece(self, at: usize) -> String {
        match self {
            Self::English => "the importer stops where a row has no name, ".into(),
            Self::Chinese => "请看文件的第一行，好。".into(),
            Self::Hex => format!("{:016x}{:016x} ", (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), at * 7_919),
            Self::Log => {
                format!("2026-11-28T09:{:02}:07.{:03}Z [warn] pid={} x=0x{at:x}\n", at % 60, at % 1_000, at * 31)
            }
            Self::Symbols => "│ ── ✓ ╰╯ → ".into(),
            Self::Blank => " ".repeat(60),
        }
    }

    /// Returns a text of about so many tokens by the larger estimate.
    fn text(self, tokens: u64) -> String {
        let piece = self.piece(11);
        let sample = self.piece(0).repeat(20);
        let each = (tokens::estimate_text(&sample).max(tokens::own_estimate_text(&sample)) / 20).max(1);
        let count = tokens / each;
        match self {
            Self::Hex | Self::Log => (0..count).map(|at| self.piece(at as usize)).collect(),
            _ => piece.repeat(count as usize),
        }
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::English),
        Just(Kind::Chinese),
        Just(Kind::Hex),
        Just(Kind::Log),
        Just(Kind::Symbols),
        Just(Kind::Blank)
    ]
}

fn say(role: &str, text: &str) -> Message {
    Message::parse(json!({"role": role, "content": text}).to_string()).unwrap()
}

fn size(list: &[Message]) -> u64 {
    tokens::estimate_messages(list).max(tokens::own_estimate_messages(list))
}

/// Returns the new list of a compression, if there is one, and what keeps it over the threshold.
fn compressed(
    engine: Engine,
    list: &[Message],
    settings: &Settings,
    current: Option<i64>,
) -> (Option<Vec<Message>>, Option<Over>) {
    let request = CompressRequest { current_tokens: current, ..CompressRequest::default() };
    let state = EngineState::default();
    let Ok(mut prepared) = engine.prepare(list, settings, &state, &request, drop) else {
        return (None, engine.over(list, settings, Prompt::of(current)));
    };
    prepared.write_summary(&herma_guard::Policy::default());
    let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
    let done = prepared.finish(Summary { body, ..Summary::default() }, "cmp_1".to_owned(), &|_, _| None);
    (Some(done.messages(list).cloned().collect()), done.over)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_list_in_any_scripts_ends_below_the_threshold_or_names_what_is_too_large(
        engine in prop_oneof![Just(Engine::Compressor), Just(Engine::Lossless)],
        window in prop_oneof![Just(16_000_u64), Just(128_000)],
        protected in 0_usize..4,
        first in (kind(), 0.0..0.9_f64),
        last in (kind(), 0.0..0.9_f64),
        middle in prop::collection::vec((kind(), 0.005..0.2_f64, any::<bool>()), 4..30),
        beside in prop_oneof![Just(0.0), 0.0..0.3_f64],
    ) {
        let raw = RawSettings { context_length: window, engine, protect_first_n: Some(protected), ..RawSettings::default() };
        let settings = raw.check().unwrap();
        let threshold = settings.budgets().threshold_tokens;
        let share = |share: f64| (threshold as f64 * share) as u64;
        let mut list = vec![say("user", &first.0.text(share(first.1))), say("assistant", "Yes.")];
        for at in 0.. {
            if at >= middle.len() && size(&list) >= threshold {
                break;
            }
            let (kind, part, has_call) = middle[at % middle.len()];
            list.push(say("user", &format!("step {at}")));
            if has_call {
                let id = format!("call_{at}");
                let call = json!({"id": id, "function": {"name": "read", "arguments": json!({"path": format!("/srv/{at}")}).to_string()}});
                list.push(Message::parse(json!({"role": "assistant", "content": null, "tool_calls": [call]}).to_string()).unwrap());
                list.push(Message::parse(json!({"role": "tool", "tool_call_id": id, "content": kind.text(share(part))}).to_string()).unwrap());
                list.push(say("assistant", "Read."));
            } else {
                list.push(say("assistant", &kind.text(share(part))));
            }
        }
        list.push(say("user", &last.0.text(share(last.1))));
        let before = size(&list);
        let beside = share(beside);
        let current = (beside > 0).then(|| i64::try_from(before + beside).unwrap());
        let (new, over) = compressed(engine, &list, &settings, current);
        let after = new.as_ref().map_or(before, |new| size(new));
        prop_assert!(new.is_none() || after < before, "{} to {}", before, after);
        if after + beside < threshold {
            prop_assert!(over.is_none());
            return Ok(());
        }
        let over = over.unwrap();
        let of = |wanted: &[Part]| over.parts.iter().filter(|part| wanted.contains(&part.part)).map(|part| part.tokens).sum::<u64>();
        let alone = of(&[Part::System, Part::Head, Part::LastExchange, Part::Request]);
        let sizes: Vec<u64> = list.iter().map(|message| size(std::slice::from_ref(message))).collect();
        prop_assert!(alone + SLACK >= over.threshold, "{over:?} of {before}, {after} after, {sizes:?}");
    }
}
