//! Tool outputs: decides what goes into a conversation and what goes to disk, and reads them again.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use herma_context::{Capture, CaptureCounts};
use herma_spill::admit::{Admitted, Fate, Origin, admit};
use herma_spill::catalog::Record;
use herma_spill::outputs::{Gone, View};
use herma_spill::page::{Page, Part};
use herma_spill::search::{Found, Query, Scope};
use herma_spill::turn::{FittedTurn, TurnResult, settle};
use herma_spill::{BudgetOverrides, Budgets, Content, Size};

use super::caller::Caller;
use super::retention::publish_expired;
use super::sessions::SessionService;
use super::spilled_outputs::{SpilledOutputs, found_or_fetched};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::event::{Event, SpilledOutput};
use crate::data::names;
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;
use crate::owners::events::Events;

/// Admits outputs and reads them again.
#[derive(Debug)]
pub(crate) struct OutputService {
    pub spilled: Arc<SpilledOutputs>,
    pub sessions: Arc<SessionService>,
    pub archive: Arc<ArchiveHandle>,
    pub events: Events,
    /// The budgets of a session without a known window.
    pub budgets: Budgets,
    /// Whether budgets scale with the model's window.
    pub scale_with_window: bool,
}

/// The result of a tool call.
#[derive(Debug)]
pub(crate) struct ToolResult {
    /// The session that made the call.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The id of the call.
    pub id: String,
    /// The result itself.
    pub content: Content,
}

/// The output to read.
#[derive(Debug)]
pub(crate) enum Named {
    /// The output with this handle, which may name a line.
    Handle(String),
    /// The output at this path.
    Path(String),
}

impl OutputService {
    /// Decides which part of a result goes into the conversation. Returns the result's content, too, so that the caller
    /// can return it without a copy if it stays.
    pub(crate) async fn admit(
        &self,
        caller: &Caller,
        result: ToolResult,
        threshold: Option<Size>,
        overrides: BudgetOverrides,
    ) -> Outcome<(Admitted, Content)> {
        names::check("tool", &result.tool)?;
        let BudgetsOf { budgets, profile, capture } = self.budgets(caller, &result.session, overrides).await?;
        let (spilled, events) = (Arc::clone(&self.spilled), self.events.clone());
        blocking("output.admit", move || {
            let ToolResult { session, tool, id, content } = result;
            let content = captured(capture, content);
            let threshold = threshold.unwrap_or_else(|| budgets.threshold(&tool));
            let origin = Origin { session: &session, profile: &profile, tool: &tool, id: &id };
            let admitted = admit(&spilled.kept, &origin, &content, threshold, &budgets, unix_now());
            note(&spilled, &events, &origin, &admitted);
            Ok((admitted, content))
        })
        .await
    }

    /// Makes the results of a turn fit its budget.
    pub(crate) async fn settle_turn(
        &self,
        caller: &Caller,
        session: String,
        results: Vec<TurnResult>,
        overrides: BudgetOverrides,
    ) -> Outcome<FittedTurn> {
        let BudgetsOf { budgets, profile, capture } = self.budgets(caller, &session, overrides).await?;
        let (spilled, events) = (Arc::clone(&self.spilled), self.events.clone());
        blocking("output.settle_turn", move || {
            let results: Vec<TurnResult> = results
                .into_iter()
                .map(|result| TurnResult { content: captured(capture, result.content), ..result })
                .collect();
            let origin = Origin { session: &session, profile: &profile, tool: "", id: "" };
            let settled = settle(&spilled.kept, &origin, &results, &budgets, unix_now());
            for (at, admitted) in &settled.replacements {
                let (id, tool) = (results[*at].id_at(*at), results[*at].tool.as_str());
                note(&spilled, &events, &Origin { id: &id, tool, ..origin }, admitted);
            }
            Ok(settled)
        })
        .await
    }

    /// Returns a page of an output, by default the one that its handle names.
    pub(crate) async fn read(&self, caller: &Caller, named: Named, part: Part, view: View) -> Outcome<Page> {
        if let Some(profile) = &caller.profile {
            let handle = match &named {
                Named::Handle(handle) => Some(handle.clone()),
                Named::Path(path) => self.spilled.at_path(path),
            };
            handle.map_or(Ok(()), |handle| self.spilled.check_profile(Some(profile), &handle))?;
        }
        let fetched = match &named {
            Named::Handle(handle) => self.spilled.fetch_missing(handle, caller.profile.as_deref()).await,
            Named::Path(_) => Ok(()),
        };
        let outputs = Arc::clone(&self.spilled.kept);
        let page = blocking("output.read", move || {
            let page = match named {
                Named::Handle(handle) => outputs.page(&handle, part, view)?,
                Named::Path(path) => outputs.page_path(&path, part, view)?,
            };
            Ok(page)
        });
        found_or_fetched(page.await, fetched)
    }

