#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::Config;

fn read(text: &str) -> Result<SummarizerConfig, String> {
    Config::read(text).map(|config| config.summarizer)
}

#[test]
fn without_a_section_there_is_the_extractive_one() {
    let config = read("").unwrap();
    assert_eq!(config, SummarizerConfig::default());
    assert_eq!(config.chain, [Kind::Extractive]);
}

#[test]
fn an_endpoint_needs_a_url_and_no_more() {
    let config = read("[summarizer.openai]\nbase_url = \"http://127.0.0.1:11434/v1\"").unwrap();
    assert_eq!(config.chain, [Kind::Extractive], "a table alone asks nobody");
    assert_eq!(
        config.openai.unwrap(),
        EndpointConfig {
            base_url: Url::parse("http://127.0.0.1:11434/v1").unwrap(),
            model: ModelChoice::Auto,
            api_key_env: None,
            context_length: None,
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(60),
            total_timeout: Duration::from_secs(180),
            max_response: 1 << 20,
        }
    );
}

#[test]
fn all_that_can_be_said() {
    let config = read(
        r#"
        [summarizer]
        chain = ["anthropic", "command", "client", "extractive"]
        [summarizer.anthropic]
        base_url = "https://api.anthropic.com"
        model = "some-model"
        api_key_env = "ANTHROPIC_API_KEY"
        context_length = 200_000
        connect_timeout = "300ms"
        read_timeout = "2m"
        total_timeout = "5m"
        max_response = "64KiB"
        [summarizer.command]
        argv = ["llm", "-m", "x"]
        context_length = 32_000
        timeout = "90s"
        max_response = "2KiB"
        "#,
    )
    .unwrap();
    assert_eq!(config.chain, [Kind::Anthropic, Kind::Command, Kind::Client, Kind::Extractive]);
    let anthropic = config.anthropic.unwrap();
    assert_eq!(anthropic.model, ModelChoice::Named("some-model".into()));
    assert_eq!(anthropic.api_key_env.as_deref(), Some("ANTHROPIC_API_KEY"));
    assert_eq!((anthropic.context_length, anthropic.max_response), (Some(200_000), 64 << 10));
    assert_eq!(anthropic.connect_timeout, Duration::from_millis(300));
    assert_eq!((anthropic.read_timeout, anthropic.total_timeout), (Duration::from_secs(120), Duration::from_secs(300)));
    let argv = ["llm", "-m", "x"].map(str::to_owned).to_vec();
    let command =
        CommandConfig { argv, context_length: Some(32_000), timeout: Duration::from_secs(90), max_response: 2 << 10 };
    assert_eq!(config.command.unwrap(), command);
}

#[test]
fn models_are_main_auto_or_a_name() {
    for (text, model) in
        [("main", ModelChoice::Main), ("auto", ModelChoice::Auto), (" m ", ModelChoice::Named("m".into()))]
    {
        let text = format!("[summarizer.openai]\nbase_url = \"http://h\"\nmodel = {text:?}");
        assert_eq!(read(&text).unwrap().openai.unwrap().model, model);
    }
}

#[test]
fn mistakes_name_the_key_and_what_is_nearest() {
    const URL: &str = "base_url = \"http://h/v1\"\n";
    for (text, words) in [
        ("[summarizer]\nchain = [\"openia\"]".into(), &["`summarizer.chain`", "did you mean \"openai\"?"][..]),
        ("[summarizer]\nchain = [\"OpenAI\"]".into(), &["`summarizer.chain`", "no summarizer"]),
        ("[summarizer]\nchain = []".into(), &["`summarizer.chain`", "at least one"]),
        ("[summarizer]\nchain = [\"client\", \"client\"]".into(), &["`summarizer.chain`", "\"client\" twice"]),
        ("[summarizer]\nchain = [\"openai\"]".into(), &["`summarizer.chain`", "needs a table [summarizer.openai]"]),
        ("[summarizer]\nchain = [\"command\"]".into(), &["`summarizer.chain`", "needs a table [summarizer.command]"]),
        ("[summarizer.openia]\n".into(), &["line 1", "did you mean `openai`?"]),
        (format!("[summarizer.openai]\n{URL}modle = \"x\""), &["line 3", "did you mean `model`?"]),
        ("[summarizer.openai]\n".into(), &["`summarizer.openai.base_url`", "is needed"]),
        ("[summarizer.anthropic]\nbase_url = \"h\"".into(), &["`summarizer.anthropic.base_url`", "must be a URL"]),
        ("[summarizer.openai]\nbase_url = \"file:///v1\"".into(), &["`summarizer.openai.base_url`", "http://"]),
        ("[summarizer.openai]\nbase_url = \"http://h/?a\"".into(), &["`summarizer.openai.base_url`", "no `?`"]),
        (format!("[summarizer.openai]\n{URL}model = \" \""), &["`summarizer.openai.model`", "\"auto\""]),
        (format!("[summarizer.openai]\n{URL}context_length = 0"), &["`summarizer.openai.context_length`"]),
        (format!("[summarizer.openai]\n{URL}read_timeout = \"0s\""), &["`summarizer.openai.read_timeout`", "1ms"]),
        (format!("[summarizer.openai]\n{URL}total_timeout = \"2d\""), &["`summarizer.openai.total_timeout`", "1d"]),
        (format!("[summarizer.openai]\n{URL}max_response = \"1GiB\""), &["`summarizer.openai.max_response`", "64MiB"]),
        (format!("[summarizer.openai]\n{URL}max_retries = 3"), &["line 3", "max_re"]),
        ("[summarizer.command]\n".into(), &["`summarizer.command.argv`", "a program"]),
        ("[summarizer.command]\nargv = [\"\"]".into(), &["`summarizer.command.argv`"]),
        ("[summarizer.command]\nargv = [\"a\\u0000b\"]".into(), &["`summarizer.command.argv`"]),
        ("[summarizer.command]\nargv = [\"a\"]\ntimeout = \"5\"".into(), &["`summarizer.command.timeout`"]),
    ] {
        let error = read(&text).unwrap_err();
        assert!(words.iter().all(|words| error.contains(words)), "{text}: {error}");
    }
}

#[test]
fn a_key_that_was_pasted_at_the_wrong_place_is_not_repeated() {
    const KEY: &str = "sk-proj-abcdefghijklmnopqrstuvwx1234567890";
    for (text, words) in [
        (format!("[summarizer.openai]\nbase_url = \"http://h\"\napi_key_env = \"{KEY}\""), "never the key itself"),
        (format!("[summarizer.openai]\nbase_url = \"http://h\"\napi_key = \"{KEY}\""), "did you mean `api_key_env`?"),
        (format!("[summarizer.openai]\nbase_url = \"http://me:{KEY}@h\""), "no user or password"),
        (format!("[summarizer.openai]\nbase_url = \"http://h?key={KEY}\""), "no `?`"),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.contains(words), "{error}");
        assert!(!error.contains("klmnopqrst"), "{error}");
    }
}
