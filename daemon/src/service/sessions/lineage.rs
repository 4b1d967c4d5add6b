//! Chains of sessions that continue each other: lists, tips, titles.

use herma_archive::browse::MessagePage;
use herma_archive::list::{List, SessionOverview};
use herma_archive::session::SessionRow;
use herma_archive::usage::Totals;

use super::{SessionService, no_session};
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::data::names;
use crate::service::caller::Caller;
use crate::service::session::{Session, check_profile};

impl SessionService {
    /// Returns sessions of the caller's profile, or of all profiles, newest first.
    pub(crate) async fn list(&self, caller: &Caller, list: List) -> Outcome<Vec<SessionOverview>> {
        self.archive.list_sessions(List { profile: caller.profile.clone(), ..list }).await
    }

    /// Returns one session with its figures.
    pub(crate) async fn show(&self, caller: &Caller, id: &str) -> Outcome<SessionOverview> {
        names::check("session", id)?;
        let kept = self.archive.show_session(id.to_owned()).await;
        if !matches!(kept, Ok(Some(_)))
            && !self.archive.is_in_use()
            && let Some(session) = self.inspected_in_memory(caller, id)
        {
            return Ok(unkept(&*session?));
        }
        let shown = kept?.ok_or_else(|| no_session(id))?;
        check_profile(&shown.row.id, &shown.row.profile, caller.profile.as_deref())?;
        Ok(shown)
    }

    /// Returns a page of a session's messages.
    pub(crate) async fn messages(
        &self,
        caller: &Caller,
        id: &str,
        from: i64,
        limit: usize,
        roles: Option<Vec<String>>,
    ) -> Outcome<MessagePage> {
        self.show(caller, id).await?;
        self.archive.session_page(id.to_owned(), from, limit, roles).await
    }

    /// Returns the last session of the chain that continues this one.
    pub(crate) async fn tip(&self, id: String) -> Outcome<String> {
        names::check("session", &id)?;
        self.archive.tip(id).await
    }

    /// Returns the session to resume for an id.
    pub(crate) async fn resume_target(&self, id: String) -> Outcome<String> {
        names::check("session", &id)?;
        self.archive.resume_target(id).await
    }

    /// Returns the title that follows a title.
    pub(crate) async fn next_title(&self, title: String) -> Outcome<String> {
        names::check("title", &title)?;
        self.archive.next_title(title).await
    }
}

/// Returns what is known of a session that no archive has. It is open, and nobody kept the times of its calls.
fn unkept(session: &Session) -> SessionOverview {
    let last_active = unix_now();
    let row = SessionRow {
        generation: session.generation(),
        settings: Some(session.settings().text()),
        ..SessionRow::new(session.id.clone(), session.profile.clone(), last_active)
    };
    let (lineage_root, usage) = (session.id.clone(), Totals::default());
    SessionOverview {
        row,
        messages: 0,
        tool_calls: 0,
        usage,
        last_prompt: None,
        preview: String::new(),
        last_active,
        lineage_root,
    }
}
