//! The session that a person means: by its id, by the beginning of it, or by its place in the list.

use std::path::{Path, PathBuf};

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::ErrorKind;
use herma_client::protocol::session::chain::{ListParams, Row, ShowParams};
use herma_client::{Client, ClientError};

/// The most sessions that an unclear beginning names.
const SHOWN: usize = 10;

/// The most rows of the list that a number can name.
const MOST: u64 = 1000;

// The sessions of an agent, or of a folder.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Whose {
    /// Only sessions of this agent, for instance claude-code
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only sessions of this folder and of those below it
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Only sessions of the current folder and of those below it
    #[arg(long, conflicts_with = "folder")]
    here: bool,
}

impl Whose {
    /// Returns whether an agent or a folder is named.
    pub(crate) const fn is_some(&self) -> bool {
        self.agent.is_some() || self.folder.is_some() || self.here
    }

    /// Returns the folder by its whole path, as agents name it.
    pub(crate) fn folder(&self) -> Result<Option<String>, Failure> {
        let folder = match (&self.folder, self.here) {
            (Some(folder), _) => folder.as_path(),
            (None, true) => Path::new("."),
            (None, false) => return Ok(None),
        };
        let path = std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
        let path = path.map_err(|error| Failure::File(format!("{}: {error}", folder.display())))?;
        Ok(Some(path.to_string_lossy().into_owned()))
    }
}

/// The chars of an id that people compare.
const SHORT: usize = 8;

/// Returns the id of the session that `named` means. The daemon says why one that it does not have can't be used.
pub(crate) fn resolve(client: &mut Client, named: &str) -> Result<String, Failure> {
    if let Some(place) = place(named) {
        return at(client, place);
    }
    if named.is_empty() {
        return Err(Failure::Usage("the session's name is empty".into()));
    }
    let unknown = match client.session_show(ShowParams { session: named.to_owned() }) {
        Ok(_) => return Ok(named.to_owned()),
        Err(ClientError::Rpc(error)) if error.kind == ErrorKind::NotFound => error,
        Err(error) => return Err(error.into()),
    };
    let (prefix, raw, limit) = (Some(named.to_owned()), Some(true), Some(MOST));
    let found = client.session_list(ListParams { prefix, raw, limit, ..ListParams::default() })?.sessions;
    let ids: Vec<&str> = found.iter().map(|row| row.session.as_str()).collect();
    match choose(&ids, named) {
        Some(id) => Ok(id.to_owned()),
        None if ids.is_empty() => Err(ClientError::Rpc(unknown).into()),
        None => Err(Failure::Usage(unclear(named, &ids))),
    }
}

/// Returns the one id that `named` means: an id, an id without its agent, or the only one that begins so. Sessions that
/// came out of another one have its id and more; the beginning of both means the first.
pub(crate) fn choose<'a>(ids: &[&'a str], named: &str) -> Option<&'a str> {
    let ids = || ids.iter().copied();
    if let Some(id) = ids().find(|id| *id == named) {
        return Some(id);
    }
    let same: Vec<&str> = ids().filter(|id| without_agent(id) == named).collect();
    if let [id] = same.as_slice() {
        return Some(id);
    }
    let begins = |id: &&str| id.starts_with(named) || without_agent(id).starts_with(named);
    let first = ids().filter(begins).min_by_key(|id| id.len())?;
    ids().filter(begins).all(|id| id == first || is_of(id, first)).then_some(first)
}

/// Returns an id without the agent's name in front.
pub(crate) fn without_agent(id: &str) -> &str {
    id.split_once(':').map_or(id, |(_, rest)| rest)
}

/// Returns whether a session came out of another one: as its subagent, its rewritten transcript, or its compression.
fn is_of(id: &str, other: &str) -> bool {
    id.strip_prefix(other).is_some_and(|rest| rest.starts_with(['/', '~']) || rest.starts_with("-c"))
}

