//! `guard.scan`, `guard.redact`, `guard.scrub`.

use std::sync::Arc;

use herma_context::{Capture, CaptureCounts};
use herma_guard::{CodeFile, Policy, RedactOptions, SecretCounts, SecretKind, threat_message};
use herma_protocol::guard::scrub::{Left, ScrubParams, ScrubResult};
use herma_protocol::guard::{
    Finding, RedactParams, RedactResult, ScanParams, ScanResult, Scope, SecretCount, Severity,
};

use super::SHORT;
use crate::data::error::Outcome;
use crate::data::numbers::to_u64;
use crate::owners::blocking::blocking;
use crate::wire::services::Services;

pub(super) async fn scan(services: &Services, params: ScanParams) -> Outcome<ScanResult> {
    let policy = Arc::clone(&services.policy);
    match params.text.as_ref().map_or(0, String::len) {
        ..=SHORT => Ok(scan_now(&policy, &params)),
        _ => blocking("guard.scan", move || Ok(scan_now(&policy, &params))).await,
    }
}

fn scan_now(policy: &Policy, params: &ScanParams) -> ScanResult {
    let text = params.text.as_deref().unwrap_or_default();
    let scope = match params.scope.unwrap_or_default() {
        Scope::All => herma_guard::Scope::All,
        Scope::Context => herma_guard::Scope::Context,
        Scope::Strict => herma_guard::Scope::Strict,
    };
    let findings = policy.scan(text, scope);
    ScanResult {
        message: findings.first().map(|finding| threat_message(finding, text)),
        findings: findings.iter().map(wire_finding).collect(),
    }
}

pub(super) async fn redact(services: &Services, params: RedactParams) -> Outcome<RedactResult> {
    let by_default = services.config.guard.redact;
    let capture = services.sessions.capture;
    blocking("guard.redact", move || {
        Ok(match params.captured {
            Some(true) => captured(capture, params.text),
            _ => redact_now(params, by_default),
        })
    })
    .await
}

/// Returns a text as captured messages keep it.
fn captured(capture: Capture, text: Option<String>) -> RedactResult {
    let mut left_out = CaptureCounts::default();
    let text = text.map(|text| capture.counted(&text, &mut left_out).into_owned());
    RedactResult { text, count: left_out.secrets.iter().map(|(_, count)| to_u64(count)).sum() }
}

pub(super) async fn scrub(services: &Services, params: ScrubParams) -> Outcome<ScrubResult> {
    let ScrubParams { cursor, dry_run } = params;
    let step = services.scrub.step(cursor.as_deref(), dry_run.unwrap_or(false)).await?;
    Ok(ScrubResult {
        cursor: step.next,
        stage: step.stage.to_owned(),
        done: step.progress.0,
        of: step.progress.1,
        changed: step.changed,
        secrets: secrets_by_kind(&step.secrets),
        left: step.left.into_iter().map(|(place, why)| Left { place, why }).collect(),
    })
}

/// Returns the secrets of each kind that there is.
pub(in crate::wire::handler) fn secrets_by_kind(secrets: &SecretCounts) -> Vec<SecretCount> {
    let counted =
        |(kind, count): (SecretKind, usize)| SecretCount { kind: kind.name().to_owned(), count: to_u64(count) };
    secrets.iter().map(counted).collect()
}

fn redact_now(params: RedactParams, by_default: bool) -> RedactResult {
    let wanted = params.force.unwrap_or(false) || params.enabled.unwrap_or(by_default);
    match params.text {
        Some(text) if wanted => {
            let code = if params.code.unwrap_or(false) { CodeFile::Yes } else { CodeFile::No };
            let redacted = herma_guard::redact(&text, RedactOptions { code, ..RedactOptions::default() });
            let count = to_u64(redacted.count);
            RedactResult { text: Some(redacted.text.into_owned()), count }
        }
        text => RedactResult { text, count: 0 },
    }
}

pub(in crate::wire) fn wire_finding(finding: &herma_guard::Finding) -> Finding {
    Finding {
        id: finding.id.to_string(),
        start: to_u64(finding.start),
        end: to_u64(finding.end),
        folded: finding.folded,
        severity: match finding.severity {
            herma_guard::Severity::Block => Severity::Block,
            herma_guard::Severity::Warn => Severity::Warn,
        },
    }
}
