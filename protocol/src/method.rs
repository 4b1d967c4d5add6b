//! The table of methods. One row gives a method its name on the wire, its
//! params, its result and the name of the client's function; everything else
//! (codecs, dispatch, the client, the tests that walk the table) follows.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::nearest::nearest;
use crate::params::{self, ParamsError};
use crate::prepared::Prepared;
use crate::{
    Header, constraint, context, daemon, files, guard, ledger, memory, output, profile, recall, session, shared,
    trajectory,
};

/// Calls `$use!` with the rows of the table. A row is a sentence that says what the method does,
/// and `Variant function "wire.name" effect order Params => Result`. The effect is `read` or
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
            /// Says who answers, and its limits.
            Hello hello "hello" read none daemon::HelloParams => daemon::HelloResult;
            /// Asks whether anybody answers.
            Ping ping "ping" read none daemon::PingParams => daemon::PingResult;
            /// Says how the daemon is: requests, sessions, stores, outputs, archive.
            Status status "status" read none daemon::StatusParams => daemon::StatusResult;
            /// Ends the daemon; what was asked gets `drain_ms` milliseconds (10,000) to finish.
            Shutdown shutdown "shutdown" read none daemon::ShutdownParams => daemon::ShutdownResult;
            /// Appends an entry; one that is there already is a success.
            MemoryAdd memory_add "memory.add" write writer memory::AddParams => memory::WriteResult;
            /// Puts `content` in the place of the entry that `old_text` names.
            MemoryReplace memory_replace "memory.replace" write writer memory::ReplaceParams => memory::WriteResult;
            /// Deletes the entry that `old_text` names.
            MemoryRemove memory_remove "memory.remove" write writer memory::RemoveParams => memory::WriteResult;
            /// Does up to 1,000 operations, all or none.
            MemoryBatch memory_batch "memory.batch" write writer memory::BatchParams => memory::WriteResult;
            /// Gives the entries; `raw` shows blocked ones as they are, for people.
            MemoryList memory_list "memory.list" read store memory::ListParams => memory::ListResult;
            /// Does what a model asked for; whatever is wrong with that is a refusal.
            MemoryTool memory_tool "memory.tool" write writer memory::ToolParams => memory::WriteResult;
            /// Gives the function schema and the paragraph for the system prompt.
            MemorySchema memory_schema "memory.schema" read store memory::SchemaParams => memory::SchemaResult;
            /// Opens a session; its snapshot is the same ever after. `context_length` is in tokens.
            SessionOpen session_open "session.open" write session session::OpenParams => session::OpenResult;
            /// Gives what the session froze; NotFound for one that was never opened.
            SessionSnapshot session_snapshot "session.snapshot" read session session::SnapshotParams => session::Snapshot;
            /// Ends a session.
            SessionClose session_close "session.close" write session session::CloseParams => session::CloseResult;
            /// Takes a tool result; gives what goes into the conversation. Sizes are chars.
            OutputAdmit output_admit "output.admit" write session output::AdmitParams => output::AdmitResult;
            /// Spills the largest results of a turn until all of them fit its budget.
            OutputSettleTurn output_settle_turn "output.settle_turn" write session output::SettleTurnParams => output::SettleTurnResult;
            /// Gives the first `max` chars (1,500), and `tail` last ones (0).
            OutputPreview output_preview "output.preview" read none output::PreviewParams => output::PreviewResult;
            /// Gives lines (from 1), chars from `offset`, or the last `tail` lines of an output; NotFound says why it is gone.
            OutputRead output_read "output.read" read none output::ReadParams => output::ReadResult;
            /// Changes the settings that are named; a session needs `context_length` (tokens) once.
            ContextConfigure context_configure "context.configure" write session context::ConfigureParams => context::StatusResult;
            /// Gives settings and state of a session's engine.
            ContextStatus context_status "context.status" read session context::StatusParams => context::StatusResult;
            /// Gives the literals and numbers that programs match on.
            ContextConstants context_constants "context.constants" read none context::ConstantsParams => context::ConstantsResult;
            /// Estimates tokens: chars/4, and by script.
            ContextEstimate context_estimate "context.estimate" read none context::EstimateParams => context::EstimateResult;
            /// Says what a compression would do; nothing changes.
            ContextPlan context_plan "context.plan" read named context::PlanParams => context::PlanResult;
            /// Makes a list shorter; Busy while another compression of the session runs.
            ContextCompress context_compress "context.compress" write session context::CompressParams => context::CompressResult;
            /// Looks for attacks in a text.
            GuardScan guard_scan "guard.scan" read none guard::ScanParams => guard::ScanResult;
            /// Takes secrets out of a text.
            GuardRedact guard_redact "guard.redact" read none guard::RedactParams => guard::RedactResult;
            /// Says which topics this connection is told about from now on; none ends it.
            Subscribe subscribe "subscribe" read none daemon::SubscribeParams => daemon::SubscribeResult;
            /// Gives the changes before revision `before`, newest first; `limit` is 1 to 1,000 (50).
            MemoryLog memory_log "memory.log" read store memory::LogParams => memory::LogResult;
            /// Makes the text before the newest revision a new revision.
            MemoryUndo memory_undo "memory.undo" write writer memory::UndoParams => memory::WriteResult;
            /// Makes the text of a revision a new one; NotFound when it is not kept.
            MemoryRestore memory_restore "memory.restore" write writer memory::RestoreParams => memory::WriteResult;
            /// Gives the writes that wait for approval, oldest first.
            MemoryPending memory_pending "memory.pending" read store memory::PendingParams => memory::PendingResult;
            /// Does writes that wait; NotFound for an unknown id, and then nothing is done.
            MemoryApprove memory_approve "memory.approve" write store memory::ApproveParams => memory::ApproveResult;
            /// Throws away writes that wait; NotFound for an unknown id, and then nothing is done.
            MemoryReject memory_reject "memory.reject" write store memory::RejectParams => memory::RejectResult;
            /// Freezes both stores anew.
            SessionRefresh session_refresh "session.refresh" write session session::RefreshParams => session::Snapshot;
            /// Makes a pair of stores; `name` has 1 to 64 letters, digits, `_`, `-`.
            ProfileCreate profile_create "profile.create" write none profile::CreateParams => profile::CreateResult;
            /// Gives the profiles and their limits, `default` first.
            ProfileList profile_list "profile.list" read none profile::ListParams => profile::ListResult;
            /// Keeps messages for recall; `position` is the first one's in the list, from 0. Conflict says where to go on.
            SessionAppend session_append "session.append" write session session::transcript::AppendParams => session::transcript::AppendResult;
            /// Gives sessions, newest root first; `before` is a `started_at`, `limit` 1 to 1,000 (50).
            SessionList session_list "session.list" read none session::chain::ListParams => session::chain::ListResult;
            /// Gives one session; NotFound for one that was never opened.
            SessionShow session_show "session.show" read session session::chain::ShowParams => session::chain::Row;
            /// Gives the newest session of the chain that compressions made out of this one.
            SessionTip session_tip "session.tip" read session session::chain::TipParams => session::chain::SessionId;
            /// Gives the session with messages where this one goes on.
            SessionResumeTarget session_resume_target "session.resume_target" read session session::chain::ResumeTargetParams => session::chain::SessionId;
            /// Gives the title of a continuation: `base #N`.
            SessionNextTitle session_next_title "session.next_title" read none session::chain::NextTitleParams => session::chain::NextTitleResult;
            /// Takes the lock of a session for `ttl_s` seconds (300); with 0 it ends with the connection.
            SessionLock session_lock "session.lock" write session session::lock::LockParams => session::lock::LockResult;
            /// Releases the lock if the holder has it.
            SessionUnlock session_unlock "session.unlock" write session session::lock::UnlockParams => session::lock::LockResult;
            /// Says who has the lock.
            SessionLockHolder session_lock_holder "session.lock_holder" read session session::lock::LockHolderParams => session::lock::LockHolderResult;
            /// Deletes a session with its messages and outputs; NotFound for one that was never opened.
            SessionRemove session_remove "session.remove" write session session::transcript::RemoveParams => session::transcript::RemoveResult;
            /// Adds up the tokens of models' calls since a Unix time.
            SessionUsage session_usage "session.usage" read named session::usage::UsageParams => session::usage::UsageResult;
            /// Looks in spilled outputs, newest first; `context` is lines on each side, `limit` 1 to 1,000 (50).
            OutputSearch output_search "output.search" read named output::search::SearchParams => output::search::SearchResult;
            /// Gives outputs, newest first, those that are gone included; `limit` is 1 to 100,000 (100).
            OutputList output_list "output.list" read named output::shelf::ListParams => output::shelf::ListResult;
            /// Deletes an output; NotFound for one that is unknown or gone.
            OutputRemove output_remove "output.remove" write none output::shelf::RemoveParams => output::shelf::RemoveResult;
            /// Lets go at once what is too old or too much.
            OutputGc output_gc "output.gc" write none output::shelf::GcParams => output::shelf::GcResult;
            /// Tells what a model's call used, as the provider reported it.
            ContextRecordUsage context_record_usage "context.record_usage" write named context::usage::RecordUsageParams => context::usage::RecordUsageResult;
            /// Finds what was said, seen or noted, best first; times are Unix seconds, `limit` 1 to 100 (20).
            RecallSearch recall_search "recall.search" read named recall::SearchParams => recall::SearchResult;
            /// Gives what a handle stands for, and 0 to 100 (2) messages or lines on each side.
            RecallExpand recall_expand "recall.expand" read none recall::ExpandParams => recall::ExpandResult;
            /// Gives what each compression of a session took out.
            RecallDescribe recall_describe "recall.describe" read session recall::DescribeParams => recall::DescribeResult;
            /// Gives what a session is about by exact names, with the newest of what is known; `limit` is 1 to 500 (50).
            RecallState recall_state "recall.state" read session recall::StateParams => recall::StateResult;
            /// Answers a question about a session or a node of its map, with quotations; `tokens` of passages are 500 to
            /// 60,000 (8,000).
            RecallAsk recall_ask "recall.ask" read named recall::AskParams => recall::AskResult;
            /// Gives the function schemas for a model.
            RecallSchema recall_schema "recall.schema" read none recall::SchemaParams => recall::SchemaResult;
            /// Says whether to compress now, and why.
            ContextCheck context_check "context.check" write session context::check::CheckParams => context::check::CheckResult;
            /// Forgets what the engine remembers of a session.
            ContextReset context_reset "context.reset" write session context::check::ResetParams => context::StatusResult;
            /// Goes on with a compression that needed a summary; NotFound for a ticket that is used up.
            ContextResume context_resume "context.resume" write none context::ResumeParams => context::CompressResult;
            /// Compresses the appended transcript in the background.
            ContextCompactAhead context_compact_ahead "context.compact_ahead" write session context::CompactAheadParams => context::CompactAheadResult;
            /// Says what a provider's error means; `current` is the window in tokens.
            ContextClassifyError context_classify_error "context.classify_error" write named context::provider_error::ClassifyErrorParams => context::provider_error::ClassifyErrorResult;
            /// Marks at most four messages for a prompt cache.
            ContextCacheControl context_cache_control "context.cache_control" read none context::cache_control::CacheControlParams => context::cache_control::CacheControlResult;
            /// Parses a person's command, splits a list, rejoins two, or words what came of it.
            ContextManual context_manual "context.manual" read none context::manual::ManualParams => context::manual::ManualResult;
            /// Adds a rule (1 to 2,000 chars) that every handoff quotes word for word.
            ConstraintAdd constraint_add "constraint.add" write session constraint::AddParams => constraint::AddResult;
            /// Gives the rules in force, oldest first.
            ConstraintList constraint_list "constraint.list" read session constraint::ListParams => constraint::ListResult;
            /// Takes a rule away.
            ConstraintRemove constraint_remove "constraint.remove" write session constraint::RemoveParams => constraint::RemoveResult;
            /// Makes recorded conversations fit a number of tokens; nothing is kept.
            TrajectoryCompress trajectory_compress "trajectory.compress" read none trajectory::CompressParams => trajectory::CompressResult;
            /// Keeps what another program kept of a conversation, as a closed session; times are Unix seconds.
            SessionImport session_import "session.import" write session session::import::ImportParams => session::import::ImportResult;
            /// Chooses tools by their use, under a budget of tokens. Says how often each was called and what it costs.
            ContextTools context_tools "context.tools" read session context::tools::ToolsParams => context::tools::ToolsResult;
            /// Brings the list of before a compression back, with what was said since.
            ContextUndo context_undo "context.undo" write session context::undo::UndoParams => context::undo::UndoResult;
            /// Keeps a message in the list through compressions, with its pair.
            ContextPin context_pin "context.pin" write session context::pins::PinParams => context::pins::Pin;
            /// Gives a session's pinned messages, oldest first.
            ContextPins context_pins "context.pins" read session context::pins::PinsParams => context::pins::PinsResult;
            /// Lets a pinned message leave with the others again.
            ContextUnpin context_unpin "context.unpin" write session context::pins::UnpinParams => context::pins::UnpinResult;
            /// Names outputs that the agent is done with: the next compression leaves a line of each.
            ContextDiscard context_discard "context.discard" write session context::discard::DiscardParams => context::discard::DiscardResult;
            /// Opens or closes a sub-task: what was said in a closed one leaves the list with the next compression.
            ContextEpisode context_episode "context.episode" write session context::episode::EpisodeParams => context::episode::EpisodeResult;
            /// The functions by which a model says what it is done with.
            ContextSchema context_schema "context.schema" read none context::schema::SchemaParams => context::schema::SchemaResult;
            /// Puts what a node stands for into the list again, word for word.
            ContextOpen context_open "context.open" write session context::opened::OpenParams => context::opened::OpenResult;
            /// Takes what was opened out of the list; the next compression does so too.
            ContextFold context_fold "context.fold" write session context::opened::FoldParams => context::opened::FoldResult;
            /// Says what this host shares with others, and how the database is.
            SharedStatus shared_status "shared.status" read none shared::StatusParams => shared::StatusResult;
            /// Makes the tables of the shared database, or brings them up to date.
            SharedInit shared_init "shared.init" write none shared::InitParams => shared::InitResult;
            /// Brings the profile's stores to the shared database, entry by entry.
            SharedJoin shared_join "shared.join" write store shared::JoinParams => shared::JoinResult;
            /// Takes the profile's stores back; a full copy stays here.
            SharedLeave shared_leave "shared.leave" write store shared::LeaveParams => shared::LeaveResult;
            /// Gives the writes that are kept here until the shared database is back, oldest first.
            MemoryQueued memory_queued "memory.queued" read store memory::QueuedParams => memory::QueuedResult;
            /// Gives the memory files of the profile, with their revisions.
            FilesList files_list "files.list" read store files::ListParams => files::ListResult;
            /// Gives the text of a memory file, also of an earlier revision; NotFound for one that is not there.
            FilesRead files_read "files.read" read store files::ReadParams => files::ReadResult;
            /// Makes a memory file, or gives it another text; Conflict when it is at another revision.
            FilesWrite files_write "files.write" write writer files::WriteParams => files::ChangeResult;
            /// Removes a memory file, or a folder with all that is in it.
            FilesDelete files_delete "files.delete" write writer files::DeleteParams => files::ChangeResult;
            /// Gives a memory file or a folder another name, which must be free.
            FilesRename files_rename "files.rename" write writer files::RenameParams => files::ChangeResult;
            /// Does what a model asked for with the tool `memory_20250818`; whatever is wrong with that is a refusal.
            FilesTool files_tool "files.tool" write writer files::ToolParams => files::ToolResult;
            /// Gives the changes before revision `before`, newest first; `limit` is 1 to 1,000 (50).
            FilesLog files_log "files.log" read store files::LogParams => files::LogResult;
            /// Takes the newest change of memory files back; that is a new revision.
            FilesUndo files_undo "files.undo" write writer files::UndoParams => files::ChangeResult;
            /// Puts memory files back as they were at a revision; NotFound when it is not kept.
            FilesRestore files_restore "files.restore" write writer files::RestoreParams => files::ChangeResult;
            /// Records calls of a model and changes of the window. Times are Unix seconds, counts are tokens.
            LedgerRecord ledger_record "ledger.record" write session ledger::RecordParams => ledger::RecordResult;
            /// Adds up what herma changed in windows. Costs are tokens of plain input.
            LedgerRead ledger_read "ledger.read" read named ledger::ReadParams => ledger::ReadResult;
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
    ($($(#[doc = $doc:literal])+ $variant:ident $function:ident $name:literal $effect:ident $order:ident $params:ty => $result:ty;)*) => {
        /// A method, without its params.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Method {
            $(#[doc = concat!("`", $name, "`:")] $(#[doc = $doc])+ $variant,)*
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
