//! HTTP access of herma's programs to the endpoint of a model.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, retry};
use url::Url;

/// The host name that is always this machine (RFC 6761), and the suffix of its subdomains.
const LOCALHOST: (&str, &str) = ("localhost", ".localhost");

/// Returns a client for one endpoint, without timeouts. It follows no redirects and never retries.
/// It trusts the system's certificates. If the endpoint is on this machine, it uses no proxy.
///
/// # Errors
/// A message about what TLS lacks: for an `https` endpoint on a system without certificates.
pub fn client(url: &Url) -> Result<ClientBuilder, String> {
    let client = Client::builder().redirect(Policy::none()).retry(retry::never()).tls_backend_preconfigured(tls(url)?);
    Ok(if is_this_machine(url) { client.no_proxy() } else { client })
}

/// Returns an error and its causes, outermost first, without the URL, which may contain a key.
#[must_use]
pub fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

/// Returns the TLS configuration with the system's certificates; reads them only for `https`.
fn tls(url: &Url) -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    if url.scheme() == "https" {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err("this system has no certificates to know https endpoints by (ca-certificates)".to_owned());
        }
    }
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no TLS: {error}"))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(
        |_| host == LOCALHOST.0 || host.ends_with(LOCALHOST.1),
        |address| address.is_loopback() || address.is_unspecified(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_this_machine_is_known_by_its_host() {
        let rows = [
            ("http://localhost:1/v1", true),
            ("http://models.localhost", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:80", true),
            ("http://0.0.0.0:80", true),
            ("http://[::]", true),
            ("https://localhost.example.org", false),
            ("https://notlocalhost", false),
            ("http://10.0.0.1", false),
        ];
        for (url, expected) in rows {
            assert_eq!(Url::parse(url).map(|url| is_this_machine(&url)), Ok(expected), "{url}");
        }
    }
}
