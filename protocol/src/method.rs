//! The table of methods. One row gives a method its name on the wire, its params, its result and
//! the name of the client's function. Codecs, dispatch, the client and the tests all follow from
//! this table.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::nearest::nearest;
use crate::params::{self, ParamsError};
use crate::prepared::Prepared;
use crate::{
    Header, constraint, context, daemon, files, guard, ledger, memory, output, profile, recall, session, shared,
    trajectory,
};

/// Calls `$use!` with the rows of the table. A row is a doc comment with what the method does, and
/// `Variant function "wire.name" effect order Params => Result`.
///
/// The effect is `read` or `write`; a write may have an idempotency key. The order says for which
/// earlier requests of the same connection a request waits:
///
/// * `session`: those of its `session`
/// * `named`: those of its `session` if it names one, else none
/// * `writer`: those of its `session` if it names one, else those of the stores
/// * `store`: those of the stores
/// * `none`: none
///
/// New rows are only appended: `hello` lists the methods in this order.
#[macro_export]
macro_rules! for_each_method {
    ($use:ident) => {
        $use! {
            /// Returns the daemon's identity and limits.
            Hello hello "hello" read none daemon::HelloParams => daemon::HelloResult;
            /// Checks that the daemon responds.
            Ping ping "ping" read none daemon::PingParams => daemon::PingResult;
            /// Returns the daemon's state: requests, sessions, stores, outputs, archive.
            Status status "status" read none daemon::StatusParams => daemon::StatusResult;
            /// Stops the daemon; requests in flight have `drain_ms` milliseconds (10,000) to finish.
            Shutdown shutdown "shutdown" read none daemon::ShutdownParams => daemon::ShutdownResult;
            /// Appends an entry; one that already exists is a success.
            MemoryAdd memory_add "memory.add" write writer memory::AddParams => memory::WriteResult;
            /// Replaces the entry that `old_text` names with `content`.
            MemoryReplace memory_replace "memory.replace" write writer memory::ReplaceParams => memory::WriteResult;
            /// Deletes the entry that `old_text` names.
            MemoryRemove memory_remove "memory.remove" write writer memory::RemoveParams => memory::WriteResult;
            /// Does up to 1,000 operations: all of them or none.
            MemoryBatch memory_batch "memory.batch" write writer memory::BatchParams => memory::WriteResult;
            /// Returns the entries; `raw` also returns blocked ones, for people.
            MemoryList memory_list "memory.list" read store memory::ListParams => memory::ListResult;
            /// Runs a model's call of the `memory` tool; an invalid call is a refusal, not an error.
            MemoryTool memory_tool "memory.tool" write writer memory::ToolParams => memory::WriteResult;
            /// Returns the function schema and a paragraph for the system prompt.
            MemorySchema memory_schema "memory.schema" read store memory::SchemaParams => memory::SchemaResult;
            /// Opens a session. Its snapshot never changes afterwards; `context_length` is in tokens.
            SessionOpen session_open "session.open" write session session::OpenParams => session::OpenResult;
            /// Returns the frozen snapshot of a session; NotFound for one that was never opened.
            SessionSnapshot session_snapshot "session.snapshot" read session session::SnapshotParams => session::Snapshot;
            /// Closes a session.
            SessionClose session_close "session.close" write session session::CloseParams => session::CloseResult;
            /// Stores a tool result if it is large; returns the content for the conversation. Sizes are in chars.
            OutputAdmit output_admit "output.admit" write session output::AdmitParams => output::AdmitResult;
            /// Spills the largest results of a turn until the rest fits its budget.
            OutputSettleTurn output_settle_turn "output.settle_turn" write session output::SettleTurnParams => output::SettleTurnResult;
            /// Returns the first `max` chars (1,500) and the last `tail` chars (0).
            OutputPreview output_preview "output.preview" read none output::PreviewParams => output::PreviewResult;
            /// Returns lines (from 1), chars from `offset`, or the last `tail` lines of an output.
            /// NotFound says why it is gone.
            OutputRead output_read "output.read" read none output::ReadParams => output::ReadResult;
            /// Changes the given settings; a session needs `context_length` (tokens) once.
            ContextConfigure context_configure "context.configure" write session context::ConfigureParams => context::StatusResult;
            /// Returns settings and state of a session's engine.
            ContextStatus context_status "context.status" read session context::StatusParams => context::StatusResult;
            /// Returns the literals and numbers that programs match on.
            ContextConstants context_constants "context.constants" read none context::ConstantsParams => context::ConstantsResult;
            /// Estimates tokens: chars/4, and by script (writing system).
            ContextEstimate context_estimate "context.estimate" read none context::EstimateParams => context::EstimateResult;
            /// Returns what a compression would do, and changes nothing.
            ContextPlan context_plan "context.plan" read named context::PlanParams => context::PlanResult;
            /// Shortens a conversation; Busy while another compression of the session runs.
            ContextCompress context_compress "context.compress" write session context::CompressParams => context::CompressResult;
            /// Scans a text for attacks.
            GuardScan guard_scan "guard.scan" read none guard::ScanParams => guard::ScanResult;
            /// Masks secrets in a text.
            GuardRedact guard_redact "guard.redact" read none guard::RedactParams => guard::RedactResult;
            /// Masks the secrets in what was kept before, a part with each call; `cursor` says where to go on.
            GuardScrub guard_scrub "guard.scrub" write none guard::scrub::ScrubParams => guard::scrub::ScrubResult;
            /// Sets the topics of this connection's notifications; an empty list ends them.
            Subscribe subscribe "subscribe" read none daemon::SubscribeParams => daemon::SubscribeResult;
            /// Returns the changes before revision `before`, newest first; `limit` is 1 to 1,000 (50).
            MemoryLog memory_log "memory.log" read store memory::LogParams => memory::LogResult;
            /// Makes the text before the newest revision a new revision.
            MemoryUndo memory_undo "memory.undo" write writer memory::UndoParams => memory::WriteResult;
            /// Makes the text of an earlier revision a new revision; NotFound if it is no longer kept.
            MemoryRestore memory_restore "memory.restore" write writer memory::RestoreParams => memory::WriteResult;
            /// Returns the writes that wait for approval, oldest first.
            MemoryPending memory_pending "memory.pending" read store memory::PendingParams => memory::PendingResult;
            /// Approves waiting writes; NotFound for an unknown id, and then nothing is done.
            MemoryApprove memory_approve "memory.approve" write store memory::ApproveParams => memory::ApproveResult;
            /// Discards waiting writes; NotFound for an unknown id, and then nothing is done.
            MemoryReject memory_reject "memory.reject" write store memory::RejectParams => memory::RejectResult;
            /// Freezes a new snapshot of both stores.
            SessionRefresh session_refresh "session.refresh" write session session::RefreshParams => session::Snapshot;
            /// Creates a profile with its two stores; `name` has 1 to 64 letters, digits, `_`, `-`.
            ProfileCreate profile_create "profile.create" write none profile::CreateParams => profile::CreateResult;
            /// Returns the profiles and their limits, `default` first.
            ProfileList profile_list "profile.list" read none profile::ListParams => profile::ListResult;
            /// Archives messages for recall. `position` is that of the first one, from 0; Conflict
            /// says where to continue.
            SessionAppend session_append "session.append" write session session::transcript::AppendParams => session::transcript::AppendResult;
            /// Returns sessions, newest root first; `before` is a `started_at`, `limit` 1 to 1,000 (50).
            SessionList session_list "session.list" read none session::chain::ListParams => session::chain::ListResult;
            /// Returns one session; NotFound for one that was never opened.
            SessionShow session_show "session.show" read session session::chain::ShowParams => session::chain::Row;
            /// Returns a page of the messages of a session, oldest first; `first` below 0 counts from the end, `limit` is 1 to
            /// 1,000 (50).
            SessionMessages session_messages "session.messages" read session session::messages::MessagesParams => session::messages::MessagesResult;
            /// Returns the newest session in this session's chain of compressions.
            SessionTip session_tip "session.tip" read session session::chain::TipParams => session::chain::SessionId;
            /// Returns the session with messages in which this one continues.
            SessionResumeTarget session_resume_target "session.resume_target" read session session::chain::ResumeTargetParams => session::chain::SessionId;
            /// Returns the title for a continuation: `base #N`.
            SessionNextTitle session_next_title "session.next_title" read none session::chain::NextTitleParams => session::chain::NextTitleResult;
            /// Sets the title, model, window, folder and branch of a session; NotFound for one that was never opened.
            SessionUpdate session_update "session.update" write session session::UpdateParams => session::UpdateResult;
            /// Takes the lock of a session for `ttl_s` seconds (300); with 0 it ends with the connection.
            SessionLock session_lock "session.lock" write session session::lock::LockParams => session::lock::LockResult;
            /// Releases the lock of a session if `holder` holds it.
            SessionUnlock session_unlock "session.unlock" write session session::lock::UnlockParams => session::lock::LockResult;
            /// Returns the holder of a session's lock.
            SessionLockHolder session_lock_holder "session.lock_holder" read session session::lock::LockHolderParams => session::lock::LockHolderResult;
            /// Deletes a session with its messages and outputs; NotFound for one that was never opened.
            SessionRemove session_remove "session.remove" write session session::transcript::RemoveParams => session::transcript::RemoveResult;
            /// Adds up the tokens of model calls since a Unix time.
            SessionUsage session_usage "session.usage" read named session::usage::UsageParams => session::usage::UsageResult;
            /// Searches spilled outputs, newest first; `context` is lines on each side, `limit` 1 to 1,000 (50).
            OutputSearch output_search "output.search" read named output::search::SearchParams => output::search::SearchResult;
            /// Returns outputs, newest first, including expired ones; `limit` is 1 to 100,000 (100).
            OutputList output_list "output.list" read named output::shelf::ListParams => output::shelf::ListResult;
            /// Deletes an output; NotFound for one that is unknown or expired.
            OutputRemove output_remove "output.remove" write none output::shelf::RemoveParams => output::shelf::RemoveResult;
            /// Deletes outputs that are too old or exceed the quota now.
            OutputGc output_gc "output.gc" write none output::shelf::GcParams => output::shelf::GcResult;
            /// Records the usage of a model call, as the provider reported it.
            ContextRecordUsage context_record_usage "context.record_usage" write named context::usage::RecordUsageParams => context::usage::RecordUsageResult;
            /// Searches messages, outputs and memory, best match first. Times are Unix seconds,
            /// `limit` is 1 to 100 (20).
            RecallSearch recall_search "recall.search" read named recall::SearchParams => recall::SearchResult;
            /// Returns what a handle refers to, with 0 to 100 (2) messages or lines on each side.
            RecallExpand recall_expand "recall.expand" read none recall::ExpandParams => recall::ExpandResult;
            /// Returns what each compression of a session removed.
            RecallDescribe recall_describe "recall.describe" read session recall::DescribeParams => recall::DescribeResult;
            /// Returns the entities of a session by exact name, with their newest attributes; `limit` is 1 to 500 (50).
            RecallState recall_state "recall.state" read session recall::StateParams => recall::StateResult;
            /// Answers a question about a session or a node of its map, with quotations. `tokens`
            /// of passages are 500 to 60,000 (8,000).
            RecallAsk recall_ask "recall.ask" read named recall::AskParams => recall::AskResult;
            /// Returns the function schemas for a model.
            RecallSchema recall_schema "recall.schema" read none recall::SchemaParams => recall::SchemaResult;
            /// Returns whether to compress now, and why.
            ContextCheck context_check "context.check" write session context::check::CheckParams => context::check::CheckResult;
            /// Clears the engine's state of a session.
            ContextReset context_reset "context.reset" write session context::check::ResetParams => context::StatusResult;
            /// Continues a compression that needed a summary; NotFound for a ticket that was already used.
            ContextResume context_resume "context.resume" write none context::ResumeParams => context::CompressResult;
            /// Compresses the appended transcript in the background.
            ContextCompactAhead context_compact_ahead "context.compact_ahead" write session context::CompactAheadParams => context::CompactAheadResult;
            /// Classifies a provider's error; `current` is the window in tokens.
            ContextClassifyError context_classify_error "context.classify_error" write named context::provider_error::ClassifyErrorParams => context::provider_error::ClassifyErrorResult;
            /// Marks at most four messages for a prompt cache.
            ContextCacheControl context_cache_control "context.cache_control" read none context::cache_control::CacheControlParams => context::cache_control::CacheControlResult;
            /// Helps with a typed command: parses it, splits or rejoins a list, or describes the outcome.
            ContextManual context_manual "context.manual" read none context::manual::ManualParams => context::manual::ManualResult;
            /// Adds a rule (1 to 2,000 chars) that every handoff quotes word for word.
            ConstraintAdd constraint_add "constraint.add" write session constraint::AddParams => constraint::AddResult;
            /// Returns the rules in force, oldest first.
            ConstraintList constraint_list "constraint.list" read session constraint::ListParams => constraint::ListResult;
            /// Removes a rule.
            ConstraintRemove constraint_remove "constraint.remove" write session constraint::RemoveParams => constraint::RemoveResult;
            /// Compresses recorded conversations to a number of tokens; stores nothing.
            TrajectoryCompress trajectory_compress "trajectory.compress" read none trajectory::CompressParams => trajectory::CompressResult;
            /// Imports another program's conversation as a closed session; times are Unix seconds.
            SessionImport session_import "session.import" write session session::import::ImportParams => session::import::ImportResult;
            /// Chooses tools by their use, under a budget of tokens. Returns the calls and the cost of each.
            ContextTools context_tools "context.tools" read session context::tools::ToolsParams => context::tools::ToolsResult;
            /// Restores the list from before a compression, followed by the messages since then.
            ContextUndo context_undo "context.undo" write session context::undo::UndoParams => context::undo::UndoResult;
            /// Keeps a message and its pair in the list through compressions.
            ContextPin context_pin "context.pin" write session context::pins::PinParams => context::pins::Pin;
            /// Returns a session's pinned messages, oldest first.
            ContextPins context_pins "context.pins" read session context::pins::PinsParams => context::pins::PinsResult;
            /// Unpins a message, so that compressions may remove it again.
            ContextUnpin context_unpin "context.unpin" write session context::pins::UnpinParams => context::pins::UnpinResult;
            /// Marks outputs as no longer needed: the next compression reduces each to one line.
            ContextDiscard context_discard "context.discard" write session context::discard::DiscardParams => context::discard::DiscardResult;
            /// Opens or closes a sub-task. The next compression removes the messages of a closed one.
            ContextEpisode context_episode "context.episode" write session context::episode::EpisodeParams => context::episode::EpisodeResult;
            /// Returns the function schemas for discarding outputs, and opening or closing episodes.
            ContextSchema context_schema "context.schema" read none context::schema::SchemaParams => context::schema::SchemaResult;
            /// Puts the messages of a node back into the list, word for word.
            ContextOpen context_open "context.open" write session context::opened::OpenParams => context::opened::OpenResult;
            /// Removes opened nodes from the list; the next compression removes them too.
            ContextFold context_fold "context.fold" write session context::opened::FoldParams => context::opened::FoldResult;
            /// Returns what this host shares with others, and the state of the database.
            SharedStatus shared_status "shared.status" read none shared::StatusParams => shared::StatusResult;
            /// Creates the tables of the shared database, or upgrades them.
            SharedInit shared_init "shared.init" write none shared::InitParams => shared::InitResult;
            /// Adds the profile's stores to the shared database, entry by entry.
            SharedJoin shared_join "shared.join" write store shared::JoinParams => shared::JoinResult;
            /// Stops sharing the profile's stores; a full copy stays on this host.
            SharedLeave shared_leave "shared.leave" write store shared::LeaveParams => shared::LeaveResult;
            /// Returns the writes that wait here until the shared database is back, oldest first.
            MemoryQueued memory_queued "memory.queued" read store memory::QueuedParams => memory::QueuedResult;
            /// Returns the memory files of the profile with their revisions.
            FilesList files_list "files.list" read store files::ListParams => files::ListResult;
            /// Returns the text of a memory file, also of an earlier revision; NotFound if there is none.
            FilesRead files_read "files.read" read store files::ReadParams => files::ReadResult;
            /// Creates a memory file or replaces its text; Conflict if it is at another revision.
            FilesWrite files_write "files.write" write writer files::WriteParams => files::ChangeResult;
            /// Removes a memory file, or a folder with everything in it.
            FilesDelete files_delete "files.delete" write writer files::DeleteParams => files::ChangeResult;
            /// Renames a memory file or folder; the new path must not exist.
            FilesRename files_rename "files.rename" write writer files::RenameParams => files::ChangeResult;
            /// Runs a model's call of the tool `memory_20250818`; an invalid call is a refusal, not an error.
            FilesTool files_tool "files.tool" write writer files::ToolParams => files::ToolResult;
            /// Returns the changes before revision `before`, newest first; `limit` is 1 to 1,000 (50).
            FilesLog files_log "files.log" read store files::LogParams => files::LogResult;
            /// Undoes the newest change of memory files, which makes a new revision.
            FilesUndo files_undo "files.undo" write writer files::UndoParams => files::ChangeResult;
            /// Restores memory files to a revision; NotFound if it is no longer kept.
            FilesRestore files_restore "files.restore" write writer files::RestoreParams => files::ChangeResult;
            /// Records model calls and changes of the window. Times are Unix seconds, counts are tokens.
            LedgerRecord ledger_record "ledger.record" write session ledger::RecordParams => ledger::RecordResult;
            /// Adds up herma's changes of windows. Costs are in tokens of plain input.
            LedgerRead ledger_read "ledger.read" read named ledger::ReadParams => ledger::ReadResult;
            /// Reverts one change and keeps the later ones; NotFound if it is no longer kept.
            MemoryRevert memory_revert "memory.revert" write writer memory::RevertParams => memory::WriteResult;
        }
    };
}

