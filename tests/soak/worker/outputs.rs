//! A writer that stores, reads and removes outputs.

use std::collections::VecDeque;
use std::path::Path;

use herma_client::{Client, ClientError};
use herma_protocol::ErrorKind;
use herma_protocol::output::shelf::RemoveParams;
use herma_protocol::output::{AdmitParams, Next, ReadParams};
use herma_protocol::value::{Content, Size};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Worker;
use crate::ledger;

/// Maximum number of outputs of one process.
const MOST: usize = 20;

/// Returns the stored outputs according to a ledger: handle and SHA-256.
pub(crate) fn kept(out: &Path, name: &str) -> VecDeque<(String, String)> {
    let mut kept = VecDeque::new();
    for (kind, what) in ledger::lines(out, name) {
        let text = |key: &str| what[key].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            "kept" => kept.push_back((text("handle"), text("sha256"))),
            "removing" => kept.retain(|(handle, _)| what != *handle),
            _ => {}
        }
    }
    kept
}

/// Reads the whole text of an output, page by page.
pub(crate) fn read(client: &mut Client, handle: &str) -> Result<String, ClientError> {
    let (mut text, mut offset) = (String::new(), 0);
    loop {
        let params = ReadParams {
            handle: Some(handle.to_owned()),
            offset: Some(offset),
            limit: Some(1_000_000),
            ..ReadParams::default()
        };
        let page = client.output_read(params)?;
        text.push_str(&page.text);
        match page.next {
            Some(Next::Offset(next)) => offset = next,
            _ => return Ok(text),
        }
    }
}

pub(crate) fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn run(mut worker: Worker) {
    let mut kept = kept(&worker.out, &worker.name);
    while !worker.is_stopped() {
        if kept.len() < MOST {
            keep(&mut worker, &mut kept);
        } else if let Some((handle, _)) = kept.pop_front() {
            worker.ledger.note("removing", &json!(handle));
            match worker.once(|client| client.output_remove(RemoveParams { handle: handle.clone() })) {
                Ok(_) => worker.ledger.note("removed", &json!(handle)),
                Err(ClientError::Rpc(error)) if error.kind == ErrorKind::NotFound => {
                    worker.loss(&format!("{handle} was kept, and can't be removed: {error}"));
                }
                Err(_) => {}
            }
        }
        if !kept.is_empty() {
            let at = worker.below(kept.len());
            look(&mut worker, &kept[at].clone());
        }
        worker.pace();
    }
}

fn keep(worker: &mut Worker, kept: &mut VecDeque<(String, String)>) {
    let id = format!("{:x}", worker.random.next());
    let text = format!("{} said {id}\n", worker.name).repeat(100 + worker.below(4_000));
    let params = AdmitParams {
        session: format!("{}-outputs", worker.name),
        tool: "terminal".into(),
        id,
        content: Content::Text(text.clone()),
        threshold: Some(Size::Chars(0)),
        config: None,
    };
    if let Ok(admitted) = worker.once(|client| client.output_admit(params))
        && let Some(handle) = admitted.handle
    {
        let sha256 = sha256(&text);
        worker.ledger.note("kept", &json!({ "handle": handle, "sha256": sha256 }));
        kept.push_back((handle, sha256));
    }
}

fn look(worker: &mut Worker, (handle, expected): &(String, String)) {
    match worker.once(|client| read(client, handle)) {
        Ok(text) if sha256(&text) != *expected => worker.loss(&format!("{handle} has another text")),
        Ok(_) => worker.ledger.note("read", &json!(handle)),
        Err(ClientError::Rpc(error)) if error.kind == ErrorKind::NotFound => {
            worker.loss(&format!("{handle} is gone: {error}"));
        }
        Err(_) => {}
    }
}
