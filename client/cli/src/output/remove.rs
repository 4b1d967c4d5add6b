//! `herma output rm`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::output::shelf::RemoveParams;

use crate::names;
use crate::several::BatchResults;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Reading one says from then on that it was removed. One that can't be removed does not stop the others; the exit code is 1 then.\n\nExample:\n  herma output rm out_1f2e… out_3a4b…"
)]
pub(crate) struct Arguments {
    /// The handles of the outputs
    #[arg(required = true, value_name = "HANDLE")]
    handles: Vec<String>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let handles = arguments.handles.iter().map(|named| names::output::resolve(&mut client, named));
    let handles = handles.collect::<Result<Vec<String>, Failure>>()?;
    let removed =
        BatchResults::call(&handles, |handle| client.output_remove(RemoveParams { handle: handle.to_owned() }))?;
    removed.print(context.common, |handle, result| format!("removed {handle}, {}", out::size(result.bytes)))
}
