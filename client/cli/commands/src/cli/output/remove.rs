//! `herma output rm`.

use herma_client::protocol::output::shelf::RemoveParams;

use crate::cli::exit::Failure;
use crate::cli::several::Several;
use crate::cli::{Session, out};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Reading one says from then on that it was removed. One that can't be removed does not stop the others; the exit code is 1 then.\n\nExample:\n  herma output rm out_1f2e… out_3a4b…"
)]
pub(in crate::cli) struct Arguments {
    /// Their handles
    #[arg(required = true, value_name = "HANDLE")]
    handles: Vec<String>,
}

pub(super) fn run(session: &Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let mut client = session.connect()?;
    let removed =
        Several::call(&arguments.handles, |handle| client.output_remove(RemoveParams { handle: handle.to_owned() }))?;
    removed.tell(session.common, |handle, result| format!("removed {handle}, {}", out::size(result.bytes)))
}
