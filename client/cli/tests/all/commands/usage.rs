//! `herma usage`, `herma context usage`.

use herma_client::protocol::Request;
use herma_client::protocol::session::usage::By;

use super::fake::Fake;
use super::parts;

#[test]
fn usage_is_a_table_with_a_bar_for_people_only() {
    let fake = Fake::with_history(&[]);
    for (locale, bar) in [("C.UTF-8", "█".repeat(20)), ("C", "#".repeat(20))] {
        let (code, out, error) = parts(&fake.command(&["usage"]).env("LC_ALL", locale).output().unwrap());
        let expected = format!(
            "model  calls  prompt  cached  output  total\nm          2   5,000       0      70  5,070  {bar}\ntotal      2   5,000       0      70  5,070\n"
        );
        assert_eq!((code, out), (0, expected), "{error}");
    }
    let (_, out, _) =
        parts(&fake.herma(&["usage", "--json", "--by", "day", "--since", "1790000000", "--session", "s"]));
    assert!(!out.contains('█') && !out.contains('#'), "{out}");
    let Some(Request::SessionUsage(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.by, params.since), (Some(By::Day), Some(1_790_000_000.0)));
    assert_eq!(params.session.as_deref(), Some("s"));
    let (code, _, error) = parts(&fake.herma(&["usage", "--since", "7y"]));
    assert!(code == 2 && error.contains("there is no unit y"), "{error}");
}

#[test]
fn a_call_is_recorded_as_it_came() {
    let fake = Fake::with_history(&[]);
    let file = fake.folder.path().join("usage.json");
    std::fs::write(&file, "{\"input_tokens\": 5}").unwrap();
    let file = file.to_str().unwrap();
    let (code, out, error) =
        parts(&fake.herma(&["context", "usage", "s", file, "--provider", "anthropic", "--api-mode", "x"]));
    assert!(code == 0 && out.contains("window        75 % full\n"), "{out} {error}");
    let Some(Request::ContextRecordUsage(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!(params.usage.unwrap().get(), "{\"input_tokens\": 5}");
    assert_eq!((params.provider.as_deref(), params.api_mode.as_deref()), (Some("anthropic"), Some("x")));
    std::fs::write(file, "{").unwrap();
    let (code, _, error) = parts(&fake.herma(&["context", "usage", "s", file]));
    assert!(code == 1 && error.contains("usage.json: "), "{error}");
}
