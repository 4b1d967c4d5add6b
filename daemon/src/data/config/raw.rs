//! The configuration as it stands in the file, and its way to the checked form.

mod summarizer;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use herma_guard::{FindingId, Policy, RedactOptions, Scope, redact};
use herma_protocol::limits;
use herma_spill::Size;
use serde::Deserialize;

use super::{CompressionMode, Config, ConfigError, LogFormat, StoreLimits, units};
use crate::data::profiles::is_name as is_profile;

/// The only engine of this version.
pub(super) const ENGINE: &str = "compressor";

/// The largest rate limit: a breaker remembers so many runs.
const MAX_PER_HOUR: u32 = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Raw {
    memory: Memory,
    guard: Guard,
    output: Output,
    context: Context,
    summarizer: summarizer::Summarizer,
    limits: Limits,
    log: Log,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Memory {
    memory_limit: Option<u32>,
    user_limit: Option<u32>,
    approval: Option<bool>,
    journal_revisions: Option<u32>,
    profiles: BTreeMap<String, Profile>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Profile {
    memory_limit: Option<u32>,
    user_limit: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Guard {
    redact: Option<bool>,
    severity: BTreeMap<String, Severity>,
}

/// The treatment of a finding: one for all scopes, or one for each.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"block\", \"warn\" or \"off\", or these by scope, as in { strict = \"warn\" }"
)]
enum Severity {
    Everywhere(Treatment),
    ByScope(ByScope),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ByScope {
    all: Option<Treatment>,
    context: Option<Treatment>,
    strict: Option<Treatment>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Treatment {
    Block,
    Warn,
    Off,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Output {
    default_result_size: Option<u32>,
    turn_budget: Option<u32>,
    preview_size: Option<u32>,
    preview_tail_size: Option<u32>,
    mcp_result_size: Option<u32>,
    scale_with_window: Option<bool>,
    ttl: Option<String>,
    quota: Option<String>,
    tool_overrides: BTreeMap<String, CharsOrInfinite>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum CharsOrInfinite {
    Chars(u32),
    Word(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Context {
    enabled: Option<bool>,
    engine: Option<String>,
    threshold: Option<f64>,
    target_ratio: Option<f64>,
    protect_first_n: Option<u64>,
    protect_last_n: Option<u64>,
    mode: Option<Mode>,
    abort_on_summary_failure: Option<bool>,
    max_per_hour: Option<u32>,
    min_new_text: Option<f64>,
    hygiene_messages: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    InPlace,
    Continue,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    frame: Option<String>,
    in_flight: Option<String>,
    connections: Option<u16>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Log {
    level: Option<String>,
    format: Option<Format>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Text,
    Json,
}

/// Lays what the file says over the defaults.
pub(super) fn apply(mut config: Config, text: &str, path: &Path) -> Result<Config, ConfigError> {
    let raw: Raw = toml::from_str(text)
        .map_err(|error| ConfigError::Syntax { path: path.to_owned(), words: with_nearest(&error) })?;
    let wrong = |key: &str, words: &str| ConfigError::Value {
        path: path.to_owned(),
        key: key.to_owned(),
        words: words.to_owned(),
    };
    let chars = |value: Option<u32>, default: usize, least: u32, key: &str| match value {
        None => Ok(default),
        Some(value) if value < least => Err(wrong(key, &format!("must be at least {least}"))),
        Some(value) => Ok(value as usize),
    };
    let memory = &mut config.memory;
    let limits = |own: (Option<u32>, Option<u32>), default: StoreLimits, section: &str| {
        Ok::<_, ConfigError>(StoreLimits {
            memory_limit: chars(own.0, default.memory_limit, 1, &format!("{section}.memory_limit"))?,
            user_limit: chars(own.1, default.user_limit, 1, &format!("{section}.user_limit"))?,
        })
    };
    memory.limits = limits((raw.memory.memory_limit, raw.memory.user_limit), memory.limits, "memory")?;
    memory.approval = raw.memory.approval.unwrap_or(memory.approval);
    memory.journal_revisions =
        chars(raw.memory.journal_revisions, memory.journal_revisions, 1, "memory.journal_revisions")?;
    for (name, own) in raw.memory.profiles {
        if !is_profile(&name) {
            return Err(wrong("memory.profiles", &format!("{name:?} can't be a profile's name")));
        }
        let section = format!("memory.profiles.{name}");
        let own = limits((own.memory_limit, own.user_limit), memory.limits, &section)?;
        memory.profiles.insert(name, own);
    }

    config.redact = raw.guard.redact.unwrap_or(config.redact);
    config.policy = Arc::new(policy(raw.guard.severity, &wrong)?);

    let output = &mut config.output;
    let from = raw.output;
    output.default_result_size =
        chars(from.default_result_size, output.default_result_size, 1, "output.default_result_size")?;
    output.turn_budget = chars(from.turn_budget, output.turn_budget, 1, "output.turn_budget")?;
    output.preview_size = chars(from.preview_size, output.preview_size, 0, "output.preview_size")?;
    output.preview_tail_size = chars(from.preview_tail_size, output.preview_tail_size, 0, "output.preview_tail_size")?;
    output.mcp_result_size = chars(from.mcp_result_size, output.mcp_result_size, 1, "output.mcp_result_size")?;
    for (tool, size) in from.tool_overrides {
        let size = match size {
            CharsOrInfinite::Chars(chars) => Size::Chars(chars as usize),
            CharsOrInfinite::Word(word) if word == "inf" => Size::Infinite,
            CharsOrInfinite::Word(_) => {
                return Err(wrong("output.tool_overrides", "must be numbers of chars or \"inf\""));
            }
        };
        output.tool_overrides.insert(tool, size);
    }
    config.scale_with_window = from.scale_with_window.unwrap_or(config.scale_with_window);
    if let Some(text) = from.ttl {
        config.retention.ttl = units::seconds(&text)
            .ok_or_else(|| wrong("output.ttl", "must be a duration like \"7d\", \"12h\", \"30m\" or \"90s\""))?;
    }
    if let Some(text) = from.quota {
        config.retention.quota =
            units::bytes(&text).ok_or_else(|| wrong("output.quota", "must be a size like \"2GiB\""))?;
    }

    let context = &mut config.context;
    let from = raw.context;
    context.threshold = from.threshold.unwrap_or(context.threshold);
    if !(context.threshold > 0.0 && context.threshold <= 1.0) {
        return Err(wrong("context.threshold", "must be above 0 and at most 1"));
    }
    context.target_ratio = from.target_ratio.unwrap_or(context.target_ratio);
    if !(0.10..=0.80).contains(&context.target_ratio) {
        return Err(wrong("context.target_ratio", "must be between 0.10 and 0.80"));
    }
    context.protect_first_n = from.protect_first_n.unwrap_or(context.protect_first_n);
    context.protect_last_n = from.protect_last_n.unwrap_or(context.protect_last_n);
    context.enabled = from.enabled.unwrap_or(context.enabled);
    if from.engine.as_ref().is_some_and(|engine| engine != ENGINE) {
        return Err(wrong("context.engine", &format!("must be \"{ENGINE}\"")));
    }
    context.mode = match from.mode {
        None => context.mode,
        Some(Mode::InPlace) => CompressionMode::InPlace,
        Some(Mode::Continue) => CompressionMode::Continue,
    };
    context.abort_on_summary_failure = from.abort_on_summary_failure.unwrap_or(context.abort_on_summary_failure);
    context.max_per_hour = from.max_per_hour.unwrap_or(context.max_per_hour);
    if context.max_per_hour > MAX_PER_HOUR {
        return Err(wrong("context.max_per_hour", "must be at most 1,000; 0 is no limit"));
    }
    context.min_new_text = from.min_new_text.unwrap_or(context.min_new_text);
    if !(0.0..=1.0).contains(&context.min_new_text) {
        return Err(wrong("context.min_new_text", "must be at least 0 and at most 1"));
    }
    context.hygiene_messages = from.hygiene_messages.unwrap_or(context.hygiene_messages);

    config.summarizer = raw.summarizer.check(&wrong)?;

    let size = |text: Option<String>, default: usize, most: usize, key: &str| match text {
        None => Ok(default),
        Some(text) => units::bytes(&text)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .filter(|bytes| (1024..=most).contains(bytes))
            .ok_or_else(|| wrong(key, &format!("must be a size like \"64MiB\", from 1KiB to {}MiB", most >> 20))),
    };
    let wire = &mut config.limits;
    wire.frame = size(raw.limits.frame, wire.frame, limits::FRAME_CEILING, "limits.frame")?;
    wire.in_flight = size(raw.limits.in_flight, wire.in_flight, 1 << 40, "limits.in_flight")?;
    wire.connections = raw.limits.connections.map_or(wire.connections, usize::from);
    if wire.connections == 0 {
        return Err(wrong("limits.connections", "must be at least 1"));
    }

    config.log.level = raw.log.level.unwrap_or(config.log.level);
    config.log.format = match raw.log.format {
        None => config.log.format,
        Some(Format::Text) => LogFormat::Text,
        Some(Format::Json) => LogFormat::Json,
    };
    Ok(config)
}

/// What differs from "everything blocks".
fn policy(
    severities: BTreeMap<String, Severity>,
    wrong: &dyn Fn(&str, &str) -> ConfigError,
) -> Result<Policy, ConfigError> {
    let mut policy = Policy::default();
    for (name, severity) in severities {
        let id: FindingId = name.parse().map_err(|_| {
            let near = FindingId::all().max_by(|one, other| {
                let lower = name.to_lowercase();
                let likeness = |id: &FindingId| strsim::jaro_winkler(&lower, &id.as_str().to_lowercase());
                likeness(one).total_cmp(&likeness(other))
            });
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            wrong(&format!("guard.severity.{name}"), &format!("is the name of no finding{hint}"))
        })?;
        let by_scope = match severity {
            Severity::Everywhere(one) => [Some(one); 3],
            Severity::ByScope(ByScope { all, context, strict }) => [all, context, strict],
        };
        for (scope, treatment) in [Scope::All, Scope::Context, Scope::Strict].into_iter().zip(by_scope) {
            match treatment {
                None => {}
                Some(Treatment::Block) => policy.set(id, &[scope], herma_guard::Treatment::Block),
                Some(Treatment::Warn) => policy.set(id, &[scope], herma_guard::Treatment::Warn),
                Some(Treatment::Off) => policy.set(id, &[scope], herma_guard::Treatment::Off),
            }
        }
    }
    Ok(policy)
}

/// The parser's words, and for an unknown key the known one that is nearest. They quote the
/// line, which may hold what was pasted there by mistake: secrets are masked.
fn with_nearest(error: &toml::de::Error) -> String {
    let words = error.to_string();
    let words = redact(words.trim_end(), RedactOptions::default()).text.into_owned();
    let message = error.message();
    let mut quoted = message.split('`').skip(1).step_by(2);
    let near = match (message.starts_with("unknown field"), quoted.next()) {
        (true, Some(unknown)) => nearest(unknown, quoted),
        _ => None,
    };
    match near {
        Some(near) => format!("{words}; did you mean `{near}`?"),
        None => words,
    }
}

/// The known name that is most like one that is not known.
fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.max_by(|one, other| strsim::jaro_winkler(unknown, one).total_cmp(&strsim::jaro_winkler(unknown, other)))
}
