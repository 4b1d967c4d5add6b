use super::*;
use crate::testing::say;

fn texts(rules: &[Constraint], state: State) -> Vec<&str> {
    rules.iter().filter(|rule| rule.state == state).map(|rule| rule.text.as_str()).collect()
}

#[test]
fn rules_are_found_in_many_wordings() {
    for text in [
        "Never push to main.",
        "Always run `cargo fmt` before you commit.",
        "Only use the staging database.",
        "Please do not touch the vendor folder.",
        "And don't rename public functions!",
        "You must keep Python 3.8 working.",
        "Make sure every commit builds.",
        "From now on, answer in German.",
        "No deploys without my approval.",
        "No new dependencies, please.",
        "All migrations must be reversible.",
        "The folder config/prod is off limits.",
        "I don't want you to edit generated files.",
        "Under no circumstances may the token be logged.",
        "Ask me before you delete anything.",
        "Use pnpm instead of npm.",
        "We never deploy on Fridays.",
        "Keep functions under 50 lines.",
        "Leave src/legacy alone.",
        "Rule: one change per commit.",
        "The public API must stay backward compatible.",
        "Avoid global state.",
        "Lösche niemals Dateien im Ordner data.",
        "Bitte immer erst die Tests laufen lassen.",
        "Nunca borres la base de datos.",
        "No toques el archivo de configuración.",
        "Ne modifie jamais le fichier de configuration.",
        "不要修改生产配置。",
        "必ずテストを実行してください。",
        "Никогда не удаляй журналы.",
        "항상 테스트를 먼저 실행하세요.",
    ] {
        let found = find(text);
        assert_eq!(found.iter().map(|f| f.text.as_str()).collect::<Vec<_>>(), [text], "{text}");
    }
}

#[test]
fn what_is_no_rule_is_not_found() {
    for text in [
        "Why does it never finish?",
        "Don't you think it is slow?",
        "I never received the mail.",
        "It always crashes on start.",
        "I don't know the id.",
        "I don't have the reservation ID with me.",
        "Never mind, it works.",
        "Don't worry about it.",
        "The test only fails when the cache is cold.",
        "Please fix the parser.",
        "No problem, thanks.",
        "```\nnever do this\n```",
        "> never do this",
        "if (x) { never(y[0]); } // always =>",
        "It has been slow since the upgrade.",
        "I just want to make sure I save some money.",
        "No worries.",
        "Sorry, there must be a mistake;",
        "I would like to keep the one where I am flying into Boston.",
        "That can't be right.",
        "Please rename foo to bar and keep the old name as an alias.",
        "Keep the tests green while you do it.",
        "Fix the parser, and make sure the tests pass.",
        "Make sure the parser is fixed.",
        "Split the function and keep the old signature in place for callers.",
        "Add a cache and leave the rest as it is.",
    ] {
        assert_eq!(find(text), [], "{text}");
    }
}

#[test]
fn what_the_user_prefers_is_found_in_a_question_too() {
    let text = "Thanks! I prefer trains to planes, so can you find me a way to Rome? Is it far?";
    let found: Vec<String> = find(text).into_iter().map(|found| found.text).collect();
    assert_eq!(found, ["I prefer trains to planes"]);
    assert_eq!(find("I really dislike loud places.")[0].text, "I really dislike loud places");
}

#[test]
fn a_rule_for_the_task_is_marked() {
    for (text, scope) in [
        ("Don't touch the schema yet.", Scope::Once),
        ("For now, only change the docs.", Scope::Once),
        ("Do not run the migration this time.", Scope::Once),
        ("Do not run migrations.", Scope::Standing),
        ("For this step only, skip the benches.", Scope::Once),
        ("Make sure you always run the tests.", Scope::Standing),
        ("Always make sure the tests pass.", Scope::Standing),
    ] {
        assert_eq!(find(text)[0].scope, scope, "{text}");
    }
}

#[test]
fn only_the_sentence_is_the_rule() {
    let found = find("Thanks for the fix. Never commit secrets, e.g. tokens. Then go on with x.rs.");
    assert_eq!(found[0].text, "Never commit secrets, e.g. tokens.");
    assert_eq!(found.len(), 1);
}

#[test]
fn a_list_gives_its_rules_once_and_in_order() {
    let list = [
        say("user", "Never push to main."),
        say("assistant", "Never say never."),
        say("user", "never push to  MAIN"),
        say("user", "Always use tabs."),
        say("user", &handoff::with_frame("## Goal\nNever rest.")),
    ];
    let first = update(&[], &list, 7.0);
    assert_eq!(texts(&first.constraints, State::Active), ["Never push to main.", "Always use tabs."]);
    assert!(first.changed && first.constraints[0].at == 7.0);
    let again = update(&first.constraints, &list, 9.0);
    assert!(!again.changed && again.constraints == first.constraints);
}

