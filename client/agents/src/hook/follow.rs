//! Continues to read a transcript, and appends each message to the daemon's session.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use herma_base::kept::{hash, message};
use herma_base::left_out::MASKED;
use herma_base::own_file;
use herma_client::protocol::guard::SecretCount;
use herma_client::protocol::session::transcript::{AppendParams, AppendResult};
use herma_client::protocol::{ErrorKind, Json};
use herma_client::{Client as Daemon, ClientError};
use herma_transcripts::{ModelCall, Tally, TimedMessage, Transcript};
use serde_json::Value;

use super::facts::Facts;
use super::state::State;
use crate::agent::Agent;

/// The bytes of a transcript that are sent in one request.
const PART: u64 = 1 << 20;

/// The longest line in bytes. A longer one is skipped.
const LINE: u64 = 64 << 20;

/// The bytes before the read position that must be unchanged.
const BEFORE: u64 = 512;

/// A transcript and its session.
pub(super) struct TranscriptSource<'a> {
    pub(super) agent: &'a dyn Agent,
    /// The agent's name of the session, as in its transcript.
    pub(super) name: &'a str,
    /// herma's name of the session.
    pub(super) session: &'a str,
    pub(super) path: &'a Path,
}

/// The result of reading a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    /// The daemon has all messages of the file.
    End,
    /// The time ran out before the end of the file.
    More,
    /// The file or the daemon's session has changed. The file must be read again from its beginning, as another
    /// session.
    Rewritten,
}

/// What a transcript has besides messages.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The calls of the model.
    pub(super) calls: Vec<ModelCall>,
    /// What the transcript says about its session.
    pub(super) facts: Facts,
}

/// Reads for at most `time`, but at least one part. The messages up to the state's position are stored by then. What
/// else was read is added to `found`.
///
/// # Errors
/// The file can't be read, or the daemon answers with an error.
pub(super) fn follow(
    daemon: &mut Daemon,
    followed: &TranscriptSource<'_>,
    state: &mut State,
    found: &mut Found,
    time: Duration,
) -> Result<Reached, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", followed.path.display());
    let mut file = match own_file::open(followed.path) {
        Ok(file) => file,
        // The agent creates the file with the first message.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Reached::End),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    state.transcript = Some(followed.path.to_owned());
    if state.offset > 0
        && (metadata.len() < state.offset || before(&mut file, state.offset).map_err(failed)? != state.before)
    {
        return Ok(Reached::Rewritten);
    }
    let began = Instant::now();
    file.seek(SeekFrom::Start(state.offset)).map_err(failed)?;
    let mut lines = BufReader::with_capacity(1 << 16, file);
    loop {
        let part = Part::read(followed, state, &mut lines).map_err(failed)?;
        if part.bytes == 0 {
            return Ok(Reached::End);
        }
        if !append(daemon, followed.session, state, &part.said)? {
            return Ok(Reached::Rewritten);
        }
        part.note(state, found);
        state.before = before(&mut own_file::open(followed.path).map_err(failed)?, state.offset).map_err(failed)?;
        if began.elapsed() >= time {
            return Ok(Reached::More);
        }
    }
}

/// Appends the messages of records that are newer than the last one, and adds what else they have to `found`. Returns
/// false if the daemon's session has other messages.
///
/// # Errors
/// The daemon answers with an error.
pub(super) fn keep_records(
    daemon: &mut Daemon,
    agent: &dyn Agent,
    (name, session): (&str, &str),
    records: &[Value],
    state: &mut State,
    found: &mut Found,
) -> Result<bool, String> {
    let key = |record: &Value| record.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_new = |record: &&Value| key(record).is_empty() || key(record) > state.last_record;
    let lines: Vec<String> = records.iter().filter(is_new).map(Value::to_string).collect();
    let mut reader = agent.reader(name);
    reader.resume(name, state.progress());
    lines.iter().for_each(|line| reader.line(line));
    let bytes = lines.iter().map(|line| line.len() as u64).sum();
    let part = Part::taken(reader, name, bytes);
    if !append(daemon, session, state, &part.said)? {
        return Ok(false);
    }
    part.note(state, found);
    let last = records.iter().map(key).max().unwrap_or_default();
    state.last_record = last.max(std::mem::take(&mut state.last_record));
    Ok(true)
}

/// Returns a hash of the bytes before a position of a file.
fn before(file: &mut File, offset: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset.saturating_sub(BEFORE)))?;
    file.take(offset.min(BEFORE)).read_to_end(&mut bytes)?;
    Ok(hash(&bytes))
}

/// The records that were read in one go.
struct Part {
    said: Vec<TimedMessage>,
    calls: Vec<ModelCall>,
    facts: Facts,
    bytes: u64,
    ignored: Tally,
    reader: Box<dyn Transcript>,
}

