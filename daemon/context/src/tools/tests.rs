use proptest::prelude::*;
use serde_json::json;

use super::*;

fn tool(name: &str, words: usize) -> Tool {
    let description = format!("Does {name}. {}", "and more ".repeat(words));
    Tool::read(
        json!({ "type": "function", "function": { "name": name, "description": description, "parameters": {} } })
            .to_string(),
    )
}

fn called(name: &str, arguments: &str) -> Message {
    let function = json!({ "name": name, "arguments": arguments });
    Message::parse(json!({ "role": "assistant", "tool_calls": [{ "id": "1", "function": function }] }).to_string())
        .unwrap()
}

const BEFORE: Age = Age { generations: 0, is_since: false };
const SINCE: Age = Age { generations: 0, is_since: true };

fn uses(calls: &[(&str, Age)]) -> Uses {
    let mut uses = Uses::default();
    calls.iter().for_each(|(name, age)| uses.add(&called(name, "{}"), *age));
    uses
}

fn list(chosen: &Chosen) -> Vec<String> {
    chosen.list.iter().map(|raw| Tool::read(raw.clone()).name.unwrap_or_default()).collect()
}

#[test]
fn what_fits_is_left_as_it_is() {
    let tools = [tool("a", 9), tool("b", 9)];
    for budget in [None, Some(10_000)] {
        let chosen = choose(&tools, &Uses::default(), budget);
        assert_eq!((list(&chosen), chosen.states), (vec!["a".into(), "b".into()], vec![State::Kept; 2]));
        assert_eq!(chosen.tokens, tools[0].tokens + tools[1].tokens);
    }
}

#[test]
fn what_was_used_is_kept_and_the_rest_has_lines() {
    let tools = ["a", "b", "c", "d", "e"].map(|name| tool(name, 200));
    let old = Age { generations: 9, is_since: false };
    for (calls, budget, expect) in [
        (vec![], 1_000, vec!["a", "b", "open_tools"]),
        (vec![("d", BEFORE)], 1_000, vec!["a", "d", "open_tools"]),
        // The most used tool of old generations comes before the first ones.
        (vec![("e", old), ("e", old), ("b", old)], 1_000, vec!["b", "e", "open_tools"]),
        // Tools of the last generations are kept, whatever the budget.
        (
            vec![("a", BEFORE), ("c", BEFORE), ("d", Age { generations: 2, is_since: false })],
            10,
            vec!["a", "c", "d", "open_tools"],
        ),
        (vec![("a", Age { generations: 3, is_since: false })], 10, vec!["open_tools"]),
        // A newly opened tool follows at the end.
        (vec![("e", SINCE), ("a", SINCE)], 1_000, vec!["a", "b", "open_tools", "e"]),
        (vec![("gone", BEFORE)], 1_000, vec!["a", "b", "open_tools"]),
    ] {
        let chosen = choose(&tools, &uses(&calls), Some(budget));
        assert_eq!(list(&chosen), expect, "{calls:?} {budget}");
    }
}

