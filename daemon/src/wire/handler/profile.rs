//! `profile.create`, `profile.list`.

use herma_memory::Target;
use herma_protocol::profile::{CreateParams, CreateResult, ListResult, Profile};

use crate::data::error::Outcome;
use crate::data::numbers::to_u64;
use crate::wire::services::Services;

pub(super) fn create(services: &Services, params: &CreateParams) -> Outcome<CreateResult> {
    services.profiles.create(&params.name).map(|created| CreateResult { created })
}

pub(super) fn list(services: &Services) -> Outcome<ListResult> {
    let profile = |name: String| Profile {
        memory_limit: to_u64(services.stores.limit(&name, Target::Memory)),
        user_limit: to_u64(services.stores.limit(&name, Target::User)),
        name,
    };
    Ok(ListResult { profiles: services.profiles.all()?.into_iter().map(profile).collect() })
}
