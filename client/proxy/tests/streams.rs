//! Tests the proxy between real sockets: forwarding unchanged and as it comes, and its own answers.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod sockets;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use herma_proxy::{Proxy, Settings};
use serde_json::json;
use sockets::{header, nobody, proxy};

/// The head and the body of a request.
type Seen = (String, Vec<u8>);

/// Starts a model. It sends the head and the body of each request to the test, and answers with the test's pieces.
fn model() -> (String, Receiver<Seen>, Sender<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/api/v1", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    let (pieces, to_send) = channel::<Vec<u8>>();
    let to_send = Arc::new(Mutex::new(to_send));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, sender, to_send) = (stream.unwrap(), sender.clone(), Arc::clone(&to_send));
            std::thread::spawn(move || serve(stream, &sender, &to_send));
        }
    });
    (address, requests, pieces)
}

fn serve(mut stream: TcpStream, sender: &Sender<Seen>, to_send: &Mutex<Receiver<Vec<u8>>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = request(&mut reader) {
        sender.send(request).unwrap();
        let to_send = to_send.lock().unwrap();
        // An empty piece ends an answer.
        while let Ok(piece) = to_send.recv() {
            if piece.is_empty() {
                break;
            }
            stream.write_all(&piece).unwrap();
        }
    }
}

/// Reads the head and the body of a message, or `None` at the end.
fn request(reader: &mut impl BufRead) -> Option<Seen> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// Sends a request to an address and returns the answer.
fn ask(base: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> BufReader<TcpStream> {
    let (host, prefix) = base.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head =
        format!("{method} /{prefix}{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    BufReader::new(stream)
}

fn read_until(reader: &mut impl BufRead, end: &str) -> String {
    let mut text = String::new();
    while !text.contains(end) {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "it ended after {text:?}");
        text.push_str(&line);
    }
    text
}

fn metadata(kind: &str) -> String {
    let metadata = json!({ "request_kind": kind, "session_id": "s", "thread_id": "s", "compaction": { "implementation": "responses" } });
    format!("x-codex-turn-metadata: {metadata}\r\n")
}

#[test]
fn everything_goes_through_as_it_is_and_as_it_comes() {
    let (upstream, requests, pieces) = model();
    let base = proxy(&upstream, Some("never"));
    let body = [b"{\"stream\": true, \"bytes\": \"".as_slice(), &[0xff, 0, 7], b"\"}"].concat();
    let headers = format!(
        "{}authorization: Bearer secret\r\nx-odd:  \u{e9}\r\nconnection: x-hop\r\nx-hop: 1\r\n",
        metadata("turn")
    );
    let mut answer = ask(&base, "POST", "/responses?a=%2F&b", &headers, &body);
    let (head, sent) = requests.recv().unwrap();
    assert!(head.starts_with("POST /api/v1/responses?a=%2F&b HTTP/1.1\r\n"), "{head}");
    assert_eq!(sent, body);
    assert_eq!(header(&head, "authorization").as_deref(), Some("Bearer secret"));
    assert_eq!(header(&head, "x-odd").as_deref(), Some("é"));
    assert_eq!(header(&head, "x-hop"), None);
    assert_eq!(
        header(&head, "host"),
        upstream.strip_prefix("http://").and_then(|url| url.split('/').next()).map(str::to_owned)
    );
    // Each piece arrives before the next one is sent.
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len()).into_bytes();
    pieces
        .send(
            b"HTTP/1.1 203 Odd\r\ntransfer-encoding: chunked\r\nx-model: m\r\ncontent-encoding: zstd\r\n\r\n".to_vec(),
        )
        .unwrap();
    pieces.send(chunk("event: one\n\n")).unwrap();
    let seen = read_until(&mut answer, "event: one\n");
    assert!(seen.starts_with("HTTP/1.1 203 ") && header(&seen, "x-model").as_deref() == Some("m"), "{seen}");
    assert_eq!(header(&seen, "content-encoding").as_deref(), Some("zstd"));
    pieces.send(chunk("event: two\n\n")).unwrap();
    read_until(&mut answer, "event: two\n");
    pieces.send(b"0\r\n\r\n".to_vec()).unwrap();
    read_until(&mut answer, "0\r\n");
}

