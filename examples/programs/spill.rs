//! Spills a large tool result and reads its last lines back.
//!
//! `cargo run -p herma-examples --example spill`

use std::io::Write;

use herma_client::protocol::output::{AdmitParams, ReadParams};
use herma_client::protocol::value::Content;
use herma_client::{Codec, Place, connect_or_spawn};

fn main() -> anyhow::Result<()> {
    let mut herma = connect_or_spawn(&Place::from_env()?, Codec::Bincode)?;
    let result: String = (0..20_000).map(|line| format!("test number {line} passed\n")).collect();
    let admitted = herma.output_admit(AdmitParams {
        session: "example".into(),
        tool: "terminal".into(),
        id: "call_1".into(),
        content: Content::Text(result),
        threshold: None,
        config: None,
    })?;
    let mut out = std::io::stdout().lock();
    if let Content::Text(stays) = &admitted.content {
        writeln!(out, "{} chars came, {} stay in the conversation", admitted.chars, stays.chars().count())?;
    }
    let page = herma.output_read(ReadParams { handle: admitted.handle, tail: Some(3), ..ReadParams::default() })?;
    write!(out, "{}", page.text)?;
    Ok(())
}
