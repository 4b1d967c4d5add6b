//! `herma memory edit`.

use std::path::PathBuf;

use herma_client::protocol::Request;
use herma_client::protocol::memory::{Action, BatchParams};

use super::fake::Fake;
use super::parts;

fn batch(fake: &Fake) -> Option<BatchParams> {
    fake.state().writes.iter().find_map(|write| match write {
        Request::MemoryBatch(params) => Some(params.clone()),
        _ => None,
    })
}

/// Returns the files that were left for the user.
fn kept(fake: &Fake) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(fake.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    folders.map(|folder| folder.join("user.md")).filter(|path| path.is_file()).collect()
}

#[test]
fn an_edit_is_one_batch_on_the_revision_it_began_with() {
    let fake = Fake::with_history(&[&["one", "two", "three"]]);
    let (code, out, error) = parts(&fake.edit("sed -i -e s/two/2/ -e '$a§' -e '$afour'", &["--agent", "me"]));
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let batch = batch(&fake).unwrap();
    let actions: Vec<Action> = batch.operations.iter().map(|operation| operation.action).collect();
    assert_eq!(actions, [Action::Replace, Action::Add]);
    assert_eq!((batch.expected_revision, batch.agent.as_deref()), (Some(1), Some("me")));
    assert_eq!((batch.allow_empty, batch.allow_drift), (Some(false), Some(false)));
    assert_eq!(fake.entries(), ["one", "2", "three", "four"]);
    assert_eq!(kept(&fake), Vec::<PathBuf>::new());
}

#[test]
fn what_the_guard_blocks_can_be_edited() {
    let fake = Fake::with_history(&[&["one", "poison"]]);
    assert_eq!(fake.edit("sed -i s/poison/harmless/", &[]).status.code(), Some(0));
    assert_eq!(fake.entries(), ["one", "harmless"]);
}

#[test]
fn a_change_at_another_place_than_the_file_has_it_is_reported() {
    let fake = Fake::with_history(&[&["one", "two"]]);
    let (code, _, error) = parts(&fake.edit("sed -i -e '1izero' -e '1i§'", &[]));
    assert_eq!(code, 0);
    assert!(error.contains("are at the end of user"), "{error}");
    assert_eq!(fake.entries(), ["one", "two", "zero"]);
}

#[test]
fn without_a_change_nothing_is_asked() {
    let fake = Fake::with_history(&[&["one"]]);
    let (code, out, _) = parts(&fake.edit("true", &[]));
    assert_eq!((code, out.as_str()), (0, "nothing changed\n"));
    assert_eq!((batch(&fake), kept(&fake)), (None, vec![]));
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let fake = Fake::with_history(&[&["one"]]);
    let (code, _, error) = parts(&fake.edit("false", &[]));
    assert_eq!(code, 1);
    assert!(error.contains("the editor false failed") && error.contains("nothing was changed"), "{error}");
    assert_eq!((batch(&fake), kept(&fake)), (None, vec![]));
    let (code, _, error) = parts(&fake.edit("f() { echo mine > \"$1\"; exit 1; }; f", &[]));
    assert!(code == 1 && error.contains("your text is kept in"), "{error}");
    assert_eq!(std::fs::read_to_string(&kept(&fake)[0]).unwrap(), "mine\n");
    assert_eq!(batch(&fake), None);
}

#[test]
fn a_text_that_was_overtaken_or_refused_is_kept() {
    let fake = Fake::with_history(&[&["one"]]);
    fake.state().overtaken = true;
    let (code, _, error) = parts(&fake.edit("sed -i s/one/mine/", &[]));
    assert!(code == 1 && error.contains("user was changed while you edited it"), "{error}");
    let [path] = kept(&fake).try_into().unwrap();
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "mine\n");
    assert_eq!(fake.entries(), ["one", "of another"]);

    let fake = Fake::with_history(&[&["one"]]);
    fake.state().refusal = Some("too full".into());
    let (code, out, error) = parts(&fake.edit("sed -i s/one/mine/", &[]));
    assert!(code == 4 && out.contains("refused: too full") && error.contains("your text is kept in"), "{out}{error}");
    assert_eq!(kept(&fake).len(), 1);
}

#[test]
fn a_store_is_emptied_only_on_request() {
    let fake = Fake::with_history(&[&["one"]]);
    let (code, _, error) = parts(&fake.edit("truncate -s 0", &[]));
    assert!(code == 1 && error.contains("--allow-empty"), "{error}");
    assert_eq!((batch(&fake), kept(&fake)), (None, vec![]));
    assert_eq!(fake.edit("truncate -s 0", &["--allow-empty"]).status.code(), Some(0));
    assert_eq!(batch(&fake).unwrap().allow_empty, Some(true));
    assert_eq!(fake.entries(), Vec::<String>::new());
}

#[test]
fn entries_that_a_file_can_t_hold_are_not_edited() {
    let fake = Fake::with_history(&[&["§\none"]]);
    let (code, _, error) = parts(&fake.edit("true", &[]));
    assert!(code == 1 && error.contains("can't be edited in a file"), "{error}");
}
