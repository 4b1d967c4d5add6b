//! `profile.create`, `profile.list`.

use herma_memory::Target;
use herma_protocol::profile::{CreateParams, CreateResult, ListResult, Profile};

use super::wide;
use crate::data::error::Outcome;
use crate::wire::state::State;

pub(super) fn create(state: &State, params: &CreateParams) -> Outcome<CreateResult> {
    state.profiles.create(&params.name).map(|created| CreateResult { created })
}

pub(super) fn list(state: &State) -> Outcome<ListResult> {
    let profile = |name: String| Profile {
        memory_limit: wide(state.limit(&name, Target::Memory)),
        user_limit: wide(state.limit(&name, Target::User)),
        name,
    };
    Ok(ListResult { profiles: state.profiles.all()?.into_iter().map(profile).collect() })
}
