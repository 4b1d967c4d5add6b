use super::*;

fn user(handle: &str, text: &str) -> Value {
    json!({ "role": "user", "text": text, "toolUses": [], "handle": handle })
}

fn round(handles: [&str; 2], ids: &[&str]) -> [Value; 2] {
    let ids: Vec<Value> = ids.iter().map(|id| json!({ "tool_use_id": id, "text": "…" })).collect();
    [
        json!({ "role": "assistant", "text": "", "toolUses": ids, "handle": handles[0] }),
        json!({ "role": "user", "text": "", "toolUses": [], "toolResults": ids, "handle": handles[1] }),
    ]
}

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

fn call(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "function": { "name": "Bash" } })).collect();
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

fn result(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": "…" })
}

/// Returns the handles and texts of the compacted rows. A long row before `all` is dropped.
fn arranged(list: &[Value], all: &[Value]) -> Result<Vec<String>, String> {
    let name = |row: &Value| row.get("handle").or_else(|| row.get("text")).unwrap().as_str().unwrap().to_owned();
    let all: Vec<Value> = [user("0", &"long ".repeat(999))].iter().chain(all).cloned().collect();
    rows(list, &json!(all), &[], &mut str::to_owned)
        .map(|rows| rows.answer["messages"].as_array().unwrap().iter().map(name).collect())
}

#[test]
fn what_stays_is_named_by_its_handle_and_what_is_new_stands_in_its_place() {
    let [a, b] = round(["2", "3"], &["x", "y"]);
    let [c, d] = round(["5", "6"], &["z"]);
    let all = [user("1", "begin"), a, b, user("4", "yes"), c, d, user("7", "yes"), user("8", "waiting")];
    let list = [said("user", "begin"), said("user", "handoff"), call(&["z"]), result("z"), said("user", "yes")];
    assert_eq!(arranged(&list, &all).unwrap(), ["1", "handoff", "5", "6", "7", "8"]);
    // Two results of one round are in one row.
    let list = [said("user", "handoff"), call(&["x", "y"]), result("x"), result("y"), said("user", "waiting")];
    assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "2", "3", "8"]);
    // A row with a shortened result stays unchanged, together with its call.
    let list = [said("user", "handoff"), result("z"), said("user", "yes")];
    assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "5", "6", "7", "8"]);
}

#[test]
fn thoughts_stay_with_what_they_led_to() {
    let [a, b] = round(["3", "4"], &["x"]);
    let all = [user("8", "old"), user("9", "older"), user("1", "go on"), user("2", ""), a, b];
    let list = [said("user", "handoff"), said("user", "go on"), call(&["x"]), result("x")];
    assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "1", "2", "3", "4"]);
}

#[test]
fn calls_that_the_client_keeps_in_one_row_stay_whole() {
    let [a, b] = round(["2", "3"], &["x", "y"]);
    let all = [user("0", "begin"), user("1", "go"), a, b, user("4", "end")];
    let list = [said("user", "handoff"), call(&["x"]), result("x"), call(&["y"]), result("y"), said("user", "end")];
    assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "2", "3", "4"]);
}

#[test]
fn a_list_without_a_matching_row_is_its_handoff_and_the_newest_rows() {
    let [a, b] = round(["3", "4"], &["x"]);
    let all = [user("1", "old"), user("2", "go on"), a, b];
    assert_eq!(arranged(&[said("user", "handoff"), said("user", "?")], &all).unwrap(), ["handoff", "2", "3", "4"]);
    // If the user said nothing near the end, the rows begin with the last message of the model.
    let rounds = (0..70).flat_map(|at| round([&format!("c{at}"), &format!("r{at}")], &[&format!("x{at}")]));
    let all: Vec<Value> = [user("1", "go")].into_iter().chain(rounds).collect();
    assert_eq!(arranged(&[said("user", "handoff")], &all).unwrap(), ["handoff", "c69", "r69"]);
}

#[test]
fn white_space_and_placeholders_do_not_matter() {
    // Here the parts of one message are on separate lines, and a picture has its own line.
    let all = [user("1", "what is this?and that?"), user("2", ""), user("3", "waiting")];
    let list = [said("user", "handoff"), said("user", "[image]\nwhat is this?\nand that?"), said("user", "waiting")];
    assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "1", "2", "3"]);
}

