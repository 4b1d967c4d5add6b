//! A client's connection. A client that only ended its requests still gets its answer, and the model stops for one that is
//! gone. Both look alike on the connection, so the system is asked whether a program still has the other end.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// How often to look whether a client that ended its requests is still there.
const LOOK: Duration = Duration::from_millis(250);

/// The tables of the system's connections.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The connection. It has no end for its reader while the client waits for an answer.
pub(crate) struct Client {
    stream: TcpStream,
    /// The time of the next look, once the client has ended its requests.
    ended: Option<Pin<Box<Sleep>>>,
}

impl Client {
    pub(crate) const fn new(stream: TcpStream) -> Self {
        Self { stream, ended: None }
    }

    fn is_gone(&self) -> bool {
        let ends = self.stream.peer_addr().ok().zip(self.stream.local_addr().ok());
        let rows = TABLES.iter().filter_map(|path| std::fs::read_to_string(path).ok());
        // Other systems have no tables.
        ends.is_none_or(|(client, proxy)| !rows.into_iter().any(|rows| has_owner(&rows, client, proxy)))
    }
}

/// Returns whether a program has the end of a connection. Each row has both addresses as hexadecimal numbers, and the
/// inode of the program's socket in the tenth column, which is 0 if there is none (proc(5)).
fn has_owner(rows: &str, client: SocketAddr, proxy: SocketAddr) -> bool {
    let port = |address: &str| address.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
    rows.lines().any(|row| {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let [_, local, remote, ..] = columns[..] else { return false };
        let is_it = port(local) == Some(client.port()) && port(remote) == Some(proxy.port());
        is_it && columns.get(9).is_some_and(|inode| *inode != "0")
    })
}

impl AsyncRead for Client {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let client = self.get_mut();
        if client.ended.is_none() {
            let before = into.filled().len();
            ready!(Pin::new(&mut client.stream).poll_read(context, into))?;
            if into.filled().len() > before || into.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        loop {
            if client.is_gone() {
                return Poll::Ready(Ok(()));
            }
            let next = client.ended.insert(Box::pin(sleep(LOOK)));
            ready!(next.as_mut().poll(context));
        }
    }
}

impl AsyncWrite for Client {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_without_a_program_has_no_inode() {
        let row = |inode: &str| {
            format!(
                "  sl  local_address rem_address   st ...\n   1: 0100007F:A001 0100007F:2222 05 00000000:00000000 03:00000A 00000000     0        0 {inode} 1\n"
            )
        };
        let [client, proxy, other] =
            ["127.0.0.1:40961", "127.0.0.1:8738", "127.0.0.1:1"].map(|one| one.parse().unwrap());
        assert!(has_owner(&row("77"), client, proxy));
        assert!(!has_owner(&row("0"), client, proxy));
        assert!(!has_owner(&row("77"), other, proxy) && !has_owner("", client, proxy));
    }
}
