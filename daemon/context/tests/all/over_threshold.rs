//! The parts of a list over the threshold that are shortened or dropped, step by step.
#![expect(clippy::unwrap_used, reason = "tests")]

use herma_context::compressor::{Prepared, has_work, plan, prepare};
use herma_context::engine::{
    ArchiveNote, CompressRequest, Compressed, EngineState, Gain, Part, PlanRequest, Prompt, Rejection, Removed, Summary,
};
use herma_context::{Message, RawSettings, Settings, compressor, constants, tokens};
use serde_json::{Value, json};

/// Returns settings with a window of 8,000 tokens, and so a threshold of 6,800.
fn settings() -> Settings {
    of_window(8_000)
}

fn of_window(context_length: u64) -> Settings {
    RawSettings { context_length, ..RawSettings::default() }.check().unwrap()
}

fn say(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// Returns the system message, and the three messages of the head.
fn head() -> Vec<Value> {
    vec![say("system", "You are an agent."), say("user", "hello"), say("assistant", "yes"), say("user", "begin")]
}

fn call(id: &str, content: &str) -> Value {
    let function = json!({"name": "terminal", "arguments": "{\"command\": \"make\"}"});
    json!({"role": "assistant", "content": content, "tool_calls": [{"id": id, "function": function}]})
}

fn result(id: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

fn words(chars: usize) -> String {
    "some words ".repeat(chars / 11)
}

fn lines(name: &str, chars: usize) -> String {
    format!("{name}: a line\n").repeat(chars / (name.len() + 9))
}

fn messages(values: &[Value]) -> Vec<Message> {
    values.iter().map(|value| Message::parse(value.to_string()).unwrap()).collect()
}

fn prepared(list: &[Message], settings: &Settings, current: Option<i64>) -> Result<Prepared, Rejection> {
    let request = CompressRequest { current_tokens: current, ..CompressRequest::default() };
    prepare(list, settings, &EngineState::default(), &request)
}

fn finished(prepared: Prepared, preview: &dyn Fn(usize, usize) -> Option<String>) -> Compressed {
    let body = if prepared.needs_summary() { prepared.extractive_summary(None) } else { String::new() };
    let note = ArchiveNote { handle: "cmp_1".to_owned(), messages: prepared.dropped() };
    prepared.finish_with(Summary { body, ..Summary::default() }, note, preview)
}

fn new_list(done: &Compressed, list: &[Message]) -> Vec<Message> {
    done.messages(list).cloned().collect()
}

fn size(list: &[Message]) -> u64 {
    tokens::estimate_messages(list).max(tokens::own_estimate_messages(list))
}

#[test]
fn what_pruning_made_is_taken_where_nothing_lies_between() {
    let mut list = head();
    list.push(say("user", "run them all"));
    for at in 0..40 {
        let id = format!("c{at}");
        list.extend([call(&id, ""), result(&id, &lines(&id, 800))]);
    }
    let list = messages(&list);
    assert_eq!(prepared(&list, &of_window(200_000), None).err(), Some(Rejection::NothingBetween), "it fits");
    let prepared = prepared(&list, &settings(), None).unwrap();
    assert!(!prepared.needs_summary() && prepared.spills().is_empty() && prepared.dropped() == 0);
    assert_eq!(plan(&list, &settings(), &PlanRequest::default()).prompt, None);
    let done = finished(prepared, &|_, _| None);
    let new = new_list(&done, &list);
    assert_eq!((new.len(), done.handoff.as_str(), done.over.clone()), (list.len(), "", None));
    assert!(size(&new) < 6_800 && done.numbers.pruned > 10, "{}", size(&new));
    assert!(done.removed.iter().all(|one| matches!(one, Removed::Replaced(_))));
    assert_eq!((done.state.compression_count, done.state.previous_summary), (1, None));
    assert!(new.iter().zip(&list).filter(|(one, other)| one.raw() == other.raw()).count() > 50);
}

#[test]
fn a_tail_of_long_messages_is_cut_down_further_than_it_is_held_otherwise() {
    let mut list = head();
    list.push(say("assistant", "first"));
    for at in 0..8 {
        list.extend([say("user", &format!("{at} {}", words(3_000))), say("assistant", &words(3_000))]);
    }
    list.push(say("user", "the last question"));
    let list = messages(&list);
    let done = finished(prepared(&list, &settings(), None).unwrap(), &|_, _| None);
    let new = new_list(&done, &list);
    assert!(size(&new) < 6_800 && done.over.is_none(), "{}", size(&new));
    assert!((1..8).contains(&done.numbers.tail), "{:?}", done.numbers);
    assert_eq!(new.last().unwrap().text(), "the last question");
}

#[test]
fn the_users_last_words_stay_behind_the_handoff_however_long_ago_they_were() {
    for is_merged in [false, true] {
        let old = format!("{}\n## Goal\nan older record\n\n{}", constants::PREFIX, constants::END_MARKER);
        let task = " the task\nitself ";
        let said = if is_merged { format!("{old}\n\n{task}") } else { task.to_owned() };
        let mut list = head();
        list[3] = say("assistant", "begin");
        list.push(say("user", &said));
        for at in 0..12 {
            let id = format!("c{at}");
            list.extend([call(&id, &words(4_000)), result(&id, "done")]);
        }
        let list = messages(&list);
        let prepared = prepared(&list, &settings(), None).unwrap();
        assert_eq!(prepared.previous_summary(), is_merged.then_some("## Goal\nan older record"));
        assert_eq!((prepared.middle().start, prepared.dropped() + 1), (4, prepared.middle().len()));
        assert!(prepared.turns().all(|turn| !turn.text().contains("itself")));
        let done = finished(prepared, &|_, _| None);
        let new = new_list(&done, &list);
        assert!(size(&new) < 6_800, "{}", size(&new));
        let at = new.iter().position(|message| message.text().ends_with(task)).unwrap();
        let handoffs: Vec<usize> = (0..new.len()).filter(|at| new[*at].is_summary()).collect();
        assert_eq!(handoffs, [at], "in front of the words themselves");
        assert_eq!(new[at].text().matches(constants::END_MARKER).count(), 1);
        assert_eq!(new.last(), list.last());
    }
}

#[test]
fn an_output_of_the_last_exchange_becomes_a_preview_and_is_named_first() {
    let mut list = head();
    list.extend([call("c", ""), result("c", &lines("out", 90_000))]);
    let list = messages(&list);
    let spills = prepared(&list, &settings(), None).unwrap().spills();
    assert_eq!(spills.len(), 1);
    assert_eq!((spills[0].index, spills[0].tool.as_str(), spills[0].id.as_deref()), (5, "terminal", Some("c")));
    assert_eq!(spills[0].text, list[5].text());
    for is_kept in [true, false] {
        let preview = |at: usize, chars: usize| {
            assert!(at == 5 && chars <= Prepared::preview_chars());
            is_kept.then(|| format!("<persisted-output>\n{}\n</persisted-output>", "x".repeat(chars)))
        };
        let done = finished(prepared(&list, &settings(), None).unwrap(), &preview);
        let new = new_list(&done, &list);
        let text = new[5].text();
        assert_eq!((text.starts_with("<persisted-output>"), text.contains("cmp_1")), (is_kept, !is_kept), "{text}");
        assert!(size(&new) < 1_500 && done.removed == [Removed::Replaced(5)]);
    }
}

#[test]
fn previews_shrink_where_they_turn_out_larger_than_planned() {
    let mut list = head();
    list.extend([call("c", ""), result("c", &lines("out", 90_000))]);
    list[1] = say("user", &words(21_500));
    let list = messages(&list);
    let preview = |_: usize, chars: usize| Some(format!("{}{}", "漢".repeat(chars), "w".repeat(300)));
    let done = finished(prepared(&list, &settings(), None).unwrap(), &preview);
    assert!(size(&new_list(&done, &list)) < 6_800);
}

#[test]
fn a_handoff_that_is_too_large_for_the_window_becomes_shorter() {
    let mut list = head();
    for at in 0..60 {
        list.extend([say("user", &format!("ask {at}: {}", words(900))), say("assistant", &words(5_000))]);
    }
    let list = messages(&list);
    let large = of_window(100_000);
    let done = finished(prepared(&list, &large, None).unwrap(), &|_, _| None);
    let mut new = new_list(&done, &list);
    let at = new.iter().position(Message::is_summary).unwrap();
    let before = size(&new[at..=at]);
    new.truncate(at + 1);
    new.push(Message::parse(say("user", "and now with a small model").to_string()).unwrap());
    let small = of_window(4_000);
    assert!(before > 3_400, "the handoff alone is over the threshold: {before}");
    let done = finished(prepared(&new, &small, None).unwrap(), &|_, _| None);
    let newer = new_list(&done, &new);
    assert!(size(&newer) < 3_400 && done.over.is_none(), "{}", size(&newer));
    assert!(newer.last().unwrap().text().ends_with("and now with a small model"));
}

#[test]
fn what_travels_beside_the_list_gets_its_room_and_a_stale_figure_no_more_than_half() {
    let mut list = head();
    for _ in 0..12 {
        list.extend([say("user", &words(900)), say("assistant", &words(900))]);
    }
    let list = messages(&list);
    let tokens = size(&list);
    assert!((5_000..6_000).contains(&tokens), "{tokens}");
    let current = |beside: u64| i64::try_from(tokens + beside).ok();
    for (current, room) in [(current(1_900), 4_900), (current(3_000), 3_800), (Some(9_000_000), 3_400)] {
        let done = finished(prepared(&list, &settings(), current).unwrap(), &|_, _| None);
        let after = size(&new_list(&done, &list));
        assert!(after < room && after > 1_000, "{after} of {room}");
        assert_eq!(done.over.is_some(), current == Some(9_000_000), "it says so where the figure is beyond it");
    }
    let over = finished(prepared(&list, &settings(), Some(9_000_000)).unwrap(), &|_, _| None).over.unwrap();
    assert_eq!(over.parts.last().map(|part| part.part), Some(Part::Request));
}

#[test]
fn a_list_that_can_not_become_smaller_says_what_is_too_large() {
    let waiting = json!({"path": "a.rs", "content": words(30_000)}).to_string();
    let mut in_flight = head();
    let function = json!({"name": "write_file", "arguments": waiting});
    in_flight.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "function": function}]}));
    let mut system = head();
    system[0] = say("system", &words(40_000));
    let mut first = head();
    first[1] = say("user", &words(40_000));
    let mut last = head();
    last.push(say("assistant", "done"));
    last.push(say("user", &words(40_000)));
    for (list, part) in
        [(in_flight, Part::LastExchange), (system, Part::System), (first, Part::Head), (last, Part::LastExchange)]
    {
        let list = messages(&list);
        assert_eq!(prepared(&list, &settings(), None).err(), Some(Rejection::Incompressible), "{part:?}");
        assert!(!has_work(&list, &settings(), None));
        let over = compressor::over(&list, &settings(), Prompt::of(None)).unwrap();
        let largest = over.parts.iter().max_by_key(|part| part.tokens).unwrap();
        assert_eq!((largest.part, over.threshold, over.tokens), (part, 6_800, size(&list)));
        assert!(largest.tokens > 6_800);
    }
    let mut state = EngineState::default();
    state.decline(Rejection::Incompressible);
    assert_eq!(state.ineffective_count, 1);
}

