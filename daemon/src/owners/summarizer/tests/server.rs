//! An HTTP server on loopback that follows a script, however wrong that is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The pause between two bytes of a slow answer.
const DRIP: Duration = Duration::from_millis(20);

/// A part of an answer. After the last one the connection is closed.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Sends these bytes at once.
    Bytes(Vec<u8>),
    /// Sends this text over and over, a byte at a time.
    Drip(&'static str),
    /// Sends nothing, until the client goes away.
    Hang,
}

/// A received request.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    /// Its first line and its headers, names in lower case.
    pub head: String,
    pub body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        headers.find(|header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1)
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A server. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    gone: Arc<tokio::sync::Notify>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers each request with the next script, and repeats the last one.
    pub(super) async fn start(scripts: Vec<Vec<Part>>) -> Self {
        Self::start_at(0, scripts).await
    }

    /// Starts the server at a known port.
    pub(super) async fn start_at(port: u16, scripts: Vec<Vec<Part>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let gone: Arc<tokio::sync::Notify> = Arc::default();
        let (log, tell) = (Arc::clone(&requests), Arc::clone(&gone));
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, scripts.clone(), Arc::clone(&log), Arc::clone(&tell)));
            }
        });
        Self { port, requests, gone, task }
    }

    /// Returns the requests received so far.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until a client went away in the middle of an answer that hangs or drips.
    pub(super) async fn client_is_gone(&self) {
        self.gone.notified().await;
    }
}

async fn serve(
    mut stream: TcpStream,
    scripts: Vec<Vec<Part>>,
    log: Arc<Mutex<Vec<Request>>>,
    gone: Arc<tokio::sync::Notify>,
) {
    let Some(request) = read(&mut stream).await else { return };
    let script = {
        let mut log = log.lock().unwrap();
        log.push(request);
        scripts[(log.len() - 1).min(scripts.len() - 1)].clone()
    };
    for part in script {
        let is_open = match part {
            Part::Bytes(bytes) => stream.write_all(&bytes).await.is_ok(),
            Part::Hang => stream.read(&mut [0]).await.is_ok_and(|read| read > 0),
            Part::Drip(text) => drip(&mut stream, text).await,
        };
        if !is_open {
            gone.notify_one();
            return;
        }
    }
    drop(stream.shutdown().await);
}

async fn drip(stream: &mut TcpStream, text: &str) -> bool {
    let mut pace = tokio::time::interval(DRIP);
    for byte in text.bytes().cycle() {
        pace.tick().await;
        if stream.write_all(&[byte]).await.is_err() {
            break;
        }
    }
    false
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let mut request =
        Request { head: String::from_utf8(bytes[..end].to_vec()).unwrap(), body: bytes[end + 4..].to_vec() };
    let length: usize = request.header("content-length")?.parse().unwrap();
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(request)
}

/// A whole answer.
pub(super) fn answer(status: &str, headers: &[&str], body: &str) -> Vec<Part> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    vec![Part::Bytes(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes())]
}

/// The beginning of an answer whose length announces more than will come.
pub(super) fn begin(body: &str) -> Part {
    let length = body.len() + 1000;
    Part::Bytes(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes())
}
