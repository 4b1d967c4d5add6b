//! A connection to send any bytes on.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use herma_protocol::version::PREFACE;
use herma_protocol::{Incoming, binary};
use serde_json::{Value, json};

use crate::Envelope;
use crate::wait::PATIENCE;

/// A connection whose every read and write has a deadline.
#[derive(Debug)]
pub struct Raw {
    reader: BufReader<UnixStream>,
    last_id: u64,
}

impl Raw {
    /// Connects.
    ///
    /// # Panics
    /// Nobody listens.
    #[must_use]
    pub fn connect(socket: &Path) -> Self {
        Self::try_connect(socket).unwrap()
    }

    /// Connects if somebody listens.
    ///
    /// # Errors
    /// Nobody does.
    pub fn try_connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { reader: BufReader::new(stream), last_id: 0 })
    }

    /// Sends bytes.
    ///
    /// # Panics
    /// The peer is gone or doesn't read.
    pub fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }

    /// Sends bytes until all are sent or the peer takes no more of them for
    /// `patience`; gives back how many were taken.
    ///
    /// # Panics
    /// A timeout that the system doesn't take.
    pub fn send_while_taken(&mut self, mut bytes: &[u8], patience: Duration) -> io::Result<usize> {
        let stream = self.reader.get_mut();
        stream.set_write_timeout(Some(patience)).unwrap();
        let mut taken = 0;
        while !bytes.is_empty() {
            match stream.write(bytes) {
                Ok(count) => {
                    taken += count;
                    bytes = &bytes[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Ok(taken)
    }

    /// Sends a line.
    pub fn line(&mut self, line: &str) {
        self.send(format!("{line}\n").as_bytes());
    }

    /// Sends a request and gives back its id.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Sends a request and waits for the next line, which must be its answer.
    ///
    /// # Panics
    /// Another answer, or none.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let reply = self.read();
        assert_eq!(reply["id"], json!(id), "{reply}");
        reply
    }

    /// Calls a method that is expected to succeed, and gives back its result.
    ///
    /// # Panics
    /// An error, another answer, or none.
    pub fn result(&mut self, method: &str, params: &Value) -> Value {
        let mut reply = self.call(method, params);
        assert!(reply["error"].is_null() && !reply["result"].is_null(), "{method} {params}: {reply}");
        reply["result"].take()
    }

    /// Sends a line and waits for the next one.
    pub fn ask(&mut self, line: &str) -> Value {
        self.line(line);
        self.read()
    }

    /// The next line as JSON.
    ///
    /// # Panics
    /// No line in time, or no JSON.
    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next binary frame.
    ///
    /// # Panics
    /// None in time, or one that can't be read.
    pub fn read_frame(&mut self) -> Incoming {
        binary::read_incoming(self.read_prefixed().split_off(4)).unwrap()
    }

    /// The next binary frame, taken apart without herma's code.
    ///
    /// # Panics
    /// None in time, or one that can't be read.
    pub fn read_envelope(&mut self) -> Envelope {
        Envelope::take(&mut self.read_prefixed().as_slice())
    }

    fn read_prefixed(&mut self) -> Vec<u8> {
        let mut frame = vec![0; 4];
        self.reader.read_exact(&mut frame).unwrap();
        let length = u32::from_le_bytes(frame.clone().try_into().unwrap());
        frame.resize(4 + usize::try_from(length).unwrap(), 0);
        self.reader.read_exact(&mut frame[4..]).unwrap();
        frame
    }

    /// Sends the preface of the binary codec.
    pub fn preface(&mut self) {
        self.send(&PREFACE);
    }

    /// Says that nothing more will be sent.
    ///
    /// # Panics
    /// The connection is gone.
    pub fn finish(&mut self) {
        self.reader.get_ref().shutdown(Shutdown::Write).unwrap();
    }

    /// Everything until the peer closes the connection. A peer that closes it
    /// with something unread counts too.
    ///
    /// # Panics
    /// It doesn't in time.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.reader.read_to_end(&mut rest) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("{error}"),
            _ => rest,
        }
    }
}

/// The kind of the error in a reply; empty when it is a result.
#[must_use]
pub fn kind(reply: &Value) -> &str {
    reply["error"]["data"]["kind"].as_str().unwrap_or_default()
}
