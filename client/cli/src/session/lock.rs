//! `herma session lock`, `unlock`, `lock-holder`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::session::lock::{LockHolderParams, LockParams, LockResult, UnlockParams};

use super::life::Named;
use crate::names;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The holder itself may ask again; the lock ends no later for that.\n\nExample:\n  herma session lock my-session \"$$\" --ttl 60 && compress-it; herma session unlock my-session \"$$\""
)]
pub(crate) struct Lock {
    /// The session's id
    session: String,
    /// The name of the new holder
    holder: String,
    /// Seconds after which it ends by itself
    // With 0 the lock would end at once.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    ttl: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Unlock {
    /// The session's id
    session: String,
    /// The name of the holder
    holder: String,
}

pub(super) fn lock(context: &CliContext<'_>, arguments: &Lock) -> Result<(), Failure> {
    let Lock { session, holder, ttl } = arguments;
    let (mut client, id) = names::session::connect_new(context, session)?;
    let params = LockParams { session: id.clone(), holder: holder.clone(), ttl_s: Some((*ttl).into()) };
    let result = client.session_lock(params)?;
    answer(context, &result, format!("{holder} has the lock of {id}"), format!("another holder has the lock of {id}"))
}

pub(super) fn unlock(context: &CliContext<'_>, arguments: &Unlock) -> Result<(), Failure> {
    let Unlock { session, holder } = arguments;
    let (mut client, id) = names::session::connect_new(context, session)?;
    let result = client.session_unlock(UnlockParams { session: id.clone(), holder: holder.clone() })?;
    answer(context, &result, format!("{holder} released {id}"), format!("{holder} does not have the lock of {id}"))
}

pub(super) fn holder(context: &CliContext<'_>, named: &Named) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect_new(context, &named.session)?;
    let result = client.session_lock_holder(LockHolderParams { session })?;
    match &result.holder {
        Some(holder) => out::show(context.common, &result, |_| holder.clone()),
        None => {
            out::show(context.common, &result, |_| "nobody".into())?;
            Err(Failure::No)
        }
    }
}

fn answer(context: &CliContext<'_>, result: &LockResult, yes: String, no: String) -> Result<(), Failure> {
    out::show(context.common, result, |result| if result.ok { yes } else { no })?;
    if result.ok { Ok(()) } else { Err(Failure::No) }
}
