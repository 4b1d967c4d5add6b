//! Sends messages through the proxy in pieces of any size, and compares what arrives, in both directions.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod sockets;

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use sockets::{header, proxy};

/// How a body is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Framing {
    Length,
    /// In chunks, with an extension and trailers.
    Chunks,
    /// Up to the end of the connection, which only an answer may be.
    Close,
}

/// A message, and the sizes of the pieces in which its body is cut and its bytes are written.
#[derive(Debug, Clone)]
struct Message {
    body: Vec<u8>,
    framing: Framing,
    chunks: Vec<usize>,
    writes: Vec<usize>,
    encoding: bool,
}

/// The behaviour of the client around its request.
#[derive(Debug, Clone, Copy)]
struct Manners {
    expects_continue: bool,
    closes_half: bool,
}

fn messages(framings: &'static [Framing]) -> impl Strategy<Value = Message> {
    let body = prop_oneof![
        vec(any::<u8>(), 0..300),
        vec(any::<u8>(), 60_000..70_000),
        // Text that looks like events and like the framing itself.
        vec(prop::sample::select(vec!["data: {\"a\":1}\n\n", "0\r\n\r\n", "\r\n", "[DONE]", "\u{e9}"]), 0..80)
            .prop_map(|parts| parts.concat().into_bytes()),
    ];
    let framing = prop::sample::select(framings);
    (body, framing, vec(1..4_000usize, 1..6), vec(1..3_000usize, 1..6), any::<bool>())
        .prop_map(|(body, framing, chunks, writes, encoding)| Message { body, framing, chunks, writes, encoding })
}

impl Message {
    /// Returns the bytes of the message behind its first line.
    fn bytes(&self, headers: &str) -> Vec<u8> {
        let encoding = if self.encoding { "content-encoding: gzip\r\n" } else { "" };
        let mut bytes = format!("{headers}{encoding}").into_bytes();
        match self.framing {
            Framing::Length => {
                bytes.extend(format!("content-length: {}\r\n\r\n", self.body.len()).bytes());
                bytes.extend(&self.body);
            }
            Framing::Close => {
                bytes.extend(b"connection: close\r\n\r\n");
                bytes.extend(&self.body);
            }
            Framing::Chunks => {
                bytes.extend(b"trailer: x-end\r\ntransfer-encoding: chunked\r\n\r\n");
                for piece in pieces(&self.body, &self.chunks) {
                    bytes.extend(format!("{:x};x=\"y\"\r\n", piece.len()).bytes());
                    bytes.extend(piece);
                    bytes.extend(b"\r\n");
                }
                bytes.extend(b"0\r\nx-end: yes\r\n\r\n");
            }
        }
        bytes
    }
}

/// Cuts bytes in pieces of these sizes, again and again.
fn pieces<'a>(mut bytes: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    sizes.iter().cycle().map_while(move |size| {
        let (piece, rest) = bytes.split_at((*size).min(bytes.len()));
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fn write(stream: &mut TcpStream, bytes: &[u8], sizes: &[usize]) {
    for piece in pieces(bytes, sizes) {
        stream.write_all(piece).unwrap();
    }
}

fn head(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "it ended after {head:?}");
    }
    head
}

/// Reads the body that belongs to a head. A message without a length has none, or goes to the end.
fn body(reader: &mut impl BufRead, head: &str, goes_to_the_end: bool) -> Vec<u8> {
    let mut body = Vec::new();
    if header(head, "transfer-encoding").is_some() {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let size = usize::from_str_radix(line.trim().split(';').next().unwrap(), 16).unwrap();
            if size == 0 {
                while line != "\r\n" {
                    line.clear();
                    reader.read_line(&mut line).unwrap();
                }
                return body;
            }
            let begin = body.len();
            body.resize(begin + size + 2, 0);
            reader.read_exact(&mut body[begin..]).unwrap();
            assert_eq!(&body.split_off(begin + size), b"\r\n");
        }
    }
    match header(head, "content-length") {
        Some(length) => {
            body.resize(length.parse().unwrap(), 0);
            reader.read_exact(&mut body).unwrap();
        }
        None if goes_to_the_end => drop(reader.read_to_end(&mut body).unwrap()),
        None => {}
    }
    body
}

