//! The table of methods. One row gives a method its name on the wire, its
//! params, its result and the name of the client's function; everything else
//! (codecs, dispatch, the client, the tests that walk the table) follows.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::nearest::nearest;
use crate::params::{self, ParamsError};
use crate::prepared::Prepared;
use crate::{Header, constraint, context, daemon, guard, memory, output, profile, recall, session, trajectory};

/// Calls `$use!` with the rows of the table. A row is
/// `Variant function "wire.name" effect order Params => Result`. The effect is `read` or
/// `write`: a write may carry an idempotency key. The order says behind which earlier requests of
/// its connection a request waits: behind those of its `session`, of the session that it may have
/// `named`, of the session that is the `writer`, else behind those of the stores, of the `store`s,
/// or behind `none`.
///
/// Rows are only ever appended: `hello` lists them in this order.
#[macro_export]
macro_rules! for_each_method {
    ($use:ident) => {
        $use! {
            Hello hello "hello" read none daemon::HelloParams => daemon::HelloResult;
            Ping ping "ping" read none daemon::PingParams => daemon::PingResult;
            Status status "status" read none daemon::StatusParams => daemon::StatusResult;
            Shutdown shutdown "shutdown" read none daemon::ShutdownParams => daemon::ShutdownResult;
            MemoryAdd memory_add "memory.add" write writer memory::AddParams => memory::WriteResult;
            MemoryReplace memory_replace "memory.replace" write writer memory::ReplaceParams => memory::WriteResult;
            MemoryRemove memory_remove "memory.remove" write writer memory::RemoveParams => memory::WriteResult;
            MemoryBatch memory_batch "memory.batch" write writer memory::BatchParams => memory::WriteResult;
            MemoryList memory_list "memory.list" read store memory::ListParams => memory::ListResult;
            MemoryTool memory_tool "memory.tool" write writer memory::ToolParams => memory::WriteResult;
            MemorySchema memory_schema "memory.schema" read store memory::SchemaParams => memory::SchemaResult;
            SessionOpen session_open "session.open" write session session::OpenParams => session::OpenResult;
            SessionSnapshot session_snapshot "session.snapshot" read session session::SnapshotParams => session::Snapshot;
            SessionClose session_close "session.close" write session session::CloseParams => session::CloseResult;
            OutputAdmit output_admit "output.admit" write session output::AdmitParams => output::AdmitResult;
            OutputSettleTurn output_settle_turn "output.settle_turn" write session output::SettleTurnParams => output::SettleTurnResult;
            OutputPreview output_preview "output.preview" read none output::PreviewParams => output::PreviewResult;
            OutputRead output_read "output.read" read none output::ReadParams => output::ReadResult;
            ContextConfigure context_configure "context.configure" write session context::ConfigureParams => context::StatusResult;
            ContextStatus context_status "context.status" read session context::StatusParams => context::StatusResult;
            ContextConstants context_constants "context.constants" read none context::ConstantsParams => context::ConstantsResult;
            ContextEstimate context_estimate "context.estimate" read none context::EstimateParams => context::EstimateResult;
            ContextPlan context_plan "context.plan" read named context::PlanParams => context::PlanResult;
            ContextCompress context_compress "context.compress" write session context::CompressParams => context::CompressResult;
            GuardScan guard_scan "guard.scan" read none guard::ScanParams => guard::ScanResult;
            GuardRedact guard_redact "guard.redact" read none guard::RedactParams => guard::RedactResult;
            Subscribe subscribe "subscribe" read none daemon::SubscribeParams => daemon::SubscribeResult;
            MemoryLog memory_log "memory.log" read store memory::LogParams => memory::LogResult;
            MemoryUndo memory_undo "memory.undo" write writer memory::UndoParams => memory::WriteResult;
            MemoryRestore memory_restore "memory.restore" write writer memory::RestoreParams => memory::WriteResult;
            MemoryPending memory_pending "memory.pending" read store memory::PendingParams => memory::PendingResult;
            MemoryApprove memory_approve "memory.approve" write store memory::ApproveParams => memory::ApproveResult;
            MemoryReject memory_reject "memory.reject" write store memory::RejectParams => memory::RejectResult;
            SessionRefresh session_refresh "session.refresh" write session session::RefreshParams => session::Snapshot;
            ProfileCreate profile_create "profile.create" write none profile::CreateParams => profile::CreateResult;
            ProfileList profile_list "profile.list" read none profile::ListParams => profile::ListResult;
            SessionAppend session_append "session.append" write session session::transcript::AppendParams => session::transcript::AppendResult;
            SessionList session_list "session.list" read none session::chain::ListParams => session::chain::ListResult;
            SessionShow session_show "session.show" read session session::chain::ShowParams => session::chain::Row;
            SessionTip session_tip "session.tip" read session session::chain::TipParams => session::chain::SessionId;
            SessionResumeTarget session_resume_target "session.resume_target" read session session::chain::ResumeTargetParams => session::chain::SessionId;
            SessionNextTitle session_next_title "session.next_title" read none session::chain::NextTitleParams => session::chain::NextTitleResult;
            SessionLock session_lock "session.lock" write session session::lock::LockParams => session::lock::LockResult;
            SessionUnlock session_unlock "session.unlock" write session session::lock::UnlockParams => session::lock::LockResult;
            SessionLockHolder session_lock_holder "session.lock_holder" read session session::lock::LockHolderParams => session::lock::LockHolderResult;
            SessionRemove session_remove "session.remove" write session session::transcript::RemoveParams => session::transcript::RemoveResult;
            SessionUsage session_usage "session.usage" read named session::usage::UsageParams => session::usage::UsageResult;
            OutputSearch output_search "output.search" read named output::search::SearchParams => output::search::SearchResult;
            OutputList output_list "output.list" read named output::shelf::ListParams => output::shelf::ListResult;
            OutputRemove output_remove "output.remove" write none output::shelf::RemoveParams => output::shelf::RemoveResult;
            OutputGc output_gc "output.gc" write none output::shelf::GcParams => output::shelf::GcResult;
            ContextRecordUsage context_record_usage "context.record_usage" write named context::usage::RecordUsageParams => context::usage::RecordUsageResult;
            RecallSearch recall_search "recall.search" read named recall::SearchParams => recall::SearchResult;
            RecallExpand recall_expand "recall.expand" read none recall::ExpandParams => recall::ExpandResult;
            RecallDescribe recall_describe "recall.describe" read session recall::DescribeParams => recall::DescribeResult;
            RecallSchema recall_schema "recall.schema" read none recall::SchemaParams => recall::SchemaResult;
            ContextCheck context_check "context.check" read session context::check::CheckParams => context::check::CheckResult;
            ContextReset context_reset "context.reset" write session context::check::ResetParams => context::StatusResult;
            ContextResume context_resume "context.resume" write none context::ResumeParams => context::CompressResult;
            ContextCompactAhead context_compact_ahead "context.compact_ahead" write session context::CompactAheadParams => context::CompactAheadResult;
            ContextClassifyError context_classify_error "context.classify_error" read named context::provider_error::ClassifyErrorParams => context::provider_error::ClassifyErrorResult;
            ContextCacheControl context_cache_control "context.cache_control" read none context::cache_control::CacheControlParams => context::cache_control::CacheControlResult;
            ContextManual context_manual "context.manual" read none context::manual::ManualParams => context::manual::ManualResult;
            ConstraintAdd constraint_add "constraint.add" write session constraint::AddParams => constraint::AddResult;
            ConstraintList constraint_list "constraint.list" read session constraint::ListParams => constraint::ListResult;
            ConstraintRemove constraint_remove "constraint.remove" write session constraint::RemoveParams => constraint::RemoveResult;
            TrajectoryCompress trajectory_compress "trajectory.compress" read none trajectory::CompressParams => trajectory::CompressResult;
        }
    };
}