#[test]
fn below_the_threshold_all_is_as_it_was() {
    let short = messages(&head());
    assert_eq!(prepared(&short, &settings(), None).err(), Some(Rejection::TooFew));
    assert!(!has_work(&short, &settings(), None) && compressor::over(&short, &settings(), Prompt::of(None)).is_none());
    let mut list = head();
    list.push(say("user", "run them all"));
    list.extend([call("c", ""), result("c", &lines("out", 20_000)), say("assistant", "done"), say("user", "thanks")]);
    let list = messages(&list);
    assert!(size(&list) < 6_800);
    let done = finished(prepared(&list, &settings(), None).unwrap(), &|_, _| None);
    assert!(done.handoff.starts_with(constants::PREFIX) && done.over.is_none());
}

#[test]
fn a_prompt_that_a_provider_refused_becomes_shorter_below_the_threshold() {
    let mut list = head();
    for at in 0..14 {
        let id = format!("c{at}");
        list.extend([call(&id, ""), result(&id, &lines(&id, 1_500)), say("assistant", &words(60)), say("user", "on")]);
    }
    let (list, settings) = (messages(&list), of_window(64_000));
    let tokens = i64::try_from(size(&list)).unwrap();
    let request = CompressRequest { current_tokens: Some(tokens), overflow: true, ..CompressRequest::default() };
    let made = finished(prepare(&list, &settings, &EngineState::default(), &request).unwrap(), &|_, _| None);
    assert!(size(&new_list(&made, &list)) * 4 < size(&list) * 3);
}

