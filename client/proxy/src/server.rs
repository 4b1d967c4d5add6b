//! Checks requests and answers or forwards them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use url::Url;

use crate::api::Api;
use crate::api::answer::{self, Said};
use crate::api::reply::{Reply, reply};
use crate::api::request::Asked;
use crate::client::Client;
use crate::forward::{Body, Upstream, refusal, whole};
use crate::summaries::Summary;
use crate::tap::Tap;

/// The largest request to a model in bytes. A larger one is refused, because no model reads so much.
const LARGEST: usize = 256 << 20;

/// The settings of a proxy.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address to listen on, on loopback.
    pub listen: SocketAddr,
    /// The first part of every request's path. A request without it is answered with 404.
    pub key: String,
    /// The model's endpoint: the agent's `base_url` without the proxy.
    pub upstream: Url,
}

impl Settings {
    /// Checks the settings as far as possible without a connection.
    ///
    /// # Errors
    /// The address is not on loopback, or the upstream is not a usable endpoint.
    pub fn check(&self) -> Result<(), ProxyError> {
        let Self { listen, upstream, .. } = self;
        if !listen.ip().is_loopback() {
            return Err(ProxyError::NotLoopback(*listen));
        }
        let unusable = |why: &str| Err(ProxyError::Upstream { url: self.shown(), why: why.to_owned() });
        if !matches!(upstream.scheme(), "http" | "https") || upstream.host_str().is_none() {
            return unusable("an address that begins with http:// or https:// is needed");
        }
        let has_secret = upstream.password().is_some() || !upstream.username().is_empty();
        if has_secret || upstream.query().is_some() || upstream.fragment().is_some() {
            return unusable("it may have no name, password, query or fragment");
        }
        Ok(())
    }

    /// Returns the upstream without parts that may be secret.
    fn shown(&self) -> String {
        let Self { upstream, .. } = self;
        format!("{}://{}{}", upstream.scheme(), upstream.host_str().unwrap_or_default(), upstream.path())
    }
}

/// The error of a proxy that can't start.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// Other machines could reach the address.
    #[error("{0} is not on this machine alone: listen on 127.0.0.1 or [::1]")]
    NotLoopback(SocketAddr),
    /// The URL is not an endpoint of a model.
    #[error("{url} can't be the model's endpoint: {why}")]
    Upstream {
        /// The URL without the parts after its path.
        url: String,
        /// The reason.
        why: String,
    },
    /// The proxy can't listen on the address.
    #[error("{address} can't be listened on: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
}

/// What is told of the requests that pass, and what answers those for a summary.
pub trait Watcher: Send + Sync {
    /// Returns the answer to a request for a summary, or `None` if the model should write it. It may take a while and
    /// runs on its own thread.
    fn summary(&self, asked: &Arc<Asked>, request: &Summary) -> Option<String>;

    /// Takes what was asked and answered. It must not take long.
    fn passed(&self, exchange: Exchange);
}

/// A request that passed, and the answer to it.
#[derive(Debug)]
pub struct Exchange {
    /// The request.
    pub asked: Arc<Asked>,
    /// The request for a summary that it is, if it is one.
    pub summary: Option<Summary>,
    /// What the model said; `None` for an error, and for an answer that can't be read.
    pub said: Option<Said>,
    /// How long the answer took.
    pub elapsed: Duration,
}

/// A proxy that listens.
pub struct Proxy {
    listener: TcpListener,
    address: SocketAddr,
    rules: Arc<Rules>,
}

/// The rules for answering and forwarding requests.
struct Rules {
    key: String,
    upstream: Upstream,
    watcher: Arc<dyn Watcher>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Starts to listen.
    ///
    /// # Errors
    /// The address is not on loopback or is in use, or the upstream is not a usable endpoint.
    pub async fn listen(settings: Settings, watcher: Arc<dyn Watcher>) -> Result<Self, ProxyError> {
        settings.check()?;
        let shown = settings.shown();
        let Settings { listen, key, upstream } = settings;
        let upstream = Upstream::new(upstream).map_err(|why| ProxyError::Upstream { url: shown, why })?;
        let failed = |source| ProxyError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, rules: Arc::new(Rules { key, upstream, watcher }) })
    }

    /// Returns the `base_url` for the agent.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/{}", self.address, self.rules.key)
    }

    /// Serves requests until it is dropped.
    pub async fn serve(self) {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                // Too many files are open. Some will be closed soon.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            // Events are small, and the agent waits for each one.
            drop(stream.set_nodelay(true));
            let rules = Arc::clone(&self.rules);
            drop(tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let rules = Arc::clone(&rules);
                    async move { Ok::<_, Infallible>(rules.answer(request).await) }
                });
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .serve_connection(TokioIo::new(Client::new(stream)), service);
                // An agent that closes its connection early is not an error.
                drop(connection.with_upgrades().await);
            }));
        }
    }
}