#[test]
fn a_tool_that_was_opened_changes_nothing_before_it() {
    let tools = ["a", "b", "c", "d"].map(|name| tool(name, 200));
    let before = choose(&tools, &uses(&[("b", BEFORE)]), Some(700));
    let mut uses = uses(&[("b", BEFORE)]);
    uses.add(&called(OPEN_TOOLS, r#"{"names": ["d", "nothing"]}"#), SINCE);
    uses.add(&called("d", "{}"), SINCE);
    uses.open(&["c".to_owned()]);
    let after = choose(&tools, &uses, Some(700));
    assert_eq!(after.list[..before.list.len()], before.list);
    assert_eq!(list(&after)[before.list.len()..], ["d", "c"]);
    assert_eq!(after.states[2..], [State::Opened, State::Opened]);
    assert_eq!((uses.calls("d"), uses.calls(OPEN_TOOLS)), (1, 0));
}

#[test]
fn the_tool_that_opens_has_the_form_of_the_others() {
    let with = |schema: Value| {
        let tools = [
            Tool::read(schema.to_string()),
            Tool::read(json!({ "type": "web_search_20250305", "name": "web_search" }).to_string()),
        ];
        let chosen = choose(&tools, &Uses::default(), Some(1));
        assert_eq!(chosen.states, [State::Stub, State::Kept]);
        serde_json::from_str::<Value>(&chosen.list[1]).unwrap()
    };
    let long = "Finds things. ".repeat(90);
    let chat = with(json!({ "type": "function", "function": { "name": "find", "description": long } }));
    assert!(chat["function"]["description"].as_str().unwrap().ends_with("\n- find: Finds things."));
    assert_eq!(chat["function"]["parameters"]["properties"]["names"]["items"]["enum"], json!(["find"]));
    let messages = with(json!({ "name": "find", "description": long, "input_schema": {} }));
    assert_eq!((&messages["name"], messages["input_schema"].is_object()), (&json!(OPEN_TOOLS), true));
    let responses = with(json!({ "type": "function", "name": "find", "description": long, "parameters": {} }));
    assert_eq!((&responses["type"], responses["parameters"].is_object()), (&json!("function"), true));
}

#[test]
fn lines_that_cost_more_than_the_schemas_are_not_made() {
    let tools = [tool("a", 0), tool("b", 0)];
    assert_eq!(list(&choose(&tools, &Uses::default(), Some(1))), ["a", "b"]);
}

#[test]
fn lines_are_not_taken_to_be_cheaper_than_they_are() {
    let tools: Vec<Tool> =
        [203, 34].into_iter().chain([1; 17]).enumerate().map(|(at, words)| tool(&format!("t{at}"), words)).collect();
    let all: u64 = tools.iter().map(|tool| tool.tokens).sum();
    for budget in all / 2..all {
        let chosen = choose(&tools, &Uses::default(), Some(budget));
        let lines: u64 = tools.iter().map(|tool| tool.line_tokens).sum();
        assert!(chosen.tokens <= budget || budget < lines + schema::OPENER_TOKENS, "{} of {budget}", chosen.tokens);
    }
}

#[test]
fn odd_schemas_are_kept() {
    let tools = ["7", "[]", "{}", r#"{"function": 7}"#].map(|raw| Tool::read(raw.to_owned()));
    let chosen = choose(&tools, &Uses::default(), Some(0));
    assert_eq!(chosen.list, ["7", "[]", "{}", r#"{"function": 7}"#]);
}

proptest! {
    /// Needed tools are present, omitted ones have a line, and a list within the budget stays within it.
    #[test]
    fn every_tool_is_there_or_has_a_line(
        sizes in prop::collection::vec(1_usize..300, 1..20), used in prop::collection::vec((0_usize..20, any::<bool>(), 0_u64..6), 0..20),
        budget in 0_u64..3_000,
    ) {
        let tools: Vec<Tool> = sizes.iter().enumerate().map(|(at, size)| tool(&format!("t{at}"), *size)).collect();
        let names: Vec<(String, Age)> =
            used.iter().map(|(at, is_since, generations)| (format!("t{at}"), Age { generations: *generations, is_since: *is_since })).collect();
        let mut uses = Uses::default();
        names.iter().for_each(|(name, age)| uses.add(&called(name, "{}"), *age));
        let chosen = choose(&tools, &uses, Some(budget));
        let text = chosen.list.concat();
        for (tool, state) in tools.iter().zip(&chosen.states) {
            let name = tool.name.clone().unwrap();
            let needed = names.iter().any(|(used, age)| *used == name && (age.is_since || age.generations < RECENT));
            prop_assert!(!needed || *state != State::Stub, "{}", name);
            prop_assert_eq!(*state == State::Stub, !chosen.list.contains(&tool.raw));
            let line = format!("- {name}: Does");
            prop_assert!(*state != State::Stub || text.contains(&line));
        }
        let unforced = names.iter().all(|(_, age)| !age.is_since && age.generations >= RECENT);
        let lines: u64 = tools.iter().map(|tool| tool.line_tokens).sum();
        if unforced && budget >= lines + schema::OPENER_TOKENS {
            prop_assert!(chosen.tokens <= budget, "{} of {}", chosen.tokens, budget);
        }
    }
}