#[test]
fn a_short_result_is_a_new_row_with_the_others_of_its_round() {
    let long = "row ".repeat(500);
    let answer = |id: &str, text: &str, error: bool| json!({ "tool_use_id": id, "text": text, "isError": error });
    let calls: Vec<Value> =
        ["x", "y"].iter().map(|id| json!({ "tool_use_id": id, "tool": "Bash", "input": {} })).collect();
    let results = [answer("x", &long, true), answer("y", "fine", false)];
    let all = json!([
        user("0", &long.repeat(9)),
        { "role": "assistant", "text": "", "toolUses": calls, "handle": "1" },
        { "role": "user", "text": "and more", "toolUses": [], "toolResults": results, "handle": "2" },
    ]);
    let result = |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
    let list = [said("user", "handoff"), call(&["x", "y"]), result("x", "[Bash] short"), result("y", "fine")];
    let short = [
        json!({ "tool_use_id": "x", "text": "[Bash] short", "isError": true }),
        json!({ "tool_use_id": "y", "text": "fine" }),
    ];
    let expected = json!([
        { "role": "user", "text": "handoff", "toolUses": [] },
        { "handle": "1" },
        { "role": "user", "text": "and more", "toolUses": [], "toolResults": short },
    ]);
    assert_eq!(
        rows(&list, &all, &[], &mut str::to_owned).unwrap(),
        CompactedRows { answer: json!({ "messages": expected }), chars: 35, newest: 18_000 + 2_016, last: "x".into() }
    );
    // A row with a picture stays unchanged.
    let mut pictured = all.clone();
    pictured[2]["toolResults"][1]["result"] = json!([{ "type": "text", "text": "a" }, { "type": "image" }]);
    assert_eq!(
        rows(&list, &pictured, &[], &mut str::to_owned).unwrap().answer["messages"][2],
        json!({ "handle": "2" })
    );
}

#[test]
fn rows_with_context_are_rebuilt() {
    let [a, b] = round(["2", "3"], &["x"]);
    let all = json!([
        user("1", "begin"),
        user("f", &"long ".repeat(999)),
        a,
        b,
        user("4", "go on"),
        user("5", "[image]\nand this")
    ]);
    let list = [
        said("user", "handoff"),
        said("user", "begin"),
        call(&["x"]),
        result("x"),
        said("user", "go on"),
        said("user", "[image]\n[image]\nand this"),
    ];
    let with_context = [key("go on"), "x".into(), key("and this")];
    let result = json!([{ "tool_use_id": "x", "text": "…" }]);
    let expected = json!([
        { "role": "user", "text": "handoff", "toolUses": [] },
        // The first row has the context of the session's beginning.
        { "role": "user", "text": "begin", "toolUses": [] },
        { "handle": "2" },
        { "role": "user", "text": "", "toolUses": [], "toolResults": result },
        { "role": "user", "text": "go on", "toolUses": [] },
        { "handle": "5" },
    ]);
    let answer = rows(&list, &all, &with_context, &mut str::to_owned).unwrap();
    assert_eq!((answer.answer, answer.last), (json!({ "messages": expected }), key("and this")));
}

#[test]
fn a_row_is_found_by_its_text_as_herma_keeps_it() {
    let all = json!([user("0", &"row ".repeat(500)), user("1", "take the key 1234"), user("2", "end")]);
    let list = [said("user", "handoff"), said("user", "take the key ***"), said("user", "end")];
    let answer = rows(&list, &all, &[], &mut |text: &str| text.replace("1234", "***")).unwrap();
    assert_eq!(
        answer.answer["messages"].as_array().unwrap()[1..],
        [json!({ "handle": "1" }), json!({ "handle": "2" })]
    );
}

#[test]
fn rows_that_are_not_much_smaller_are_refused() {
    let long = "row ".repeat(12_000);
    let all = json!([user("0", &long), user("1", &format!("{long}!")), user("2", "end")]);
    let refused = |list: &[Value], all: &Value| rows(list, all, &[], &mut str::to_owned).unwrap_err();
    let list = [said("user", &format!("{long}!")), said("user", "end")];
    assert!(refused(&list, &all).contains("48004 chars instead of 96004"), "{}", refused(&list, &all));
    assert!(rows(&[said("user", "handoff"), said("user", "end")], &all, &[], &mut str::to_owned).is_ok());
    for odd in [json!(7), json!([]), json!([{ "role": "user", "text": "a" }]), Value::Null] {
        assert!(refused(&[said("user", "a")], &odd).contains("rows with handles"), "{odd}");
    }
}
