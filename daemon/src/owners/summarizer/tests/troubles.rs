//! Endpoints that misbehave.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;

use super::server::{Part, answer, begin};
use super::*;

/// The longest time that a test waits, far above the timeouts in use.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the failure of the openai summarizer at a server with this script.
async fn failure(script: Vec<Part>) -> Failure {
    let server = Server::start(vec![script]).await;
    let failure = write(&endpoint(Kind::OpenAi, &server, SHORT), Kind::OpenAi, "p").await.unwrap_err();
    assert_eq!(failure.model, "m-1");
    assert_eq!(server.requests().len(), 1, "nothing is tried again");
    failure
}

#[tokio::test]
async fn a_status_other_than_200_is_told_with_its_words() {
    for (status, headers, body, words) in [
        (
            "401 Unauthorized",
            &[][..],
            r#"{"error": {"message": "bad key correct horse battery"}}"#,
            "HTTP 401: bad key ***",
        ),
        ("403 Forbidden", &[], "<html>no</html>", "HTTP 403: an HTML page"),
        (
            "404 Not Found",
            &[],
            r#"{"error": {"message": "no m-1", "code": "model_not_found"}}"#,
            "HTTP 404: no m-1 (model_not_found)",
        ),
        ("404 Not Found", &[], "404 page not found\n", "HTTP 404: 404 page not found"),
        ("413 Payload Too Large", &[], "", "HTTP 413: Payload Too Large"),
        ("500 Internal Server Error", &[], "{\"error\": \"llama\\nrunner\"}", "HTTP 500: llama runner"),
        ("503 Service Unavailable", &[], "{}", "HTTP 503: Service Unavailable"),
        ("204 No Content", &[], "", "HTTP 204: No Content"),
        ("302 Found", &["location: /elsewhere"], "", "HTTP 302: Found"),
        ("308 Permanent Redirect", &["location: http://example.invalid/"], "", "HTTP 308: Permanent Redirect"),
        ("599 Odd", &[], "", "HTTP 599:"),
    ] {
        let failure = failure(answer(status, headers, body)).await;
        assert_eq!(failure.status, status[..3].parse().ok());
        assert_eq!((failure.kind, failure.text.trim()), (FailureKind::Other, words));
        assert_eq!(failure.retry_after_s, None);
    }
}

#[tokio::test]
async fn a_wait_that_is_asked_for_is_told() {
    for (header, expected) in [("Retry-After: 17", Some(17.0)), ("retry-after: soon", None)] {
        let failure = failure(answer("429 Too Many Requests", &[header], "{}")).await;
        assert_eq!((failure.status, failure.retry_after_s), (Some(429), expected));
    }
}

#[tokio::test]
async fn an_answer_that_is_no_answer_is_a_failure() {
    let long = format!("{{\"error\": {{\"message\": \"{}\"}}}}", "long ".repeat(100));
    for (body, kind, words) in [
        ("<!DOCTYPE html><p>Sign in", FailureKind::Json, "bad JSON: an HTML page"),
        ("{\"choices\": [", FailureKind::Json, "bad JSON: EOF"),
        ("", FailureKind::Json, "bad JSON"),
        ("\u{feff}nope", FailureKind::Json, "bad JSON"),
        ("{\"choices\": []}", FailureKind::Json, "no choices[0].message.content"),
        ("[]", FailureKind::Json, "no choices[0].message.content"),
        (&"[".repeat(10_000), FailureKind::Json, "recursion limit"),
        ("{\"error\": {\"message\": \"out of credits\"}}", FailureKind::Other, "out of credits"),
        (&long, FailureKind::Other, "long long lo..."),
        ("{\"choices\": [{\"message\": {\"content\": \" \\n\"}}]}", FailureKind::Other, "empty"),
        (
            "{\"choices\": [{\"message\": {\"content\": null}, \"finish_reason\": \"length\"}]}",
            FailureKind::Other,
            "empty: finish_reason length",
        ),
        ("{\"choices\": [{\"message\": {}}]}", FailureKind::Other, "empty"),
        ("{\"choices\": [{\"message\": {\"content\": []}}]}", FailureKind::Other, "empty"),
    ] {
        let failure = failure(answer("200 OK", &[], body)).await;
        assert_eq!((failure.kind, failure.status), (kind, None), "{body:.40}: {failure:?}");
        assert!(failure.text.contains(words), "{body:.40}: {failure:?}");
    }
    let server = Server::start(vec![answer("200 OK", &[], "{\"content\": []}"), answer("200 OK", &[], "{}")]).await;
    let summarizers = endpoint(Kind::Anthropic, &server, "");
    assert_eq!(write(&summarizers, Kind::Anthropic, "p").await.unwrap_err().kind, FailureKind::Other);
    assert_eq!(write(&summarizers, Kind::Anthropic, "p").await.unwrap_err().kind, FailureKind::Json);
}

