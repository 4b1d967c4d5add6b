//! A preview shows what a compression does, and changes nothing.

use herma_protocol::constraint::{AddParams, ListParams};
use herma_protocol::context::{
    CompressParams, ConfigureParams, PlanParams, Preview, ReplyForm, Settings, StatusParams,
};
use herma_tests::{Daemon, Home};

use crate::compression::conversation;

const WINDOW: u64 = 32_000;

#[test]
fn what_is_shown_is_what_is_done() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let (session, context_length) = ("s".to_owned(), Some(WINDOW));
    client
        .context_configure(ConfigureParams { session: session.clone(), context_length, ..ConfigureParams::default() })
        .unwrap();
    let rule = AddParams { session: session.clone(), text: "Never call after nine.".into(), ..AddParams::default() };
    client.constraint_add(rule).unwrap();
    let mut list = conversation(500);
    for round in 0..2 {
        let rules = client.constraint_list(ListParams { session: session.clone() }).unwrap();
        let params = PlanParams {
            messages: list.clone(),
            session: Some(session.clone()),
            preview: Some(true),
            ..PlanParams::default()
        };
        let preview = client.context_plan(params.clone()).unwrap().preview.unwrap();
        assert_eq!(client.context_plan(params).unwrap().preview.unwrap(), preview, "a look changes nothing");
        assert_eq!(client.constraint_list(ListParams { session: session.clone() }).unwrap(), rules);
        let status = client.context_status(StatusParams { session: session.clone() }).unwrap();
        assert_eq!(status.compression_count, round);
        let edits = CompressParams {
            session: session.clone(),
            messages: Some(list.clone()),
            reply: Some(ReplyForm::Edits),
            ..CompressParams::default()
        };
        let done = client.context_compress(edits).unwrap().compressed().unwrap();
        assert_eq!(done.edits.as_ref(), Some(&preview.edits));
        assert!(preview.handoff.contains("Never call after nine."), "{}", preview.handoff);
        assert_eq!(
            (preview.messages_after, preview.tokens_after),
            (done.report.messages_after, done.report.tokens_after)
        );
        list = crate::compression::edited(&list, &preview.edits);
        list.extend(conversation(300).into_iter().skip(1));
    }
}

#[test]
fn without_a_session_and_without_anything_to_do() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let config = Some(Settings { context_length: Some(WINDOW), ..Settings::default() });
    let preview = Some(true);
    let messages = conversation(500);
    let params = PlanParams { messages, config: config.clone(), preview, ..PlanParams::default() };
    let seen = client.context_plan(params).unwrap().preview.unwrap();
    assert!(seen.compressed && seen.tokens_after < seen.tokens_before / 2, "{seen:?}");
    let short = conversation(3);
    let params = PlanParams { messages: short.clone(), config, preview, ..PlanParams::default() };
    let Preview { compressed, reason, edits, .. } = client.context_plan(params).unwrap().preview.unwrap();
    assert_eq!((compressed, edits.keep), (false, vec![(0, short.len() as u64)]));
    assert_eq!(reason.as_deref(), Some("too few messages to compress"));
}
