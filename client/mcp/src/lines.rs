//! The transport of rmcp: lines of standard input and output. Every line gets an answer. Lines that rmcp can't read are
//! answered here, with their id if they have one.

mod line;

#[cfg(feature = "fuzzing")]
pub use line::line_holds;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use herma_client::protocol::limits;
use herma_json::ScalarFinder;
use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, mpsc, watch};

use line::{Line, Refusal};

/// The longest line in bytes, the same as the daemon's largest frame.
const LONGEST: usize = limits::FRAME;
/// The bytes of the line buffer that are kept for the next line.
const KEPT: usize = 1 << 20;
/// The messages that may wait for the server. If there are more, reading stops.
const WAITING: usize = 64;
/// The requests whose answer is to have a warning. The number is limited because a cancelled request never gets an
/// answer.
const WARNED: usize = 1_000;

/// Whether the input has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The input may go on.
    NotYet,
    /// The input has ended. rmcp then waits some seconds for open requests, and a subscription never ends by itself.
    Reached,
}

/// The transport.
#[derive(Debug)]
pub(super) struct Lines<W> {
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    shared: Arc<Shared<W>>,
}

/// The state that both directions share.
#[derive(Debug)]
struct Shared<W> {
    write: Mutex<W>,
    /// The number of replaced lone surrogates in each request that is not answered yet.
    replaced: std::sync::Mutex<HashMap<RequestId, usize>>,
}

impl<W: AsyncWrite + Unpin + Send + 'static> Lines<W> {
    /// Starts to read. Also returns a receiver for the end of the input.
    pub(super) fn start<R: AsyncRead + Unpin + Send + 'static>(read: R, write: W) -> (Self, watch::Receiver<End>) {
        let (give, messages) = mpsc::channel(WAITING);
        let (report, ended) = watch::channel(End::NotYet);
        let shared = Arc::new(Shared { write: Mutex::new(write), replaced: std::sync::Mutex::default() });
        tokio::spawn(follow(read, give, report, Arc::clone(&shared)));
        (Self { messages, shared }, ended)
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer> for Lines<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        async move {
            let line = shared.line(&message)?;
            shared.put(line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.shared.write.lock().await.flush().await
    }
}

impl<W: AsyncWrite + Unpin> Shared<W> {
    /// Returns the text of a message, with a warning if surrogates in its request were replaced.
    fn line(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<String> {
        let replaced = match message {
            JsonRpcMessage::Response(response) => self.take_replaced(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().and_then(|id| self.take_replaced(id)),
            _ => None,
        };
        let Some(count) = replaced else { return Ok(serde_json::to_string(message)?) };
        let mut message = serde_json::to_value(message)?;
        if let Some(result) = message.get_mut("result") {
            warn(result, count);
        }
        Ok(message.to_string())
    }

    fn note_replaced(&self, message: &RxJsonRpcMessage<RoleServer>, count: usize) {
        let JsonRpcMessage::Request(request) = message else { return };
        if let Ok(mut replaced) = self.replaced.lock() {
            if replaced.len() >= WARNED {
                replaced.clear();
            }
            replaced.insert(request.id.clone(), count);
        }
    }

    fn take_replaced(&self, id: &RequestId) -> Option<usize> {
        self.replaced.lock().ok()?.remove(id)
    }

    async fn put(&self, mut line: String) -> io::Result<()> {
        line.push('\n');
        let mut write = self.write.lock().await;
        write.write_all(line.as_bytes()).await?;
        write.flush().await
    }
}

/// Adds a warning to a result that characters in the request were replaced. A model reads the last text.
fn warn(result: &mut Value, count: usize) {
    let words = format!("{count} half characters (lone UTF-16 surrogates) in the request were read as U+FFFD");
    if let Some(content) = result.get_mut("content").and_then(Value::as_array_mut) {
        content.push(json!({ "type": "text", "text": format!("Warning: {words}.") }));
    }
    if let Some(result) = result.as_object_mut() {
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert("warnings".into(), json!([words]));
        }
    }
}

/// Reads lines to the end, passes the messages on, and answers the other lines.
async fn follow<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    read: R,
    give: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
    report: watch::Sender<End>,
    shared: Arc<Shared<W>>,
) {
    let mut read = BufReader::new(read);
    let mut bytes = Vec::new();
    while let Ok(Some(length)) = next_line(&mut read, &mut bytes).await {
        let line = match length {
            Length::Whole => line::read(&bytes),
            Length::TooLong(refusal) => Line::Refused(refusal.to_string()),
        };
        let is_over = match line {
            Line::Nothing => false,
            Line::Refused(answer) => shared.put(answer).await.is_err(),
            Line::Message { message, replaced } => {
                if replaced > 0 {
                    shared.note_replaced(&message, replaced);
                }
                give.send(*message).await.is_err()
            }
        };
        if is_over {
            break;
        }
    }
    report.send_replace(End::Reached);
}

/// Whether a line was read completely.
enum Length {
    /// The whole line is in the buffer.
    Whole,
    /// The line was too long and was dropped. This is the answer to its sender.
    TooLong(Refusal),
}

/// Reads the next line, without its line break. Returns `None` at the end of the input.
async fn next_line<R: AsyncRead + Unpin>(read: &mut BufReader<R>, bytes: &mut Vec<u8>) -> io::Result<Option<Length>> {
    bytes.clear();
    bytes.shrink_to(KEPT);
    let mut too_long: Option<ScalarFinder> = None;
    let mut is_begun = false;
    loop {
        let part = read.fill_buf().await?;
        let newline = part.iter().position(|byte| *byte == b'\n');
        let is_end = newline.is_some() || part.is_empty();
        is_begun |= !part.is_empty();
        let piece = &part[..newline.unwrap_or(part.len())];
        if too_long.is_none() && bytes.len() + piece.len() > LONGEST {
            let mut finder = line::id_finder();
            finder.feed(bytes);
            too_long = Some(finder);
            *bytes = Vec::new();
        }
        match &mut too_long {
            Some(finder) => finder.feed(piece),
            None => bytes.extend_from_slice(piece),
        }
        let used = piece.len() + usize::from(newline.is_some());
        read.consume(used);
        if is_end {
            let length = too_long.map_or(Length::Whole, |finder| Length::TooLong(line::too_long(finder, LONGEST)));
            return Ok(is_begun.then_some(length));
        }
    }
}
