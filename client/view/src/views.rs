//! All views, by the path of their address.

use http::StatusCode;

use crate::daemon::{Daemon, ViewError};
use crate::page::{Frame, Page};
use crate::request::Params;
use crate::{compaction, conversation, files, health, history, memory, now, outputs, savings, search, sessions};

/// Loads the view at a path.
pub(crate) fn load(daemon: &Daemon, path: &str, params: &Params, frame: &Frame) -> Result<Page, ViewError> {
    match path {
        "/" => now::page(daemon),
        "/memory" => memory::page(daemon, params, frame),
        "/memory/history" => history::page(daemon, params, frame),
        "/sessions" => sessions::page(daemon, params),
        "/session" => conversation::page(daemon, params, frame),
        "/message" => conversation::message(daemon, params),
        "/compaction" => compaction::page(daemon, params),
        "/search" => search::page(daemon, params),
        "/savings" => savings::page(daemon, params),
        "/outputs" => outputs::page(daemon, params),
        "/output" => outputs::output(daemon, params),
        "/files" => files::page(daemon),
        "/file" => files::file(daemon, params),
        "/health" => health::page(daemon),
        _ => Err(ViewError::new(StatusCode::NOT_FOUND, "there is no such page")),
    }
}
