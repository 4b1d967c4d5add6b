//! The token usage of calls.

use herma_archive::usage::{self, Buckets, GroupBy, Totals, UsageRow};

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;

/// Which calls to sum up, and by what.
#[derive(Debug, Clone)]
pub(crate) struct UsageQuery {
    /// Limits the sum to this session.
    pub session: Option<String>,
    /// Limits the sum to sessions of this profile.
    pub profile: Option<String>,
    /// Excludes calls before this time, in Unix seconds.
    pub since: Option<f64>,
    /// The grouping of the rows.
    pub by: GroupBy,
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
    /// The number of tokens of each kind.
    pub buckets: Buckets,
}

impl ArchiveHandle {
    /// Returns the sums by row, and the sum of all rows.
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

    /// Stores a call, together with the engine's figures at that time.
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
