//! A writer whose sessions open, grow, are compressed and close.

use herma_client::ClientError;
use herma_protocol::context::CompressParams;
use herma_protocol::session::chain::ShowParams;
use herma_protocol::session::transcript::AppendParams;
use herma_protocol::session::{CloseParams, OpenParams};
use herma_protocol::{ErrorKind, Json};
use serde_json::{Value, json};

use super::Worker;
use crate::ledger;

/// Maximum turns before a compression, and maximum compressions before the end.
const TURNS: usize = 40;
const COMPRESSIONS: usize = 3;

pub(super) fn run(mut worker: Worker) {
    let started = ledger::lines(&worker.out, &worker.name).iter().filter(|(kind, _)| kind == "opened").count();
    let mut number = started;
    while !worker.is_stopped() {
        number += 1;
        let session = format!("{}-{number}", worker.name);
        if live(&mut worker, &session).is_none() {
            return;
        }
    }
}

/// Runs one session from start to end. Returns `None` when the worker must stop.
fn live(worker: &mut Worker, session: &str) -> Option<()> {
    let sha256 = open(worker, session)?;
    let (mut generation, mut position, mut turn) = (0, 0, 0);
    let compressions = worker.below(COMPRESSIONS + 1);
    for round in 0..=compressions {
        for _ in 0..=worker.below(TURNS) {
            turn += 1;
            let words = worker.below(200);
            let said = [
                json!({ "role": "user", "content": format!("{session} asks {turn}: {}", "look there. ".repeat(words / 8)) }),
                json!({ "role": "assistant", "content": format!("{session} answers {turn}: {}", "it was so. ".repeat(words)) }),
            ];
            if !append(worker, session, generation, position, &said)? {
                return Some(());
            }
            position += 2;
            worker.pace();
        }
        let again = open(worker, session)?;
        if again != sha256 {
            worker.loss(&format!("the snapshot of {session} was {sha256} and is {again}"));
        }
        if round == compressions {
            break;
        }
        let asked = CompressParams { session: session.to_owned(), force: Some(true), ..CompressParams::default() };
        match worker.once(|client| client.context_compress(asked)) {
            Ok(done) => {
                let list = done.compressed().and_then(|done| done.messages);
                position = list.map_or(position, |messages| u64::try_from(messages.len()).unwrap());
            }
            // It is unknown whether the compression was done and what its result is.
            Err(_) => return Some(()),
        }
        let shown = worker.until(|client| client.session_show(ShowParams { session: session.to_owned() }))?;
        generation = shown.map_or(generation, |row| row.generation);
        worker.ledger.note("compressed", &json!(session));
    }
    if worker.below(3) > 0 {
        let close = CloseParams { session: session.to_owned(), reason: None };
        if let Ok(_closed) = worker.until(|client| client.session_close(close.clone()))? {
            worker.ledger.note("closed", &json!(session));
        }
    }
    Some(())
}

fn open(worker: &mut Worker, session: &str) -> Option<String> {
    let params = OpenParams {
        session: session.to_owned(),
        context_length: Some(64_000),
        agent: Some(worker.name.clone()),
        ..OpenParams::default()
    };
    loop {
        if let Ok(opened) = worker.until(|client| client.session_open(params.clone()))? {
            let sha256 = opened.snapshot.sha256;
            worker.ledger.note("opened", &json!({ "session": session, "sha256": sha256 }));
            return Some(sha256);
        }
        worker.pace();
    }
}

/// Appends until it succeeds. Returns false if the session's position differs for good.
fn append(worker: &mut Worker, session: &str, generation: u64, position: u64, said: &[Value]) -> Option<bool> {
    let messages: Vec<Json> = said.iter().map(|message| Json::parse(message.to_string()).unwrap()).collect();
    let params = AppendParams { session: session.to_owned(), generation, position, messages };
    match worker.until(|client| client.session_append(params.clone()))? {
        Ok(_) => {
            let texts: Vec<&Value> = said.iter().map(|message| &message["content"]).collect();
            worker.ledger.note("said", &json!({ "session": session, "texts": texts }));
            Some(true)
        }
        Err(ClientError::Rpc(error)) if error.kind == ErrorKind::Conflict => {
            worker.loss(&format!("{session} at {generation}/{position}: {error}"));
            Some(false)
        }
        Err(error) => {
            worker.loss(&format!("{session}: {error}"));
            Some(false)
        }
    }
}
