//! The history of aider in the folder of a repository. It is read as a whole, because it has no records.

use std::path::Path;

use herma_base::Failure;
use herma_transcripts::{Tally, aider};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::sink::Sink;
use super::whole;

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let text = whole::text(path)?;
    let folder = std::path::absolute(path).ok().and_then(|path| Some(path.parent()?.to_owned())).unwrap_or_default();
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let chats = |tally: &mut Tally| aider::read(name, &text, unix_time, tally);
    let mut tally = Tally::default();
    let before = sink.report.messages();
    let is_whole = whole::each(chats(&mut tally), sink, seen, |chat, sink| {
        let read = |_: &mut Tally| {
            let mut chat = chat.clone();
            chat.cwd = folder.to_str().map(str::to_owned);
            Ok(Some(chat))
        };
        whole::import(path, sink, read).map(drop)
    })?;
    if sink.report.messages() > before {
        sink.report.left_out(&tally);
    }
    Ok(is_whole)
}

/// Returns the Unix seconds of a time of this machine's zone.
fn unix_time(text: &str) -> Option<f64> {
    let time = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::system()).ok()?;
    Some(time.timestamp().as_duration().as_secs_f64())
}
