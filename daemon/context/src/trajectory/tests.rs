//! Tests the numbers of the contract, and the invariants of every trajectory.

mod configs;
mod properties;

use super::*;

/// Builds turns from their first letters: system, human, gpt, tool; each has 40 chars, 10 tokens.
pub(super) fn turns(roles: &str) -> Vec<Turn> {
    let turn = |(at, letter): (usize, char)| {
        let from = match letter {
            's' => "system",
            'h' => "human",
            'g' => "gpt",
            't' => "tool",
            _ => "narrator",
        };
        let value = format!("{at:040}");
        Turn::parse(format!("{{\"from\":\"{from}\", \"value\": \"{value}\"}}")).unwrap()
    };
    roles.chars().enumerate().map(turn).collect()
}

fn roles(letters: &str) -> Vec<From> {
    turns(letters).iter().map(Turn::from).collect()
}

pub(super) fn config(target: u64, summary: u64) -> Config {
    let mut config = Config::default();
    config.compression.target_max_tokens = target;
    config.compression.summary_target_tokens = summary;
    config
}

fn tokens(turns: &[Turn]) -> Vec<u64> {
    turns.iter().map(|turn| Count::Chars.tokens(turn.value())).collect()
}

fn planned(letters: &str, config: &Config) -> Plan {
    let turns = turns(letters);
    plan(&turns, &tokens(&turns), config)
}

#[test]
fn a_boundary_snaps_forward_then_backward() {
    for (letters, index, min, max, expected) in [
        ("shgtgtgt", 5, 0, 8, 6),
        ("shgtgtgt", 4, 0, 8, 4),
        ("shgtgttt", 5, 0, 7, 4),
        ("shgtgttt", 5, 0, 8, 8),
        ("gt", 1, 0, 1, 0),
        ("gt", 2, 0, 2, 2),
        ("tt", 1, 0, 1, 1),
        ("", 0, 0, 0, 0),
    ] {
        assert_eq!(snap(&roles(letters), index, min, max), expected, "{letters} {index}");
    }
}

#[test]
fn the_first_of_each_role_and_the_last_turns_are_protected() {
    let mut config = config(100, 10);
    let plan = planned("shgtgtgtgtgtgtgt", &config);
    assert_eq!(plan.protected, [0, 1, 2, 3, 12, 13, 14, 15]);
    assert_eq!((plan.start, plan.end), (4, 12));
    // The region ends at a first tool turn in the second half.
    let plan = planned("shghghghghtghghg", &config);
    assert_eq!((plan.protected.as_slice(), plan.start, plan.end), ([0, 1, 2, 10, 12, 13, 14, 15].as_slice(), 3, 10));
    // Half of an odd number is rounded down, so the middle turn belongs to the second half.
    for (letters, region) in [("shghtghgh", (3, 4)), ("shghhtghgh", (3, 5)), ("shghthghgh", (5, 6))] {
        let plan = planned(letters, &config);
        assert_eq!((plan.start, plan.end), region, "{letters}");
    }
    config.protected_turns.first_system = false;
    config.protected_turns.first_human = false;
    config.protected_turns.first_gpt = false;
    config.protected_turns.first_tool = false;
    config.protected_turns.last_n_turns = 0;
    let plan = planned("shgtgtgtgtgtgtgt", &config);
    assert_eq!((plan.protected.len(), plan.start, plan.end), (0, 0, 16));
}

#[test]
fn only_as_many_turns_go_as_it_takes() {
    let letters = "shgtgtgtgtgtgtgtgtgt";
    // 200 tokens: 200 - 180 + 10 = 30 are needed, and the third turn is a call with its response.
    let plan = planned(letters, &config(180, 10));
    assert_eq!((plan.start, plan.until, plan.end, plan.skip), (4, 8, 16, None));
    // 40 are needed.
    assert_eq!(planned(letters, &config(170, 10)).until, 8);
    // More than the region has.
    assert_eq!(planned(letters, &config(10, 10)).until, 16);
}

