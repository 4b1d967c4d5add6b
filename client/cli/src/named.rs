//! Checks the home and the socket that flags name: a typing error creates no home and reaches no other daemon.

use herma_base::{CliContext, Failure, out};
use herma_client::{Client, Codec};

/// What a command does with the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It asks none, or uses the one that it finds, because an agent starts it.
    Any,
    /// It stops it.
    Stop,
    /// It asks it.
    Ask,
    /// It stores something, so it may create a home.
    Create,
}

/// Checks the home and the socket that flags name.
///
/// # Errors
/// Nothing is there that the command could mean.
pub(crate) fn check(context: &CliContext<'_>, access: Access) -> Result<(), Failure> {
    let home = &context.place.home;
    let is_missing = context.common.home.is_some() && !home.exists();
    match access {
        Access::Any => return Ok(()),
        Access::Ask if is_missing => {
            let words = format!("there is no home {}; herma daemon start --home … makes one", home.display());
            return Err(Failure::Usage(words));
        }
        Access::Create if is_missing => out::error(&format!("herma: {} is a new home", home.display())),
        Access::Stop | Access::Ask | Access::Create => {}
    }
    let Some(other) = context.common.socket.as_ref().and_then(|_| context.place.as_locked()) else { return Ok(()) };
    let listens = |place| Client::connect_with(place, Codec::Json).is_ok();
    if listens(&context.place) || !listens(&other) {
        return Ok(());
    }
    let (named, found) = (context.place.socket.display(), other.socket.display());
    Err(Failure::Usage(format!("nobody listens on {named}; the daemon of {} listens on {found}", home.display())))
}
