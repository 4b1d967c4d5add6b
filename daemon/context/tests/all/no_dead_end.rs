//! A thousand conversations of ten shapes. A compression of a list over the threshold ends below it, or
//! reports with numbers which parts alone are too large.
#![expect(clippy::unwrap_used, reason = "tests")]

mod dice;
mod shapes;

use std::collections::BTreeMap;
use std::ops::AddAssign;

use dice::Dice;
use herma_context::breaker::{Breaker, Limits, Verdict};
use herma_context::compressor::{has_work, prepare};
use herma_context::engine::{ArchiveNote, CompressRequest, Compressed, EngineState, Prompt, Slot, Summary};
use herma_context::{Message, RawSettings, Role, Settings, compressor, constants, tokens};
use rayon::prelude::*;
use shapes::{Shape, Talk};

/// The number of conversations.
const COUNT: u64 = 1_000;
/// The number of compressions of each.
const RUNS: usize = 10;
/// The most turns of a conversation.
const MOST_TURNS: usize = 300;
/// The allowed difference in tokens between the threshold and the fixed parts that are reported as too large:
/// the smallest handoff, the additions of a run, and rounding.
const SLACK: u64 = 1_000;

/// The results of conversations.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    conversations: usize,
    runs: usize,
    /// Runs that ended below the threshold.
    below: usize,
    /// Runs that reported the parts that alone are too large.
    named: usize,
    /// Runs that left the list unchanged.
    unchanged: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.runs += other.runs;
        self.below += other.below;
        self.named += other.named;
        self.unchanged += other.unchanged;
    }
}

/// A conversation and its session.
struct Case {
    seed: u64,
    dice: Dice,
    settings: Settings,
    /// Tokens sent in addition to the list.
    beside: u64,
    state: EngineState,
    breaker: Breaker,
    list: Vec<Message>,
    /// Tokens of the list, by the larger estimate.
    size: u64,
    tally: Tally,
}

fn size(list: &[Message]) -> u64 {
    tokens::estimate_messages(list).max(tokens::own_estimate_messages(list))
}

impl Case {
    fn begin(seed: u64) -> (Self, Talk) {
        let mut dice = Dice::seeded(seed);
        let shape = Shape::ALL[usize::try_from(seed % 10).unwrap()];
        let window = match seed {
            0..2 => 200_000,
            2..6 => 64_000,
            6..20 => 32_000,
            _ => dice.within(8_000, 9_000) as u64,
        };
        let protect_first_n = Some(if dice.one_in(4) { dice.within(0, 4) } else { 3 });
        let raw = RawSettings { context_length: window, protect_first_n, ..RawSettings::default() };
        let settings = raw.check().unwrap();
        let threshold = settings.budgets().threshold_tokens;
        let (talk, list) = Talk::begin(shape, threshold, &mut dice);
        let most = usize::try_from(threshold).unwrap() * 3 / 10;
        let beside = if dice.one_in(3) { dice.within(0, most) as u64 } else { 0 };
        let tally = Tally { conversations: 1, ..Tally::default() };
        let (state, breaker) = (EngineState::default(), Breaker::default());
        let size = size(&list);
        (Self { seed, dice, settings, beside, state, breaker, list, size, tally }, talk)
    }

    fn threshold(&self) -> u64 {
        self.settings.budgets().threshold_tokens
    }

    fn is_over(&self) -> bool {
        self.size + self.beside >= self.threshold()
    }

    fn put(&mut self, list: Vec<Message>) {
        self.size = size(&list);
        self.list = list;
    }

    /// Returns the caller's figure for the prompt.
    fn current(&self) -> Option<i64> {
        (self.beside > 0).then(|| i64::try_from(self.size + self.beside).unwrap())
    }

    /// Compresses the list, and checks the result. Returns false if the list is unchanged.
    fn compress(&mut self) -> bool {
        self.tally.runs += 1;
        let before = self.size;
        let (over, is_changed) = match self.run() {
            Some(done) => {
                let new: Vec<Message> = done.messages(&self.list).cloned().collect();
                self.check(&done, &new);
                self.put(new);
                assert!(self.size < before, "{before} to {} of {:?}", self.size, self.sizes());
                self.breaker.note_run(done.numbers.savings_pct, self.size, 0.0);
                self.state = done.state;
                (done.over, true)
            }
            None => {
                self.tally.unchanged += 1;
                self.breaker.note_nothing(before + self.beside, 0.0);
                (compressor::over(&self.list, &self.settings, Prompt::of(self.current())), false)
            }
        };
        if self.is_over() {
            self.tally.named += 1;
            let over = over.unwrap_or_else(|| panic!("over, and nothing is named: {:?}", self.sizes()));
            let parts: u64 = over.parts.iter().map(|part| part.tokens).sum();
            assert!(parts + SLACK >= over.threshold, "{over:?} of {:?}", self.sizes());
            assert!(over.tokens >= over.threshold && over.threshold == self.threshold(), "{over:?}");
        } else {
            self.tally.below += 1
        }
        is_changed
    }