#[test]
fn what_cannot_be_cut_stays() {
    for (letters, target, skip) in [
        ("shgtgtgtgtgtgtgt", 160, Skip::UnderTarget),
        ("", 1, Skip::UnderTarget),
        ("shgtgtgt", 10, Skip::NothingBetween),
        ("shg", 1, Skip::NothingBetween),
        // The last turns begin with a response, and all turns between are responses.
        ("shgttttttttt", 10, Skip::ToolTurns),
        // Responses without any call.
        ("tttttttttttt", 10, Skip::ToolTurns),
        // One call whose responses extend into the last turns.
        ("shgtgttttttt", 10, Skip::ToolTurns),
    ] {
        let plan = planned(letters, &config(target, 10));
        assert_eq!((plan.skip, plan.until), (Some(skip), plan.start), "{letters}");
    }
    // A response at the end of the region belongs to a call in it, so the cut is before the call.
    let plan = planned("shgtghgtttttt", &config(10, 10));
    assert_eq!((plan.start, plan.until, plan.end), (4, 6, 9));
}

#[test]
fn a_trajectory_under_the_target_can_be_worked_on_too() {
    let mut config = config(165, 10);
    config.processing.skip_under_target = false;
    // 160 - 165 + 10 = 5 are needed.
    assert_eq!(planned("shgtgtgtgtgtgtgt", &config).until, 6);
    config.compression.target_max_tokens = 200;
    assert_eq!(planned("shgtgtgtgtgtgtgt", &config).skip, Some(Skip::UnderTarget));
}

