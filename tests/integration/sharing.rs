//! Stores that several hosts share in a real PostgreSQL. Each host has its own home and daemon, and a connection to the
//! database that can be cut.

mod away;
mod bound;
mod hosts;
mod messages;
mod operation;
mod outputs;
mod passwords;
mod sessions;
mod transfer;
mod troubles;

use std::collections::BTreeSet;

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Line, Postgres, Raw, eventually, kind};
use serde_json::{Value, json};

/// A host: a home, a daemon and a proxy to the database.
struct Host {
    home: Home,
    daemon: Option<Daemon>,
    line: Line,
}

impl Host {
    /// Creates a host with this name whose profile has joined.
    fn joined(server: &Postgres, name: &str, more: &str) -> Self {
        let host = Self::new(server, name, more);
        host.ask("shared.join", &json!({}));
        host
    }

    fn new(server: &Postgres, name: &str, more: &str) -> Self {
        let line = Line::to(server.port);
        let home = Home::configured(&config(line.port, name, more));
        let daemon = Some(Daemon::start(&home));
        Self { home, daemon, line }
    }

    fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().unwrap()
    }

    fn raw(&self) -> Raw {
        self.daemon().raw()
    }

    fn ask(&self, method: &str, params: &Value) -> Value {
        self.raw().result(method, params)
    }

    /// Returns the error kind of a request.
    fn refused(&self, method: &str, params: &Value) -> String {
        kind(&self.raw().call(method, params)).to_owned()
    }

    fn add(&self, text: &str) -> Value {
        self.ask("memory.add", &json!({ "target": "user", "content": text }))
    }

    fn kill(&mut self) {
        self.daemon.take().unwrap().kill();
    }

    fn restart(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.kill();
        }
        self.daemon = Some(Daemon::start(&self.home));
    }

    /// Returns the daemon's entries of USER.md.
    fn entries(&self) -> Vec<String> {
        let list = self.ask("memory.list", &json!({ "target": "user", "raw": true }));
        serde_json::from_value(list["user"]["entries"].clone()).unwrap()
    }

    fn log(&self) -> Value {
        self.ask("memory.log", &json!({ "target": "user", "limit": 1000, "raw": true }))["rows"].clone()
    }

    /// Waits until USER.md has these entries.
    fn holds(&self, entries: &[&str]) {
        eventually(&format!("{entries:?} at a host"), || (self.entries() == entries).then_some(()));
        eventually(&format!("{entries:?} in the file"), || (self.home.entries(Target::User) == entries).then_some(()));
    }

    /// Waits until the daemon reports this state of the database.
    fn is(&self, state: &str) {
        eventually(&format!("the database is {state}"), || {
            (self.ask("shared.status", &json!({}))["state"] == state).then_some(())
        });
    }
}

fn config(port: u16, name: &str, more: &str) -> String {
    let timeout = if more.contains("timeout") { "" } else { "timeout = \"2s\"\n" };
    format!(
        "[shared]\nurl = \"postgres://agents@127.0.0.1:{port}/herma\"\nhost = \"{name}\"\nspace = \"team\"\n\
         poll = \"200ms\"\n{timeout}{more}"
    )
}

/// Starts a server with tables that the role of the hosts may use.
#[track_caller]
fn server() -> Option<Postgres> {
    let server = Postgres::start()?;
    let host = Host::new(&server, "admin", "");
    let url = format!("postgres://owner@127.0.0.1:{}/herma", server.port);
    let made = host.ask("shared.init", &json!({ "url": url, "role": "agents" }));
    assert_eq!((&made["found"], &made["version"]), (&json!(0), &json!(4)));
    Some(server)
}

/// Waits until all hosts have the same bytes and history, and returns the entries.
fn converged(hosts: &[&Host]) -> BTreeSet<String> {
    let first = hosts[0];
    eventually("all hosts have the same", || {
        let (file, log) = (first.home.read_store(Target::User), first.log());
        let is_same = |host: &&Host| {
            let stores = host.ask("shared.status", &json!({}))["stores"].clone();
            let is_clean =
                stores.as_array().unwrap().iter().all(|store| store["edited"] == false && store["queued"] == 0);
            is_clean && host.home.read_store(Target::User) == file && host.log() == log
        };
        hosts.iter().all(is_same).then_some(())
    });
    first.entries().into_iter().collect()
}
