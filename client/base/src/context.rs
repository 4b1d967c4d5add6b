//! The options of every command, and the connections that are made with them.

use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

use herma_client::protocol::rendezvous::usual_homes;
use herma_client::{Client, ClientError, Codec, Place, connect, connect_or_spawn};

use crate::out::{self, Colour};

/// The seconds that a call may take without `--timeout`.
const TIMEOUT_S: u64 = 120;

#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    /// The home [default: $HERMA_HOME, else $HERMES_HOME, else the usual one]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub home: Option<PathBuf>,
    /// The socket [default: $HERMA_SOCKET, else herma/hermad.sock in the home]
    #[arg(long, global = true, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// The profile: a named pair of stores [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Print results as JSON, for programs
    #[arg(long, global = true)]
    pub json: bool,
    /// Fail when no daemon is running instead of starting one
    #[arg(long, global = true)]
    pub no_spawn: bool,
    /// Use colours: auto (on a terminal, unless NO_COLOR is set), always, or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, hide_possible_values = true, hide_default_value = true)]
    pub color: Colour,
    /// Print only results and errors: no notes, no progress
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print the home, the socket, and each request with its time
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Give up after so many seconds [default: 120; 900 for a compression]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: Option<u64>,
}

impl Common {
    /// Returns whether progress is drawn where a person sees it.
    #[must_use]
    pub const fn shows_progress(&self) -> bool {
        !self.json && !self.quiet
    }

    /// Returns a command of herma for the same profile, for messages to people.
    #[must_use]
    pub fn command(&self, words: &str) -> String {
        match &self.profile {
            Some(profile) => format!("herma --profile {profile} {words}"),
            None => format!("herma {words}"),
        }
    }
}

/// The context of a command of the command line.
#[derive(Debug)]
pub struct CliContext<'a> {
    /// The options.
    pub common: &'a Common,
    /// The home and the socket.
    pub place: Place,
}

impl CliContext<'_> {
    /// Returns whether the command line or the environment names the home.
    #[must_use]
    pub fn has_named_home(&self) -> bool {
        let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        self.common.home.is_some() || ["HERMA_HOME", "HERMES_HOME"].iter().any(is_set)
    }

    /// Returns the home of an agent of the Hermes family: the named one, else `~/.hermes`, also if herma keeps its data
    /// elsewhere.
    #[must_use]
    pub fn hermes_home(&self) -> PathBuf {
        let usual = usual_homes(|name| std::env::var_os(name)).filter(|_| !self.has_named_home());
        usual.map_or_else(|| self.place.home.clone(), |[_, hermes]| hermes)
    }

    /// Connects to the daemon, which is started if none runs and the options allow it.
    ///
    /// # Errors
    /// No daemon answers, or none can be started.
    pub fn connect(&self) -> Result<Client, ClientError> {
        if self.common.no_spawn {
            return self.connect_only();
        }
        self.prepared(connect_or_spawn(&self.place, Codec::Bincode)?)
    }

    /// Connects to a daemon that is running already.
    ///
    /// # Errors
    /// No daemon answers.
    pub fn connect_only(&self) -> Result<Client, ClientError> {
        self.prepared(connect(&self.place, Codec::Bincode)?)
    }

    /// Connects to a running daemon with JSON lines, which a daemon of an older version understands too.
    ///
    /// # Errors
    /// No daemon answers.
    pub fn connect_in_lines(&self) -> Result<Client, ClientError> {
        self.prepared(connect(&self.place, Codec::Json)?)
    }

    fn prepared(&self, client: Client) -> Result<Client, ClientError> {
        let mut client = client.with_profile(self.common.profile.clone());
        if self.common.verbose {
            static PLACE: Once = Once::new();
            let Place { home, socket } = &self.place;
            PLACE.call_once(|| out::error(&format!("herma: home {}, socket {}", home.display(), socket.display())));
            client.observe(|method, took| {
                let took = out::microseconds(took.as_secs_f64() * 1e6);
                out::error(&format!("herma: {} {took}", method.name()));
            });
        }
        client.set_timeout(Some(self.timeout()))?;
        Ok(client)
    }

    /// Returns the settings for a front end that connects again and again.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            place: self.place.clone(),
            profile: self.common.profile.clone(),
            timeout: self.timeout(),
            connect: if self.common.no_spawn { connect } else { connect_or_spawn },
        }
    }

    /// Returns how long a call may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.common.timeout.unwrap_or(TIMEOUT_S))
    }
}

/// The settings of a front end that connects by itself: the hooks, the proxy, the MCP server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The home and the socket.
    pub place: Place,
    /// The profile; `None` for `default`.
    pub profile: Option<String>,
    /// How long one call may take.
    pub timeout: Duration,
    /// Makes a connection, with or without starting the daemon.
    pub connect: fn(&Place, Codec) -> Result<Client, ClientError>,
}
