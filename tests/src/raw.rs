//! A connection that can send arbitrary bytes.

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
    /// Connects to a socket.
    ///
    /// # Panics
    /// Nobody listens.
    #[must_use]
    pub fn connect(socket: &Path) -> Self {
        Self::try_connect(socket).unwrap()
    }

    /// Connects to a socket if somebody listens.
    ///
    /// # Errors
    /// Nobody listens.
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

    /// Sends bytes until all are sent or the peer accepts none for `patience`. Returns how many were accepted.
    ///
    /// # Panics
    /// The system refuses the timeout.
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

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Sends a request and waits for the next line, which must be its answer.
    ///
    /// # Panics
    /// The answer is missing or belongs to another request.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let reply = self.read();
        assert_eq!(reply["id"], json!(id), "{reply}");
        reply
    }

    /// Calls a method that is expected to succeed, and returns its result.
    ///
    /// # Panics
    /// The answer is an error, is missing, or belongs to another request.
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

    /// Reads the next line as JSON.
    ///
    /// # Panics
    /// No line arrives in time, or it is not JSON.
    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Reads the next binary frame.
    ///
    /// # Panics
    /// No frame arrives in time, or it can't be parsed.
    pub fn read_frame(&mut self) -> Incoming {
        binary::read_incoming(self.read_prefixed().split_off(4)).unwrap()
    }

    /// Reads the next binary frame and parses it without herma's code.
    ///
    /// # Panics
    /// No frame arrives in time, or it can't be parsed.
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

    /// Closes the connection for writing.
    ///
    /// # Panics
    /// The connection is gone.
    pub fn finish(&mut self) {
        self.reader.get_ref().shutdown(Shutdown::Write).unwrap();
    }

    /// Reads until the peer closes the connection. A reset because of unread data counts as closed.
    ///
    /// # Panics
    /// The peer doesn't close it in time.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.reader.read_to_end(&mut rest) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("{error}"),
            _ => rest,
        }
    }
}

/// Returns the error kind of a reply, or an empty string for a result.
#[must_use]
pub fn kind(reply: &Value) -> &str {
    reply["error"]["data"]["kind"].as_str().unwrap_or_default()
}