#[test]
fn the_stubs_of_calls_without_a_result_count_among_what_a_list_becomes() {
    let mut asks = call("a", "");
    asks["tool_calls"] = json!(vec![asks["tool_calls"][0].clone(); 3]);
    let mut handoffs = 0;
    for (window, middle) in
        [2_000, 4_000, 8_000, 200_000].into_iter().flat_map(|window| (1..14).map(move |n| (window, n)))
    {
        let mut list = head();
        list.extend((0..4).map(|at| say(["assistant", "user"][at % 2], &words(200 * middle))));
        list.extend((0..14).flat_map(|at| [asks.clone(), say("user", &format!("{at}"))]));
        let list = messages(&list);
        let request = CompressRequest { gain: Gain::Required, ..CompressRequest::default() };
        let Ok(prepared) = prepare(&list, &of_window(window), &EngineState::default(), &request) else { continue };
        let note = ArchiveNote { handle: "cmp_1".to_owned(), messages: prepared.dropped() };
        let done = prepared.finish(Summary { body: words(40_000), ..Summary::default() }, note);
        let (old, new) = (tokens::estimate_messages(&list), tokens::estimate_messages(&new_list(&done, &list)));
        assert!(new <= old, "{window} {middle}: {old} to {new}");
        handoffs += usize::from(!done.handoff.is_empty());
    }
    assert!(handoffs > 0);
}

