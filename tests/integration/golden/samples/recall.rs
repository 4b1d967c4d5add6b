//! Samples of the recall methods.

use herma_protocol::{Reply, Request, recall};

use super::{json, message};

pub(super) fn search() -> (Request, Reply) {
    let params = recall::SearchParams {
        query: "\"blue socket\" Bern".into(),
        session: Some("s-1".into()),
        kinds: Some(vec![recall::Kind::Message, recall::Kind::Output, recall::Kind::Memory]),
        since: Some(1_780_000_000.5),
        until: Some(1_790_000_000.25),
        limit: Some(20),
        scope: Some(recall::Scope::Everywhere),
        around: Some(1),
        prompt_of: None,
        agent: Some("claude-code".into()),
        folder: Some("/work/shop".into()),
    };
    let hit = recall::Hit {
        handle: "msg_0123abcd-300@cellar".into(),
        kind: recall::Kind::Message,
        session: Some("s-1".into()),
        agent: Some("claude-code".into()),
        source: Some("/home/me/.claude/projects/herma/1.jsonl".into()),
        cwd: Some("/work/shop".into()),
        role: Some("user".into()),
        time: 1_789_999_999.75,
        snippet: "…the blue socket in Zürich…".into(),
        start: 5,
        end: 16,
        score: 7.25,
        node: None,
        host: Some("cellar".into()),
        before: vec![recall::Neighbour {
            handle: "msg_0123abcd-299@cellar".into(),
            role: Some("assistant".into()),
            snippet: "which socket?".into(),
        }],
        after: vec![recall::Neighbour {
            handle: "msg_0123abcd-301@cellar".into(),
            role: Some("user".into()),
            snippet: "that one".into(),
        }],
    };
    (
        Request::RecallSearch(params),
        Reply::RecallSearch(recall::SearchResult {
            hits: vec![hit],
            more: true,
            notice: Some("words decided alone".into()),
            recalled: true,
        }),
    )
}

pub(super) fn expand() -> (Request, Reply) {
    let params = recall::ExpandParams {
        handle: "msg_0123456789ab_300".into(),
        before: Some(2),
        after: Some(100),
        tokens: Some(2_000),
        about: Some("the blue socket".into()),
        messages: Some(true),
        ..recall::ExpandParams::default()
    };
    let item = recall::Item {
        handle: "msg_0123456789ab_300".into(),
        role: Some("user".into()),
        text: "the blue socket".into(),
        part: Some(recall::ItemPart { start: 20, end: 35, chars: 90 }),
        message: Some(message()),
    };
    let result = recall::ExpandResult { items: vec![item], next: Some("msg_0123456789ab_401".into()), recalled: true };
    (Request::RecallExpand(params), Reply::RecallExpand(result))
}

pub(super) fn describe() -> (Request, Reply) {
    let compression = recall::Compression {
        generation: 3,
        time: 1_790_000_000.25,
        handle: "cmp_0123456789ab_3".into(),
        messages: 176,
        chars: 820_000,
        summary: "## Goal\nMend the socket.".into(),
        back_to: None,
        undone: None,
    };
    (
        Request::RecallDescribe(recall::DescribeParams { session: "s-1".into() }),
        Reply::RecallDescribe(recall::DescribeResult {
            compressions: vec![compression],
            map: Vec::new(),
            open: Vec::new(),
        }),
    )
}

pub(super) fn state() -> (Request, Reply) {
    let attribute = recall::Attribute {
        name: "cabin".into(),
        value: "business".into(),
        was: Some("economy".into()),
        handle: "msg_12".into(),
    };
    let entity = recall::Entity {
        kind: "reservation".into(),
        id: "UM3OG5".into(),
        attributes: vec![attribute],
        given: 2,
        said: 5,
        handle: "msg_14".into(),
    };
    (
        Request::RecallState(recall::StateParams {
            session: "s-1".into(),
            entity: Some("UM3OG5".into()),
            limit: Some(10),
        }),
        Reply::RecallState(recall::StateResult { entities: vec![entity], more: false, recalled: true }),
    )
}

pub(super) fn ask() -> (Request, Reply) {
    let evidence = recall::Evidence {
        quote: "the blue socket".into(),
        handle: "msg_12".into(),
        role: Some("user".into()),
        time: 1_790_000_000.25,
    };
    (
        Request::RecallAsk(recall::AskParams {
            question: "Which socket?".into(),
            session: Some("s-1".into()),
            node: Some("nod_0123456789ab_3".into()),
            tokens: Some(4_000),
            summarizer: Some("openai".into()),
        }),
        Reply::RecallAsk(recall::AskResult {
            answer: Some("The blue one.".into()),
            evidence: vec![evidence],
            by: "openai".into(),
            unverified: 1,
            notice: Some("openai: refused".into()),
            recalled: true,
        }),
    )
}

pub(super) fn schema() -> (Request, Reply) {
    let tools = vec![json(r#"{"name":"recall_search", "parameters":{"type":"object"}}"#)];
    (Request::RecallSchema(recall::SchemaParams {}), Reply::RecallSchema(recall::SchemaResult { tools }))
}
