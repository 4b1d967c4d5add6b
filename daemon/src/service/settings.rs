//! The settings of a session from `context.configure` and `session.open`, and the settings in force.

use herma_context::engine::Engine;
use herma_context::{RawSettings, Settings};
use serde_json::{Map, Value};

use super::lenient;
use crate::data::config::{Config, ContextConfig};
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_usize;

/// The defaults for settings that a session does not have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionDefaults {
    /// The configured context.
    pub context: ContextConfig,
    /// Whether secrets are masked.
    pub redact: bool,
}

impl SessionDefaults {
    /// Returns the defaults of the configuration.
    pub(crate) const fn of(config: &Config) -> Self {
        Self { context: config.context, redact: config.guard.redact }
    }
}

/// Declares the settings of a session, each of which may be absent.
macro_rules! session_settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// The settings of a session. An absent setting has the configured value.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub(crate) struct SessionSettings {
            $($(#[$doc])* pub $name: Option<$type>,)*
            /// Settings that another version of herma stored. They are kept for that version.
            pub others: Map<String, Value>,
        }

        impl SessionSettings {
            /// Reads the output of [`Self::text`], from this version or another one.
            pub(crate) fn read(text: &str) -> Self {
                let mut object = lenient::object("the settings of a session", text);
                Self {
                    $($name: lenient::take("the settings of a session", &mut object, stringify!($name)),)*
                    others: object,
                }
            }

            /// Returns the settings as JSON, for storing.
            pub(crate) fn text(&self) -> String {
                let mut object = self.others.clone();
                $(if let Some(value) = &self.$name {
                    object.insert(stringify!($name).to_owned(), Value::from(value.clone()));
                })*
                Value::Object(object).to_string()
            }

            /// Returns these settings, with the earlier ones where they are absent.
            #[must_use]
            pub(crate) fn over(self, before: Self) -> Self {
                Self { $($name: self.$name.or(before.$name),)* others: before.others }
            }
        }
    };
}

session_settings! {
    /// The model in use.
    model: String,
    /// Its window in tokens, from 1.
    context_length: u64,
    /// The fraction of the window at which to compress, above 0 and up to 1.
    threshold: f64,
    /// The fraction of the threshold that the tail may fill.
    target_ratio: f64,
    /// The number of messages after the system message that are never compressed.
    protect_first_n: u64,
    /// The number of latest messages that pruning leaves alone.
    protect_last_n: u64,
    /// The model that writes summaries, if it is not the one in use.
    summary_model: String,
    /// The provider of the model in use.
    provider: String,
    /// The endpoint of the model in use.
    base_url: String,
    /// The API of the endpoint.
    api_mode: String,
    /// Whether the input is returned unchanged if no model can write a summary.
    abort_on_summary_failure: bool,
    /// The name of the engine.
    engine: String,
    /// The name of the summarizer; the configured chain if absent.
    summarizer: String,
    /// Whether secrets are masked in summarized text.
    redact: bool,
    /// Whether its messages and outputs stay on this host.
    host_bound: bool,
    /// Whether its messages and outputs are read from the files of another program.
    captured: bool,
    /// The number of hosts that have had it, including this one.
    moves: u64,
}

impl SessionSettings {
    /// Returns the settings in force, with the defaults for absent ones.
    pub(crate) fn in_force(&self, defaults: &SessionDefaults) -> Outcome<Settings> {
        let Some(context_length) = self.context_length else {
            return Err(Error::param(
                "context_length",
                "the model's window is not known; give it once with context.configure or session.open",
            ));
        };
        let context = &defaults.context;
        RawSettings {
            // An engine name of another version falls back to the configured engine.
            engine: self.engine.as_deref().and_then(Engine::from_name).unwrap_or(context.engine),
            model: self.model.clone(),
            context_length,
            threshold: self.threshold.or(Some(context.threshold)),
            target_ratio: self.target_ratio.or(Some(context.target_ratio)),
            protect_first_n: self.protect_first_n.or(Some(context.protect_first_n)).map(to_usize),
            protect_last_n: self.protect_last_n.or(Some(context.protect_last_n)).map(to_usize),
            summary_model: self.summary_model.clone(),
            abort_on_summary_failure: self.abort_on_summary_failure.or(Some(context.abort_on_summary_failure)),
            redact: self.redact.or(Some(defaults.redact)),
        }
        .check()
        .map_err(|error| Error::Params(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_comes_back_with_what_another_version_kept() {
        let text = r#"{"model":"m","context_length":200000,"threshold":0.5,"redact":false,"later":{"a":1}}"#;
        let settings = SessionSettings::read(text);
        assert_eq!(settings.model.as_deref(), Some("m"));
        assert_eq!((settings.context_length, settings.redact), (Some(200_000), Some(false)));
        assert_eq!(SessionSettings::read(&settings.text()), settings);
        assert!(settings.text().contains(r#""later":{"a":1}"#));
    }

    #[test]
    fn one_field_that_can_t_be_read_costs_no_other() {
        let settings = SessionSettings::read(r#"{"model":7,"context_length":1000,"threshold":"half"}"#);
        assert_eq!((settings.model, settings.context_length, settings.threshold), (None, Some(1000), None));
        assert_eq!(SessionSettings::read("no object"), SessionSettings::default());
    }

    #[test]
    fn what_is_said_later_wins_and_the_rest_stays() {
        let before = SessionSettings { model: Some("old".into()), redact: Some(true), ..SessionSettings::default() };
        let later = SessionSettings { model: Some("new".into()), ..SessionSettings::default() };
        let merged = later.over(before);
        assert_eq!((merged.model.as_deref(), merged.redact), (Some("new"), Some(true)));
    }
}