/// Whether a method changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Read,
    /// It changes something, and may carry an idempotency key.
    Write,
}

macro_rules! effect {
    (read) => {
        Effect::Read
    };
    (write) => {
        Effect::Write
    };
}

/// Behind which earlier requests of its connection a request waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order<'a> {
    /// Behind those of this session.
    Session(&'a str),
    /// Behind those of the stores that name no session.
    Stores,
    /// Behind none.
    Free,
}

macro_rules! order {
    (none $params:ident) => {
        Order::Free
    };
    (store $params:ident) => {
        Order::Stores
    };
    (session $params:ident) => {
        Order::Session(&$params.session)
    };
    (named $params:ident) => {
        $params.session.as_deref().map_or(Order::Free, Order::Session)
    };
    (writer $params:ident) => {
        $params.session.as_deref().map_or(Order::Stores, Order::Session)
    };
}

macro_rules! table {
    ($($variant:ident $function:ident $name:literal $effect:ident $order:ident $params:ty => $result:ty;)*) => {
        /// A method, without its params.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Method {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Method {
            /// Every method, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether it changes anything.
            #[must_use]
            pub const fn effect(self) -> Effect {
                match self { $(Self::$variant => effect!($effect),)* }
            }

            /// The method of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }

        /// A method with its params.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Request {
            $(#[doc = concat!("`", $name, "`")] $variant($params),)*
        }

        impl Request {
            /// Which method this is.
            #[must_use]
            pub const fn method(&self) -> Method {
                match self { $(Self::$variant(_) => Method::$variant,)* }
            }

            /// Behind which earlier requests it waits.
            #[must_use]
            pub fn order(&self) -> Order<'_> {
                match self { $(Self::$variant(_params) => order!($order _params),)* }
            }

            /// Reads the params of a JSON request.
            ///
            /// # Errors
            /// A param that is missing, unknown, or of the wrong type.
            pub fn from_json(method: Method, params: Option<&RawValue>) -> Result<(Header, Self), ParamsError> {
                Self::from_text(method, params.map_or("{}", RawValue::get))
            }

            /// Reads params that are the text of a JSON object.
            pub(crate) fn from_text(method: Method, params: &str) -> Result<(Header, Self), ParamsError> {
                match method {
                    $(Method::$variant => params::read(params).map(|(header, params)| (header, Self::$variant(params))),)*
                }
            }
        }

        /// The result of a method.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Reply {
            $(#[doc = concat!("of `", $name, "`")] $variant($result),)*
            /// of any method, written before
            Prepared(Prepared),
        }

        impl Reply {
            /// Which method it belongs to.
            #[must_use]
            pub const fn method(&self) -> Method {
                match self {
                    $(Self::$variant(_) => Method::$variant,)*
                    Self::Prepared(prepared) => prepared.method,
                }
            }

            /// Reads the text of a result; fields that this build doesn't know are
            /// ignored.
            ///
            /// # Errors
            /// A result that doesn't have the shape that the method promises.
            pub fn from_json(method: Method, result: &str) -> Result<Self, serde_json::Error> {
                match method {
                    $(Method::$variant => serde_json::from_str(result).map(Self::$variant),)*
                }
            }
        }

        $(
            impl Call for $params {
                type Output = $result;

                fn into_request(self) -> Request {
                    Request::$variant(self)
                }

                fn output(reply: Reply) -> Option<$result> {
                    match reply {
                        Reply::$variant(result) => Some(result),
                        _ => None,
                    }
                }
            }
        )*
    };
}

/// Params that belong to exactly one method, so that a typed client can send
/// them and knows what comes back.
pub trait Call {
    /// The method's result.
    type Output;

    /// The request with these params.
    fn into_request(self) -> Request;

    /// The result out of a reply; `None` when it is another method's.
    fn output(reply: Reply) -> Option<Self::Output>;
}

for_each_method!(table);

/// The sentence for a method that doesn't exist. Long names are cut, for they
/// come from outside.
#[must_use]
pub fn unknown_method(name: &str) -> String {
    let shown: String = name.chars().take(80).collect();
    match nearest(&shown, Method::ALL.iter().map(|method| method.name())) {
        Some(near) => format!("there is no method {shown:?}; did you mean {near:?}?"),
        None => format!("there is no method {shown:?}; `hello` lists the ones there are"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_methods() {
        for method in Method::ALL {
            assert_eq!(Method::from_name(method.name()), Some(*method));
        }
    }

    #[test]
    fn a_near_name_is_offered() {
        assert!(unknown_method("memory.ad").contains("memory.add"));
        assert!(unknown_method("zzzz").contains("hello"));
        assert!(unknown_method(&"x".repeat(10_000)).len() < 300);
    }
}
