//! Calls that succeed.

use serde_json::json;

use super::server::{Part, answer};
use super::*;

const OPENAI: &str =
    r###"{"model": "m-1-0613", "choices": [{"message": {"role": "assistant", "content": " ## Goal\nnone\n"}}]}"###;

#[tokio::test]
async fn chat_completions() {
    let server = Server::start(vec![answer("200 OK", &["content-type: application/json"], OPENAI)]).await;
    let summarizers = endpoint(Kind::OpenAi, &server, "");
    let written = write(&summarizers, Kind::OpenAi, "Say \"so\".\n").await.unwrap();
    assert_eq!(written, Written { text: "## Goal\nnone".into(), model: "m-1".into() });
    let request = server.requests().remove(0);
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", request.head);
    assert_eq!(request.header("authorization"), Some("Bearer correct horse battery"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body = json!({"model": "m-1", "messages": [{"role": "user", "content": "Say \"so\".\n"}], "max_tokens": 900});
    assert_eq!(request.json(), body);
}

#[tokio::test]
async fn messages_of_anthropic() {
    let body = json!({"content": [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "one, "},
        {"type": "text", "text": "two"},
    ]});
    let server = Server::start(vec![answer("200 OK", &[], &body.to_string())]).await;
    for base in ["", "/", "/v1", "/v1/", "/proxy"] {
        let summarizers = summarizers(&format!(
            "[summarizer.anthropic]\nbase_url = \"http://127.0.0.1:{}{base}\"\nmodel = \"m-2\"\napi_key_env = \"{VARIABLE}\"",
            server.port
        ));
        let written = write(&summarizers, Kind::Anthropic, "p").await.unwrap();
        assert_eq!(written, Written { text: "one, two".into(), model: "m-2".into() });
    }
    let requests = server.requests();
    let paths = requests.iter().map(|request| request.head.split(' ').nth(1).unwrap());
    assert!(paths.eq(["/v1/messages", "/v1/messages", "/v1/messages", "/v1/messages", "/proxy/v1/messages"]));
    let request = &requests[0];
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("authorization"), None);
    let body = json!({"model": "m-2", "messages": [{"role": "user", "content": "p"}], "max_tokens": 900});
    assert_eq!(request.json(), body);
}

#[tokio::test]
async fn without_a_key_no_header_goes_out() {
    let server = Server::start(vec![answer("200 OK", &[], OPENAI)]).await;
    for key in ["", "api_key_env = \"NOBODY_SET_THIS\"\n"] {
        let port = server.port;
        let text = format!("[summarizer.openai]\nbase_url = \"http://localhost:{port}\"\nmodel = \"m\"\n{key}");
        write(&summarizers(&text), Kind::OpenAi, "p").await.unwrap();
    }
    assert!(server.requests().iter().all(|request| request.header("authorization").is_none()));
    assert!(server.requests()[0].head.starts_with("POST /chat/completions "));
}

#[tokio::test]
async fn a_content_may_come_in_parts_and_chunks() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunks = [
        "{\"choices\": [{\"message\": {\"content\": [{\"type\": \"text\", \"te",
        "xt\": \"héllo\"}, {\"text\": \" you\"}]}}]}",
    ];
    let mut parts = vec![Part::Bytes(head.into())];
    parts.extend(chunks.map(|chunk| Part::Bytes(format!("{:x}\r\n{chunk}\r\n", chunk.len()).into_bytes())));
    parts.push(Part::Bytes(b"0\r\n\r\n".to_vec()));
    let server = Server::start(vec![parts]).await;
    let written = write(&endpoint(Kind::OpenAi, &server, ""), Kind::OpenAi, "p").await.unwrap();
    assert_eq!(written.text, "héllo you");
}

#[tokio::test]
async fn a_long_prompt_arrives_whole() {
    let server = Server::start(vec![answer("200 OK", &[], OPENAI)]).await;
    let prompt = "a \"long\" line\n".repeat(300_000);
    write(&endpoint(Kind::OpenAi, &server, ""), Kind::OpenAi, &prompt).await.unwrap();
    assert_eq!(server.requests()[0].json()["messages"][0]["content"], prompt);
}

/// OpenAI's newer models refuse `max_tokens`, and most other servers don't know the new name.
#[tokio::test]
async fn a_model_that_wants_its_limit_under_another_name_gets_it() {
    let refusal = json!({"error": {
        "message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "code": "unsupported_parameter",
    }})
    .to_string();
    let refused = answer("400 Bad Request", &[], &refusal);
    let server = Server::start(vec![refused.clone(), answer("200 OK", &[], OPENAI)]).await;
    write(&endpoint(Kind::OpenAi, &server, ""), Kind::OpenAi, "p").await.unwrap();
    let second = server.requests()[1].json();
    assert_eq!((&second["max_completion_tokens"], second.get("max_tokens")), (&json!(900), None));

    let stubborn = Server::start(vec![refused]).await;
    let failure = write(&endpoint(Kind::OpenAi, &stubborn, ""), Kind::OpenAi, "p").await.unwrap_err();
    assert_eq!(failure.status, Some(400));
    assert_eq!(stubborn.requests().len(), 2);
}
