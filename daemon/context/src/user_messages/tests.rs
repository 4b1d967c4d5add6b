use super::core::cores;
use super::*;
use crate::testing::say;

fn said(list: &[Message]) -> UserMessages {
    gather(&list.iter().collect::<Vec<_>>(), UserMessages::default(), Redaction::On)
}

#[test]
fn all_messages_are_there_word_for_word_newest_first() {
    let list = [
        say("user", "first\n\n- a list\n- of two"),
        say("assistant", "not mine"),
        say("user", &handoff::with_frame("no message")),
        say("user", "  second  "),
    ];
    let rendered = render(&said(&list), 1_000, "cmp_1");
    assert_eq!(rendered.text, "- second\n- (4 lines follow)\nfirst\n\n- a list\n- of two");
    assert_eq!((rendered.shown, rendered.hidden), (2, 0));
    assert_eq!(parse(&rendered.text).texts, ["second", "first\n\n- a list\n- of two"]);
}

#[test]
fn older_ones_are_shortened_to_what_they_ask() {
    let filler = "It was a long day and the weather was good. ".repeat(20);
    let mut list: Vec<Message> =
        (0..40).map(|at| say("user", &format!("{filler}Please rename widget {at} to gadget {at}. {filler}"))).collect();
    list.push(say("user", "The newest message, which stays."));
    let said = said(&list);
    let rendered = render(&said, 6_000, "cmp_1");
    assert!(rendered.text.chars().count() <= 6_000);
    assert!(rendered.text.starts_with("- The newest message, which stays.\n"));
    for at in 0..40 {
        assert!(rendered.text.contains(&format!("Please rename widget {at} to gadget {at}.")), "{at}");
    }
}

#[test]
fn none_is_dropped_silently() {
    let mut list: Vec<Message> = (0..200).map(|at| say("user", &format!("Please look into matter {at}."))).collect();
    list.extend((0..50).map(|_| say("user", "yes, please go ahead")));
    let said = said(&list);
    let rendered = render(&said, 1_500, "cmp_1");
    assert!(rendered.text.chars().count() <= 1_500);
    assert_eq!(rendered.shown + rendered.hidden, said.texts.len());
    assert!(rendered.text.ends_with("in the archive under cmp_1 and earlier handles)"));
    assert!(rendered.text.contains("matter 199") && !rendered.text.contains("matter 0."));
    let again = parse(&rendered.text);
    assert_eq!((again.texts.len(), again.hidden), (rendered.shown, rendered.hidden));
    assert_eq!(render(&said, 10, "x").text, "");
}

#[test]
fn an_earlier_handoff_goes_on_behind_the_new_messages() {
    let carried =
        UserMessages { texts: vec!["old one".to_owned(), "new".to_owned()], hidden: 3, ..UserMessages::default() };
    let list = [say("user", "new")];
    let said = gather(&[&list[0]], carried, Redaction::On);
    assert_eq!(said.texts, ["new", "old one"]);
    assert!(
        render(&said, 500, "h")
            .text
            .ends_with("(and 3 more user messages, in the archive under h and earlier handles)")
    );
}

#[test]
fn secrets_are_masked() {
    let list = [say("user", "use sk-abcdefghijklmnopqrstuvwxyz")];
    assert!(!render(&said(&list), 500, "h").text.contains("ghijklmnop"));
}

#[test]
fn what_fits_stays_whole_with_its_line_breaks_and_more_room_shows_more() {
    let code = "Please mend this:\n\n```rust\nfn a() {\n    b();\n}\n```\n- one\n- two\n(and 3 more user messages)";
    let mut list: Vec<Message> =
        (0..18).map(|at| say("user", &format!("Ask {at}: {}", "please change the thing ".repeat(15)))).collect();
    list.insert(9, say("user", code));
    let said = said(&list);
    let all: usize = said.texts.iter().map(|text| text.chars().count()).sum();
    let mut before = 0;
    for chars in (0..all + 400).step_by(97) {
        let rendered = render(&said, chars, "cmp_1");
        assert!(rendered.text.chars().count() <= chars);
        let whole = said.texts.iter().take_while(|text| rendered.text.contains(text.as_str())).count();
        assert!(whole >= before, "{chars}: {whole} after {before}");
        before = whole;
    }
    assert_eq!(before, 19);
    let rendered = render(&said, all + 400, "cmp_1");
    assert!(rendered.text.contains(code));
    assert_eq!(parse(&rendered.text).texts, said.texts);
}

#[test]
fn an_older_message_never_stands_in_the_place_of_a_newer_one() {
    let newer = format!("You may use unsafe code again now {}.", "because the bench is slow ".repeat(30));
    let list = [say("user", "Do not use unsafe code."), say("user", &newer)];
    let said = said(&list);
    for chars in 0..900 {
        let text = render(&said, chars, "h").text;
        assert!(!text.contains("Do not use unsafe code.") || text.contains("You may use unsafe"), "{chars}: {text}");
    }
}

