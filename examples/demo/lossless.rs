//! The lossless engine: opens a part of the map in its list, and undoes the compression.

use anyhow::{Context, ensure};
use herma_client::Client;
use herma_client::protocol::Json;
use herma_client::protocol::context::opened::{FoldParams, OpenParams};
use herma_client::protocol::context::undo::UndoParams;
use herma_client::protocol::recall::DescribeParams;

use crate::report::Map;

/// Opens the newest part of the map in the list, folds it again, and restores the list from before.
pub(crate) fn look(client: &mut Client, session: &str, before: &[Json], list: &[Json]) -> anyhow::Result<Map> {
    let map = client.recall_describe(DescribeParams { session: session.into() })?.map;
    let part = map.last().context("the list has no map")?;
    let params = OpenParams { session: session.into(), node: part.id.clone(), messages: Some(list.to_vec()) };
    let opened = client.context_open(params)?;
    let range = usize::try_from(part.first)?..usize::try_from(part.next)?;
    let said = before.get(range).context("a part beyond the conversation")?;
    // There may be a mark before or after the messages.
    let is_whole = opened.messages.windows(said.len()).any(|some| some == said);
    let mut with = list.to_vec();
    let at = usize::try_from(opened.at)?;
    with.splice(at..at, opened.messages);
    let folded = client.context_fold(FoldParams { session: session.into(), node: None, messages: Some(with) })?;
    ensure!(folded.folded == [part.id.clone()], "{:?} was folded", folded.folded);
    let params = UndoParams { session: session.into(), messages: Some(list.to_vec()), ..UndoParams::default() };
    let undone = client.context_undo(params)?;
    Ok(Map { parts: map.len(), opened: said.len(), is_whole, is_undone: undone.messages == before })
}
