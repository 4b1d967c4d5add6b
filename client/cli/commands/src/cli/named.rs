//! Checks the home, socket and session that a command names: a typing error creates no home, reaches no other daemon, and
//! opens no session.

use herma_client::protocol::session::chain::ShowParams;
use herma_client::{Client, Codec};

use super::exit::Failure;
use super::{Command, Session, daemon, memory, out, output, profile, session as sessions, shared};

impl Session<'_> {
    /// Checks the home and the socket that flags name, for a command that asks a daemon.
    ///
    /// # Errors
    /// Nothing is there that the command could mean.
    pub(super) fn check_named(&self, command: &Command) -> Result<(), Failure> {
        let home = &self.place.home;
        if asks(command) && self.common.home.is_some() && !home.exists() {
            let home = home.display();
            if !begins(command) {
                let words = format!("there is no home {home}; herma daemon start --home … makes one");
                return Err(Failure::Usage(words));
            }
            out::error(&format!("herma: {home} is a new home"));
        }
        let is_meant = asks(command) || matches!(command, Command::Daemon(daemon::Command::Stop { .. }));
        let named = self.common.socket.as_ref().filter(|_| is_meant);
        let Some(other) = named.and_then(|_| self.place.as_locked()) else { return Ok(()) };
        let listens = |place| Client::connect_with(place, Codec::Json).is_ok();
        if listens(&self.place) || !listens(&other) {
            return Ok(());
        }
        let (named, found) = (self.place.socket.display(), other.socket.display());
        Err(Failure::Usage(format!("nobody listens on {named}; the daemon of {} listens on {found}", home.display())))
    }

    /// A connection for a command about a session that is there.
    ///
    /// # Errors
    /// There is no such session, or no daemon.
    pub(super) fn connect_for(&self, session: &str) -> Result<Client, Failure> {
        let mut client = self.connect()?;
        client.session_show(ShowParams { session: session.to_owned() })?;
        Ok(client)
    }
}

/// Whether a command needs a daemon. Commands that agents start are left out: they use the daemon that they find.
fn asks(command: &Command) -> bool {
    !matches!(
        command,
        Command::Daemon(_)
            | Command::Doctor
            | Command::Config(_)
            | Command::Hermes(_)
            | Command::Hooks(_)
            | Command::Service(_)
            | Command::Hook(_)
            | Command::Proxy(_)
            | Command::Mcp(_)
            | Command::Completions { .. }
            | Command::Man { .. }
    )
}

/// Whether a command stores something, so that it may create a home.
fn begins(command: &Command) -> bool {
    match command {
        Command::Memory(command) => {
            use memory::Command::{Add, Batch, Import, Tool};
            matches!(command, Add(_) | Batch(_) | Import(_) | Tool(_))
        }
        Command::Session(command) => matches!(command, sessions::Command::Open(_) | sessions::Command::Append(_)),
        Command::Profile(command) => matches!(command, profile::Command::Create { .. }),
        Command::Output(command) => matches!(command, output::Command::Admit(_)),
        Command::Shared(command) => {
            use shared::Command::{Import, Init, Join};
            matches!(command, Init(_) | Join | Import(_))
        }
        Command::Compress(arguments) => arguments.session.is_none(),
        Command::Import(_) => true,
        _ => false,
    }
}