    fn run(&mut self) -> Option<Compressed> {
        let before: Vec<String> = self.list.iter().map(|message| message.raw().to_owned()).collect();
        let request = CompressRequest { current_tokens: self.current(), ..CompressRequest::default() };
        let prepared = prepare(&self.list, &self.settings, &self.state, &request);
        let prepared = prepared.ok()?;
        let body = match (prepared.needs_summary(), self.dice.one_in(4)) {
            (false, _) => String::new(),
            (true, true) => "## Goal\nA model wrote this.\n".repeat(self.dice.within(1, 3_000)),
            (true, false) => prepared.extractive_summary(None),
        };
        let note = ArchiveNote { handle: format!("cmp_{}", self.tally.runs), messages: prepared.dropped() };
        let spills = prepared.spills();
        let is_kept = !self.dice.one_in(10);
        let preview = |at: usize, chars: usize| {
            let spill = spills.iter().find(|spill| spill.index == at).unwrap();
            let shown: String = spill.text.chars().take(chars).collect();
            let place = "/home/someone/.hermes/herma/outputs/a-session-with-a-long-name/call_0123456789abcdef.txt";
            is_kept.then(|| format!("<persisted-output>\n{place}\n{}\n{shown}</persisted-output>", "w".repeat(250)))
        };
        let done = prepared.finish_with(Summary { body, ..Summary::default() }, note, &preview);
        assert!(self.list.iter().zip(&before).all(|(message, raw)| message.raw() == raw), "the input is as it was");
        Some(done)
    }

    /// Checks the invariants of every new list.
    fn check(&self, done: &Compressed, new: &[Message]) {
        let ids = |list: &[Message]| paired(list);
        assert_eq!(ids(&self.list), Ok(()), "the input");
        assert_eq!(ids(new), Ok(()), "calls and results");
        assert!(repeats(new) <= repeats(&self.list), "roles alternate as before");
        let said = |list: &[Message]| {
            let last = list.iter().rfind(|message| message.role() == &Role::User && own_words(message).is_some());
            last.and_then(own_words)
        };
        assert_eq!(said(new), said(&self.list), "what the user said last");
        let mut stays = vec![false; self.list.len()];
        for slot in &done.slots {
            if let Slot::Kept(at) = slot {
                stays[*at] = true;
            }
        }
        let removed: Vec<usize> = done.removed.iter().map(|removed| removed.index()).collect();
        let gone: Vec<usize> = (0..stays.len()).filter(|at| !stays[*at]).collect();
        assert_eq!(removed, gone, "what is not there byte for byte is named");
        assert!(new.iter().filter(|message| message.is_summary()).count() <= 1, "one handoff");
        let note = new.iter().map(|message| message.text().matches(compressor::SYSTEM_NOTE).count()).sum::<usize>();
        assert!(note <= 1, "one note");
    }

    fn sizes(&self) -> (u64, u64, Vec<(String, u64)>) {
        let each = self.list.iter().map(|m| (m.role().as_str().to_owned(), size(std::slice::from_ref(m))));
        (self.seed, size(&self.list), each.collect())
    }
}

/// Returns the user's own words in a message, without a handoff before them.
fn own_words(message: &Message) -> Option<String> {
    let text = message.text().into_owned();
    if text.starts_with(constants::PREFIX) {
        text.split_once(constants::END_MARKER)?.1.strip_prefix("\n\n").map(str::to_owned)
    } else {
        Some(text)
    }
}

/// Checks that every result follows its call, and that only calls of the last message are open.
fn paired(list: &[Message]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        match message.tool_call_id().filter(|_| message.role() == &Role::Tool) {
            Some(id) => match open.iter().position(|call| *call == id) {
                Some(call) => drop(open.remove(call)),
                None => return Err(format!("message {at} answers no call")),
            },
            None if open.is_empty() => open.extend(message.tool_calls().iter().filter_map(|call| call.id.as_deref())),
            None => return Err(format!("{open:?} unanswered before message {at}")),
        }
    }
    Ok(())
}

/// Returns how many neighbours have the same role, results aside.
fn repeats(list: &[Message]) -> usize {
    list.windows(2).filter(|pair| pair[0].role() == pair[1].role() && pair[0].role() != &Role::Tool).count()
}

fn conversation(seed: usize) -> (Shape, Tally) {
    let (mut case, mut talk) = Case::begin(seed as u64);
    let limits = Limits { max_per_hour: 0, ..Limits::of_window(case.settings.context_length) };
    for _ in 0..MOST_TURNS {
        if case.tally.runs >= RUNS {
            break;
        }
        let more = talk.turn(&mut case.dice);
        case.size += size(&more);
        case.list.extend(more);
        if case.is_over() {
            // The sum of rounded up values may be a little too high.
            case.size = size(&case.list);
        }
        if !case.is_over() {
            continue;
        }
        let is_changed = case.compress();
        if !case.is_over() {
            continue;
        }
        // The same run gains something again, or is not requested.
        if has_work(&case.list, &case.settings, case.current()) {
            assert!(is_changed && case.compress());
        } else if !is_changed {
            let verdict = case.breaker.verdict(&limits, case.size + case.beside, 1.0);
            assert!(matches!(verdict, Verdict::BreakerOpen { .. }), "{verdict:?}");
        }
    }
    (talk.shape, case.tally)
}

#[test]
fn a_compression_ends_below_the_threshold_or_names_what_is_too_large() {
    let seeds = usize::try_from(COUNT).unwrap();
    let tallies: Vec<(Shape, Tally)> = (0..seeds).into_par_iter().map(conversation).collect();
    let mut by_shape: BTreeMap<Shape, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    for (shape, tally) in tallies {
        *by_shape.entry(shape).or_default() += tally;
        all += tally;
    }
    assert_eq!((all.conversations, all.runs), (1_000, all.below + all.named), "{by_shape:#?}");
    // Only parts that alone are too large keep a list over the threshold, and only two shapes have such
    // parts.
    assert!(all.runs > 9_900 && all.below * 10 > all.runs * 9, "{by_shape:#?}");
    for (shape, tally) in &by_shape {
        let can_be_too_large = matches!(shape, Shape::LongHead | Shape::LongSystemPrompt);
        assert!(can_be_too_large || tally.below == tally.runs, "{by_shape:#?}");
    }
}
