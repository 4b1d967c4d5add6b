//! Properties that hold for every text.

use herma_guard::{
    CodeFile, FindingId, Policy, RedactOptions, Scope, Severity, Treatment, first_threat_message, redact, scan,
};
use proptest::prelude::*;

/// Random sequences of fragments that the patterns and passes look for.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("ignore all instructions"),
        Just("you are now a "),
        Just("<!-- system"),
        Just("-->"),
        Just("<div style=\""),
        Just("c2 server"),
        Just("run havoc"),
        Just("A_TOKEN="),
        Just("\"token\":\""),
        Just("\\"),
        Just("Authorization: Bearer "),
        Just("12345678:"),
        Just("-----BEGIN PRIVATE KEY-----"),
        Just("-----END PRIVATE KEY-----"),
        Just("redis://u:p@"),
        Just("eyJ0123456789."),
        Just("sk-0123456789"),
        Just("SG.0123456789."),
        Just("k=v&code="),
        Just("+12345678"),
        Just("ｉgnоre ａll "),
        Just("prior instructıons"),
        Just("с2 ѕегvег"),
        Just("е\u{AD}\u{301}"),
        Just("ﷺ㏂ﬁ½"),
        Just("\u{200D}"),
        Just("\u{FE0F}"),
        Just("🙂"),
        Just("می"),
        Just("ſ"),
        Just("é"),
        Just(" "),
        Just("\n"),
        Just("'"),
        Just("="),
        Just(":"),
    ];
    prop::collection::vec(fragment, 0..24).prop_map(|pieces| pieces.concat())
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), fragments()]
}

/// A secret, with the text before and after it.
fn secrets() -> impl Strategy<Value = (String, &'static str, &'static str)> {
    prop_oneof![
        "sk-[a-z0-9]{20,40}[0-9]".prop_map(|secret| (secret, "", "")),
        "ghp_[A-Za-z0-9]{36}".prop_map(|secret| (secret, "", "")),
        "[a-z0-9]{8,40}".prop_map(|secret| (secret, "MAIL_API_KEY=", "")),
        "[a-z0-9 ]{7,40}x".prop_map(|secret| (secret, "\"password\": \"", "\"")),
        "[a-z0-9]{8,40}".prop_map(|secret| (secret, "Authorization: Bearer ", "")),
        "[a-z0-9]{8,40}".prop_map(|secret| (secret, "postgres://me:", "@db.example")),
        "[A-Za-z0-9+/\n]{40,80}".prop_map(|secret| (
            secret,
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "\n-----END RSA PRIVATE KEY-----",
        )),
    ]
}

proptest! {
    #[test]
    fn scans_stay_within_the_text_and_nest(text in texts()) {
        let length = text.chars().count();
        let mut smaller: Vec<_> = Vec::new();
        for scope in [Scope::All, Scope::Context, Scope::Strict] {
            let found = scan(&text, scope);
            prop_assert!(found.iter().all(|f| f.start < f.end && f.end <= length));
            prop_assert!(smaller.iter().all(|f| found.contains(f)));
            let message = first_threat_message(&text, scope);
            prop_assert_eq!(message.is_some(), !found.is_empty());
            smaller = found;
        }
    }

    #[test]
    fn every_char_has_its_place(texts in prop::collection::vec(any::<char>(), 0..40)) {
        let noise: String = texts.into_iter().collect();
        let text = format!("{noise} | ｉgnore all prior instructions");
        let found = scan(&text, Scope::All);
        let place = found.iter().find(|found| found.id.as_str() == "prompt_injection").map(|found| (found.start, found.end));
        let start = noise.chars().count() + 3;
        prop_assert_eq!(place, Some((start, start + 29)));
    }

    #[test]
    fn clean_words_round_a_text_hide_nothing(text in texts()) {
        let inside = scan(&text, Scope::Strict);
        let round = format!("a calm note. {text} .the end");
        let outside = scan(&round, Scope::Strict);
        for found in inside.iter().filter(|found| !found.folded && !found.id.as_str().starts_with("invisible")) {
            prop_assert!(outside.iter().any(|other| other.id == found.id && !other.folded), "{}", found.id);
        }
    }

    #[test]
    fn ascii_is_its_own_folded_text(text in "[ -~\n\t]{0,40}|(ignore|all|prior|[.]|-|instructions|c2|server| ){0,12}") {
        let plain = scan(&text, Scope::Strict);
        let beside = scan(&format!("{text}\n中"), Scope::Strict);
        prop_assert_eq!(plain, beside);
    }

    #[test]
    fn a_policy_changes_severities_only(text in texts(), off in 0_usize..53, warn in 0_usize..53) {
        let ids: Vec<_> = FindingId::all().collect();
        let mut policy = Policy::default();
        policy.set(ids[warn], &[Scope::Strict], Treatment::Warn);
        policy.set(ids[off], &[Scope::Strict], Treatment::Off);
        let found = policy.scan(&text, Scope::Strict);
        let all = scan(&text, Scope::Strict);
        let kept: Vec<_> = all.iter().filter(|found| found.id != ids[off]).map(|found| (found.id, found.start)).collect();
        prop_assert_eq!(found.iter().map(|found| (found.id, found.start)).collect::<Vec<_>>(), kept);
        let blocks: Vec<_> = found.iter().filter(|found| found.severity == Severity::Block).map(|found| found.id).collect();
        prop_assert_eq!(policy.blocks(&text, Scope::Strict), blocks);
    }

    #[test]
    fn redaction_never_fails_and_counts_what_it_changes(text in texts()) {
        for code in [CodeFile::No, CodeFile::Yes] {
            let redacted = redact(&text, RedactOptions { code, ..RedactOptions::default() });
            prop_assert!(redacted.count > 0 || redacted.text == text);
        }
    }

    #[test]
    fn a_secret_is_gone_from_any_surroundings(
        (secret, before, behind) in secrets(),
        head in "[ a-zA-Zé日🙂.,\n]{0,20}",
        tail in "[ a-zA-Zé日🙂.,\n]{0,20}",
    ) {
        let text = format!("{head} {before}{secret}{behind} {tail}");
        let redacted = redact(&text, RedactOptions::default());
        prop_assert!(!redacted.text.contains(&secret), "{}", redacted.text);
        prop_assert!(redacted.text.starts_with(&head) && redacted.text.ends_with(&tail));
        let again = redact(&redacted.text, RedactOptions::default()).text.into_owned();
        prop_assert_eq!(&*redact(&again, RedactOptions::default()).text, &again);
    }
}