#[test]
fn the_user_takes_back_what_shares_most_words() {
    for (revocation, left) in [
        ("You may now push to main again.", vec!["Always use tabs in Makefiles."]),
        ("Forget the rule about tabs in Makefiles.", vec!["Never push to main."]),
        ("You no longer need to use tabs in Makefiles.", vec!["Never push to main."]),
        ("You can now eat lunch.", vec!["Never push to main.", "Always use tabs in Makefiles."]),
        (
            "You may never push to main again.",
            vec!["Never push to main.", "Always use tabs in Makefiles.", "You may never push to main again."],
        ),
        ("Can you push to main now?", vec!["Never push to main.", "Always use tabs in Makefiles."]),
    ] {
        let list = [say("user", "Never push to main. Always use tabs in Makefiles."), say("user", revocation)];
        assert_eq!(texts(&update(&[], &list, 0.0).constraints, State::Active), left, "{revocation}");
    }
}

#[test]
fn removed_and_revoked_rules_do_not_come_back_by_themselves() {
    let mut known = update(&[], &[say("user", "Never push to main.")], 0.0).constraints;
    known[0].state = State::Removed;
    let said = say("user", "Never push to main.");
    assert!(!update(&known, std::slice::from_ref(&said), 0.0).changed);
    known[0].state = State::Revoked;
    let handoff = say("user", &handoff::with_frame("x"));
    assert!(!update(&known, &[said.clone(), handoff.clone()], 0.0).changed, "it was read in an earlier run");
    let again = update(&known, &[handoff, said], 0.0);
    assert_eq!(again.constraints[0].state, State::Active, "the user says it again");
}

#[test]
fn a_rule_for_a_task_ends_with_it() {
    let rule = say("user", "Don't touch the schema yet.");
    let go_on = say("user", "The second test fails too.");
    let next = say("user", "Great. Next task: write the changelog.");
    let state = |list: &[Message]| update(&[], list, 0.0).constraints[0].state;
    assert_eq!(state(&[rule.clone(), go_on.clone()]), State::Active);
    assert_eq!(state(&[rule, go_on, next]), State::Done);
}

#[test]
fn rendering_is_read_back() {
    let rules = [
        Constraint::new("Never a.", Scope::Standing, Source::Found, 0.0),
        Constraint::new("Not b yet.", Scope::Once, Source::Found, 0.0),
        Constraint { state: State::Done, ..Constraint::new("Not c for now.", Scope::Once, Source::Found, 0.0) },
        Constraint { state: State::Revoked, ..Constraint::new("Never d.", Scope::Standing, Source::Found, 0.0) },
    ];
    let rendered = render(&rules, 1_000);
    assert_eq!(rendered.text, "- Never a.\n- (for its task only) Not b yet.\n- (done with its task) Not c for now.");
    assert_eq!((rendered.shown, rendered.hidden), (2, 0));
    assert_eq!(parse(&rendered.text, 0.0), rules[..3]);
}

#[test]
fn where_room_is_short_the_newest_and_the_explicit_win() {
    let mut rules: Vec<Constraint> = (0..30)
        .map(|at| Constraint::new(&format!("Never do thing number {at}."), Scope::Standing, Source::Found, 0.0))
        .collect();
    rules[0].source = Source::Explicit;
    let rendered = render(&rules, 300);
    assert!(rendered.text.chars().count() <= 300);
    assert!(rendered.text.contains("number 0.") && rendered.text.contains("number 29."));
    assert!(!rendered.text.contains("number 1."));
    assert!(rendered.text.ends_with("older rules, kept with the session)"));
    assert_eq!(rendered.shown + rendered.hidden, 30);
    assert_eq!(render(&rules, 0).text, "");
}

#[test]
fn ids_look_past_case_and_punctuation() {
    assert_eq!(id("Never push, to main!"), id("never  push to main"));
    assert_ne!(id("never push to main"), id("never push to mainly"));
    assert!(id("x").len() == 2 + ID_DIGITS && id("x").starts_with("c_"));
}

#[test]
fn people_take_rules_back_in_many_ways() {
    for (rule, said) in [
        ("Never use tabs.", "Never mind the tabs rule, tabs are fine now."),
        ("Never use tabs.", "Never mind about the tabs, use them."),
        ("Do not restart nginx.", "OK you can restart nginx now."),
        ("Only edit docs/.", "You can edit any file now."),
        ("Always use pnpm.", "Stop using pnpm, use npm."),
    ] {
        let rules = update(&[], &[say("user", rule), say("user", said)], 0.0).constraints;
        assert_eq!(texts(&rules, State::Active), Vec::<&str>::new(), "{said}");
        assert_eq!(texts(&rules, State::Revoked), [rule], "{said}");
    }
    for (rule, said) in [
        ("Never use tabs.", "Stop using tabs."),
        ("Never use tabs.", "I told you: never use tabs!"),
        ("Never use tabs.", "As I said, never use tabs."),
        ("Never use tabs.", "Never mind."),
        ("Only edit docs/.", "You can eat anything now."),
    ] {
        let rules = update(&[], &[say("user", rule), say("user", said)], 0.0).constraints;
        assert_eq!(texts(&rules, State::Active), [rule], "{said}");
        assert_eq!(rules.len(), 1, "{said}");
    }
}
