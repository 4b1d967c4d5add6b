//! Pages of what a compression removed: their size, the parts of long messages, and pages about something.

use herma_client::{Client, ClientError};
use herma_protocol::context::{CompressParams, ConfigureParams};
use herma_protocol::recall::{DescribeParams, ExpandParams, ExpandResult, Node};
use herma_protocol::{ErrorKind, Json};
use herma_tests::{Daemon, Home};
use serde_json::json;

/// The number of the message that the pages are about, and of the one that is long.
const HERONS: usize = 40;
const LONG: usize = 41;

/// The lines of the long message.
const LINES: usize = 4_000;

fn message(number: usize) -> Json {
    let text = match number {
        HERONS => "The herons nest behind the pumping station in Ostrava.".to_owned(),
        LONG => (0..LINES).map(|line| format!("line {line} of the levels, 汉字\n")).collect(),
        _ => format!("Message {number} is about trains, tariffs and the weather of day {number}. ").repeat(8),
    };
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    Json::from_value(&json!({ "role": role, "content": text })).unwrap()
}

/// Compresses a session of the lossless engine. Returns the leaves, and the compression's handle.
fn compressed(client: &mut Client) -> (Vec<Node>, String) {
    let session = "s".to_owned();
    let window = ConfigureParams {
        session: session.clone(),
        context_length: Some(100_000),
        engine: Some("lossless".into()),
        ..ConfigureParams::default()
    };
    client.context_configure(window).unwrap();
    let messages = Some((0..200).map(message).collect());
    let params = CompressParams { session: session.clone(), messages, force: Some(true), ..CompressParams::default() };
    let report = client.context_compress(params).unwrap().compressed().unwrap().report;
    let map = client.recall_describe(DescribeParams { session }).unwrap().map;
    (map, report.archived.unwrap().handle)
}

/// Returns the leaf with the message of this number.
fn leaf_of(map: &[Node], number: usize) -> &Node {
    map.iter().find(|node| (node.first..node.next).contains(&(number as u64))).unwrap()
}

/// Returns all pages behind a handle.
fn pages(client: &mut Client, first: &ExpandParams) -> Vec<ExpandResult> {
    let (mut pages, mut next) = (Vec::new(), Some(first.handle.clone()));
    while let Some(handle) = next {
        let page = client.recall_expand(ExpandParams { handle, ..first.clone() }).unwrap();
        next = page.next.clone();
        pages.push(page);
    }
    pages
}

fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

#[test]
fn a_node_opens_page_by_page_and_every_message_comes_whole() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let (map, handle) = compressed(&mut client);
    let leaf = leaf_of(&map, LONG);

    let pages_of = |client: &mut Client, handle: &str| {
        pages(client, &ExpandParams { handle: handle.into(), ..ExpandParams::default() })
    };
    let found = pages_of(&mut client, &leaf.id);
    for page in &found {
        let size: usize = page.items.iter().map(|item| tokens(item.message.as_ref().unwrap().get())).sum();
        assert!(page.items.len() == 1 || size <= 2_000, "{size}");
    }
    let opened = found.iter().flat_map(|page| &page.items).map(|item| item.message.clone().unwrap());
    assert!(opened.clone().any(|opened| opened == message(LONG)));
    assert_eq!(opened.count() as u64, leaf.next - leaf.first);
    // A compression has no limit of tokens, so that few calls read all of it.
    let first = &pages_of(&mut client, &handle)[0];
    assert_eq!(first.items.len(), 50);
}

#[test]
fn a_message_that_is_longer_than_the_page_comes_in_parts() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let (map, handle) = compressed(&mut client);
    let leaf = leaf_of(&map, LONG);
    let whole: serde_json::Value = serde_json::from_str(message(LONG).get()).unwrap();
    let whole = whole["content"].as_str().unwrap();
    for (handle, has_messages) in [(leaf.id.clone(), Some(false)), (handle, None)] {
        let first = ExpandParams { handle, tokens: Some(1_000), messages: has_messages, ..ExpandParams::default() };
        let found = pages(&mut client, &first);
        assert!(found.iter().all(|page| page.items.iter().map(|item| tokens(&item.text)).sum::<usize>() <= 1_000));
        let items: Vec<_> = found.into_iter().flat_map(|page| page.items).collect();
        assert!(has_messages.is_none() || items.iter().all(|item| item.message.is_none()));
        let parts: Vec<_> = items.iter().filter_map(|item| Some((item, item.part.as_ref()?))).collect();
        assert!(parts.windows(2).all(|two| two[0].1.end == two[1].1.start), "the parts follow each other");
        assert_eq!(parts.iter().map(|(item, _)| item.text.as_str()).collect::<String>(), whole);
        assert!(parts.iter().all(|(item, part)| item.message.is_none()
            && part.chars == whole.chars().count() as u64
            && part.end - part.start == item.text.chars().count() as u64));
        // A single message goes on in parts, too, and then with the messages after it.
        let named = parts[0].0.handle.clone();
        let rest = ExpandParams { handle: named, before: Some(0), after: Some(1), ..first };
        let mut text = String::new();
        for page in pages(&mut client, &rest) {
            text.extend(page.items.iter().filter(|item| item.part.is_some()).map(|item| item.text.as_str()));
            if page.items.iter().any(|item| item.part.is_none()) {
                break;
            }
        }
        assert_eq!(text, whole);
    }
}

#[test]
fn a_page_is_about_the_words() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let (map, handle) = compressed(&mut client);
    let leaf = leaf_of(&map, LONG);
    let mut about = |handle: &str, words: &str| {
        let about = Some(words.to_owned());
        client.recall_expand(ExpandParams { handle: handle.into(), about, ..ExpandParams::default() })
    };
    let page = about(&leaf_of(&map, HERONS).id, "where do the herons nest?").unwrap();
    let herons = page.items.iter().find(|item| item.text.contains("Ostrava")).expect("the page has the message");
    assert!(page.items.len() > 1 && page.items.iter().map(|item| tokens(&item.text)).sum::<usize>() <= 2_000);
    // Of a long message comes the part with the words.
    let page = about(&leaf.id, "\"line 3210 of the levels\"").unwrap();
    let part = page.items.iter().find(|item| item.part.is_some()).expect("the message is longer than a page");
    assert!(part.text.starts_with("line ") && part.text.contains("line 3210 of"), "{:?}", part.part);
    let again = about(&part.handle, "\"line 3210 of the levels\"").unwrap();
    assert_eq!(again.items, page.items);
    // Where nothing fits, the node opens from its beginning.
    assert_eq!(about(&leaf.id, "zebras").unwrap().items, about(&leaf.id, "quaggas").unwrap().items);
    assert!(about(&herons.handle, "herons").unwrap().items.contains(herons));
    let Err(ClientError::Rpc(error)) = about(&handle, "herons") else { panic!("a compression takes no words") };
    assert!(error.kind == ErrorKind::InvalidParams && error.message.contains("about"), "{error}");
}
