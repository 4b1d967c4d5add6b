//! Files with one whole conversation, which their program writes anew each time.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use herma_base::Failure;
use herma_transcripts::Tally;
use serde_json::Value;

use super::follow::name_of;
use super::sink::{ImportOutcome, Sink};
use super::source::ReadConversation;

/// The largest file in bytes.
const LARGEST: u64 = 256 << 20;

pub(super) fn read(path: &Path, reader: ReadConversation, sink: &mut Sink<'_>) -> Result<bool, Failure> {
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(LARGEST + 1).read_to_end(&mut text).map_err(|error| failed(error.to_string()))?;
    if text.len() as u64 > LARGEST {
        return Err(failed(format!("it is longer than {} MiB", LARGEST >> 20)));
    }
    let text = String::from_utf8_lossy(&text);
    let whole = herma_json::replace_lone_surrogates(&text).map(|(text, _)| text);
    let value: Value =
        serde_json::from_str(whole.as_deref().unwrap_or(&text)).map_err(|error| failed(error.to_string()))?;
    let read =
        |tally: &mut Tally| reader(&name_of(path), &value, tally).ok_or_else(|| failed("it is no conversation".into()));
    let mut tally = Tally::default();
    let mut session = read(&mut tally)?;
    while sink.take(path, &mut session, true)? == ImportOutcome::Restart {
        session = read(&mut Tally::default())?;
    }
    sink.report.left_out(&tally);
    Ok(true)
}
