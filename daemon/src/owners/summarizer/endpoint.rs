//! A model that is reached through HTTP: one POST with JSON, one bounded answer.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use reqwest::header::{HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Serialize;
use serde_json::Value;

use super::masker::{Secret, SecretMasker};
use super::{Failure, FailureKind, Main, reply, retry_after};
use crate::data::config::{EndpointConfig, ModelChoice};

/// The user agent of this program.
const USER_AGENT: &str = concat!("herma/", env!("CARGO_PKG_VERSION"));

/// Headers of a request.
pub(in crate::owners) type Headers = Vec<(HeaderName, HeaderValue)>;

/// The prompt as a message.
#[derive(Serialize)]
pub(in crate::owners) struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

impl<'a> Message<'a> {
    /// Creates a message of the user.
    pub(in crate::owners) const fn of_user(content: &'a str) -> Self {
        Self { role: "user", content }
    }
}

/// An endpoint, its key, and an HTTP client with its timeouts.
pub(in crate::owners) struct Endpoint {
    config: EndpointConfig,
    key: Option<Secret>,
    masker: Arc<SecretMasker>,
    /// The client, or why there is none.
    client: Result<Client, String>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Endpoint").field("config", &self.config).field("key", &self.key).finish_non_exhaustive()
    }
}

impl Endpoint {
    pub(in crate::owners) fn new(config: EndpointConfig, key: Option<Secret>, masker: Arc<SecretMasker>) -> Self {
        let client = client(&config);
        Self { config, key, masker, client }
    }

    /// Returns the model to request: the session's setting first, then the configuration. `None` leaves the choice to
    /// the endpoint.
    pub(in crate::owners) fn model(&self, own: Option<&str>, main: &Main) -> Option<String> {
        let own = own.and_then(ModelChoice::parse);
        let of_main = || main.model.clone().filter(|model| !model.trim().is_empty());
        match own.as_ref().unwrap_or(&self.config.model) {
            ModelChoice::Named(name) => Some(name.clone()),
            ModelChoice::Main => of_main(),
            ModelChoice::Auto => of_main().filter(|_| self.is_runtime(main)),
        }
    }

    /// Whether the choice depends on the model of the session.
    pub(in crate::owners) fn follows_main(&self, own: Option<&str>) -> bool {
        own.and_then(ModelChoice::parse).unwrap_or_else(|| self.config.model.clone()) == ModelChoice::Main
    }

    /// Whether the session uses this endpoint itself. A session without a base URL counts as one that does.
    fn is_runtime(&self, main: &Main) -> bool {
        match main.base_url.as_deref().map(str::trim) {
            None | Some("") => true,
            Some(url) => Url::parse(url).is_ok_and(|url| root(&url) == root(&self.config.base_url)),
        }
    }

    /// Whether the base URL's path ends with this part.
    pub(in crate::owners) fn ends_in(&self, part: &str) -> bool {
        root_and_path(&self.config.base_url).ends_with(&format!("/{part}"))
    }

    /// Returns the header with the key, if there is a key.
    pub(in crate::owners) fn key_header(&self, name: HeaderName, before: &str) -> Result<Headers, Failure> {
        let Some(key) = &self.key else { return Ok(Headers::new()) };
        let mut value = HeaderValue::try_from(format!("{before}{}", key.reveal())).map_err(|_| {
            let variable = self.config.api_key_env.as_deref().unwrap_or_default();
            Failure::no_provider(format_args!("what {variable} holds can't be sent in a header"))
        })?;
        value.set_sensitive(true);
        Ok(vec![(name, value)])
    }

    /// Ends a call that exceeds its total time limit.
    pub(in crate::owners) async fn within_total<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let limit = self.config.total_timeout;
        tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
            Err(Failure::new(FailureKind::Timeout, format!("timeout: no whole answer within {limit:?}")))
        })
    }

    /// Sends a request and reads the answer.
    pub(in crate::owners) async fn post(
        &self,
        path: &[&str],
        headers: Headers,
        body: &impl Serialize,
    ) -> Result<Value, Failure> {
        let client = self.client.as_ref().map_err(|why| Failure::new(FailureKind::Other, why.as_str()))?;
        let mut url = self.config.base_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let request = client.post(url).headers(headers.into_iter().collect()).json(body);
        let response = request.send().await.map_err(|error| self.broken(error))?;
        if response.status() != StatusCode::OK {
            return Err(self.refused(response).await);
        }
        let body = self.body(response).await?;
        serde_json::from_slice(&body).map_err(|error| no_json(&body, &error))
    }

    /// Reads the whole body, unless it is too large.
    async fn body(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let most = self.config.max_response;
        let too_large = || Failure::new(FailureKind::Other, format!("the answer has more than {most} bytes"));
        if response.content_length().is_some_and(|length| length > most as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            if chunk.len() > most - body.len() {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Returns the failure for an answer with a status other than 200.
    async fn refused(&self, response: Response) -> Failure {
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after_s = wait.and_then(|text| retry_after::seconds(text, Timestamp::now()));
        // Without the body, the status is still useful.
        let body = self.body(response).await.unwrap_or_default();
        let words = match serde_json::from_slice::<Value>(&body) {
            Ok(body) => reply::complaint(&body),
            Err(_) if is_html(&body) => Some("an HTML page".to_owned()),
            Err(_) => Some(String::from_utf8_lossy(&body).trim().to_owned()).filter(|words| !words.is_empty()),
        };
        let words = words.or_else(|| status.canonical_reason().map(str::to_owned)).unwrap_or_default();
        Failure {
            status: Some(status.as_u16()),
            retry_after_s,
            ..Failure::new(FailureKind::Other, format!("HTTP {}: {}", status.as_u16(), self.masker.line(&words)))
        }
    }

    /// Returns the failure for a call without a complete answer.
    fn broken(&self, error: reqwest::Error) -> Failure {
        // A timeout in the body is also a decoding error, so it is checked first.
        if error.is_timeout() {
            let text = match (error.is_connect(), error.is_request()) {
                (true, _) => format!("timeout: no connection within {:?}", self.config.connect_timeout),
                (_, true) => format!("timeout: no answer began within {:?}", self.config.read_timeout),
                _ => format!("timeout: nothing came for {:?}", self.config.read_timeout),
            };
            return Failure::new(FailureKind::Timeout, text);
        }
        let kind = if error.is_builder() { FailureKind::Other } else { FailureKind::Connection };
        Failure::new(kind, herma_endpoint::causes(error))
    }
}

fn client(config: &EndpointConfig) -> Result<Client, String> {
    let client = herma_endpoint::client(&config.base_url)?
        .user_agent(USER_AGENT)
        .connect_timeout(config.connect_timeout)
        .read_timeout(config.read_timeout)
        .pool_max_idle_per_host(0);
    client.build().map_err(herma_endpoint::causes)
}

/// Returns a URL without its trailing slash and version, for comparison.
fn root(url: &Url) -> String {
    let path = root_and_path(url);
    path.strip_suffix("/v1").map_or_else(|| path.clone(), str::to_owned)
}

fn root_and_path(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

fn is_html(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

fn no_json(body: &[u8], error: &serde_json::Error) -> Failure {
    let text =
        if is_html(body) { "bad JSON: an HTML page came instead".to_owned() } else { format!("bad JSON: {error}") };
    Failure::new(FailureKind::Json, text)
}
