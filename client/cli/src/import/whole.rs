//! Sessions that are read as a whole: from a database, or from a file that its program rewrites.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use herma_base::Failure;
use herma_transcripts::{Session, Tally};

use super::sink::{ImportOutcome, Sink};

/// How often a session is read because its imported messages have changed.
pub(super) const TRIES: usize = 4;

/// The largest file in bytes.
const LARGEST: u64 = 256 << 20;

/// Returns the text of a file.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(format!("it is longer than {} MiB", LARGEST >> 20)));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Imports each session of a file. One that can't be imported is reported, and the others still are. Returns whether
/// all were imported. `seen` gets the bytes read, of which a database knows nothing, and the messages of the whole run.
pub(super) fn each<S>(
    sessions: impl IntoIterator<Item = S>,
    sink: &mut Sink<'_>,
    seen: &mut dyn FnMut(u64, u64),
    mut import: impl FnMut(&S, &mut Sink<'_>) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let mut is_whole = true;
    for session in sessions {
        is_whole &= import_or_report(sink, |sink| import(&session, sink))?;
        seen(0, sink.report.messages());
    }
    Ok(is_whole)
}

/// Imports something. What can't be read is reported, and other failures are returned. Returns whether it was imported.
pub(super) fn import_or_report(
    sink: &mut Sink<'_>,
    import: impl FnOnce(&mut Sink<'_>) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    match import(sink) {
        Ok(()) => Ok(true),
        Err(Failure::File(words)) => {
            sink.report.problem(words);
            Ok(false)
        }
        Err(failure) => Err(failure),
    }
}

/// Imports a session, if there is one. It is read again if its imported messages have changed. Returns what was left out
/// of it.
pub(super) fn import(
    path: &Path,
    sink: &mut Sink<'_>,
    mut read: impl FnMut(&mut Tally) -> Result<Option<Session>, Failure>,
) -> Result<Tally, Failure> {
    for _ in 0..TRIES {
        let mut tally = Tally::default();
        let Some(mut session) = read(&mut tally)? else { return Ok(tally) };
        if sink.take(path, &mut session, true)? == ImportOutcome::Done {
            return Ok(tally);
        }
    }
    Err(changes(path))
}

/// Imports a session of a database, which is read each time. What was left out is reported if it has new messages.
pub(super) fn import_row(
    path: &Path,
    sink: &mut Sink<'_>,
    mut read: impl FnMut(&mut Tally) -> Result<Session, Failure>,
) -> Result<(), Failure> {
    let before = sink.report.messages();
    let tally = import(path, sink, |tally| read(tally).map(Some))?;
    if sink.report.messages() > before {
        sink.report.left_out(&tally);
    }
    Ok(())
}

/// The failure of a file whose imported messages change each time it is read.
pub(super) fn changes(path: &Path) -> Failure {
    Failure::File(format!("{}: it changes while it is read; try again later", path.display()))
}
