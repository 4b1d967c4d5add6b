//! Samples of the notifications that came with later updates.

use herma_protocol::ledger::{Change, ChangeKind};
use herma_protocol::memory::Target;
use herma_protocol::notification::{
    Cause, MemoryChanged, MemoryRefused, MessagesAppended, Notification, OutputSpilled, SessionChange, SessionChanged,
    WindowChanged,
};

/// Returns each with the name of its golden files.
pub(in super::super) fn later() -> [(&'static str, Notification); 6] {
    let session = || "s-1".to_owned();
    let changed = MemoryChanged {
        profile: "work".into(),
        target: Target::User,
        revision: 301,
        cause: Cause::Write,
        session: Some(session()),
        agent: Some("codex".into()),
    };
    let opened = SessionChanged {
        session: session(),
        profile: "work".into(),
        change: SessionChange::Opened,
        agent: Some("codex".into()),
        title: None,
        cwd: Some("/srv/app".into()),
    };
    let spilled = OutputSpilled {
        handle: "out_0123456789abcdef0123".into(),
        session: session(),
        tool: "terminal".into(),
        id: "call_1".into(),
        chars: 150_300,
        sha256: "cd".repeat(32),
    };
    let refused = MemoryRefused {
        profile: "work".into(),
        target: Some(Target::User),
        session: Some(session()),
        agent: None,
        error: "content is empty; give the text of the new entry".into(),
    };
    let change = Change { time: 1_700_000_000.5, kind: ChangeKind::Output, added: 300, removed: 37_500 };
    [
        ("notification.by_agent", Notification::MemoryChanged(changed)),
        ("notification.session", Notification::SessionChanged(opened)),
        (
            "notification.messages",
            Notification::MessagesAppended(MessagesAppended { session: session(), generation: 2, position: 420 }),
        ),
        ("notification.spilled", Notification::OutputSpilled(spilled)),
        ("notification.refused", Notification::MemoryRefused(refused)),
        (
            "notification.window",
            Notification::WindowChanged(WindowChanged { session: session(), changes: vec![change] }),
        ),
    ]
}
