//! What holds for every text.

use herma_guard::{CodeFile, RedactOptions, Scope, first_threat_message, redact, scan};
use proptest::prelude::*;

/// Texts of fragments that the patterns and passes look for, thrown together.
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

/// A secret, the text before it, and the text behind it.
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
    fn redaction_never_fails_and_counts_what_it_changes(text in texts()) {
        for code in [CodeFile::No, CodeFile::Yes] {
            let redacted = redact(&text, RedactOptions { code });
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
