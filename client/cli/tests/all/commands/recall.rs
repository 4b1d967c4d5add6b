//! `herma recall`.

use herma_client::protocol::Request;
use herma_client::protocol::recall::{Kind, Scope};

use super::fake::Fake;
use super::parts;

#[test]
fn hits_are_printed_with_their_marks() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) =
        parts(&fake.herma(&["recall", "the", "heron", "--kind", "message", "--since", "1790000000", "--limit", "1"]));
    assert!(code == 0 && out.starts_with("msg_1  message  s  user  "), "{out}");
    assert!(out.ends_with("\n    the »heron« nests\n") && error.contains("there are more"), "{out} {error}");
    let Some(Request::RecallSearch(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.query.as_str(), params.kinds), ("the heron", Some(vec![Kind::Message])));
    assert_eq!((params.since, params.until, params.limit), (Some(1_790_000_000.0), None, Some(1)));
}

#[test]
fn everywhere_is_asked_for_and_a_hit_of_another_host_names_it() {
    let fake = Fake::with_history(&[]);
    let (code, out, _) = parts(&fake.herma(&["recall", "elsewhere", "--everywhere"]));
    assert!(code == 0 && out.lines().next().is_some_and(|line| line.ends_with("  on cellar")), "{out}");
    let Some(Request::RecallSearch(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!(params.scope, Some(Scope::Everywhere));
}

#[test]
fn nothing_found_is_exit_code_1() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["recall", "nowhere"]));
    assert_eq!((code, out.as_str(), error.as_str()), (1, "", "herma: nothing was found\n"));
    let (code, out, error) = parts(&fake.herma(&["recall", "nowhere", "--json"]));
    assert!(code == 1 && out.contains("\"hits\": []") && error.is_empty(), "{out} {error}");
}

#[test]
fn an_empty_query_is_a_wrong_argument() {
    let fake = Fake::with_history(&[]);
    for query in [[""].as_slice(), &[" ", "\t"]] {
        let (code, out, error) = parts(&fake.herma(&[&["recall"], query].concat()));
        assert!((code, out.as_str()) == (2, "") && error.contains("the query is empty"), "{query:?}: {error}");
    }
    assert!(fake.state().last.is_none());
}

#[test]
fn a_handle_is_expanded_and_says_where_it_goes_on() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["recall", "--expand", "msg_1", "-B", "0"]));
    assert_eq!((code, out.as_str()), (0, "msg_1  user\nthe heron\n"));
    assert_eq!(error, "herma: it goes on: herma recall --expand msg_9\n");
    let Some(Request::RecallExpand(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.before, params.after), (Some(0), None));
}

#[test]
fn compressions_and_schemas_are_printed() {
    let fake = Fake::with_history(&[]);
    let (code, out, _) = parts(&fake.herma(&["recall", "--describe", "s"]));
    assert!(code == 0 && out.contains("cmp_0123456789ab_3") && out.contains("## Goal"), "{out}");
    let (code, out, _) = parts(&fake.herma(&["recall", "--schema"]));
    assert_eq!((code, out.as_str()), (0, "{\"name\":\"recall_search\"}\n"));
}
