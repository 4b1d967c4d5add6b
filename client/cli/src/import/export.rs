//! An export of ChatGPT: a list of conversations, each parsed separately.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, stdin};
use std::path::Path;

use herma_base::Failure;
use herma_transcripts::chatgpt;
use serde::Deserializer;
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::sink::Sink;
use super::surrogates::SurrogateReader;
use super::whole;

/// The first bytes of a ZIP file.
const ZIP: &[u8] = b"PK\x03\x04";

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let read = Cell::new(0);
    let (mut stopped, mut is_whole) = (None, true);
    let mut each = |conversation: &RawValue| {
        let imported = whole::import_or_report(sink, |sink| one(path, conversation, sink));
        seen(read.get(), sink.report.messages());
        imported.map(|imported| is_whole &= imported).map_err(|failure| stopped = Some(failure)).is_ok()
    };
    let source = Counted { source: open(path).map_err(|error| failed(error.to_string()))?, read: &read };
    let mut source = BufReader::with_capacity(1 << 18, SurrogateReader::new(source));
    let outcome = check_zip(&mut source).and_then(|()| {
        let mut json = serde_json::Deserializer::from_reader(&mut source);
        Each(&mut each).deserialize(&mut json).map_err(|error| error.to_string())
    });
    match stopped {
        Some(failure) => Err(failure),
        None => outcome.map(|()| is_whole).map_err(failed),
    }
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(if path == Path::new("-") { Box::new(stdin().lock()) } else { Box::new(File::open(path)?) })
}

fn check_zip(source: &mut impl io::BufRead) -> Result<(), String> {
    let head = source.fill_buf().map_err(|error| error.to_string())?;
    if head.starts_with(ZIP) {
        Err("it is a zip file; give `unzip -p FILE conversations.json | herma import chatgpt -`".into())
    } else {
        Ok(())
    }
}

/// Imports a conversation.
fn one(path: &Path, conversation: &RawValue, sink: &mut Sink<'_>) -> Result<(), Failure> {
    // A conversation that can't be parsed, such as one with too deep nesting or an impossible number, is skipped.
    let conversation: Value = serde_json::from_str(conversation.get()).unwrap_or_default();
    let tally = whole::import(path, sink, |tally| {
        let session = chatgpt::read(&conversation, tally);
        if session.is_none() {
            tally.add("entry that is no conversation");
        }
        Ok(session)
    })?;
    sink.report.left_out(&tally);
    Ok(())
}

/// A source that counts the bytes read from it.
struct Counted<'a> {
    source: Box<dyn Read>,
    read: &'a Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.read.set(self.read.get() + count as u64);
        Ok(count)
    }
}

/// Passes each item of a list to a function as it is read, as long as the function returns true.
struct Each<'a>(&'a mut dyn FnMut(&RawValue) -> bool);

impl<'de> DeserializeSeed<'de> for Each<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Each<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<Box<RawValue>>()? {
            if !(self.0)(&item) {
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
