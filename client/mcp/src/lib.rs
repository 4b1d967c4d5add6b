//! `herma mcp`: an MCP server on standard input and output.
//!
//! Standard output belongs to the protocol, so messages for people go to standard error.
//!
//! * `lines` reads and writes lines, and answers lines that are not messages. `server` answers the protocol's
//!   requests; rmcp does the rest.
//! * `tools`, `resources` and `prompts` are what the server offers.
//! * `link` is the thread with the connection to the daemon.
//! * `connection` connects again after the daemon was restarted, and `written` finds out whether a write in between
//!   was done.
//! * `changes` sends `memory.changed` to subscribers.

mod changes;
mod connection;
mod identity;
mod lines;
mod link;
mod prompts;
mod resources;
mod server;
mod tools;
mod written;

#[cfg(feature = "fuzzing")]
pub use lines::line_holds;

use std::sync::Arc;
use std::time::Duration;

use herma_base::host::Hosts;
use herma_base::{Settings, out};
use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;

use connection::Connection;
use lines::Lines;
use link::Link;
use server::Server;

/// How long the shutdown waits for a running call and for closing the session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

// Serves the Model Context Protocol on standard input and output.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It is started by an MCP client, such as a desktop app or an editor, and ends with it. Each run is a session of its own, which freezes the memory that it sees first. Messages for people go to standard error.\n\nExamples:\n  herma mcp\n  herma --profile work mcp --session my-project"
)]
#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
pub struct Arguments {
    /// The session's id, to continue a session [default: a new one, named after the client]
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    session: Option<String>,
}

/// Serves until standard input ends.
///
/// # Errors
/// A thread or the runtime can't be started, or the client speaks another protocol.
pub fn run(settings: &Settings, arguments: &Arguments, hosts: Arc<dyn Hosts>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime can't be started: {error}"))?;
    let outcome = runtime.block_on(serve(settings, arguments, hosts));
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    outcome
}

async fn serve(settings: &Settings, arguments: &Arguments, hosts: Arc<dyn Hosts>) -> Result<(), String> {
    let link = Link::start(Connection::new(settings.clone())).map_err(|error| error.to_string())?;
    let (read, write) = stdio_pipes();
    let (lines, ended) = Lines::start(read, write);
    let server = Server::new(settings.clone(), arguments.session.clone(), hosts, link.clone(), ended);
    let served = match server.serve(lines).await {
        Ok(service) => service.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        // The client closed its end without a message.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    match tokio::time::timeout(CLOSE_TIMEOUT, link.ask(Connection::close)).await {
        Ok(closed) => closed.map_err(|error| error.to_string())?,
        Err(_) => report("the session could not be closed: a call is still under way"),
    }
    served
}

/// Prints a message for people.
fn report(words: &str) {
    out::error(&format!("herma mcp: {words}"));
}
