use serde_json::json;

use super::*;
use crate::testing::{call, call_of, image, message, result, say};

fn group(sizes: &[usize]) -> Vec<Message> {
    let ids: Vec<String> = (0..sizes.len()).map(|at| format!("c{at}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let outputs = ids.iter().zip(sizes).map(|(id, chars)| result(id, &format!("{id} line\n").repeat(chars / 8)));
    std::iter::once(call(&ids)).chain(outputs).collect()
}

fn shortened(list: &[Message], budget: u64) -> Shortened {
    shorten(list, &Exchange::of(list, 0), Host::default(), Budget { most: budget, ..Budget::default() })
}

#[test]
fn the_largest_output_goes_first_and_no_more_than_has_to() {
    let list = group(&[8_000, 40_000, 12_000]);
    let places = |budget| shortened(&list, budget).spilled;
    assert_eq!(places(1_000_000), []);
    let full = |at| Spilled { at, chars: PREVIEW_CHARS };
    assert_eq!(places(10_000), [full(2)]);
    assert_eq!(places(5_000), [full(2), full(3)]);
    assert_eq!(places(2_900), [full(1), full(2), full(3)]);
}

#[test]
fn previews_become_shorter_before_they_become_lines() {
    let list = group(&[8_000; 10]);
    let small = shortened(&list, 4_500);
    assert_eq!(small.spilled.len(), 10);
    assert!(small.load.tokens() <= 4_500, "{}", small.load.tokens());
    assert!(small.spilled.iter().all(|one| (LEAST_PREVIEW_CHARS..PREVIEW_CHARS).contains(&one.chars)), "{small:?}");
    let lines = shortened(&list, 1_500);
    assert!(
        lines.spilled.is_empty() && lines.messages.len() == 10 && lines.load.tokens() <= 1_500,
        "{}",
        lines.load.tokens()
    );
    assert!(lines.messages.iter().all(|(_, line)| line.text().starts_with("[terminal] ran `ls`")));
}

#[test]
fn long_arguments_shrink_unless_their_results_are_to_come() {
    let arguments = json!({"path": "a.rs", "content": "x".repeat(9_000)}).to_string();
    let calling = call_of("c", "write_file", &arguments);
    let answered = shortened(&[calling.clone(), result("c", "ok")], 300);
    let [(0, shorter)] = &answered.messages[..] else { panic!("{answered:?}") };
    assert!(shorter.raw().len() < 600 && answered.load.tokens() <= 300, "{shorter:?}");
    let waiting = shortened(&[calling], 300);
    assert!(waiting.messages.is_empty() && waiting.load.tokens() > 2_000);
}

#[test]
fn words_of_a_person_and_pictures_of_theirs_stay() {
    let said = [say("user", &"words ".repeat(9_000))];
    assert!(shortened(&said, 10).messages.is_empty() && shortened(&said, 10).spilled.is_empty());
    let parts = json!({"role": "tool", "tool_call_id": "c", "content": [image(), {"type": "text", "text": "x ".repeat(9_000)}]});
    let list = [call(&["c"]), message(&parts)];
    let whole = shortened(&list, 2_600);
    assert_eq!((whole.spilled.len(), whole.messages.len()), (1, 0));
    assert!(list[1].with_text("preview").has_image());
    let bare = shortened(&list, 1_000);
    assert_eq!((bare.spilled.len(), bare.messages.len()), (1, 1));
    assert!(!bare.messages[0].1.has_image() && bare.load.tokens() <= 1_000, "{}", bare.load.tokens());
}

#[test]
fn what_was_spilled_before_is_not_spilled_again() {
    let block = format!("{OPENING_TAG}\n{}", "x".repeat(3_000));
    let list = [call(&["c"]), result("c", &block)];
    assert!(shortened(&list, 100).spilled.is_empty());
}

#[test]
fn a_cut_output_says_where_the_whole_is() {
    let long = result("c", &"0123456789".repeat(300));
    let text = cut(&long, 20, "cmp_1").text().into_owned();
    assert_eq!(
        text,
        "01234567890123456789\n...\n[cut here: all 3,000 chars are in the archive, under the handle cmp_1]"
    );
    assert!(cut(&long, 3_000, "cmp_1").same(&long));
}
