#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod answers;
mod models;
mod programs;
mod proxies;
mod server;
mod troubles;

use server::Server;

use super::*;
use crate::Config;

/// A key that no pattern would recognize.
const KEY: &str = "correct horse battery";

/// The variable that holds it.
const VARIABLE: &str = "SOME_KEY";

/// Timeouts that are short enough for a test.
const SHORT: &str = "connect_timeout = \"300ms\"\nread_timeout = \"300ms\"\ntotal_timeout = \"900ms\"\n";

/// Summarizers of a configuration, with the one key.
fn summarizers(text: &str) -> Summarizers {
    let config = Config::read(text).unwrap().summarizer;
    let summarizers = Summarizers::with_keys(&config, |name| (name == VARIABLE).then(|| format!("{KEY}\n")));
    assert!(!format!("{summarizers:?}").contains(KEY), "{summarizers:?}");
    summarizers
}

/// One of the two endpoints, at a server.
fn endpoint(kind: Kind, server: &Server, more: &str) -> Summarizers {
    let (name, port) = (kind.name(), server.port);
    let model = if more.contains("model =") { "" } else { "model = \"m-1\"\n" };
    summarizers(&format!(
        "[summarizer.{name}]\nbase_url = \"http://127.0.0.1:{port}/v1\"\napi_key_env = \"{VARIABLE}\"\n{model}{more}"
    ))
}

fn call<'a>(prompt: &'a str, main: &'a Main) -> Call<'a> {
    Call { prompt, max_tokens: 900, model: None, main }
}

/// Makes a call that succeeds or fails. Its result never contains the key.
async fn write(summarizers: &Summarizers, kind: Kind, prompt: &str) -> Result<Written, Failure> {
    let written = summarizers.write(kind, call(prompt, &Main::default())).await;
    assert!(!format!("{written:?}").contains(KEY), "{written:?}");
    if let Err(failure) = &written {
        assert!(failure.text.chars().count() <= 220 && !failure.text.contains('\n'), "{failure:?}");
        assert!(!failure.text.contains("127.0.0.1"), "{failure:?}");
    }
    written
}

#[test]
fn the_names_are_read_as_they_are_written() {
    for kind in Kind::ALL {
        assert_eq!(Kind::parse(kind.name()), Some(kind));
    }
    assert_eq!(Kind::parse("Openai"), None);
}

#[tokio::test]
async fn what_has_no_table_is_not_configured() {
    let summarizers = summarizers("");
    assert_eq!(summarizers.chain(), [Kind::Extractive]);
    for (kind, is_configured) in Kind::ALL.into_iter().zip([true, false, false, false, true]) {
        assert_eq!(summarizers.is_configured(kind), is_configured, "{kind:?}");
        assert_eq!(summarizers.context_length(kind), None);
        let failure = write(&summarizers, kind, "p").await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoProvider, "{kind:?}");
        assert!(failure.text.starts_with("no provider configured"), "{failure:?}");
    }
}

#[test]
fn windows_are_told() {
    let text = "[summarizer.openai]\nbase_url = \"http://h\"\ncontext_length = 9\n[summarizer.command]\nargv = [\"a\"]";
    let summarizers = summarizers(text);
    assert_eq!(summarizers.context_length(Kind::OpenAi), Some(9));
    assert_eq!(summarizers.context_length(Kind::Command), None);
}
