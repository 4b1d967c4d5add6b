//! Checks the home and the socket that flags name. A typing error must not create a home or reach another daemon.

use herma_base::{CliContext, Failure, out};
use herma_client::{Client, Codec};

/// How a command uses the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It calls no daemon, or whichever it finds, because an agent starts the command.
    Any,
    /// It stops the daemon.
    Stop,
    /// It calls the daemon.
    Ask,
    /// It stores something, so it may create a home.
    Create,
}

/// Checks the home and the socket that flags name.
///
/// # Errors
/// The home doesn't exist, or no daemon listens on the socket.
pub(crate) fn check(context: &CliContext<'_>, access: Access) -> Result<(), Failure> {
    let home = &context.place.home;
    let is_missing = context.common.home.is_some() && !home.exists();
    match access {
        Access::Any => return Ok(()),
        Access::Ask if is_missing => {
            let words = format!("there is no home {}; herma daemon start --home … creates one", home.display());
            return Err(Failure::Usage(words));
        }
        Access::Create if is_missing => out::note(context.common, &format!("{} is a new home", home.display())),
        Access::Stop | Access::Ask | Access::Create => {}
    }
    let Some(other) = context.common.socket.as_ref().and_then(|_| context.place.as_locked()) else { return Ok(()) };
    let listens = |place| Client::connect_with(place, Codec::Json).is_ok();
    if listens(&context.place) || !listens(&other) {
        return Ok(());
    }
    let (named, found) = (context.place.socket.display(), other.socket.display());
    Err(Failure::Usage(format!("no daemon listens on {named}; the daemon of {} listens on {found}", home.display())))
}
