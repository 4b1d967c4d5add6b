//! Forwards requests to the model and answers to the agent.

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, TRANSFER_ENCODING, UPGRADE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::{Client, Method};
use url::Url;

/// A body that passes through in pieces of any size, as they come.
pub(crate) type Body = BoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// The timeout for a connection to the model.
const CONNECT: Duration = Duration::from_secs(20);

/// Headers that belong to one connection and are not forwarded.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The model's endpoint.
#[derive(Debug)]
pub(crate) struct Upstream {
    base: Url,
    client: Client,
}

impl Upstream {
    /// Creates an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    /// TLS is needed and not available.
    pub(crate) fn new(base: Url) -> Result<Self, String> {
        let client = herma_endpoint::client(&base)?.connect_timeout(CONNECT).build().map_err(herma_endpoint::causes)?;
        Ok(Self { base, client })
    }

    /// Forwards a request and streams its body. Returns the answer as it comes.
    pub(crate) async fn forward(&self, mut request: Request<Incoming>, below: &str) -> Response<Body> {
        let upgrade =
            request.headers().get(UPGRADE).filter(|_| names(request.headers()).any(|name| name == UPGRADE)).cloned();
        let waiting = upgrade.is_some().then(|| hyper::upgrade::on(&mut request));
        let (parts, body) = request.into_parts();
        let mut headers = kept(&parts.headers);
        if let Some(protocol) = upgrade {
            headers.insert(CONNECTION, hyper::header::HeaderValue::from_static("upgrade"));
            headers.insert(UPGRADE, protocol);
        }
        let body = (!hyper::body::Body::is_end_stream(&body)).then(|| reqwest::Body::wrap(body));
        match self.send(parts.method, below, headers, body).await {
            Ok(answer) => answered(answer, waiting),
            Err(error) => failed(&error),
        }
    }

    /// Forwards a request whose body was already read.
    pub(crate) async fn forward_read(&self, parts: Parts, body: Bytes, below: &str) -> Response<Body> {
        match self.send(parts.method, below, kept(&parts.headers), Some(body.into())).await {
            Ok(answer) => answered(answer, None),
            Err(error) => failed(&error),
        }
    }

    async fn send(
        &self,
        method: Method,
        below: &str,
        headers: HeaderMap,
        body: Option<reqwest::Body>,
    ) -> Result<reqwest::Response, String> {
        let address = format!("{}{below}", self.base.as_str().trim_end_matches('/'));
        let mut request = self.client.request(method, address).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        request.send().await.map_err(herma_endpoint::causes)
    }
}

/// Returns the headers without those of the connection.
fn kept(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = names(headers).collect();
    let mut kept = headers.clone();
    if kept.contains_key(TRANSFER_ENCODING) {
        // If both are present, the encoding counts (RFC 9112, 6.3).
        kept.remove(CONTENT_LENGTH);
    }
    HOP_BY_HOP.iter().for_each(|name| drop(kept.remove(*name)));
    named.iter().for_each(|name| drop(kept.remove(name)));
    kept.remove(HOST);
    kept
}

/// Returns the headers that the message lists as belonging to its connection.
fn names(headers: &HeaderMap) -> impl Iterator<Item = HeaderName> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok())
}

/// Returns an answer as it comes. If both sides switch to another protocol, joins the two connections.
fn answered(answer: reqwest::Response, waiting: Option<hyper::upgrade::OnUpgrade>) -> Response<Body> {
    let status = answer.status();
    let mut headers = kept(answer.headers());
    if let (StatusCode::SWITCHING_PROTOCOLS, Some(waiting)) = (status, waiting) {
        headers.insert(CONNECTION, hyper::header::HeaderValue::from_static("upgrade"));
        headers.extend(answer.headers().get(UPGRADE).map(|protocol| (UPGRADE, protocol.clone())));
        drop(tokio::spawn(async move {
            if let (Ok(client), Ok(mut model)) = (waiting.await, answer.upgrade().await) {
                let (mut from_client, mut to_client) = tokio::io::split(TokioIo::new(client));
                let (mut from_model, mut to_model) = tokio::io::split(&mut model);
                // The first side that ends closes both.
                tokio::select! {
                    _ = tokio::io::copy(&mut from_client, &mut to_model) => {}
                    _ = tokio::io::copy(&mut from_model, &mut to_client) => {}
                }
            }
        }));
        return respond(status, headers, empty());
    }
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return refusal(
            StatusCode::BAD_GATEWAY,
            "the model's endpoint goes on with another protocol that nobody asked for",
        );
    }
    let body = Response::<reqwest::Body>::from(answer).into_body();
    respond(status, headers, body.map_err(|error| Box::from(error.without_url().to_string())).boxed())
}

fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn empty() -> Body {
    whole(Bytes::new())
}

/// Returns a body that is already complete.
pub(crate) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed()
}

/// Returns the answer when the model can't be reached.
fn failed(words: &str) -> Response<Body> {
    refusal(StatusCode::BAD_GATEWAY, &format!("the model's endpoint can't be reached: {words}"))
}

/// Returns an error in the format of model endpoints.
pub(crate) fn refusal(status: StatusCode, words: &str) -> Response<Body> {
    let error = serde_json::json!({ "error": { "type": "herma_proxy", "message": format!("herma proxy: {words}") } });
    let mut response = respond(status, HeaderMap::new(), whole(Bytes::from(error.to_string())));
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, json);
    response
}
