//! Samples of the memory methods.

use herma_protocol::{guard, memory};

use super::json;

pub(super) fn add() -> memory::AddParams {
    memory::AddParams {
        target: memory::Target::Memory,
        content: "uses § and 日本".into(),
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
        expected_revision: Some(3),
    }
}

pub(super) fn replace() -> memory::ReplaceParams {
    memory::ReplaceParams {
        target: memory::Target::User,
        old_text: "tea".into(),
        content: "likes coffee".into(),
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
        expected_revision: Some(251),
        allow_drift: Some(true),
    }
}

pub(super) fn remove() -> memory::RemoveParams {
    memory::RemoveParams {
        target: memory::Target::Memory,
        old_text: "tea".into(),
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
        expected_revision: Some(65_536),
        allow_drift: Some(false),
    }
}

pub(super) fn batch() -> memory::BatchParams {
    memory::BatchParams {
        target: memory::Target::Memory,
        operations: vec![memory::Operation {
            action: memory::Action::Replace,
            content: Some("new".into()),
            old_text: Some("old".into()),
        }],
        allow_empty: Some(true),
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
        expected_revision: Some(1),
        allow_drift: Some(false),
    }
}

pub(super) fn tool() -> memory::ToolParams {
    memory::ToolParams {
        arguments: json(r#"{"action": "add","target":"user","content":"caf\u00e9"}"#),
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
    }
}

pub(super) fn store_view() -> memory::StoreView {
    memory::StoreView {
        entries: vec!["one".into(), "two".into()],
        revision: 2,
        usage: "0% — 9/2,200 chars".into(),
        over_limit: false,
        stale_s: Some(0.5),
    }
}

pub(super) fn finding() -> guard::Finding {
    guard::Finding { id: "prompt_injection".into(), start: 4, end: 260, folded: true, severity: guard::Severity::Warn }
}

pub(super) fn write_result() -> memory::WriteResult {
    memory::WriteResult {
        success: true,
        target: Some(memory::Target::User),
        entries: Some(vec!["likes coffee".into()]),
        usage: Some("0% — 12/1,375 chars".into()),
        entry_count: Some(1),
        message: Some("Entry replaced in USER.md.".into()),
        revision: Some(252),
        replaced_entry: Some("likes tea".into()),
        removed_entry: Some("likes milk".into()),
        error: Some("no".into()),
        current_entries: Some(vec!["likes tea".into()]),
        over_by: Some(7),
        matches: Some(vec!["likes...".into()]),
        drift_backup: Some("/h/memories/USER.md.bak.1-abcdef01".into()),
        remediation: Some("Edit it.".into()),
        done: Some(true),
        findings: Some(vec![finding()]),
        warnings: Some(vec![finding()]),
        staged: Some(true),
        pending_id: Some("0a1b2c3d".into()),
        pending_count: Some(2),
        shared: Some(false),
        host_bound: Some(true),
        queued_id: Some("9f8e7d6c".into()),
    }
}

pub(super) fn log() -> memory::LogParams {
    memory::LogParams {
        target: Some(memory::Target::User),
        limit: Some(10),
        before: Some(300),
        raw: Some(true),
        since: Some(1_780_000_000.0),
        until: Some(1_790_000_000.5),
    }
}

pub(super) fn log_result() -> memory::LogResult {
    memory::LogResult {
        rows: vec![memory::LogRow {
            target: memory::Target::User,
            revision: 252,
            time: 1_790_000_000.25,
            action: "replace".into(),
            session: Some("s-1".into()),
            agent: Some("hermes".into()),
            host: Some("attic".into()),
            before: vec!["likes tea".into()],
            after: vec!["likes coffee".into()],
        }],
        more: true,
        damaged: 1,
        pending_count: Some(2),
    }
}

pub(super) fn undo() -> memory::UndoParams {
    memory::UndoParams {
        target: memory::Target::Memory,
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
        expected_revision: Some(5),
    }
}

pub(super) fn restore() -> memory::RestoreParams {
    memory::RestoreParams {
        target: memory::Target::Memory,
        revision: 3,
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
        expected_revision: Some(5),
    }
}

pub(super) fn revert() -> memory::RevertParams {
    memory::RevertParams {
        target: memory::Target::Memory,
        revision: 3,
        session: Some("s-1".into()),
        agent: Some("hermes".into()),
        expected_revision: Some(5),
    }
}

pub(super) fn pending_result() -> memory::PendingResult {
    memory::PendingResult {
        pending: vec![memory::PendingWrite {
            id: "0a1b2c3d".into(),
            target: memory::Target::User,
            action: "add".into(),
            summary: "add to user profile: likes tea".into(),
            created_at: 1_790_000_000.5,
            session: Some("s-1".into()),
            agent: Some("hermes".into()),
            payload: json(r#"{"action":"add","content":"likes tea","target":"user"}"#),
        }],
    }
}

pub(super) fn approve() -> memory::ApproveParams {
    memory::ApproveParams {
        ids: Some(vec!["0a1b2c3d".into()]),
        all: Some(false),
        content: Some("likes tea".into()),
        ..memory::ApproveParams::default()
    }
}

pub(super) fn approve_result() -> memory::ApproveResult {
    memory::ApproveResult {
        approved: vec![memory::Decided { id: "0a1b2c3d".into(), result: write_result() }],
        failed: vec![memory::Decided { id: "ffffffff".into(), result: write_result() }],
    }
}
