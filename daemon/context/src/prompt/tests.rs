use super::*;

fn write(previous: Option<&str>, focus: Option<&str>, today: Option<&str>) -> String {
    let today = today.map(|day| Today::parse(day).unwrap());
    PromptParts {
        source: Source::Here { serialized: "[USER]: hi", previous },
        memory: None,
        summary_budget: 2_500,
        focus,
        today: today.as_ref(),
    }
    .write()
}

#[test]
fn the_two_variants_have_their_own_markers() {
    let first = write(None, None, None);
    assert!(first.contains("TURNS TO SUMMARIZE:\n[USER]: hi"));
    assert!(!first.contains("PREVIOUS SUMMARY") && !first.contains("NEW TURNS"));
    let update = write(Some("the old one"), None, None);
    assert!(
        update.contains("PREVIOUS SUMMARY:\nthe old one") && update.contains("NEW TURNS TO INCORPORATE:\n[USER]: hi")
    );
    assert!(!update.contains("TURNS TO SUMMARIZE:"));
}

#[test]
fn sections_come_in_order_and_the_rules_after_them() {
    for previous in [None, Some("x")] {
        let text = write(previous, Some("the parser"), Some("2026-11-21"));
        let mut at = 0;
        for part in [
            "[USER]: hi",
            "## Historical Task Snapshot",
            "## Goal",
            "## Constraints & Preferences",
            "## Completed Actions",
            "## Active State",
            "## Historical In-Progress State",
            "## Blocked",
            "## Key Decisions",
            "## Resolved Questions",
            "## Historical Pending User Asks",
            "## Relevant Files",
            "## Historical Remaining Work",
            "## Critical Context",
            "2500",
            "TEMPORAL ANCHORING",
            "2026-11-21",
            "Sent the proposal email to John on 2026-11-21",
            "FOCUS TOPIC: \"the parser\"",
            "PRIORITISE",
            "60-70%",
        ] {
            at += text[at..].find(part).unwrap_or_else(|| panic!("{part} is missing or misplaced"));
        }
        assert!(text.contains("[REDACTED]"));
        for words in ["Your output will be injected", "Do NOT respond", "different assistant"] {
            assert!(!text.contains(words));
        }
    }
}

#[test]
fn optional_parts_are_left_out() {
    let text = write(None, None, None);
    assert!(!text.contains("TEMPORAL ANCHORING") && !text.contains("FOCUS TOPIC"));
}

#[test]
fn what_a_memory_provider_adds_stands_behind_the_turns() {
    let parts = PromptParts {
        source: Source::Here { serialized: "[USER]: hi", previous: None },
        memory: Some("The user drinks tea."),
        summary_budget: 2_500,
        focus: None,
        today: None,
    };
    let prompt = parts.write();
    let at = |words: &str| prompt.find(words).unwrap();
    assert!(at("[USER]: hi") < at("The user drinks tea.") && at("The user drinks tea.") < at("## Goal"));
}

#[test]
fn turns_that_stand_above_are_named_and_not_repeated() {
    let parts = |has_record| PromptParts {
        source: Source::Above { first: "\"mend it\"", last: "a call of terminal", messages: 12, behind: 7, has_record },
        memory: Some("The user drinks tea."),
        summary_budget: 2_500,
        focus: Some("the parser"),
        today: None,
    };
    let prompt = parts(false).write();
    for words in [
        "no message of its user",
        "TURNS TO CONDENSE: 12 messages",
        "begins with \"mend it\" to the one that begins with a call of terminal",
        "call no tool",
        "The 7 messages behind them stay",
        "[REDACTED]",
        "The user drinks tea.",
        "## Critical Context",
        "2500",
        "FOCUS TOPIC",
    ] {
        assert!(prompt.contains(words), "{words}");
    }
    assert!(!prompt.contains("Carry it on") && !prompt.contains("TURNS TO SUMMARIZE"));
    assert!(parts(true).write().contains("Carry it on"));
}