/// Connects for a command about a session that there is. Returns its id as well.
pub(crate) fn connect(context: &CliContext<'_>, named: &str) -> Result<(Client, String), Failure> {
    let mut client = context.connect()?;
    let id = resolve(&mut client, named)?;
    Ok((client, id))
}

/// Connects for a command that may be about one session. Returns its id as well.
pub(crate) fn connect_any(context: &CliContext<'_>, named: Option<&str>) -> Result<(Client, Option<String>), Failure> {
    let mut client = context.connect()?;
    let id = named.map(|named| resolve(&mut client, named)).transpose()?;
    Ok((client, id))
}

/// Connects for a command that takes any id, also one that no session has yet, so that only `@` means another one.
pub(crate) fn connect_new(context: &CliContext<'_>, named: &str) -> Result<(Client, String), Failure> {
    let mut client = context.connect()?;
    let id = literal(&mut client, named)?;
    Ok((client, id))
}

/// Returns an id as it is, and the session that `@N` means.
pub(crate) fn literal(client: &mut Client, named: &str) -> Result<String, Failure> {
    if place(named).is_some() { resolve(client, named) } else { Ok(named.to_owned()) }
}

/// Returns the place in the list that `@N` means.
fn place(named: &str) -> Option<u64> {
    named.strip_prefix('@')?.parse().ok()
}

fn at(client: &mut Client, place: u64) -> Result<String, Failure> {
    let limit = place.clamp(1, MOST);
    let listed = client.session_list(ListParams { limit: Some(limit), ..ListParams::default() })?.sessions;
    let row = place.checked_sub(1).and_then(|before| listed.get(usize::try_from(before).ok()?));
    row.map(|row| row.session.clone()).ok_or_else(|| {
        let count = out::count_noun(listed.len(), "session", "sessions");
        Failure::File(format!("there is no @{place}: `herma session list` has {count}, from @1 on"))
    })
}

fn unclear(named: &str, found: &[&str]) -> String {
    let mut ids: Vec<String> = found.iter().take(SHOWN).map(|id| format!("  {id}")).collect();
    if found.len() > SHOWN {
        ids.push(format!("  and {} more", found.len() - SHOWN));
    }
    format!("several sessions begin with {named:?}; give more of the id:\n{}", ids.join("\n"))
}

/// Returns the beginning of a long id, with its agent: as much of it as people compare.
pub(crate) fn short(id: &str) -> String {
    let from = id.find(':').map_or(0, |colon| colon + 1);
    let rest = &id[from..];
    match rest.char_indices().nth(SHORT) {
        Some((end, _)) if rest.chars().count() > 2 * SHORT => id[..from + end].to_owned(),
        _ => id.to_owned(),
    }
}

/// Returns a session's title, or the beginning of its first message.
pub(crate) fn title(row: &Row) -> &str {
    row.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&row.preview)
}

/// Returns the last name of a folder's path, which people know a project by.
pub(crate) fn folder_name(path: Option<&str>) -> Option<&str> {
    path.and_then(|path| path.trim_end_matches('/').rsplit('/').next()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_means_the_session_that_the_others_came_out_of() {
        let ids = ["claude-code:80-aa/x", "claude-code:80-aa/y", "claude-code:80-aa", "claude-code:80-aa~2", "codex:7"];
        for (named, expected) in [
            ("80", Some("claude-code:80-aa")),
            ("80-aa", Some("claude-code:80-aa")),
            ("claude-code:80", Some("claude-code:80-aa")),
            ("80-aa/x", Some("claude-code:80-aa/x")),
            ("7", Some("codex:7")),
            ("c", None),
            ("9", None),
        ] {
            assert_eq!(choose(&ids, named), expected, "{named}");
        }
        assert_eq!(choose(&["codex:trip", "trip"], "trip"), Some("trip"));
        assert_eq!(choose(&["codex:trip", "hermes:trip"], "trip"), None);
        assert_eq!(choose(&["job-1", "job-10"], "job"), None);
        assert_eq!(choose(&["s-c2", "s"], "s"), Some("s"));
    }
}