#[test]
fn what_a_memory_provider_adds_is_in_the_prompt_redacted_and_bounded() {
    let mut list = head();
    list.extend((0..60).map(|at| say(["assistant", "user"][at % 2], &words(1_000))));
    let list = messages(&list);
    let key = format!("ghp_{}", "a1".repeat(20));
    let memory = format!("Likes tea. Key: {key}. {} The end.", words(9_000));
    let request = CompressRequest { memory: Some(memory), ..CompressRequest::default() };
    let asked = prepare(&list, &settings(), &EngineState::default(), &request).unwrap().request().prompt;
    assert!(asked.contains("Likes tea.") && asked.contains("The end.") && asked.contains("...[truncated]..."));
    assert!(!asked.contains(&key));
    let plain = prepare(&list, &settings(), &EngineState::default(), &CompressRequest::default()).unwrap();
    assert!(asked.len() < plain.request().prompt.len() + 6_000);
}

#[test]
fn a_small_window_gets_a_handoff_that_fits_it() {
    let talk = |at: usize| {
        let words = ["the report", "the tables", "the mails", "the tests"][at % 4];
        let asked = say("user", &format!("Please look at {words} of week {at} and say what is missing there."));
        [asked, say("assistant", &format!("I looked at {words} of week {at}: nothing is missing."))]
    };
    let mut all = head();
    all.push(say("assistant", "done"));
    all.extend((0..54).flat_map(talk));
    all.push(say("user", "Never touch the folder vault, and please keep the backups."));
    all.push(say("assistant", "Of course."));
    // It repeats the end of a rule, but is another message.
    all.push(say("user", "please keep the backups."));
    all.push(say("assistant", "What of it?"));
    all.extend((54..64).flat_map(talk));
    let all = messages(&all);
    for window in [900, 1_200, 1_600, 2_400, 4_000] {
        let done = finished(prepared(&all, &of_window(window), None).unwrap(), &|_, _| None);
        let new: Vec<Message> = done.messages(&all).cloned().collect();
        let tokens = tokens::estimate_messages(&new);
        assert!(tokens < of_window(window).budgets().threshold_tokens, "{tokens} of {window}");
        assert!(done.over.is_none(), "{window}: {:?}", done.over);
        let text: String = new.iter().map(Message::text).collect();
        assert!(window < 1_200 || text.contains("Never touch the folder vault"), "{window}: {}", done.handoff);
        let asked = text.matches("please keep the backups.").count();
        assert!(window < 1_600 || asked >= 2, "{window}: {}", done.handoff);
        assert!(!done.handoff.contains("None recorded.") || window > 1_600, "{window}: {}", done.handoff);
        assert!(done.handoff.contains("cmp_1"), "{window}: {}", done.handoff);
    }
}