impl Rules {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path();
        let Some(below) = below(path, &self.key) else {
            return refusal(StatusCode::NOT_FOUND, "there is nothing here; base_url has to be what `herma proxy` says");
        };
        if request.method() == Method::CONNECT || !is_plain(below) {
            return refusal(StatusCode::BAD_REQUEST, "this proxy does not forward that path");
        }
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        let target = format!("{below}{query}");
        // What can't be read passes as it comes.
        let is_encoded = request.headers().contains_key(CONTENT_ENCODING);
        match Api::of(request.method().as_str(), below).filter(|_| !is_encoded) {
            Some(api) => self.watch(api, request, &target).await,
            None => self.upstream.forward(request, &target).await,
        }
    }

    /// Answers a request to a model.
    async fn watch(self: Arc<Self>, api: Api, request: Request<Incoming>, target: &str) -> Response<Body> {
        let began = Instant::now();
        let (parts, body) = request.into_parts();
        let Ok(body) = Limited::new(body, LARGEST).collect().await else {
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long, or broke off");
        };
        let body = body.to_bytes();
        let Some(asked) = Asked::read(api, &parts.headers, &body).map(Arc::new) else {
            return self.upstream.forward_read(parts, body, target).await;
        };
        let summary = Summary::of(&asked, &parts.headers);
        if let Some(summary) = summary.clone() {
            let (watcher, asked) = (Arc::clone(&self.watcher), Arc::clone(&asked));
            let answer =
                tokio::task::spawn_blocking(move || watcher.summary(&asked, &summary).map(|text| (asked, text)));
            if let Ok(Some((asked, text))) = answer.await {
                return replied(&reply(&asked, &answer_id(), &text, unix_now()));
            }
        }
        let answer = self.upstream.forward_read(parts, body, target).await;
        let is_stream = is_event_stream(&answer);
        let is_readable = answer.status().is_success() && !answer.headers().contains_key(CONTENT_ENCODING);
        let watcher = Arc::clone(&self.watcher);
        answer.map(|body| {
            let tap = Tap::new(body, move |copy| {
                let said = copy.filter(|_| is_readable).and_then(|copy| answer::read(api, is_stream, &copy));
                watcher.passed(Exchange { asked, summary, said, elapsed: began.elapsed() });
            });
            tap.boxed()
        })
    }
}

fn is_event_stream(answer: &Response<Body>) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// Returns a part for the ids of an answer that no other answer has.
fn answer_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("herma_{:x}_{}", unix_now(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the path after the key, if it begins with the key.
fn below<'a>(path: &'a str, key: &str) -> Option<&'a str> {
    let below = path.strip_prefix('/')?.strip_prefix(key)?;
    (below.is_empty() || below.starts_with('/')).then_some(below)
}

/// Returns whether every reader understands the path alike: no part of it leads up, in any spelling.
fn is_plain(path: &str) -> bool {
    let lower = path.to_ascii_lowercase().replace("%2e", ".");
    !lower.contains('\\') && !lower.split('/').any(|part| matches!(part, "." | ".."))
}

fn replied(reply: &Reply) -> Response<Body> {
    let mut response = Response::new(whole(Bytes::from(reply.body.clone())));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_knows_the_key_gets_through() {
        for (path, expected) in [
            ("/k3y/responses", Some("/responses")),
            ("/k3y", Some("")),
            ("/k3yx/responses", None),
            ("/responses", None),
            ("/", None),
            ("//k3y/responses", None),
            ("k3y/responses", None),
        ] {
            assert_eq!(below(path, "k3y"), expected, "{path}");
        }
        for path in ["/..", "/a/../b", "/%2e%2E/x", "/.%2e", "/a/./b", "/\\evil"] {
            assert!(!is_plain(path), "{path}");
        }
        assert!(is_plain("/v1/...a/b%2Fc"));
    }
}
