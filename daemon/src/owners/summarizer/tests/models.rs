//! The choice of the model.

use serde_json::Value;

use super::server::answer;
use super::*;

fn main_of(model: Option<&str>, base_url: Option<&str>) -> Main {
    Main { model: model.map(str::to_owned), base_url: base_url.map(str::to_owned), ..Main::default() }
}

#[test]
fn the_sessions_own_choice_wins_then_the_configuration() {
    const HERE: Option<&str> = Some("http://h/v1/");
    const ELSEWHERE: Option<&str> = Some("https://elsewhere/v1");
    for (configured, own, model, base_url, expected) in [
        ("c", None, Some("m"), None, "c"),
        ("c", Some("own"), Some("m"), None, "own"),
        ("c", Some("main"), Some("m"), ELSEWHERE, "m"),
        ("c", Some("auto"), Some("m"), HERE, "m"),
        ("c", Some(" "), Some("m"), None, "c"),
        ("main", None, Some("m"), ELSEWHERE, "m"),
        ("main", None, None, None, ""),
        ("main", Some("own"), Some("m"), None, "own"),
        ("auto", None, Some("m"), None, "m"),
        ("auto", None, Some("m"), HERE, "m"),
        ("auto", None, Some("m"), Some("http://h"), "m"),
        ("auto", None, Some("m"), ELSEWHERE, ""),
        ("auto", None, None, None, ""),
    ] {
        let text = format!("[summarizer.openai]\nbase_url = \"http://h/v1\"\nmodel = \"{configured}\"");
        let asked = summarizers(&text).model_of(Kind::OpenAi, own, &main_of(model, base_url));
        assert_eq!(asked, expected, "{configured} {own:?} {model:?} {base_url:?}");
    }
}

#[tokio::test]
async fn main_follows_the_session() {
    let server = Server::start(vec![answer("200 OK", &[], r#"{"choices": [{"message": {"content": "s"}}]}"#)]).await;
    let summarizers = endpoint(Kind::OpenAi, &server, "model = \"main\"");
    for model in ["first", "second"] {
        let main = main_of(Some(model), Some("https://elsewhere/v1"));
        assert_eq!(summarizers.model(Kind::OpenAi, &main), model);
        let written = summarizers.write(Kind::OpenAi, call("p", &main)).await.unwrap();
        assert_eq!(written.model, model);
    }
    let asked: Vec<Value> = server.requests().iter().map(|request| request.json()["model"].clone()).collect();
    assert_eq!(asked, ["first", "second"]);
    let failure = write(&summarizers, Kind::OpenAi, "p").await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoProvider);
    assert_eq!(server.requests().len(), 2, "nobody was asked for a model without a name");
}

#[tokio::test]
async fn auto_leaves_the_choice_to_an_endpoint_that_is_not_the_sessions() {
    let body = r#"{"model": "served", "choices": [{"message": {"content": "s"}}], "content": "s"}"#;
    let server = Server::start(vec![answer("200 OK", &[], body)]).await;
    let main = main_of(Some("m"), Some("https://elsewhere/v1"));
    let written = endpoint(Kind::OpenAi, &server, "model = \"auto\"").write(Kind::OpenAi, call("p", &main)).await;
    assert_eq!(written.unwrap().model, "served");
    assert_eq!(server.requests()[0].json().get("model"), None);
    let anthropic = endpoint(Kind::Anthropic, &server, "model = \"auto\"");
    let failure = anthropic.write(Kind::Anthropic, call("p", &main)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoProvider, "its requests need a model");
}

#[tokio::test]
async fn a_failure_names_the_model_that_was_asked_for() {
    let server = Server::start(vec![answer("500 Oops", &[], "")]).await;
    let main = Main::default();
    let asked = Call { model: Some("own"), ..call("p", &main) };
    for kind in [Kind::OpenAi, Kind::Anthropic] {
        let failure = endpoint(kind, &server, "").write(kind, asked).await.unwrap_err();
        assert_eq!(failure.model, "own");
    }
}