/// Whether a method changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It changes something, and may have an idempotency key.
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

/// The earlier requests of its connection for which a request waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order<'a> {
    /// Those of this session.
    Session(&'a str),
    /// Those of the stores that name no session.
    Stores,
    /// None.
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
    ($($(#[doc = $doc:literal])+ $variant:ident $function:ident $name:literal $effect:ident $order:ident $params:ty => $result:ty;)*) => {
        /// A method, without its params.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Method {
            $(#[doc = concat!("`", $name, "`:")] $(#[doc = $doc])+ $variant,)*
        }

        impl Method {
            /// Every method, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns its name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns whether it changes anything.
            #[must_use]
            pub const fn effect(self) -> Effect {
                match self { $(Self::$variant => effect!($effect),)* }
            }

            /// Returns the method with this name.
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
            /// Returns the method of the request.
            #[must_use]
            pub const fn method(&self) -> Method {
                match self { $(Self::$variant(_) => Method::$variant,)* }
            }

            /// Returns the earlier requests for which it waits.
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

            /// Reads params from the text of a JSON object.
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
            /// of any method, serialized earlier
            Prepared(Prepared),
        }

        impl Reply {
            /// Returns the method that it is a result of.
            #[must_use]
            pub const fn method(&self) -> Method {
                match self {
                    $(Self::$variant(_) => Method::$variant,)*
                    Self::Prepared(prepared) => prepared.method,
                }
            }

            /// Reads the JSON text of a result. Ignores fields that this build doesn't know.
            ///
            /// # Errors
            /// A result without the form that the method promises.
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

/// Params of exactly one method. With them a typed client knows the type of the result.
pub trait Call {
    /// The method's result.
    type Output;

    /// Returns the request with these params.
    fn into_request(self) -> Request;

    /// Extracts the result from a reply; `None` if the reply is another method's.
    fn output(reply: Reply) -> Option<Self::Output>;
}

for_each_method!(table);

/// Returns the error message for an unknown method. Cuts long names, because they come from outside.
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