#[test]
fn a_compaction_is_answered_here_where_there_is_a_text_and_passed_on_where_there_is_none() {
    let (upstream, requests, pieces) = model();
    let body = br#"{"stream": true, "input": "summarize"}"#;
    let answered = proxy(&upstream, Some("the handoff"));
    let mut answer = ask(&answered, "POST", "/responses", &metadata("compaction"), body);
    let seen = read_until(&mut answer, "response.completed");
    assert!(seen.contains("content-type: text/event-stream") && seen.contains("the handoff"), "{seen}");
    assert!(requests.try_recv().is_err());
    // A body that can't be read, a body that wants no stream, and an answer without a text.
    let silent = proxy(&upstream, None);
    for (base, headers, body) in [
        (&answered, "content-encoding: zstd\r\n", b"(\xb5/\xfd".as_slice()),
        (&answered, "", br#"{"stream": false, "input": "summarize"}"#),
        (&silent, "", body),
    ] {
        let mut answer = ask(base, "POST", "/responses", &format!("{}{headers}", metadata("compaction")), body);
        let (head, sent) = requests.recv().unwrap();
        assert!(head.starts_with("POST /api/v1/responses HTTP/1.1") && sent == body, "{head}");
        pieces.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec()).unwrap();
        pieces.send(Vec::new()).unwrap();
        read_until(&mut answer, "content-length: 2");
    }
}

#[test]
fn a_client_that_ended_its_requests_gets_its_answer_and_one_that_is_gone_ends_the_models() {
    let (upstream, requests, pieces) = model();
    let base = proxy(&upstream, None);
    let mut waiting = ask(&base, "POST", "/responses", "", b"{}");
    waiting.get_mut().shutdown(std::net::Shutdown::Write).unwrap();
    drop(requests.recv().unwrap());
    // The proxy looks more than once whether it is still there.
    waiting.get_mut().set_read_timeout(Some(std::time::Duration::from_millis(600))).unwrap();
    let ended = waiting.get_mut().peek(&mut [0]);
    assert!(ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "the connection is closed");
    waiting.get_mut().set_read_timeout(None).unwrap();
    pieces.send(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".to_vec()).unwrap();
    pieces.send(Vec::new()).unwrap();
    read_until(&mut waiting, "\r\n\r\n");
    let mut answer = [0; 5];
    waiting.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"hello");
    // A model that waits for its client to go.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = proxy(&format!("http://{}/v1", listener.local_addr().unwrap()), None);
    let gone = ask(&base, "POST", "/responses", "", b"{}");
    let (mut model, _) = listener.accept().unwrap();
    drop(request(&mut BufReader::new(model.try_clone().unwrap())).unwrap());
    drop(gone);
    model.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    assert_eq!(model.read(&mut [0]).unwrap(), 0, "the model is not told");
}