    /// Searches outputs of the caller's profile for a text. Stops if the caller goes away.
    pub(crate) async fn search(&self, caller: &Caller, query: Query) -> Outcome<Found> {
        let (outputs, profile) = (Arc::clone(&self.spilled.kept), caller.profile.clone());
        let fetched = match &query.scope {
            Scope::Handle(handle) => self.spilled.fetch_missing(handle, caller.profile.as_deref()).await,
            _ => Ok(()),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let _waiting = StopOnDrop(Arc::clone(&stop));
        let found = blocking("output.search", move || {
            let mut found = outputs.search(&query, &|| stop.load(Ordering::Relaxed))?;
            if let Some(profile) = profile {
                found.matches.retain(|one| outputs.record(one.handle).is_some_and(|of| *of.profile == *profile));
            }
            Ok(found)
        });
        found_or_fetched(found.await, fetched)
    }

    /// Returns the records of the outputs of the caller's profile, newest first.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        session: Option<String>,
        prefix: Option<String>,
        limit: usize,
    ) -> Outcome<Vec<Record>> {
        let (outputs, profile) = (Arc::clone(&self.spilled.kept), caller.profile.clone());
        blocking("output.list", move || {
            let is_asked = |record: &Record| {
                profile.as_deref().is_none_or(|profile| *record.profile == *profile)
                    && prefix.as_deref().is_none_or(|prefix| record.handle.to_string().starts_with(prefix))
            };
            Ok(outputs.list_where(session.as_deref(), limit, is_asked))
        })
        .await
    }

    /// Removes an output.
    pub(crate) async fn remove(&self, caller: &Caller, handle: String) -> Outcome<Gone> {
        names::check("handle", &handle)?;
        self.spilled.check_profile(caller.profile.as_deref(), &handle)?;
        let (outputs, name) = (Arc::clone(&self.spilled.kept), handle.clone());
        let gone = blocking("output.remove", move || outputs.remove(&name, unix_now()).map_err(Error::from)).await?;
        publish_expired(&self.events, &gone.expired);
        self.archive.forget_outputs(vec![handle]).await?;
        Ok(gone)
    }

    /// Returns the path of an output's text.
    pub(crate) fn path(&self, record: &Record) -> PathBuf {
        self.spilled.kept.path(record)
    }

    /// Returns the number of files, and their size in bytes.
    pub(crate) fn usage(&self) -> (u64, u64) {
        self.spilled.kept.usage()
    }

    /// Ends current work, because the daemon stops.
    pub(crate) fn stop(&self) {
        self.spilled.kept.stop();
    }

    /// Returns what a call needs of its session. The call overrides the configured budgets, and both are scaled to the
    /// session's window. If the session can't be opened now, the output is kept anyway.
    async fn budgets(&self, caller: &Caller, id: &str, overrides: BudgetOverrides) -> Outcome<BudgetsOf> {
        let (window, profile, capture) = match self.sessions.ensure(caller, id).await {
            Ok(session) => (session.window(), session.profile.clone(), self.sessions.capture_of(&session)),
            Err(error) if error.is_client_error() => return Err(error),
            Err(error) => {
                tracing::warn!("an output of a session that can't be opened: {error}");
                (None, caller.profile().to_owned(), None)
            }
        };
        let mut budgets = self.budgets.clone().overridden(overrides);
        if let Some(window) = window.filter(|_| self.scale_with_window) {
            budgets = budgets.scaled(window);
        }
        Ok(BudgetsOf { budgets, profile, capture })
    }
}

/// What a call needs of its session.
struct BudgetsOf {
    budgets: Budgets,
    profile: String,
    /// What is kept of its outputs; `None` if they are kept as they are.
    capture: Option<Capture>,
}

/// Returns an output as it is kept.
fn captured(capture: Option<Capture>, content: Content) -> Content {
    let Some(capture) = capture else { return content };
    match content {
        Content::Text(text) => Content::Text(capture.text(&text).into_owned()),
        Content::Parts(parts) => {
            let kept = |part| capture.message(part, &mut CaptureCounts::default());
            Content::Parts(parts.into_iter().map(kept).collect())
        }
    }
}

/// Updates the index after an output was spilled, and publishes it.
fn note(spilled: &SpilledOutputs, events: &Events, of: &Origin<'_>, admitted: &Admitted) {
    if let Fate::Spilled(kept) = &admitted.fate {
        spilled.spilled(&kept.handle);
        events.publish(Event::OutputSpilled(Arc::new(SpilledOutput {
            handle: kept.handle.to_string(),
            session: of.session.to_owned(),
            tool: of.tool.to_owned(),
            id: of.id.to_owned(),
            chars: admitted.chars,
            sha256: admitted.sha256.clone(),
        })));
    }
}

/// Ends a search when its caller goes away.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