#[test]
fn a_small_list_that_has_to_be_compressed_hardly_grows() {
    let talk = |at: usize| {
        let asked = say("user", &format!("Take note: shelf {at} holds the maps of the year {}.", 1900 + at));
        [asked, say("assistant", "Noted and recorded.")]
    };
    let all = messages(&head().into_iter().chain((0..80).flat_map(talk)).collect::<Vec<_>>());
    let request = CompressRequest { gain: Gain::Any, ..CompressRequest::default() };
    let run = prepare(&all, &settings(), &EngineState::default(), &request).unwrap();
    let done = finished(run, &|_, _| None);
    let (before, after) = (done.numbers.tokens_before, done.numbers.tokens_after);
    assert!(after * 100 <= before * 101, "{before} to {after}\n{}", done.handoff);
    for at in 0..80 {
        let fact = format!("shelf {at} holds the maps of the year {}", 1900 + at);
        assert!(done.messages(&all).any(|message| message.text().contains(&fact)), "{fact}");
    }
    assert!(!done.handoff.contains("None recorded."), "{}", done.handoff);
}

#[test]
fn a_short_handoff_names_the_handles_of_those_before() {
    let talk = |at: usize| [say("user", &format!("Please look at week {at}.")), say("assistant", &words(200))];
    let mut list = messages(&head().into_iter().chain((0..20).flat_map(talk)).collect::<Vec<_>>());
    let mut state = EngineState::default();
    for round in 1..=4 {
        let run = prepare(&list, &of_window(1_200), &state, &CompressRequest::default()).unwrap();
        let body = run.extractive_summary(None);
        let note = ArchiveNote { handle: format!("cmp_{round}"), messages: run.dropped() };
        let done = run.finish(Summary { body, ..Summary::default() }, note);
        let known: Vec<String> = (1..=round).map(|round| format!("cmp_{round}")).collect();
        assert!(known.iter().all(|handle| done.handoff.contains(handle)), "{known:?}: {}", done.handoff);
        list = done.messages(&list).cloned().chain(messages(&(0..12).flat_map(talk).collect::<Vec<_>>())).collect();
        state = done.state;
    }
}

/// Returns a list of outputs with thirty names each, and the requests between them.
fn names_of_many_outputs() -> (Vec<Message>, Vec<String>) {
    let mut list = head();
    let mut asked = Vec::new();
    for at in 0..60 {
        let id = format!("call_{at}");
        let names: String = (0..30).map(|of| format!("saved part_{at}_{of} here\n")).collect();
        let request = format!("Please look at queue {at} and say what is in it.");
        list.extend([say("user", &request), call(&id, "I look."), result(&id, &(names + &words(4_000)))]);
        list.push(say("assistant", "Nothing new."));
        asked.push(request);
    }
    (messages(&list), asked)
}

#[test]
fn names_get_room_that_the_threshold_leaves_free_and_no_other() {
    let (list, asked) = names_of_many_outputs();
    for (tail, beside) in [(0.2, 0), (0.8, 0), (0.8, 2_000)] {
        let raw = RawSettings { context_length: 60_000, target_ratio: Some(tail), ..RawSettings::default() };
        let settings = raw.check().unwrap();
        let threshold = settings.budgets().threshold_tokens;
        let before = i64::try_from(tokens::estimate_messages(&list) + beside).unwrap();
        let prepared = prepared(&list, &settings, Some(before)).ok().unwrap();
        let most = prepared.handoff_chars();
        let done = finished(prepared, &|_, _| None);
        let handoff = &done.handoff;
        assert!(handoff.chars().count() <= most, "{beside}");
        let after: Vec<Message> = done.messages(&list).cloned().collect();
        assert!(tokens::estimate_messages(&after) + beside < threshold, "{beside}");
        assert!(asked.iter().all(|request| after.iter().any(|message| message.text().contains(request))), "{beside}");
        let names = handoff.matches("part_").count();
        assert!(beside > 0 || names > 400, "{names}");
    }
}