#[test]
fn what_is_asked_once_stands_before_what_is_asked_again_and_again() {
    let routine = |at: usize| say("user", &format!("Hello. I need a flight from Oslo to Lyon on May {at}, please."));
    let mut list: Vec<Message> = (0..100).map(routine).collect();
    list.insert(5, say("user", "Please translate the upload form into French."));
    list.insert(7, say("user", "Never book anything on a Sunday."));
    let said = said(&list);
    let rendered = render(&said, 2_000, "cmp_1");
    assert!(rendered.text.contains("Please translate the upload form into French."), "{}", rendered.text);
    assert!(rendered.text.contains("Never book anything on a Sunday."), "{}", rendered.text);
    assert_eq!(rendered.shown + rendered.hidden, said.texts.len());
}

#[test]
fn room_that_is_left_is_filled_with_the_newest_of_the_rest() {
    let mut list: Vec<Message> =
        (0..60).map(|at| say("user", &format!("The {at}th sample looked fine to me."))).collect();
    list.extend(
        (0..12).map(|at| say("user", &format!("Please rename widget {at} to gadget {at}, {}.", "x".repeat(40)))),
    );
    let rendered = render(&said(&list), 2_400, "cmp_1");
    let shown = rendered.text.chars().count();
    assert!((2_250..=2_400).contains(&shown), "{shown} chars of 2,400");
    assert!(rendered.text.contains("The 59th") && !rendered.text.contains("The 0th"), "{}", rendered.text);
}

#[test]
fn in_a_short_handoff_facts_come_before_small_talk() {
    let talk = |at: usize| format!("The weather was fine{}.", " and fine".repeat(at));
    let facts = [
        "FACT: The project's codename is heron.",
        "Deadline: the last Friday of May.",
        "Please never deploy on Fridays.",
        "The database runs on db-7.internal.",
    ];
    let mut texts: Vec<String> = facts.iter().map(|fact| (*fact).to_owned()).collect();
    texts.extend((1..40).map(talk));
    let list: Vec<Message> = texts.iter().map(|text| say("user", text)).collect();
    let said = said(&list);
    let shown = render_short(&said, 260, "");
    assert!(shown.text.chars().count() <= 260, "{}", shown.text);
    assert!(facts.iter().all(|fact| shown.text.contains(fact)), "{}", shown.text);
    assert_eq!(shown.shown + shown.hidden, texts.len());
    // In their order, the newest first.
    let places: Vec<_> = facts.iter().map(|fact| shown.text.find(fact)).collect();
    assert!(places.is_sorted_by(|a, b| a > b), "{}", shown.text);
    assert_eq!(render_short(&said, 100_000, ""), render(&said, 100_000, ""), "what fits is whole");
    assert_eq!(render_short(&said, 10, "").shown, 0);
}

#[test]
fn a_level_of_a_log_is_no_label() {
    let weight = |text: &str| cores(&[text.to_owned()])[0].weight();
    let said = |label: &str, colon: &str| weight(&format!("{label}{colon} the sky was blue that day"));
    for label in ["FACT", "USER PREFERENCE", "Decision", "Note", "our rule", "SHIP-DATE", "USAGE LIMITS"] {
        assert!(said(label, ":") > said(label, ""), "{label}");
    }
    for none in ["ERROR", "WARNING", "Hello", "http", "he said", "In the note he wrote", "OK", "404"] {
        assert_eq!(said(none, ":"), said(none, ""), "{none}");
    }
}

#[test]
fn sentences_that_are_elsewhere_are_left_out() {
    let said = UserMessages {
        texts: ["Use Python. No calls to the network.", "Use Python.", "Go on."].map(str::to_owned).to_vec(),
        ..UserMessages::default()
    };
    let left = said.without(|sentence| sentence == "Use Python.");
    assert_eq!(left.texts, ["… No calls to the network.", "Go on."]);
    let code = "Use Python. Use Python.\n\n```py\ndef f():\n    return {\n    }\n```\n1. Go on. Use Python.";
    let said = UserMessages { texts: vec![code.to_owned()], ..UserMessages::default() };
    let left = said.without(|sentence| sentence == "Use Python.");
    assert_eq!(left.texts, ["…\n\n```py\ndef f():\n    return {\n    }\n```\n1. Go on. …"]);
    assert_eq!(said.without(|_| false), said);
    assert_eq!(said.without(|_| true).texts, [""; 0]);
}

#[test]
fn one_word_without_room_does_not_shorten_the_others() {
    let long = |of: &str| format!("Please write down what {of} said in the meeting, one by one. ").repeat(20);
    let said = UserMessages {
        texts: vec![long("Ann"), long("Ben"), "ok".to_owned(), "FACT: the sky was blue.".to_owned()],
        ..UserMessages::default()
    };
    let shown = render_short(&said, 2_400, "");
    assert!(shown.text.contains("FACT: the sky was blue.") && shown.text.chars().count() > 1_900, "{}", shown.text);
    assert!(shown.text.chars().count() <= 2_400 && shown.shown == 3, "{}", shown.text);
}
