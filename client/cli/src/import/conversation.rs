//! Files with one whole conversation, which their program rewrites each time.

use std::path::Path;

use herma_base::Failure;
use serde_json::Value;

use super::sink::Sink;
use super::source::ReadConversation;
use super::whole;

pub(super) fn read(path: &Path, id: &str, reader: ReadConversation, sink: &mut Sink<'_>) -> Result<bool, Failure> {
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let text = whole::text(path)?;
    let whole = herma_json::replace_lone_surrogates(&text).map(|(text, _)| text);
    let value: Value =
        serde_json::from_str(whole.as_deref().unwrap_or(&text)).map_err(|error| failed(error.to_string()))?;
    let tally = whole::import(path, sink, |tally| match reader(id, &value, tally) {
        Some(session) => Ok(Some(session)),
        None => Err(failed("it is no conversation".into())),
    })?;
    sink.report.left_out(&tally);
    Ok(true)
}
