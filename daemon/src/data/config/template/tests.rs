#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;

use herma_disk::file;

use super::*;
use crate::data::config::{Setting, settings};

#[test]
fn the_template_changes_nothing() {
    assert_eq!(Config::read(&template()).unwrap(), Config::read("").unwrap());
}

#[test]
fn what_is_commented_out_are_the_defaults() {
    let text = sections("");
    let said = settings(&Config::read(&text).unwrap(), Some(&text), &[]);
    for Setting { key, value, .. } in settings(&Config::read("").unwrap(), None, &[]) {
        let row = said.iter().find(|row| row.key == key).unwrap();
        assert_eq!((&row.value, row.source.words()), (&value, "config.toml".to_owned()), "{key}");
    }
}

#[test]
fn every_key_is_there() {
    fn check(section: &mut dyn Section) {
        for Key { name, comment, held } in section.keys() {
            match held {
                KeyValue::Value(field) => {
                    assert!(field.shown.is_some() && !comment.is_empty(), "{name} has no example")
                }
                KeyValue::Section(section) => check(section),
                KeyValue::Optional { mut example, .. } => check(&mut *example),
                KeyValue::Named { example, .. } => assert!(!example.is_empty(), "{name} has no example"),
            }
        }
    }
    check(&mut Config::default());
}

/// `HERMA_BLESS=1` rewrites the blocks.
#[test]
fn the_documents_show_the_keys_as_they_are_declared() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (of_kinds, of_all): (Vec<_>, Vec<_>) = sections("")
        .split("\n\n")
        .map(|table| table.trim().to_owned())
        .partition(|table| table.starts_with("[summarizer."));
    let of_all = of_all.join("\n");
    let table = |kind: &str| of_kinds.iter().find(|table| table.starts_with(&format!("[summarizer.{kind}]"))).unwrap();
    for (document, block) in [
        ("docs/configuration.md", &of_all),
        ("docs/summarizers.md", table("openai")),
        ("docs/summarizers.md", table("command")),
    ] {
        let path = root.join(document);
        let (text, _) = file::read_text(&path, 1 << 20).unwrap().unwrap();
        let head = format!("```toml\n{}", block.split_inclusive(']').next().unwrap());
        let (before, rest) = text.split_once(&head).unwrap();
        let (_, after) = rest.split_once("\n```").unwrap();
        let current = format!("{before}```toml\n{block}\n```{after}");
        if std::env::var_os("HERMA_BLESS").is_some_and(|bless| bless == "1") {
            file::replace(&path, current.as_bytes(), file::Temporary { prefix: ".bless_", suffix: ".tmp" }).unwrap();
        } else {
            assert!(
                text == current,
                "{document} shows other keys than those declared; HERMA_BLESS=1 writes it:\n{block}"
            );
        }
    }
}
