//! Adds an entry to the memory and shows the memory of a new session.
//!
//! `cargo run -p herma-examples --example remember -- "prefers tea"`

use std::io::Write;

use herma_client::protocol::memory::{AddParams, Target};
use herma_client::protocol::session::OpenParams;
use herma_client::{Codec, Place, connect_or_spawn};

fn main() -> anyhow::Result<()> {
    let content = std::env::args().nth(1).unwrap_or_else(|| "prefers short answers".into());
    let mut herma = connect_or_spawn(&Place::from_env()?, Codec::Bincode)?;
    let written = herma.memory_add(AddParams {
        target: Target::User,
        content,
        session: None,
        agent: Some("example".into()),
        expected_revision: None,
    })?;
    let mut out = std::io::stdout().lock();
    match (written.success, written.message, written.error) {
        (true, Some(message), _) => writeln!(out, "{message}")?,
        (_, _, error) => writeln!(out, "refused: {}", error.unwrap_or_default())?,
    }
    let session = format!("example-{}", std::process::id());
    let opened = herma.session_open(OpenParams { session, ..OpenParams::default() })?;
    writeln!(out, "{}", opened.snapshot.user.unwrap_or_default())?;
    Ok(())
}
