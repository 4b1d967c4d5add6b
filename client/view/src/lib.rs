//! `herma view`: a page in the browser that shows what herma keeps, served on loopback to one person.
//!
//! * `server` listens, `access` decides who is answered, `request` parses, `answer` writes headers. `access` and `request` do
//!   no I/O.
//! * `daemon` has the connections to the daemon. Each view asks through it.
//! * `now`, `memory`, `history`, `sessions`, `conversation`, `compaction`, `search`, `savings`, `outputs`, `files` and `health` are
//!   the views: each loads what it shows, and turns that into HTML. `views` knows them all.
//! * `page` is the frame of every view, `parts` are pieces of several views, `plot` draws SVG.
//! * `changes` carries out what a form asks for. `events` passes the daemon's notifications on to the browser.
//! * `export` writes the views that need no server into one file.

mod access;
mod answer;
mod changes;
mod compaction;
mod conversation;
mod daemon;
mod events;
mod export;
mod files;
mod health;
mod history;
mod memory;
mod now;
mod outputs;
mod page;
mod parts;
mod plot;
mod request;
mod savings;
mod search;
mod server;
mod sessions;
mod views;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use herma_base::{CliContext, Failure, out, search_path, user_file};
use herma_client::protocol::daemon::PingParams;
use tempfile::TempDir;

use daemon::Daemon;

// Shows in the browser what herma keeps.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The page is served on 127.0.0.1 to the browser that opens the printed address, which works once.\nIt loads nothing from elsewhere. It ends with Ctrl-C, or after an hour without a request.\n\nExamples:\n  herma view\n  herma view --write                  # with buttons that undo, approve and reject\n  herma view --no-open --port 8642    # over ssh -L 8642:127.0.0.1:8642\n  herma view --export report.html     # one file, without a server"
)]
#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
pub struct Arguments {
    /// Write one static file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "no_open", "write"])]
    export: Option<PathBuf>,
    /// Allow changes: undo, approve, reject
    #[arg(long)]
    write: bool,
    /// The port on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the address, and open no browser
    #[arg(long)]
    no_open: bool,
}

/// Serves the page until it is stopped, or writes a file.
///
/// # Errors
/// The daemon doesn't answer, the port is taken, or the file can't be written.
pub fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    // A problem with the daemon is said here rather than on the page.
    context.connect()?.ping(PingParams {})?;
    let daemon = Daemon::new(context.settings());
    if let Some(path) = &arguments.export {
        export::write(&daemon, path)?;
        return out::show(context.common, &serde_json::json!({ "file": path }), |_| path.display().to_string());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::File(format!("the runtime can't be started: {error}")))?;
    let server = runtime.block_on(server::Server::listen(daemon, arguments.port, arguments.write))?;
    let address = server.address();
    out::show(context.common, &serde_json::json!({ "url": address }), |_| {
        format!("{address}\nThe address works once. Ctrl-C ends the page.")
    })?;
    // Until the browser has read it.
    let _opener = if arguments.no_open { None } else { open(&address) };
    runtime.block_on(server.serve());
    runtime.shutdown_background();
    Ok(())
}

/// Opens an address in the user's browser, if there is a program for it. The address is in a file that only this user can
/// read, because all users can read the arguments of programs. Returns the folder of the file.
fn open(address: &str) -> Option<TempDir> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if !search_path::has(program) {
        return None;
    }
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix("herma-view-").permissions(private).tempdir().ok()?;
    let file = folder.path().join("open.html");
    let page = page::leading_to(address).into_string();
    user_file::Draft::private(&file).ok()?.write(page.as_bytes()).ok()?.place(false).ok()?;
    let mut command = Command::new(program);
    // The browser's own messages don't belong into this terminal.
    drop(command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn());
    Some(folder)
}
