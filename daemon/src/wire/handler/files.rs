//! `files.*`.

use std::sync::Arc;

use herma_guard::{Policy, Scope};
use herma_memory::files::tool::change_message;
use herma_memory::files::{Answer, Edit, FileLimits, FilePath, FileRow, Files};
use herma_protocol::files::{
    ChangeResult, DeleteParams, File, IgnoredFile, ListParams, ListResult, LogFile, LogParams, LogResult, LogRow,
    ReadParams, ReadResult, RenameParams, RestoreParams, ToolParams, ToolResult, UndoParams, Usage, WriteParams,
};
use herma_protocol::guard::Finding;

use super::guard::wire_finding;
use super::memory::author;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::{to_u64, to_usize};
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::memory_files::{Change, History};
use crate::wire::services::Services;

/// The largest number of changes in one call.
const ROWS: u64 = 1000;

/// The default number of changes.
const DEFAULT_ROWS: u64 = 50;

pub(super) async fn list(services: &Services, caller: &Caller, params: ListParams) -> Outcome<ListResult> {
    let (wanted, limits) = (path_or_root("path", params.path.as_deref())?, services.files.files().limits());
    services.files.view(caller, move |files| listed(files, &wanted, limits)).await
}

fn listed(files: &Files, wanted: &FilePath, limits: FileLimits) -> ListResult {
    let is_wanted = |path: &&FilePath| *path == wanted || path.below(wanted).is_some();
    let file = |path: &FilePath| {
        files.files.get(path).map(|file| File {
            path: path.to_string(),
            bytes: to_u64(file.text.len()),
            revision: file.revision,
            modified_at: file.modified_at,
        })
    };
    let folders = files.entries.iter().filter(|entry| entry.folder_bytes.is_some()).map(|entry| &entry.path);
    let ignored = files.ignored.iter().filter(|(path, _)| is_wanted(path));
    ListResult {
        revision: files.revision,
        files: files.files.keys().filter(is_wanted).filter_map(file).collect(),
        folders: folders.filter(is_wanted).map(ToString::to_string).collect(),
        ignored: ignored.map(|(path, why)| IgnoredFile { path: path.to_string(), reason: why.clone() }).collect(),
        usage: Usage {
            files: to_u64(files.files.len()),
            files_limit: to_u64(limits.count),
            bytes: files.bytes(),
            quota: limits.total_bytes,
            file_limit: to_u64(limits.file_bytes),
        },
    }
}

pub(super) async fn read(services: &Services, caller: &Caller, params: ReadParams) -> Outcome<ReadResult> {
    let path = path("path", &params.path)?;
    let shown = path.to_string();
    let read = services.files.read(caller, path, params.revision, params.raw.unwrap_or(false)).await?;
    let bytes = to_u64(read.text.len());
    Ok(ReadResult { path: shown, text: read.text.as_ref().to_owned(), bytes, revision: read.revision })
}

pub(super) async fn write(services: &Services, caller: &Caller, params: WriteParams) -> Outcome<ChangeResult> {
    let edit = Edit::Write { path: path("path", &params.path)?, text: params.text };
    change(services, caller, Change::Edit(edit), params.expected_revision, (params.session, params.agent)).await
}

pub(super) async fn delete(services: &Services, caller: &Caller, params: DeleteParams) -> Outcome<ChangeResult> {
    let edit = Edit::Delete { path: path("path", &params.path)? };
    change(services, caller, Change::Edit(edit), params.expected_revision, (params.session, params.agent)).await
}

pub(super) async fn rename(services: &Services, caller: &Caller, params: RenameParams) -> Outcome<ChangeResult> {
    let edit = Edit::Rename { from: path("path", &params.path)?, to: path("to", &params.to)? };
    change(services, caller, Change::Edit(edit), params.expected_revision, (params.session, params.agent)).await
}

pub(super) async fn undo(services: &Services, caller: &Caller, params: UndoParams) -> Outcome<ChangeResult> {
    let undo = Change::Undo(path_or_root("path", params.path.as_deref())?);
    change(services, caller, undo, params.expected_revision, (params.session, params.agent)).await
}