/// A model that answers each request with the next message, and tells what it got. The lock has one client at a time.
struct Model {
    base: String,
    answers: Sender<Message>,
    requests: Receiver<(String, Vec<u8>)>,
}

static MODEL: LazyLock<std::sync::Mutex<Model>> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = proxy(&format!("http://{}/v1", listener.local_addr().unwrap()), None);
    let (answers, to_send) = channel::<Message>();
    let (sender, requests) = channel();
    let to_send = std::sync::Arc::new(std::sync::Mutex::new(to_send));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, sender, to_send) = (stream.unwrap(), sender.clone(), std::sync::Arc::clone(&to_send));
            std::thread::spawn(move || serve(stream, &sender, &to_send));
        }
    });
    std::sync::Mutex::new(Model { base, answers, requests })
});

fn serve(mut stream: TcpStream, sender: &Sender<(String, Vec<u8>)>, answers: &std::sync::Mutex<Receiver<Message>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while reader.fill_buf().is_ok_and(|bytes| !bytes.is_empty()) {
        let head = head(&mut reader);
        if header(&head, "expect").is_some() {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
        }
        let body = body(&mut reader, &head, false);
        sender.send((head, body)).unwrap();
        let answer = answers.lock().unwrap().recv().unwrap();
        write(
            &mut stream,
            &answer.bytes("HTTP/1.1 207 Odd\r\nx-model: m\r\nset-cookie: a\r\nset-cookie: b\r\n"),
            &answer.writes,
        );
        if answer.framing == Framing::Close {
            return;
        }
    }
}

/// Sends a request and returns the answer's head and body.
fn exchanged(base: &str, request: &Message, manners: Manners) -> (String, Vec<u8>) {
    let (host, prefix) = base.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let expect = if manners.expects_continue { "expect: 100-continue\r\n" } else { "" };
    let headers = format!("POST /{prefix}/chat/completions HTTP/1.1\r\nhost: {host}\r\nx-own: c\r\n{expect}");
    let bytes = request.bytes(&headers);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut begin = 0;
    if manners.expects_continue && !request.body.is_empty() {
        begin = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        stream.write_all(&bytes[..begin]).unwrap();
        let go_on = head(&mut reader);
        assert!(go_on.starts_with("HTTP/1.1 100 "), "{go_on}");
    }
    write(&mut stream, &bytes[begin..], &request.writes);
    if manners.closes_half {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    let mut answered = head(&mut reader);
    while answered.starts_with("HTTP/1.1 100 ") {
        answered = head(&mut reader);
    }
    let body = body(&mut reader, &answered, true);
    (answered, body)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sent_in_any_pieces_arrives_as_it_was(
        request in messages(&[Framing::Length, Framing::Chunks]),
        answer in messages(&[Framing::Length, Framing::Chunks, Framing::Close]),
        manners in (any::<bool>(), any::<bool>()).prop_map(|(expects_continue, closes_half)| Manners { expects_continue, closes_half }),
    ) {
        let model = MODEL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        model.answers.send(answer.clone()).unwrap();
        let (answered, received) = exchanged(&model.base, &request, manners);
        let (asked, sent) = model.requests.recv().unwrap();
        prop_assert!(sent == request.body, "{} of {} bytes arrived", sent.len(), request.body.len());
        prop_assert!(received == answer.body, "{} of {} bytes came back", received.len(), answer.body.len());
        prop_assert!(answered.starts_with("HTTP/1.1 207 "), "{answered}");
        prop_assert_eq!(answered.matches("set-cookie").count(), 2);
        prop_assert_eq!(header(&asked, "x-own"), Some("c".to_owned()));
        let encodings = [(&asked, request.encoding), (&answered, answer.encoding)];
        for (head, is_encoded) in encodings {
            prop_assert_eq!(header(head, "content-encoding").is_some(), is_encoded, "{}", head);
        }
    }
}
