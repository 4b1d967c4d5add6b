//! Connects to PostgreSQL. TLS is negotiated here and not in the library, so that a connection without TLS goes through
//! [`Watched`]: the library would send the password in any form that the server requests.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::UnixStream;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{AsyncMessage, Client, Connection, Error, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::watched::Watched;
use crate::address::Address;
use crate::error::SharedError;

/// The SSLRequest message: its length, and a code that no protocol version has.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// The reply of a server that supports TLS.
const SPEAKS_TLS: u8 = b'S';

/// Messages that are not replies, such as notifications. The connection makes progress only while [`Messages::next`] is
/// polled.
pub(crate) struct Messages(PollNext);

type PollNext = Box<dyn FnMut(&mut Context<'_>) -> Poll<Message> + Send>;

/// One message; `None` at the end.
type Message = Option<Result<AsyncMessage, Error>>;

impl Messages {
    fn of<S, T>(mut connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self(Box::new(move |context| connection.poll_message(context)))
    }

    /// Returns the next message, or `None` when the connection has ended.
    pub(crate) async fn next(&mut self) -> Message {
        poll_fn(|context| (self.0)(context)).await
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Messages").finish_non_exhaustive()
    }
}

/// Connects to the first host that answers, Unix sockets first: the library can't watch those.
///
/// # Errors
/// The error of the last host.
pub(crate) async fn dial(address: &Address) -> Result<(Client, Messages), SharedError> {
    let Address { config, .. } = address;
    let (hosts, ports) = (config.get_hosts(), config.get_ports());
    let mut refused = None;
    for (at, host) in hosts.iter().enumerate() {
        let Host::Unix(folder) = host else { continue };
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        match dial_unix(address, &folder.join(format!(".s.PGSQL.{port}"))).await {
            Err(error) => refused = Some(error),
            connected => return connected,
        }
    }
    if let Some(error) = refused.filter(|_| hosts.iter().all(|host| matches!(host, Host::Unix(_)))) {
        return Err(error);
    }
    // With direct negotiation the library hands over the bare socket.
    let mut config = config.clone();
    config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
    let (client, connection) =
        config.connect(Negotiator::of(address)).await.map_err(|error| SharedError::of_question(&error))?;
    Ok((client, Messages::of(connection)))
}

async fn dial_unix(address: &Address, path: &Path) -> Result<(Client, Messages), SharedError> {
    let line = UnixStream::connect(path).await.map_err(|error| SharedError::Unreachable(error.to_string()))?;
    let mut config = address.config.clone();
    config.ssl_mode(SslMode::Disable);
    let connected = config.connect_raw(Watched::new(line, address.allows_clear), NoTls).await;
    let (client, connection) = connected.map_err(|error| SharedError::of_question(&error))?;
    Ok((client, Messages::of(connection)))
}

type Rustls = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;
type Encrypted = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Negotiates TLS on each new socket.
#[derive(Clone)]
struct Negotiator {
    tls: MakeRustlsConnect,
    manner: Manner,
}

/// The options of a negotiation.
#[derive(Debug, Clone, Copy)]
struct Manner {
    mode: SslMode,
    /// TLS from the first byte, without a request.
    is_direct: bool,
    allows_clear: bool,
}

impl Negotiator {
    fn of(address: &Address) -> Self {
        let is_direct = address.config.get_ssl_negotiation() == SslNegotiation::Direct;
        let manner = Manner { mode: address.config.get_ssl_mode(), is_direct, allows_clear: address.allows_clear };
        Self { tls: address.tls.clone(), manner }
    }
}

impl MakeTlsConnect<Socket> for Negotiator {
    type Stream = Line;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Handshake> {
        let tls = MakeTlsConnect::<Socket>::make_tls_connect(&mut self.tls, domain).map_err(io::Error::other)?;
        Ok(Handshake { tls, manner: self.manner })
    }
}

/// The negotiation on one socket.
struct Handshake {
    tls: Rustls,
    manner: Manner,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Line;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Line>> + Send>>;

    fn connect(self, line: Socket) -> Self::Future {
        Box::pin(self.negotiate(line))
    }
}

impl Handshake {
    async fn negotiate(self, mut line: Socket) -> io::Result<Line> {
        let Manner { mode, is_direct, allows_clear } = self.manner;
        let speaks_tls = match mode {
            SslMode::Disable => false,
            _ if is_direct => true,
            _ => {
                line.write_all(&SSL_REQUEST).await?;
                // A second byte would not be authenticated by TLS.
                line.read_u8().await? == SPEAKS_TLS
            }
        };
        match (speaks_tls, mode) {
            (true, _) => Ok(Line::Encrypted(Box::new(self.tls.connect(line).await?))),
            (false, SslMode::Disable | SslMode::Prefer) => Ok(Line::Open(Watched::new(line, allows_clear))),
            (false, _) => Err(io::Error::other("the server does not support TLS")),
        }
    }
}

/// A TCP connection with or without TLS.
enum Line {
    Encrypted(Box<Encrypted>),
    Open(Watched<Socket>),
}

impl TlsStream for Line {
    fn channel_binding(&self) -> ChannelBinding {
        match self {
            Self::Encrypted(line) => line.channel_binding(),
            Self::Open(_) => ChannelBinding::none(),
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Encrypted(line) => Pin::new(line).poll_read(context, into),
            Self::Open(line) => Pin::new(line).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Encrypted(line) => Pin::new(line).poll_write(context, bytes),
            Self::Open(line) => Pin::new(line).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Encrypted(line) => Pin::new(line).poll_flush(context),
            Self::Open(line) => Pin::new(line).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Encrypted(line) => Pin::new(line).poll_shutdown(context),
            Self::Open(line) => Pin::new(line).poll_shutdown(context),
        }
    }
}