impl Part {
    fn read(followed: &TranscriptSource<'_>, state: &State, lines: &mut impl BufRead) -> std::io::Result<Self> {
        let mut reader = followed.agent.reader(followed.name);
        reader.resume(followed.name, state.progress());
        let (mut bytes, mut line) = (0, Vec::new());
        while bytes < PART {
            line.clear();
            let read = lines.by_ref().take(LINE).read_until(b'\n', &mut line)? as u64;
            if !line.ends_with(b"\n") {
                if read < LINE {
                    // The agent is still writing this line.
                    break;
                }
                bytes += read + skip_line(lines)?;
                continue;
            }
            bytes += read;
            reader.line(&String::from_utf8_lossy(&line));
        }
        Ok(Self::taken(reader, followed.name, bytes))
    }

    /// Takes what a reader has read of the session with this name.
    fn taken(mut reader: Box<dyn Transcript>, name: &str, bytes: u64) -> Self {
        let ignored = reader.ignored();
        let own = reader.sessions().iter_mut().find(|session| session.id == name);
        let taken = own.map(|session| (Facts::of(session), session.take().1, session.take_calls()));
        let (facts, said, calls) = taken.unwrap_or_default();
        Self { said, calls, facts, bytes, ignored, reader }
    }

    /// Notes that the part is kept, and adds what it has besides messages to `found`.
    fn note(mut self, state: &mut State, found: &mut Found) {
        found.calls.append(&mut self.calls);
        found.facts = self.facts.over(std::mem::take(&mut found.facts));
        state.offset += self.bytes;
        for (kind, count) in self.ignored.iter() {
            let count_noun = state.left_out.entry(kind.to_owned()).or_default();
            *count_noun = count_noun.saturating_add(count);
        }
        state.note(self.reader.progress());
    }
}

/// Skips the rest of a line, and returns its bytes.
fn skip_line(lines: &mut impl BufRead) -> std::io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = lines.fill_buf()?;
        let (end, length) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (true, at + 1),
            None => (buffer.is_empty(), buffer.len()),
        };
        lines.consume(length);
        skipped += length as u64;
        if end {
            return Ok(skipped);
        }
    }
}

/// Appends messages to the daemon's session. Returns false if the session has other messages at that position.
fn append(daemon: &mut Daemon, session: &str, state: &mut State, said: &[TimedMessage]) -> Result<bool, String> {
    if said.is_empty() {
        return Ok(true);
    }
    let messages: Vec<Json> = said.iter().filter_map(message).collect();
    let params = |state: &State| AppendParams {
        session: session.to_owned(),
        generation: state.generation,
        position: state.position,
        messages: messages.clone(),
    };
    let failed = |error: ClientError| format!("session {session}: {error}");
    let AppendResult { position, secrets } = match daemon.session_append(params(state)) {
        Err(ClientError::Rpc(error)) if error.kind == ErrorKind::Conflict => {
            let place = error.details.as_ref().and_then(|details| place(details.get()));
            let (generation, position) = place.ok_or_else(|| format!("session {session}: {}", error.message))?;
            // A compression ended and the state doesn't have it yet. All messages before it were appended.
            if generation != state.generation + 1 || state.offset == 0 {
                return Ok(false);
            }
            (state.generation, state.position) = (generation, position);
            daemon.session_append(params(state)).map_err(failed)?
        }
        answer => answer.map_err(failed)?,
    };
    state.position = position;
    for SecretCount { kind, count } in secrets {
        let masked = state.left_out.entry(format!("{kind}{MASKED}")).or_default();
        *masked = masked.saturating_add(count);
    }
    Ok(true)
}

/// Returns the generation and the position from the details of the daemon's refusal.
pub(crate) fn place(details: &str) -> Option<(u64, u64)> {
    let details: Value = serde_json::from_str(details).ok()?;
    Some((details.get("generation")?.as_u64()?, details.get("position")?.as_u64()?))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::claude_code::ClaudeCode;

    #[test]
    fn whole_lines_are_read_and_what_is_being_written_waits() {
        let user = |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n");
        let (one, two) = (user("a"), user("b"));
        let half = &user("c")[..20];
        let followed =
            TranscriptSource { agent: &ClaudeCode, name: "s", session: "claude-code:s", path: Path::new("/s.jsonl") };
        let mut state = State::default();
        let mut lines = Cursor::new(format!("{one}{{\"type\":\"cost-state\"}}\n{two}{half}"));
        let part = Part::read(&followed, &state, &mut lines).unwrap();
        assert_eq!(part.said.iter().map(|said| said.message.contains('b')).collect::<Vec<_>>(), [false, true]);
        part.note(&mut state, &mut Found::default());
        let expected = one.len() + two.len() + "{\"type\":\"cost-state\"}\n".len();
        assert_eq!(usize::try_from(state.offset), Ok(expected));
        assert_eq!(state.left_out, [("cost-state".to_owned(), 1)].into());
    }

    #[test]
    fn the_rest_of_a_line_is_passed_over() {
        let mut lines = Cursor::new("abc\ndef");
        assert_eq!(skip_line(&mut lines).unwrap(), 4);
        assert_eq!(skip_line(&mut lines).unwrap(), 3);
        assert_eq!(skip_line(&mut lines).unwrap(), 0);
    }
}
