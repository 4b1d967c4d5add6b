//! Authentication methods of a server. The password is not sent to a server that could be a fake.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

use super::server;

/// PostgreSQL's authentication requests for a password in clear, and for an MD5 digest.
const CLEAR: u32 = 3;
const MD5: u32 = 5;

const PASSWORD: &str = "hunter2secret";

/// Creates a home with the password for this URL.
fn home(url: &str, more: &str) -> Home {
    let home = Home::new();
    let secret = home.path().join("password");
    std::fs::write(&secret, PASSWORD).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let config = format!(
        "[shared]\nurl = \"{url}\"\nhost = \"a\"\nspace = \"team\"\npassword_file = \"{}\"\n{more}",
        secret.display()
    );
    let folder = home.path().join("herma");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
    home
}

/// Starts a daemon and returns its answer to `shared.join`.
fn joined(home: &Home) -> Value {
    let daemon = Daemon::start(home);
    daemon.raw().call("shared.join", &json!({}))
}

/// A server without TLS that requests a password in this form, and sends all that it reads to the receiver.
fn false_server<L, S>(listener: L, accept: impl Fn(&L) -> S + Send + 'static, asks: u32) -> Receiver<Vec<u8>>
where
    L: Send + 'static,
    S: Read + Write + Send + 'static,
{
    let (sender, received) = channel();
    thread::spawn(move || {
        loop {
            let (mut stream, sender) = (accept(&listener), sender.clone());
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut buffer) {
                    drop(sender.send(buffer[..count].to_vec()));
                    let answer = match count {
                        8 => b"N".to_vec(),
                        _ if asks == MD5 => [b"R\0\0\0\x0c", &asks.to_be_bytes()[..], b"salt"].concat(),
                        _ => [b"R\0\0\0\x08", &asks.to_be_bytes()[..]].concat(),
                    };
                    if stream.write_all(&answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    received
}

fn accept_tcp(listener: &TcpListener) -> TcpStream {
    listener.accept().unwrap().0
}

#[test]
fn a_false_server_gets_no_password() {
    for asks in [CLEAR, MD5] {
        for mode in ["", "?sslmode=prefer", "?sslmode=disable"] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("postgres://agents@127.0.0.1:{}/herma{mode}", listener.local_addr().unwrap().port());
            refuses(&url, &false_server(listener, accept_tcp, asks));
        }
        let folder = tempfile::Builder::new().prefix("p").tempdir_in("/tmp").unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let url = format!("postgres://agents@{}/herma", folder.path().to_str().unwrap().replace('/', "%2F"));
        refuses(&url, &false_server(listener, |listener| listener.accept().unwrap().0, asks));
    }
}

fn refuses(url: &str, received: &Receiver<Vec<u8>>) {
    let answer = joined(&home(url, ""));
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("password in clear") && words.contains("password_in_clear"), "{url}: {words}");
    let mut read = Vec::new();
    while let Ok(bytes) = received.recv_timeout(Duration::from_millis(50)) {
        read.extend(bytes);
    }
    // The server received the user and the database, but no password message, which begins with a p.
    let is_there = |needle: &[u8]| read.windows(needle.len()).any(|part| part == needle);
    assert!(is_there(b"agents") && !is_there(b"hunter2") && !is_there(b"md5"), "{url}: {read:?}");
}

#[test]
fn a_password_goes_to_a_server_that_proves_to_know_it_or_where_that_is_allowed() {
    let Some(server) = server() else { return };
    let tcp = format!("postgres://agents@127.0.0.1:{}/herma", server.port);
    let folder = server.folder().to_str().unwrap().replace('/', "%2F");
    let unix = format!("postgres://agents@{folder}:{}/herma", server.port);
    let allowed = "password_in_clear = true\n";
    for (method, more, is_in) in [
        ("scram-sha-256", "", true),
        ("md5", "", false),
        ("password", "", false),
        ("md5", allowed, true),
        ("password", allowed, true),
    ] {
        server.ask_for_password(method, PASSWORD);
        for url in [&tcp, &format!("{tcp}?sslmode=prefer"), &unix] {
            let answer = joined(&home(url, more));
            assert_eq!(answer["result"].is_object(), is_in, "{method} {more} {url}: {answer}");
        }
    }
    let ca: PathBuf = server.speak_tls();
    server.ask_for_password("password", PASSWORD);
    let tls = format!("postgres://agents@localhost:{}/herma?sslmode=", server.port);
    for mode in ["require", "prefer"] {
        let answer = joined(&home(&format!("{tls}{mode}"), &format!("ca_file = \"{}\"\n", ca.display())));
        assert!(answer["result"].is_object(), "{mode}: {answer}");
    }
}
