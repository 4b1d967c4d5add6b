//! The configuration: whether it is valid, what it changes, and whether the endpoints and files that it names exist.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, SystemTime};

use herma_base::{CliContext, search_path};
use serde_json::Value;

use super::daemon::Running;
use super::{Finding, disk};
use crate::config;

/// The timeout for connecting to an endpoint.
const PATIENCE: Duration = Duration::from_secs(3);

/// The values in force, from `hermad --show-config json`.
pub(super) struct EffectiveConfig(Vec<(String, Value)>);

impl EffectiveConfig {
    fn value(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

/// Reads the configuration with the daemon's program.
pub(super) fn look(context: &CliContext<'_>, findings: &mut Vec<Finding>) -> Option<EffectiveConfig> {
    let config = match config::ask(context, None, &["--show-config", "json"]) {
        Ok(config) => config,
        Err(failure) => {
            let words = failure.words().unwrap_or_default();
            findings.push(Finding::error("configuration", words, "fix it, then run herma config check"));
            return None;
        }
    };
    let config: Value = serde_json::from_str(&config).unwrap_or_default();
    let rows = config["settings"].as_array().into_iter().flatten();
    let changed: Vec<String> = rows
        .clone()
        .filter(|row| row["source"] != "default")
        .map(|row| {
            let text = |field: &str| row[field].as_str().unwrap_or_default();
            format!("{} = {} ({})", text("key"), row["value"], text("source"))
        })
        .collect();
    findings.push(Finding::ok(
        "configuration",
        if changed.is_empty() { "all defaults".to_owned() } else { changed.join(", ") },
    ));
    Some(EffectiveConfig(
        rows.map(|row| (row["key"].as_str().unwrap_or_default().to_owned(), row["value"].clone())).collect(),
    ))
}

/// Checks that only this user can read the shared database's password.
pub(super) fn password(configured: &EffectiveConfig) -> Option<Finding> {
    let path = configured.value("shared.password_file")?.as_str()?;
    Some(disk::secret("password", Path::new(path)))
}

/// Checks whether the summarizers of the chain can be reached.
pub(super) fn summarizers(configured: &EffectiveConfig, findings: &mut Vec<Finding>) {
    let chain = configured.value("summarizer.chain").and_then(Value::as_array);
    for name in chain.into_iter().flatten().filter_map(Value::as_str) {
        let value = |key: &str| configured.value(&format!("summarizer.{name}.{key}"));
        findings.push(match (value("base_url"), value("argv")) {
            (Some(url), _) => endpoint(name, url.as_str().unwrap_or_default(), value("api_key_env")),
            (None, Some(argv)) => program(argv[0].as_str().unwrap_or_default()),
            (None, None) => Finding::ok("summarizer", format!("{name} needs nothing")),
        });
    }
}

fn endpoint(name: &str, url: &str, key: Option<&Value>) -> Finding {
    if let Some(variable) = key.and_then(Value::as_str)
        && std::env::var_os(variable).is_none()
    {
        let words = format!("{name}: the variable {variable} is not set here");
        return Finding::warning("summarizer", words, "set it in the daemon's environment and restart the daemon");
    }
    let Some(place) = host_and_port(url) else {
        return Finding::error("summarizer", format!("{name}: no host in its base_url"), "herma config check");
    };
    let reached = place.to_socket_addrs().and_then(|mut places| {
        places
            .next()
            .ok_or_else(|| std::io::Error::other("no address"))
            .and_then(|at| TcpStream::connect_timeout(&at, PATIENCE))
    });
    match reached {
        Ok(_) => Finding::ok("summarizer", format!("{name}: {place} can be reached")),
        Err(error) => Finding::warning(
            "summarizer",
            format!("{name}: {place}: {error}"),
            "start it, or fix its base_url; until then the next summarizer of the chain writes",
        ),
    }
}

fn host_and_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next().filter(|host| !host.is_empty())?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "https" { 443 } else { 80 };
    Some(if has_port { host.to_owned() } else { format!("{host}:{port}") })
}

fn program(name: &str) -> Finding {
    if search_path::has(name) {
        Finding::ok("summarizer", format!("command: {name} is there"))
    } else {
        Finding::warning("summarizer", format!("command: there is no {name:?}"), "install it, or give its whole path")
    }
}

/// Checks whether the file changed after the daemon read it.
pub(super) fn is_newer(home: &Path, running: Option<&Running>, findings: &mut Vec<Finding>) {
    let changed = std::fs::metadata(home.join("herma/config.toml")).and_then(|found| found.modified());
    let (Some(running), Ok(changed)) = (running, changed) else { return };
    let age = changed.elapsed().map_or(0.0, |age| age.as_secs_f64());
    if changed <= SystemTime::now() && age + 1.0 < running.status.uptime_s {
        findings.push(Finding::warning(
            "configuration",
            "it was changed after the daemon started, which has not read it since",
            "herma daemon restart",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_host_and_a_port() {
        for (url, place) in [
            ("http://127.0.0.1:11434/v1", Some("127.0.0.1:11434")),
            ("https://api.example.org/v1", Some("api.example.org:443")),
            ("http://[::1]:8080/", Some("[::1]:8080")),
            ("http://[::1]/", Some("[::1]:80")),
            ("nothing", None),
        ] {
            assert_eq!(host_and_port(url).as_deref(), place, "{url}");
        }
    }
}
