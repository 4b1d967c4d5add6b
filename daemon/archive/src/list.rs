//! Sessions as they are shown to people.

use rusqlite::types::ToSql;
use rusqlite::{OptionalExtension, Row};

use crate::session::{self, SessionRow};
use crate::usage::Totals;
use crate::{ArchiveError, Reader, text_of};

/// Chars of a preview, without the dots after it.
pub const PREVIEW: usize = 60;

/// A session with its counts, usage and preview.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionOverview {
    /// The session itself. In a list of chains this is the chain's tip, with the `started_at` of the root.
    pub row: SessionRow,
    /// The number of all its messages, including those that left its list.
    pub messages: u64,
    /// The number of all tool calls in them.
    pub tool_calls: u64,
    /// The tokens that its model calls used.
    pub usage: Totals,
    /// The tokens of the newest model call's prompt, if a call was recorded.
    pub last_prompt: Option<u64>,
    /// The beginning of the first user message.
    pub preview: String,
    /// When it was last used, in Unix seconds.
    pub last_active: f64,
    /// The session that its chain of continuations began with.
    pub lineage_root: String,
}

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List {
    /// Only of this profile.
    pub profile: Option<String>,
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only those of this folder, or of one below it.
    pub folder: Option<String>,
    /// Only those on this branch.
    pub branch: Option<String>,
    /// Only those that were active since this time, in Unix seconds.
    pub since: Option<f64>,
    /// Only those with this text in their title, preview, folder or branch, in upper or lower case.
    pub text: Option<String>,
    /// Only those whose id begins with this, or the part of it after the agent's name.
    pub prefix: Option<String>,
    /// The maximum number of sessions.
    pub limit: usize,
    /// Only those whose root was started before this time, in Unix seconds.
    pub before: Option<f64>,
    /// Lists every row as it is, instead of each chain as its tip.
    pub raw: bool,
}

/// The condition for a session that is not part of another one, as continuations and sessions of a delegate are. A
/// delegate has the agent of the session that started it.
const IS_ROOT: &str = "(session.parent IS NULL
     OR NOT EXISTS (SELECT 1 FROM session AS parent WHERE parent.id = session.parent)
     OR EXISTS (SELECT 1 FROM session AS parent WHERE parent.id = session.parent
                AND (parent.agent <> session.agent
                     OR parent.end_reason IN ('branched', 'branch', 'clear') AND session.started_at >= parent.ended_at)))";

/// Returns the condition that a session is of the folder in a parameter, or of one below it. NULL is any folder.
pub(crate) fn of_folder(parameter: usize) -> String {
    format!(
        "(?{parameter} IS NULL OR cwd = ?{parameter} OR substr(cwd, 1, length(?{parameter}) + 1) = ?{parameter} || '/')"
    )
}

impl List {
    /// Returns the query for the roots, without what only a chain's tip knows.
    fn query(&self) -> String {
        let roots = if self.raw { "1" } else { IS_ROOT };
        format!(
            "SELECT id, started_at FROM session WHERE {roots} AND (?1 IS NULL OR profile = ?1)
             AND (?2 IS NULL OR started_at < ?2) AND (?3 IS NULL OR agent = ?3)
             AND {}
             AND (?5 IS NULL OR substr(id, 1, length(?5)) = ?5
                  OR substr(id, instr(id, ':') + 1, length(?5)) = ?5)
             ORDER BY started_at DESC, id DESC",
            of_folder(4)
        )
    }

    fn has(&self, shown: &SessionOverview) -> bool {
        let SessionOverview { row, preview, last_active, .. } = shown;
        let texts = [row.title.as_ref(), Some(preview), row.cwd.as_ref(), row.branch.as_ref()];
        let has_text = |wanted: &String| {
            let wanted = wanted.to_lowercase();
            texts.iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
        };
        self.since.is_none_or(|since| *last_active >= since)
            && (self.branch.is_none() || self.branch == row.branch)
            && self.text.as_ref().is_none_or(has_text)
    }
}

impl Reader {
    /// Returns the session of that id with its counts, usage and preview.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn show(&self, id: &str) -> Result<Option<SessionOverview>, ArchiveError> {
        let query = format!("SELECT {}, {COUNTS} FROM session WHERE id = ?1", session::COLUMNS);
        let Some(counted) = self.connection.prepare_cached(&query)?.query_row([id], Counted::from_row).optional()?
        else {
            return Ok(None);
        };
        let lineage_root = self.lineage_root(id)?;
        self.shown(counted, lineage_root).map(Some)
    }

    /// Returns the newest sessions, sorted by the start time of their root, then by its id.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn list(&self, list: &List) -> Result<Vec<SessionOverview>, ArchiveError> {
        let view = self.connection.unchecked_transaction()?;
        let mut sessions = Vec::new();
        let mut roots = self.connection.prepare_cached(&list.query())?;
        let values = [&list.profile as &dyn ToSql, &list.before, &list.agent, &list.folder, &list.prefix];
        let mut roots = roots.query(values.as_slice())?;
        while sessions.len() < list.limit
            && let Some(row) = roots.next()?
        {
            let (root, started_at): (String, f64) = (row.get(0)?, row.get(1)?);
            let id = if list.raw { root.clone() } else { self.end_of_chain(&root)? };
            let Some(mut shown) = self.show(&id)? else { continue };
            if !list.raw {
                shown.row.started_at = started_at;
                shown.lineage_root = root;
            }
            if list.has(&shown) {
                sessions.push(shown);
            }
        }
        drop(roots);
        view.finish()?;
        Ok(sessions)
    }

    fn shown(&self, counted: Counted, lineage_root: String) -> Result<SessionOverview, ArchiveError> {
        let Counted { row, messages, tool_calls, last_active } = counted;
        let ((usage, last_prompt), preview) = (self.session_totals(&row.id)?, self.preview(&row.id)?);
        Ok(SessionOverview { row, messages, tool_calls, usage, last_prompt, preview, last_active, lineage_root })
    }

    fn preview(&self, session: &str) -> Result<String, ArchiveError> {
        let mut query = self.connection.prepare_cached(
            "SELECT body FROM message WHERE session = (SELECT key FROM session_key WHERE id = ?1) AND role = 'user'
             ORDER BY id LIMIT 1",
        )?;
        let first: Option<String> = query.query_row([session], |row| row.get(0)).optional()?;
        Ok(first.map(|body| preview(&text_of(&body))).unwrap_or_default())
    }
}

const COUNTS: &str = "messages, tool_calls, coalesce(last_active, ended_at, started_at)";

struct Counted {
    row: SessionRow,
    messages: u64,
    tool_calls: u64,
    last_active: f64,
}

impl Counted {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row: session::from_row(row)?,
            messages: row.get(session::COLUMN_COUNT)?,
            tool_calls: row.get(session::COLUMN_COUNT + 1)?,
            last_active: row.get(session::COLUMN_COUNT + 2)?,
        })
    }
}

fn preview(text: &str) -> String {
    let mut preview = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        let space = (!preview.is_empty()).then_some(' ');
        for char in space.into_iter().chain(word.chars()) {
            if chars == PREVIEW {
                preview.push_str("...");
                return preview;
            }
            preview.push(char);
            chars += 1;
        }
    }
    preview
}

#[cfg(test)]
mod tests;