pub(super) async fn restore(services: &Services, caller: &Caller, params: RestoreParams) -> Outcome<ChangeResult> {
    let restore = Change::Restore(path_or_root("path", params.path.as_deref())?, params.revision);
    change(services, caller, restore, params.expected_revision, (params.session, params.agent)).await
}

async fn change(
    services: &Services,
    caller: &Caller,
    change: Change,
    expected: Option<u64>,
    (session, agent): (Option<String>, Option<String>),
) -> Outcome<ChangeResult> {
    let author = author(session, agent)?;
    let Answer { done, revision, own_revision, is_same, warnings } =
        services.files.change(caller, change, expected, author).await?;
    let (message, warnings) = (change_message(&done), findings(&warnings));
    Ok(ChangeResult { message, revision, file_revision: own_revision, changed: !is_same, warnings })
}

pub(super) async fn tool(services: &Services, caller: &Caller, params: ToolParams) -> Outcome<ToolResult> {
    let author = author(params.session, params.agent)?;
    let answer = services.files.tool(caller, params.arguments.get(), author).await?;
    Ok(ToolResult {
        text: answer.text,
        is_error: answer.is_error,
        revision: answer.revision,
        findings: findings(&answer.findings),
        warnings: findings(&answer.warnings),
    })
}

pub(super) async fn log(services: &Services, caller: &Caller, params: LogParams) -> Outcome<LogResult> {
    let limit = params.limit.unwrap_or(DEFAULT_ROWS);
    if !(1..=ROWS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {ROWS}")));
    }
    let path = path_or_root("path", params.path.as_deref())?;
    let History { rows, more, damaged } = services.files.log(caller, path, params.before, to_usize(limit)).await?;
    let texts = match (params.texts.unwrap_or(false), params.raw.unwrap_or(false)) {
        (false, _) => Texts::None,
        (true, true) => Texts::All,
        (true, false) => Texts::WriteValidity(Arc::clone(services.files.files().policy())),
    };
    let rows = blocking("files.log", move || Ok(rows.into_iter().map(|row| to_log_row(row, &texts)).collect())).await?;
    Ok(LogResult { rows, more, damaged })
}

/// The largest size of the texts that are returned with one change, in bytes.
const MAX_TEXT_BYTES_PER_ROW: usize = 8 << 20;

/// The texts of the history to return.
enum Texts {
    None,
    All,
    WriteValidity(Arc<Policy>),
}

impl Texts {
    fn given(&self, text: Option<&Arc<str>>) -> Option<String> {
        let text = text?;
        match self {
            Self::None => None,
            Self::All => Some(text.as_ref().to_owned()),
            Self::WriteValidity(policy) => {
                let ids = policy.blocks(text, Scope::Strict);
                Some(if ids.is_empty() {
                    text.as_ref().to_owned()
                } else {
                    let ids: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
                    format!("[BLOCKED: the text looks like an attack ({}); `raw` shows it]", ids.join(", "))
                })
            }
        }
    }
}

fn to_log_row(row: FileRow, texts: &Texts) -> LogRow {
    let bytes = row.changes.iter().flat_map(|change| [&change.before, &change.after]).flatten().map(|text| text.len());
    let texts = if bytes.sum::<usize>() > MAX_TEXT_BYTES_PER_ROW { &Texts::None } else { texts };
    let file = |change: herma_memory::files::FileChange| LogFile {
        path: change.path.to_string(),
        bytes_before: change.before.as_ref().map(|text| to_u64(text.len())),
        bytes_after: change.after.as_ref().map(|text| to_u64(text.len())),
        before: texts.given(change.before.as_ref()),
        after: texts.given(change.after.as_ref()),
    };
    LogRow {
        revision: row.revision,
        time: row.time,
        action: row.action.name().to_owned(),
        session: row.author.session,
        agent: row.author.agent,
        files: row.changes.into_iter().map(file).collect(),
    }
}

fn findings(findings: &[herma_guard::Finding]) -> Option<Vec<Finding>> {
    (!findings.is_empty()).then(|| findings.iter().map(wire_finding).collect())
}

fn path(param: &str, text: &str) -> Outcome<FilePath> {
    FilePath::parse(text).map_err(|error| Error::param(param, error))
}

fn path_or_root(param: &str, text: Option<&str>) -> Outcome<FilePath> {
    text.map_or_else(|| Ok(FilePath::root()), |text| path(param, text))
}