#[test]
fn another_protocol_goes_through_both_ways() {
    let (upstream, requests, pieces) = model();
    let base = proxy(&upstream, None);
    let mut client = ask(&base, "GET", "/responses", "connection: upgrade\r\nupgrade: websocket\r\n", b"");
    let (head, _) = requests.recv().unwrap();
    assert_eq!(header(&head, "upgrade").as_deref(), Some("websocket"));
    pieces
        .send(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n".to_vec())
        .unwrap();
    let seen = read_until(&mut client, "\r\n\r\n");
    assert!(seen.starts_with("HTTP/1.1 101 "), "{seen}");
    pieces.send(b"from the model\n".to_vec()).unwrap();
    read_until(&mut client, "from the model\n");
    pieces.send(Vec::new()).unwrap();
    client.get_mut().write_all(b"from the client\r\n\r\n").unwrap();
    assert_eq!(requests.recv().unwrap().0, "from the client\r\n");
}

#[test]
fn what_is_ambiguous_is_made_plain_or_refused() {
    let (upstream, requests, pieces) = model();
    let base = proxy(&upstream, None);
    // An answer with an encoding and a length: the encoding counts.
    let mut answer = ask(&base, "GET", "/models", "connection: close\r\n", b"");
    drop(requests.recv().unwrap());
    pieces
        .send(
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                .to_vec(),
        )
        .unwrap();
    pieces.send(Vec::new()).unwrap();
    let mut seen = String::new();
    answer.read_to_string(&mut seen).unwrap();
    assert!(header(&seen, "content-length").is_none() && seen.contains("hello"), "{seen}");
    // The model switches protocols although the request had no `connection: upgrade`.
    let mut answer = ask(&base, "GET", "/models", "connection: close\r\nupgrade: websocket\r\n", b"");
    let (head, _) = requests.recv().unwrap();
    assert_eq!(header(&head, "upgrade"), None);
    pieces
        .send(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n".to_vec())
        .unwrap();
    pieces.send(Vec::new()).unwrap();
    seen.clear();
    answer.read_to_string(&mut seen).unwrap();
    assert!(seen.starts_with("HTTP/1.1 502"), "{seen}");
    for path in ["/../secret", "/a/%2e%2e/%2E./b", "/./x"] {
        seen.clear();
        ask(&base, "GET", path, "connection: close\r\n", b"").read_to_string(&mut seen).unwrap();
        assert!(seen.starts_with("HTTP/1.1 400"), "{path}: {seen}");
    }
    assert!(requests.try_recv().is_err());
}

#[test]
fn strangers_get_nothing_and_a_model_that_is_away_is_told_of() {
    let (upstream, requests, _pieces) = model();
    let base = proxy(&upstream, Some("the handoff"));
    let root = base.strip_suffix("k3y").unwrap();
    for path in ["responses", "other/responses", ""] {
        let headers = format!("{}connection: close\r\n", metadata("compaction"));
        let mut seen = String::new();
        ask(root, "POST", path, &headers, b"{}").read_to_string(&mut seen).unwrap();
        assert!(seen.starts_with("HTTP/1.1 404") && seen.contains("base_url") && !seen.contains("handoff"), "{seen}");
    }
    assert!(requests.try_recv().is_err());
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let base = proxy(&format!("http://{gone}/v1"), None);
    let mut answer = ask(&base, "POST", "/responses", "authorization: Bearer secret\r\nconnection: close\r\n", b"{}");
    let mut seen = String::new();
    answer.read_to_string(&mut seen).unwrap();
    let is_told = seen.starts_with("HTTP/1.1 502") && seen.contains("can't be reached");
    assert!(is_told && !seen.contains("secret"), "{seen}");
}

#[test]
fn what_can_t_be_served_is_refused_in_words() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (listen, upstream, words) in [
        ("0.0.0.0:0", "http://127.0.0.1/v1", "not on this machine alone"),
        (&taken, "http://127.0.0.1/v1", "can't be listened on"),
        ("127.0.0.1:0", "ftp://127.0.0.1/v1", "begins with http:// or https://"),
        ("127.0.0.1:0", "http://me:secret@127.0.0.1/v1", "no name, password"),
        ("127.0.0.1:0", "http://:secret@127.0.0.1/v1", "no name, password"),
        ("127.0.0.1:0", "http://127.0.0.1/v1?key=secret", "no name, password, query"),
    ] {
        let settings =
            Settings { listen: listen.parse().unwrap(), key: "k".into(), upstream: upstream.parse().unwrap() };
        let error = runtime.block_on(Proxy::listen(settings, nobody())).unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains("secret"), "{error}");
    }
}
