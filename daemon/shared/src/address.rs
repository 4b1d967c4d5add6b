//! The address of the database, and how its server is authenticated.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long sent bytes may stay unacknowledged before a connection counts as broken.
const UNACKNOWLEDGED: Duration = Duration::from_secs(5);

/// Silence after which the connection is probed.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The address of the database, with the password and the trusted certificates.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) tls: MakeRustlsConnect,
    /// Whether the password may be sent without TLS, in clear or as an MD5 digest.
    pub(crate) allows_clear: bool,
    words: String,
}

impl Address {
    /// Parses `postgres://user@host:port/database?sslmode=require`. If the host is another machine and the URL has no
    /// `sslmode`, TLS is required. With TLS the server's certificate is always checked, against `ca` (PEM) or else the
    /// `roots` of the system.
    ///
    /// # Errors
    /// The problem in words, without the password.
    pub fn parse(
        url: &str,
        password: Option<&str>,
        ca: Option<&[u8]>,
        roots: Vec<CertificateDer<'static>>,
    ) -> Result<Self, String> {
        // The error's message may quote the text that could not be parsed.
        let mut config: Config = url.parse().map_err(|_| format!("must be {FORM}"))?;
        if config.get_password().is_some() {
            return Err("must have no password in it; that goes into the variable that password_env names, or into \
                        the file password_file"
                .to_owned());
        }
        if config.get_hosts().is_empty() || config.get_user().is_none() || config.get_dbname().is_none() {
            return Err(format!("must be {FORM}"));
        }
        let words = words(&config);
        if let Some(password) = password {
            config.password(password);
        }
        if !url.contains("sslmode=") {
            let is_far = config.get_hosts().iter().any(|host| !is_this_machine(host));
            config.ssl_mode(if is_far { SslMode::Require } else { SslMode::Disable });
        }
        config.application_name("herma").keepalives_idle(KEEP_ALIVE).tcp_user_timeout(UNACKNOWLEDGED);
        let tls = MakeRustlsConnect::new(tls(ca, roots)?);
        Ok(Self { config, tls, allows_clear: false, words })
    }

    /// Allows the password to be sent without TLS, in clear or as an MD5 digest, if the server requests that.
    #[must_use]
    pub fn allow_clear(self, allows_clear: bool) -> Self {
        Self { allows_clear, ..self }
    }

    /// Whether the traffic can be read on the network.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Require
            && self.config.get_hosts().iter().any(|host| !is_this_machine(host))
    }
}

/// Displays the address without the password: `user@host:port/database`.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.words)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({})", self.words)
    }
}

/// The form of a URL.
pub const FORM: &str = "a URL like \"postgres://herma@db.example.org/herma\", with a user and a database";

fn words(config: &Config) -> String {
    let (hosts, ports) = (config.get_hosts(), config.get_ports());
    let host = |(at, host): (usize, &Host)| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    };
    let hosts: Vec<String> = hosts.iter().enumerate().map(host).collect();
    let (user, database) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    format!("{user}@{}/{database}", hosts.join(","))
}

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
            address.map_or_else(|_| name == "localhost", |address| address.is_loopback())
        }
    }
}

fn tls(ca: Option<&[u8]>, system: Vec<CertificateDer<'static>>) -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    match ca {
        None => drop(roots.add_parsable_certificates(system)),
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| format!("has no certificates in PEM: {error}"))?;
                roots.add(certificate).map_err(|error| format!("has a certificate that can't be used: {error}"))?;
            }
            if roots.is_empty() {
                return Err("has no certificates in PEM".to_owned());
            }
        }
    }
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no TLS: {error}"))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, String> {
        Address::parse(url, Some("hunter2"), None, Vec::new())
    }

    #[test]
    fn another_machine_is_reached_by_tls_unless_somebody_said_otherwise() {
        for (url, mode, is_open) in [
            ("postgres://a@db.example.org/x", SslMode::Require, false),
            ("postgres://a@10.0.0.7:6432/x", SslMode::Require, false),
            ("postgres://a@127.0.0.1/x", SslMode::Disable, false),
            ("postgres://a@localhost/x", SslMode::Disable, false),
            ("postgres://a@%2Frun%2Fpostgresql/x", SslMode::Disable, false),
            ("postgres://a@db.example.org/x?sslmode=disable", SslMode::Disable, true),
            ("postgres://a@db.example.org/x?sslmode=prefer", SslMode::Prefer, true),
        ] {
            let address = parse(url).map(|address| (address.config.get_ssl_mode(), address.is_open()));
            assert_eq!(address, Ok((mode, is_open)), "{url}");
        }
    }

    #[test]
    fn a_password_is_neither_taken_from_the_url_nor_shown() {
        let refused = parse("postgres://a:secret@h/x").map(|_| ());
        assert!(refused.as_ref().is_err_and(|words| words.contains("password_env") && !words.contains("secret")));
        let Ok(address) = parse("postgres://a@h:5/x") else { panic!("a good URL") };
        assert_eq!((format!("{address}"), format!("{address:?}")), ("a@h:5/x".into(), "Address(a@h:5/x)".into()));
        for bad in ["", "http://a@h/x", "postgres://h/x", "postgres://a@h", "postgres://a@h:port/x"] {
            assert!(parse(bad).is_err_and(|words| words.contains("postgres://")), "{bad}");
        }
        let bad = Address::parse("postgres://a@h/x", None, Some(b"no certificate"), Vec::new());
        assert!(bad.is_err_and(|words| words.contains("PEM")));
    }
}
