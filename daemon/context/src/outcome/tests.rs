use super::*;

fn failure(status: Option<u16>, kind: Option<&str>, text: &str) -> CallFailure {
    let kind = kind.map(|name| match name {
        "no_provider" => FailureKind::NoProvider,
        "json" => FailureKind::Json,
        "connection" => FailureKind::Connection,
        "timeout" => FailureKind::Timeout,
        _ => FailureKind::Other,
    });
    CallFailure { status, kind, text: text.to_owned() }
}

#[test]
fn classes_and_their_pauses() {
    use Class::{Connection, Json, ModelNotFound, NoProvider, Timeout, Unknown};
    for (status, kind, text, class, pause) in [
        (None, Some("no_provider"), "", NoProvider, 600),
        (None, Some("no_provider"), "connection refused", NoProvider, 600),
        (None, None, "No LLM provider configured for task=compression", NoProvider, 600),
        (Some(404), None, "<html>not here</html>", ModelNotFound, 60),
        (Some(503), None, "", ModelNotFound, 60),
        (None, Some("other"), "Error: MODEL_NOT_FOUND", ModelNotFound, 60),
        (Some(400), None, "The model `x` does not exist", ModelNotFound, 60),
        (None, None, "No available channel for model x", ModelNotFound, 60),
        (Some(408), None, "", Timeout, 60),
        (Some(429), None, "slow down", Timeout, 60),
        (Some(502), None, "bad gateway", Timeout, 60),
        (Some(504), Some("other"), "", Timeout, 60),
        (None, None, "Request Timeout", Timeout, 60),
        (Some(200), Some("json"), "", Json, 30),
        (Some(200), None, "Expecting value: line 1 column 1 (char 0)", Json, 30),
        (None, None, "JSONDecodeError", Json, 30),
        (None, Some("connection"), "", Connection, 30),
        (None, Some("timeout"), "", Connection, 30),
        (None, None, "[Errno 111] Connection refused", Connection, 30),
        (None, None, "Connection reset by peer", Connection, 30),
        (None, None, "Name or service not known", Connection, 30),
        (None, None, "No route to host", Connection, 30),
        (None, None, "Network is unreachable", Connection, 30),
        (None, None, "The read operation timed out", Connection, 30),
        (None, None, "peer closed connection (incomplete chunked read)", Connection, 30),
        (None, None, "Response ended prematurely", Connection, 30),
        (None, None, "unexpected EOF while reading", Connection, 30),
        (None, None, "RemoteProtocolError", Connection, 30),
        (None, None, "LocalProtocolError", Connection, 30),
        (Some(503), None, "upstream: connection reset", Connection, 30),
        (Some(500), None, "internal error", Unknown, 60),
        (Some(401), Some("other"), "invalid key", Unknown, 60),
        (None, None, "", Unknown, 60),
    ] {
        let found = classify(&failure(status, kind, text));
        assert_eq!((found, found.cooldown_s()), (class, pause), "{status:?} {kind:?} {text}");
    }
    assert_eq!(classify(&CallFailure::empty_reply()), Unknown);
}

#[test]
fn one_retry_and_only_with_another_model() {
    for (class, text) in
        [("unknown", "?"), ("json", "expecting value"), ("gone", "does not exist"), ("connection", "timed out")]
    {
        for (summary_model, main_model, has_fallen_back, retries) in [
            (Some("small"), "main", false, true),
            (Some("small"), "main", true, false),
            (Some("main"), "main", false, false),
            (Some(""), "main", false, false),
            (Some("small"), "", false, false),
            (None, "main", false, false),
        ] {
            let attempt = Attempt { summary_model, main_model, has_fallen_back };
            let decision = decide(&failure(None, None, text), &attempt);
            assert_eq!(matches!(decision, Decision::RetryWithMain { .. }), retries, "{class} {attempt:?}");
        }
    }
    let attempt = Attempt { summary_model: Some("small"), main_model: "main", has_fallen_back: false };
    let aux_failure = AuxFailure { model: "small".to_owned(), error: "boom".to_owned() };
    assert_eq!(decide(&failure(Some(500), None, " boom\n"), &attempt), Decision::RetryWithMain { aux_failure });
    assert_eq!(
        decide(&failure(None, Some("no_provider"), "x"), &attempt),
        Decision::GiveUp { cooldown_s: 600, error: NO_PROVIDER_ERROR.to_owned() }
    );
}

#[test]
fn errors_are_short_and_hold_no_secret() {
    let attempt = Attempt { summary_model: None, main_model: "main", has_fallen_back: false };
    let error = |text: &str| match decide(&failure(None, None, text), &attempt) {
        Decision::GiveUp { error, .. } => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(error(&"é".repeat(220)), "é".repeat(220));
    assert_eq!(error(&"é".repeat(221)), format!("{}...", "é".repeat(217)));
    let key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
    let shown = error(&format!("{} {key}", "x".repeat(200)));
    assert!(!shown.contains("sk-proj-abcd") && shown.chars().count() <= 220, "{shown}");
}
