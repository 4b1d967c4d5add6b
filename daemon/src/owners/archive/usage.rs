//! Tokens that calls took.

use herma_archive::usage::{self, Buckets, By, Totals, UsageRow};

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;

/// Which calls to add up, and how.
#[derive(Debug, Clone)]
pub(crate) struct UsageQuery {
    /// Only of this session.
    pub session: Option<String>,
    /// Only of this profile's sessions.
    pub profile: Option<String>,
    /// Only from this time on, in Unix seconds.
    pub since: Option<f64>,
    /// What makes a row.
    pub by: By,
}

/// A call that a provider reported.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The session that called.
    pub session: String,
    /// The model.
    pub model: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The tokens.
    pub buckets: Buckets,
}

impl ArchiveHandle {
    /// The sums by row, and over all rows.
    pub(crate) async fn usage(&self, query: UsageQuery) -> Outcome<(Vec<(String, Totals)>, Totals)> {
        self.read(move |reader| {
            reader.usage(&usage::UsageQuery {
                session: query.session.as_deref(),
                profile: query.profile.as_deref(),
                since: query.since,
                until: None,
                by: query.by,
            })
        })
        .await
    }

    /// Keeps a call, and with it what the engine remembers by then.
    pub(crate) async fn record_usage(
        &self,
        call: Call,
        figures: impl FnOnce() -> Option<String> + Send + 'static,
    ) -> Outcome<()> {
        self.write_if_in_use(move |archive| {
            let figures = figures();
            archive.together(|archive| {
                archive.record_usage(&UsageRow {
                    session: Some(&call.session),
                    call: None,
                    time: unix_now(),
                    model: call.model.as_deref(),
                    agent: None,
                    provider: call.provider.as_deref(),
                    buckets: call.buckets,
                })?;
                figures.map_or(Ok(()), |figures| archive.save_engine_state(&call.session, &figures))
            })
        })
        .await
    }
}
