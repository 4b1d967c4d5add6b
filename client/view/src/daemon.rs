//! Connections to the daemon, and the failures of its answers.

use std::sync::{Mutex, PoisonError};

use herma_base::{Failure, Settings};
use herma_client::protocol::ErrorKind;
use herma_client::{Client, ClientError, Codec};
use http::StatusCode;

/// The profile without a name.
const DEFAULT_PROFILE: &str = "default";

/// The most connections that are kept for the next request.
const SPARE: usize = 4;

/// How often a question is asked again in a new connection.
const TRIES: usize = 2;

/// The daemon of a home.
#[derive(Debug)]
pub(crate) struct Daemon {
    settings: Settings,
    spare: Mutex<Vec<Client>>,
}

impl Daemon {
    /// Creates a daemon that is connected to when it is first asked.
    pub(crate) const fn new(settings: Settings) -> Self {
        Self { settings, spare: Mutex::new(Vec::new()) }
    }

    /// Returns how the daemon is reached.
    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the profile of the command line.
    pub(crate) fn profile(&self) -> &str {
        self.settings.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }

    /// Asks the daemon.
    pub(crate) fn ask<T>(&self, ask: impl Fn(&mut Client) -> Result<T, ClientError>) -> Result<T, ViewError> {
        self.ask_of(self.profile(), ask)
    }

    /// Asks the daemon about a profile. A question is asked again if its connection was lost, as those of before a restart of
    /// the daemon are. One that is being killed still takes a new one.
    pub(crate) fn ask_of<T>(
        &self,
        profile: &str,
        ask: impl Fn(&mut Client) -> Result<T, ClientError>,
    ) -> Result<T, ViewError> {
        let spare = self.lock().pop();
        for client in spare.map(Ok).into_iter().chain((0..TRIES).map(|_| self.connect())) {
            let mut client = client?.with_profile(Some(profile.to_owned()));
            match ask(&mut client) {
                Err(ClientError::Lost(_)) => self.lock().clear(),
                asked => return self.keep(client, asked),
            }
        }
        self.change_of(profile, |client| ask(client))
    }

    /// Has the daemon change something of a profile, which is tried once.
    pub(crate) fn change_of<T>(
        &self,
        profile: &str,
        change: impl FnOnce(&mut Client) -> Result<T, ClientError>,
    ) -> Result<T, ViewError> {
        let mut client = self.connect()?.with_profile(Some(profile.to_owned()));
        let changed = change(&mut client);
        self.keep(client, changed)
    }

    /// Returns a new connection.
    pub(crate) fn connect(&self) -> Result<Client, ClientError> {
        let Settings { place, timeout, connect, .. } = &self.settings;
        let mut client = connect(place, Codec::Bincode)?;
        client.set_timeout(Some(*timeout))?;
        Ok(client)
    }

    /// Returns a new connection to a daemon that runs.
    pub(crate) fn connect_only(&self) -> Result<Client, ClientError> {
        let mut client = herma_client::connect(&self.settings.place, Codec::Bincode)?;
        client.set_timeout(Some(self.settings.timeout))?;
        Ok(client)
    }

    fn keep<T>(&self, client: Client, asked: Result<T, ClientError>) -> Result<T, ViewError> {
        let is_usable = matches!(asked, Ok(_) | Err(ClientError::Rpc(_)));
        let mut spare = self.lock();
        if is_usable && spare.len() < SPARE {
            spare.push(client);
        }
        Ok(asked?)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a view can't be shown, or a change was not made.
#[derive(Debug)]
pub(crate) struct ViewError {
    /// The status of the answer.
    pub(crate) status: StatusCode,
    /// The reason, for a person.
    pub(crate) words: String,
}

impl ViewError {
    /// Creates an error.
    pub(crate) fn new(status: StatusCode, words: impl Into<String>) -> Self {
        Self { status, words: words.into() }
    }

    /// Creates the error of a parameter that is missing or wrong.
    pub(crate) fn wrong(words: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, words)
    }
}

impl From<ClientError> for ViewError {
    fn from(error: ClientError) -> Self {
        let status = match &error {
            ClientError::Rpc(error) => match error.kind {
                ErrorKind::NotFound => StatusCode::NOT_FOUND,
                ErrorKind::Conflict => StatusCode::CONFLICT,
                ErrorKind::InvalidParams => StatusCode::BAD_REQUEST,
                _ => StatusCode::BAD_GATEWAY,
            },
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, Failure::from(error).words().unwrap_or_default())
    }
}
