//! Imports messages as they are written.

use std::time::Duration;

use herma_base::{Failure, out};
use herma_client::ClientError;

use super::Import;

/// The pause between two runs.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause after the daemon became unreachable.
const AWAY: Duration = Duration::from_secs(5);

/// Imports again and again, until the program is ended.
pub(super) fn run(import: &mut Import<'_>) -> Result<(), Failure> {
    out::note(
        import.sink.common(),
        &format!("{} added; watching", out::count_of(import.sink.report.messages(), "message")),
    );
    loop {
        std::thread::sleep(PAUSE);
        let before = import.sink.report.messages();
        match import.all() {
            Ok(()) | Err(Failure::File(_)) => {}
            Err(Failure::Client(ClientError::Rpc(error))) => out::error(&format!("herma: {}", error.message)),
            Err(Failure::Client(_)) => {
                import.sink.disconnect();
                std::thread::sleep(AWAY);
            }
            Err(failure) => return Err(failure),
        }
        let added = import.sink.report.messages() - before;
        if added > 0 {
            out::line(&format!("{} added", out::count_of(added, "message")))?;
        }
    }
}
