//! Reads the current content of stores.

use herma_base::CliContext;
use herma_client::protocol::ErrorKind;
use herma_client::protocol::memory::{ListParams, ListResult, StoreView, Target};
use herma_client::{Client, ClientError};

/// Calls `memory.list`. The error for a missing profile includes the command that creates it.
pub(super) fn ask(
    context: &CliContext<'_>,
    client: &mut Client,
    params: ListParams,
) -> Result<ListResult, ClientError> {
    client.memory_list(params).map_err(|error| with_advice(error, context.common.profile.as_deref()))
}

fn with_advice(error: ClientError, profile: Option<&str>) -> ClientError {
    match (error, profile) {
        (ClientError::Rpc(mut error), Some(profile)) if error.kind == ErrorKind::NotFound => {
            error.message.push_str(&format!("; make it with `herma profile create {profile}`"));
            ClientError::Rpc(error)
        }
        (error, _) => error,
    }
}

/// Whether entries that the guard blocks are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// They are shown.
    Raw,
    /// A placeholder is shown instead.
    Guarded,
}

impl From<bool> for Entries {
    fn from(raw: bool) -> Self {
        if raw { Self::Raw } else { Self::Guarded }
    }
}

/// Returns the current content of a store.
pub(super) fn view(
    context: &CliContext<'_>,
    client: &mut Client,
    target: Target,
    entries: Entries,
) -> Result<StoreView, ClientError> {
    let params = ListParams { target: Some(target), raw: Some(entries == Entries::Raw) };
    let result = ask(context, client, params)?;
    let view = match target {
        Target::Memory => result.memory,
        Target::User => result.user,
    };
    view.ok_or_else(|| ClientError::Answer("it lacks the store that was asked for".into()))
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::RpcError;

    use super::*;

    #[test]
    fn a_missing_profile_comes_with_the_command_that_makes_it() {
        let error = |kind| ClientError::Rpc(RpcError::new(kind, "there is no profile"));
        for (kind, profile, expected) in [
            (
                ErrorKind::NotFound,
                Some("work"),
                "there is no profile; make it with `herma profile create work` (not_found)",
            ),
            (ErrorKind::NotFound, None, "there is no profile (not_found)"),
            (ErrorKind::Busy, Some("work"), "there is no profile (busy)"),
        ] {
            assert_eq!(with_advice(error(kind), profile).to_string(), expected);
        }
    }
}