#[test]
fn a_summary_takes_the_place_of_the_region() {
    let turns = turns("shgtgtgtgtgtgtgtgtgt");
    let config = config(180, 10);
    let plan = plan(&turns, &tokens(&turns), &config);
    let calls = Calls { made: 2, failed: 1 };
    let done = apply(&turns, &tokens(&turns), &plan, "did things", calls, &config, Count::Chars);
    assert_eq!(done.turns.len(), 17);
    assert_eq!(done.turns[4].raw(), r#"{"from":"human","value":"[CONTEXT SUMMARY]: did things"}"#);
    let notice = &config.output.summary_notice_text;
    assert_eq!(done.turns[0].value(), format!("{}{notice}", turns[0].value()));
    assert_eq!(done.turns[1..4], turns[1..4]);
    assert_eq!(done.turns[5..], turns[8..]);
    let after = 160 + 29 / 4 + notice.chars().count() as u64 / 4;
    let expected = Row {
        original_tokens: 200,
        compressed_tokens: after,
        original_turns: 20,
        compressed_turns: 17,
        region: Some((4, 8)),
        still_over_limit: after > 180,
        skipped_under_target: false,
        calls,
    };
    assert_eq!((done.row, done.skip), (expected, None));
}

#[test]
fn a_summary_that_saves_nothing_is_left_out() {
    let turns = turns("shgtgtgtgtgtgtgtgtgt");
    let config = config(180, 10);
    let plan = plan(&turns, &tokens(&turns), &config);
    let long = "x".repeat(200);
    let done = apply(&turns, &tokens(&turns), &plan, &long, Calls::default(), &config, Count::Chars);
    assert_eq!((done.turns, done.skip), (turns, Some(Skip::NoGain)));
    assert_eq!((done.row.compressed_tokens, done.row.region, done.row.still_over_limit), (200, None, true));
}

#[test]
fn the_notice_is_told_once_and_only_to_a_system_turn() {
    let config = config(180, 10);
    let notice = config.output.summary_notice_text.clone();
    let mut list = turns("shgtgtgtgtgtgtgtgtgt");
    list[0] = list[0].with_value(format!("Be brief.{notice}"));
    let plan = plan(&list, &tokens(&list), &config);
    let done = apply(&list, &tokens(&list), &plan, "s", Calls::default(), &config, Count::Chars);
    assert_eq!(done.turns[0], list[0]);
    let mut silent = config.clone();
    silent.output.add_summary_notice = false;
    let list = turns("shgtgtgtgtgtgtgtgtgt");
    let done = apply(&list, &tokens(&list), &plan, "s", Calls::default(), &silent, Count::Chars);
    assert_eq!(done.turns[0], list[0]);
    let list = turns("hhgtgtgtgtgtgtgtgtgt");
    let done = apply(&list, &tokens(&list), &plan, "s", Calls::default(), &config, Count::Chars);
    assert_eq!(done.turns[0], list[0]);
}

#[test]
fn a_summarizer_reads_the_turns_with_their_numbers() {
    let mut list = turns("shgt");
    list[2] = list[2].with_value("a".repeat(3_000));
    list[3] = list[3].with_value(format!("{}{}{}", "b".repeat(1_500), "c".repeat(1_001), "d".repeat(500)));
    let text = summary_input(&list, 1, 4);
    let blocks: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(blocks[0], format!("[Turn 1 - HUMAN]:\n{:040}", 1));
    assert_eq!(blocks[1], format!("[Turn 2 - GPT]:\n{}", "a".repeat(3_000)));
    let cut = format!("{}...[truncated]...{}", "b".repeat(1_500), "d".repeat(500));
    assert_eq!(blocks[2], format!("[Turn 3 - TOOL]:\n{cut}"));
    assert_eq!((blocks.len(), summary_input(&list, 2, 2)), (3, String::new()));
}

#[test]
fn a_summary_begins_once_with_its_prefix() {
    for (written, expected) in [
        ("", "[CONTEXT SUMMARY]:"),
        ("  \n", "[CONTEXT SUMMARY]:"),
        ("did things ", "[CONTEXT SUMMARY]: did things"),
        ("[CONTEXT SUMMARY]: did things", "[CONTEXT SUMMARY]: did things"),
        ("[CONTEXT SUMMARY]: [CONTEXT SUMMARY]: twice", "[CONTEXT SUMMARY]: twice"),
        ("used <tool_call>x</tool_call>", "[CONTEXT SUMMARY]: used [tool_call]x[/tool_call]"),
    ] {
        assert_eq!(summary_text(written), expected);
    }
    assert_eq!(summary_text(FAILED), FAILED);
}

#[test]
fn pauses_double_up_to_thirty_seconds_and_a_half() {
    for (attempt, jitter, expected) in
        [(0, 0.0, 2.0), (1, 0.0, 4.0), (2, 0.5, 10.0), (3, 1.0, 24.0), (4, 0.0, 30.0), (400, 1.0, 45.0)]
    {
        assert_eq!(backoff_s(2.0, attempt, jitter), expected, "{attempt} {jitter}");
    }
    assert_eq!(backoff_s(0.0, 7, 1.0), 0.0);
}

#[test]
fn text_counts_a_quarter_of_its_chars_or_by_script() {
    for (text, chars) in [("", 0), ("abc", 0), ("abcdefg", 1), ("日本語日", 1)] {
        assert_eq!(Count::Chars.tokens(text), chars, "{text}");
    }
    assert!(Count::Script.tokens("日本語日") >= 3);
}

#[test]
fn a_turn_keeps_its_bytes_and_its_other_members() {
    let raw = r#"{ "value" : "caf\u00e9", "from":"gpt", "weight": 1.50 }"#;
    let turn = Turn::parse(raw.to_owned()).unwrap();
    assert_eq!((turn.raw(), turn.value(), turn.from()), (raw, "café", From::Gpt));
    assert_eq!(turn.with_value("x".into()).raw(), r#"{"value":"x","from":"gpt","weight":1.50}"#);
    for (raw, from, value) in [
        ("{}", From::Other, ""),
        (r#"{"from":"tool","value":null}"#, From::Tool, ""),
        (r#"{"from":7,"value":[1, 2]}"#, From::Other, "[1, 2]"),
    ] {
        let turn = Turn::parse(raw.to_owned()).unwrap();
        assert_eq!((turn.from(), turn.value()), (from, value), "{raw}");
    }
    for wrong in ["7", "[]", "{", "{} x", ""] {
        assert_eq!(Turn::parse(wrong.to_owned()), Err(TurnError::NoObject), "{wrong}");
    }
}

#[test]
fn a_record_names_tools_masks_secrets_and_keeps_to_its_size() {
    let mut list = turns("gtgth");
    list[0] = list[0].with_value("<tool_call>{\"name\":\"terminal\",\"arguments\":{}}</tool_call>".into());
    list[1] =
        list[1].with_value("<tool_response>export API_KEY=sk-abcdefghijklmnopqrstuvwxyz123456</tool_response>".into());
    list[4] = list[4].with_value("please fix the socket".into());
    let text = record(&list, 4, 750, Count::Chars);
    assert!(text.starts_with("[CONTEXT SUMMARY]: Turns 4 to 8 (1 human, 2 gpt, 2 tool) were taken out"), "{text}");
    assert!(text.contains("terminal ×1") && text.contains("- human (8): please fix the socket"), "{text}");
    assert!(!text.contains("<tool_") && !text.contains("abcdefghijklmnop"), "{text}");
    let many = turns(&"gthgt".repeat(200));
    let text = record(&many, 0, 400, Count::Chars);
    assert!(text.contains("One in 32 of what was not a tool's:\n- gpt (0): "), "{text}");
    for target in [1000, 300, 100, 12] {
        let text = record(&many, 0, target, Count::Chars);
        assert!(Count::Chars.tokens(&text) <= target && text.starts_with(PREFIX), "{target}: {text}");
    }
}