#[tokio::test]
async fn a_connection_that_fails_or_ends_too_early_is_told_as_that() {
    let half = Part::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec());
    let garbage = Part::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec());
    for script in [vec![], vec![half], vec![begin("{\"choices\": [")], vec![garbage]] {
        let failure = failure(script).await;
        assert_eq!((failure.kind, failure.status), (FailureKind::Connection, None), "{failure:?}");
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (host, words) in [(format!("127.0.0.1:{port}"), "refused"), ("name.invalid".into(), "")] {
        let text = format!("[summarizer.openai]\nbase_url = \"http://{host}/v1\"\nmodel = \"m\"\n{SHORT}");
        let failure = summarizers(&text).write(Kind::OpenAi, call("p", &Main::default())).await.unwrap_err();
        assert!(failure.text.contains(words) && !failure.text.contains(&host), "{failure:?}");
        assert!(matches!(failure.kind, FailureKind::Connection | FailureKind::Timeout), "{failure:?}");
    }
}

#[tokio::test]
async fn nothing_waits_for_ever() {
    let trickle = Part::Bytes(b"HTTP/1.1 200 OK\r\n\r\n".to_vec());
    for (script, words) in [
        (vec![Part::Hang], "no answer began within 300ms"),
        (vec![begin("{"), Part::Hang], "nothing came for 300ms"),
        (vec![Part::Drip("HTTP/1.1 200 OK\r\nx: ")], "no answer began within 300ms"),
        (vec![trickle, Part::Drip(" ")], "no whole answer within 900ms"),
    ] {
        let began = Instant::now();
        let failure = failure(script).await;
        assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
        assert!(failure.text.starts_with("timeout: ") && failure.text.contains(words), "{failure:?}");
        assert!(began.elapsed() < PATIENCE);
    }
}

/// The status is useful even if the body doesn't arrive.
#[tokio::test]
async fn a_refusal_whose_body_hangs_keeps_its_status() {
    let head = Part::Bytes(b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\ncontent-length: 9\r\n\r\n{".to_vec());
    for rest in [vec![Part::Hang], vec![]] {
        let failure = failure([vec![head.clone()], rest].concat()).await;
        assert_eq!((failure.status, failure.retry_after_s), (Some(429), Some(5.0)), "{failure:?}");
    }
}

#[tokio::test]
async fn an_answer_has_its_limit_declared_or_not() {
    let large = format!("{{\"choices\": [{{\"message\": {{\"content\": \"{}\"}}}}]}}", "x".repeat(3000));
    let undeclared = vec![Part::Bytes(format!("HTTP/1.1 200 OK\r\n\r\n{large}").into_bytes())];
    let endless = vec![Part::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n".to_vec()), Part::Hang];
    for script in [answer("200 OK", &[], &large), undeclared, endless] {
        let server = Server::start(vec![script]).await;
        let summarizers = endpoint(Kind::OpenAi, &server, "max_response = \"2KiB\"");
        let failure = write(&summarizers, Kind::OpenAi, "p").await.unwrap_err();
        assert_eq!((failure.kind, failure.text.as_str()), (FailureKind::Other, "the answer has more than 2048 bytes"));
    }
    let server = Server::start(vec![answer("200 OK", &[], &large)]).await;
    let text =
        write(&endpoint(Kind::OpenAi, &server, "max_response = \"4KiB\""), Kind::OpenAi, "p").await.unwrap().text;
    assert_eq!(text.len(), 3000);
}

#[tokio::test]
async fn whoever_gives_up_closes_the_connection() {
    let server = Server::start(vec![vec![Part::Hang]]).await;
    let summarizers = endpoint(Kind::OpenAi, &server, "");
    let main = Main::default();
    tokio::select! {
        written = summarizers.write(Kind::OpenAi, call("p", &main)) => panic!("{written:?}"),
        () = async { while server.requests().is_empty() { tokio::task::yield_now().await } } => {}
    }
    tokio::time::timeout(PATIENCE, server.client_is_gone()).await.unwrap();
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_nobodys() {
    let config = "[summarizer.openai]\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"m\"\napi_key_env = \"K\"";
    let config = Config::read(config).unwrap().summarizer;
    let summarizers = Summarizers::with_keys(&config, |_| Some("two\nlines".into()));
    let failure = summarizers.write(Kind::OpenAi, call("p", &Main::default())).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoProvider);
    assert_eq!(failure.text, "no provider configured: what K holds can't be sent in a header");
}

/// This needs system certificates. The handshake counts as connecting.
#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let text = format!(
        "[summarizer.openai]\nbase_url = \"https://127.0.0.1:{port}/v1\"\nmodel = \"m\"\nconnect_timeout = \"300ms\""
    );
    let summarizers = summarizers(&text);
    let silent = write(&summarizers, Kind::OpenAi, "p").await.unwrap_err();
    if silent.text.contains("no certificates") {
        return;
    }
    assert_eq!((silent.kind, silent.text.as_str()), (FailureKind::Timeout, "timeout: no connection within 300ms"));
    let talk = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await);
        }
    };
    let failure = tokio::select! {
        written = write(&summarizers, Kind::OpenAi, "p") => written.unwrap_err(),
        () = talk => unreachable!(),
    };
    assert_eq!(failure.kind, FailureKind::Connection, "{failure:?}");
}
