//! The compactions of an agent: herma's rows for Claude Code's plugin, or instructions for the agent's own summary.

use std::path::Path;

use herma_base::own_file;
use herma_client::Client as Daemon;
use herma_client::protocol::context::ConstantsParams;
use herma_client::protocol::guard::RedactParams;
use serde_json::{Value, json};

use super::{Session, wait_for, words};
use crate::agent::{CompactedRows, Instructions, Replacement};
use crate::answer;
use crate::compression::{Compaction, CompressedList, WINDOW};
use crate::event::{Event, EventName};
use crate::hook::context::{self, WindowContext};
use crate::hook::handover::{self, Handover};
use crate::hook::{HookMessage, LONG, ledger, outputs, proxy, state};

/// The bytes at the end of a transcript that are searched for the newest result.
const END: u64 = 1 << 20;

impl Session<'_> {
    /// Prepares for the agent's own compaction. The daemon archives the conversation first, and the agent gets
    /// instructions for its summary.
    pub(super) fn before_compaction(&mut self, event: &Event) -> Result<(), String> {
        self.notes.state.handover = None;
        self.follow(event, LONG)?;
        // The daemon's list of the session is compressed together with the agent's.
        let list = self.compress(event)?.ok();
        self.notes.state.has_handoff = false;
        if let Some(list) = list.filter(|_| self.agent.compaction().has_proxy && proxy::is_used(self.home, self.agent))
        {
            let mark = self.daemon.context_constants(ConstantsParams {}).map_err(words)?.metadata_key;
            let at = state::unix_now();
            let text = handover::text(&list, &mark);
            self.notes.state.summary_tokens = ledger::tokens(text.as_ref().map_or(0, |text| text.chars().count()));
            self.notes.state.handover = text.map(|text| Handover { text, at, window: None });
        }
        self.notes.save()?;
        let instructions = self.agent.compaction().instructions;
        if instructions != Instructions::None {
            let (rules, entities) = (self.rules()?, self.entities()?);
            let known = WindowContext {
                rules: rules.iter().map(String::as_str).collect(),
                blocks: Vec::new(),
                entities: &entities,
            };
            let text = context::for_summary(&known);
            self.notes.state.summary_tokens = ledger::tokens(text.chars().count());
            self.notes.save()?;
            match instructions {
                _ if text.is_empty() => {}
                Instructions::Context => self.sender.answer(answer::context(EventName::PreCompact, &text)),
                _ => self.sender.send(HookMessage::Line(text)),
            }
        }
        Ok(())
    }

    /// Answers Claude Code's plugin with the rows of the compacted conversation.
    pub(super) fn compact(&mut self, event: &Event) -> Result<(), String> {
        self.await_newest(event);
        self.follow(event, LONG)?;
        let by_itself = |why: String| format!("the agent compacts by itself: {why}");
        let list = self.compress(event)?.map_err(by_itself)?;
        let rows = match self.agent.compaction().replacement {
            Replacement::Rows => self.rows(event, &list),
            Replacement::Text => self.text(&list)?.ok_or_else(|| "the list has no handoff".to_owned()),
        };
        let rows = rows.map_err(by_itself)?;
        let state = &mut self.notes.state;
        state.has_handoff = true;
        state.rows_with_context = vec![rows.last];
        self.notes.save()?;
        self.changes.rows(state::unix_now(), rows.chars, rows.newest);
        self.sender.answer(rows.answer);
        Ok(())
    }

    /// Returns the agent's rows for a compressed list.
    fn rows(&mut self, event: &Event, list: &[Value]) -> Result<CompactedRows, String> {
        let Self { daemon, notes, agent, .. } = &mut *self;
        let mut kept = |text: &str| kept_text(daemon, text);
        let rows = event.value.get("messages").unwrap_or(&Value::Null);
        agent.rows(list, rows, &notes.state.rows_with_context, &mut kept)
    }

    /// Returns the texts for a compressed list; `None` if the list has no handoff.
    fn text(&mut self, list: &[Value]) -> Result<Option<CompactedRows>, String> {
        let mark = self.daemon.context_constants(ConstantsParams {}).map_err(words)?.metadata_key;
        let parts = handover::handoff_and_last(list, &mark);
        Ok(parts.map(|(handoff, last)| CompactedRows {
            chars: handoff.chars().count(),
            newest: 0,
            last: String::new(),
            answer: json!({ "summary": handoff, "last": last }),
        }))
    }

    /// Waits until the transcript has the newest result of the agent's rows, for a moment. Claude Code writes
    /// the transcript a little later. Results that the daemon has not read stay uncompressed in the new window.
    fn await_newest(&mut self, event: &Event) {
        let mark = self.agent.newest_mark(event.value.get("messages").unwrap_or(&Value::Null));
        let Some((mark, path)) = mark.zip(self.transcript(event)) else { return };
        wait_for(|| ends_with(&path, &mark));
    }

    /// Returns the session's compressed list, or the reason why it would not get shorter.
    fn compress(&mut self, event: &Event) -> Result<Result<Vec<Value>, String>, String> {
        let compaction = Compaction {
            session: &self.id,
            window: event.window.or_else(|| self.agent.window()).unwrap_or(WINDOW),
            focus: event.focus.clone(),
            takes_short_calls: self.agent.compaction().takes_short_calls,
        };
        let CompressedList { mut list, generation, position } = match compaction.carry_out(&mut self.daemon)? {
            Ok(compressed) => compressed,
            Err(why) => return Ok(Err(why)),
        };
        let state = &mut self.notes.state;
        (state.generation, state.position) = (generation, position);
        self.notes.save()?;
        outputs::previews(self.agent, &mut list);
        Ok(Ok(list))
    }
}

/// Returns a text as the daemon keeps it. A daemon that can't tell keeps it as it is.
fn kept_text(daemon: &mut Daemon, text: &str) -> String {
    let params = RedactParams { text: Some(text.to_owned()), captured: Some(true), ..RedactParams::default() };
    daemon.guard_redact(params).ok().and_then(|result| result.text).unwrap_or_else(|| text.to_owned())
}

/// Returns whether the last [`END`] bytes of a transcript contain a text.
fn ends_with(path: &Path, text: &str) -> bool {
    own_file::read_end(path, END).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
}
