//! Samples of memory files.

use herma_protocol::files::{
    ChangeResult, DeleteParams, File, IgnoredFile, ListParams, ListResult, LogFile, LogParams, LogResult, LogRow,
    ReadParams, ReadResult, RenameParams, RestoreParams, ToolParams, ToolResult, UndoParams, Usage, WriteParams,
};
use herma_protocol::{Reply, Request};

use super::json;
use super::stores::finding;

const PATH: &str = "/memories/notes/plan.md";

fn some(text: &str) -> Option<String> {
    Some(text.into())
}

pub(super) fn list() -> (Request, Reply) {
    let file = File { path: PATH.into(), bytes: 120, revision: 7, modified_at: 1_790_000_000.25 };
    let result = ListResult {
        revision: 9,
        files: vec![file],
        folders: vec!["/memories/notes".into()],
        ignored: vec![IgnoredFile { path: "/memories/link".into(), reason: "it is a link".into() }],
        usage: Usage { files: 1, files_limit: 1000, bytes: 120, quota: 4_194_304, file_limit: 65_536 },
    };
    (Request::FilesList(ListParams { path: some("/memories/notes") }), Reply::FilesList(result))
}

pub(super) fn read() -> (Request, Reply) {
    let params = ReadParams { path: PATH.into(), revision: Some(7), raw: Some(true) };
    let result = ReadResult { path: PATH.into(), text: "1. ask\n".into(), bytes: 7, revision: 7 };
    (Request::FilesRead(params), Reply::FilesRead(result))
}

pub(super) fn write() -> (Request, Reply) {
    let params = WriteParams {
        path: PATH.into(),
        text: "1. ask\n".into(),
        expected_revision: Some(0),
        session: some("s-1"),
        agent: some("coder"),
    };
    (Request::FilesWrite(params), Reply::FilesWrite(changed()))
}

pub(super) fn delete() -> (Request, Reply) {
    let params =
        DeleteParams { path: PATH.into(), expected_revision: Some(7), session: some("s-1"), agent: some("coder") };
    (Request::FilesDelete(params), Reply::FilesDelete(changed()))
}

pub(super) fn rename() -> (Request, Reply) {
    let params = RenameParams {
        path: PATH.into(),
        to: "/memories/plan.md".into(),
        expected_revision: Some(7),
        session: some("s-1"),
        agent: some("coder"),
    };
    (Request::FilesRename(params), Reply::FilesRename(changed()))
}

pub(super) fn tool() -> (Request, Reply) {
    let arguments = json(r#"{"command":"view","path":"/memories"}"#);
    let params = ToolParams { arguments, session: some("s-1"), agent: some("coder") };
    let result = ToolResult {
        text: "Blocked: it".into(),
        is_error: true,
        revision: 9,
        findings: Some(vec![finding()]),
        warnings: Some(vec![finding()]),
    };
    (Request::FilesTool(params), Reply::FilesTool(result))
}

pub(super) fn log() -> (Request, Reply) {
    let params = LogParams { path: some(PATH), limit: Some(20), before: Some(9), texts: Some(true), raw: Some(true) };
    let file = LogFile {
        path: PATH.into(),
        bytes_before: Some(0),
        bytes_after: Some(7),
        before: some(""),
        after: some("1. ask\n"),
    };
    let row = LogRow {
        revision: 7,
        time: 1_790_000_000.25,
        action: "create".into(),
        session: some("s-1"),
        agent: some("coder"),
        files: vec![file],
    };
    (Request::FilesLog(params), Reply::FilesLog(LogResult { rows: vec![row], more: true, damaged: 1 }))
}

pub(super) fn undo() -> (Request, Reply) {
    let params =
        UndoParams { path: some(PATH), expected_revision: Some(7), session: some("s-1"), agent: some("coder") };
    (Request::FilesUndo(params), Reply::FilesUndo(changed()))
}

pub(super) fn restore() -> (Request, Reply) {
    let params = RestoreParams {
        revision: 5,
        path: some(PATH),
        expected_revision: Some(7),
        session: some("s-1"),
        agent: some("coder"),
    };
    (Request::FilesRestore(params), Reply::FilesRestore(changed()))
}

fn changed() -> ChangeResult {
    ChangeResult {
        message: "Successfully deleted /memories/notes/plan.md".into(),
        revision: 10,
        file_revision: 0,
        changed: true,
        warnings: Some(vec![finding()]),
    }
}
