//! `[guard]`: masking of secrets, and treatment of poison.

use std::sync::Arc;

use herma_guard::{FindingId, Policy, Scope, Treatment};
use herma_protocol::nearest::most_like;
use toml::Value;

use super::format::{Format, Named, switch, word};
use super::key::{self, KeyError, section};

section! {
    /// Masking of secrets, and treatment of poison.
    #[derive(Debug, Clone, PartialEq)]
    pub struct GuardConfig {
        /// Whether secrets are masked; HERMES_REDACT_SECRETS=false also turns it off.
        ///
        /// A call can override it.
        pub redact: bool = true, switch();
        /// For each finding: "block", "warn" or "off"; or one of these per scope: all, context, strict.
        pub severity: Arc<Policy> = Arc::default(),
            Named { read: severity, depth: 1, example: "c2_heartbeat = \"warn\"\nsend_to_url = { strict = \"warn\" }" };
    }
}

fn treatment() -> Format<Treatment> {
    word(&[("block", Treatment::Block), ("warn", Treatment::Warn), ("off", Treatment::Off)])
}

const SCOPES: [(&str, Scope); 3] = [("all", Scope::All), ("context", Scope::Context), ("strict", Scope::Strict)];

/// Reads the treatments that differ from the default, which blocks every finding.
fn severity(said: &Value) -> Result<Arc<Policy>, KeyError> {
    let mut policy = Policy::default();
    for (name, said) in key::table(said)? {
        finding(&mut policy, name, said).map_err(|mistake| mistake.at(name))?;
    }
    Ok(Arc::new(policy))
}

/// Sets the treatment of one finding, either for all scopes or for each scope.
fn finding(policy: &mut Policy, name: &str, said: &Value) -> Result<(), KeyError> {
    let id: FindingId = name.parse().map_err(|_| {
        let near = most_like(name, FindingId::all().map(FindingId::as_str)).unwrap_or_default();
        KeyError::new(format!("is the name of no finding; did you mean {near}?"))
    })?;
    let Some(by_scope) = said.as_table() else {
        let treatment = treatment().read(said).map_err(|mistake| {
            KeyError::new(format!("{}, and no treatments by scope, as in {{ strict = \"warn\" }}", mistake.words))
        })?;
        policy.set(id, &SCOPES.map(|(_, scope)| scope), treatment);
        return Ok(());
    };
    for (name, said) in by_scope {
        let (_, scope) = SCOPES
            .into_iter()
            .find(|(scope, _)| scope == name)
            .ok_or_else(|| KeyError::new("is no scope: all, context, strict").at(name))?;
        policy.set(id, &[scope], treatment().read(said).map_err(|mistake| mistake.at(name))?);
    }
    Ok(())
}
