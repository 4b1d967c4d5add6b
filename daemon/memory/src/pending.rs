//! Writes that wait for a person's approval, one file each. Agents of the Hermes family use the same format, so either
//! side can list and decide the writes of the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use herma_disk::file::{self, Created, Temporary};
use herma_disk::stamp::Stamp;
use herma_disk::{DiskError, folder};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::change::{Change, Changes, Drift, Emptying};
use crate::hash::hash;
use crate::journal::line::Author;
use crate::refusal::Refusal;
use crate::target::Target;
use crate::tool::{self, Call};

/// Seconds after which an undecided write expires: 30 days.
const EXPIRY_S: f64 = 30.0 * 86_400.0;

/// Maximum number of waiting writes of a profile.
const WAITING: usize = 1000;

/// Largest file that is read, in bytes: enough for the longest texts of a write, escaped.
const FILE_LIMIT: u64 = 8 << 20;

/// Maximum chars of a detail in a summary.
const DETAIL: usize = 120;

/// Hex digits of an id.
const ID: usize = 8;

const TEMPORARY: Temporary = Temporary { prefix: ".pending_", suffix: ".tmp" };

/// A write that waits for approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingWrite {
    /// Its id, 8 hex digits. Its file has the same name.
    pub id: String,
    subsystem: String,
    /// `add`, `replace`, `remove` or `batch`.
    pub action: String,
    /// Its effect, in one or two lines.
    pub summary: String,
    #[serde(default = "foreground")]
    origin: String,
    /// When it was staged, in Unix seconds.
    pub created_at: f64,
    /// The session that requested it.
    #[serde(default)]
    pub session: Option<String>,
    /// The agent that requested it.
    #[serde(default)]
    pub agent: Option<String>,
    /// The write itself: the arguments of the memory tool, `allow_empty`,
    /// `allow_drift`, `exact` and `expected_revision`.
    pub payload: Map<String, Value>,
}

impl PendingWrite {
    /// Returns the store that the payload names, or `memory` if it names none.
    #[must_use]
    pub fn target(&self) -> Target {
        self.payload.get("target").and_then(Value::as_str).and_then(|name| name.parse().ok()).unwrap_or(Target::Memory)
    }

    /// Returns the write with another text. Only a write that adds or replaces an entry has one.
    #[must_use]
    pub fn with_content(mut self, content: String) -> Option<Self> {
        let has_text = matches!(self.action.as_str(), "add" | "replace");
        let text = self.payload.get_mut("content").filter(|_| has_text)?;
        *text = content.into();
        Some(self)
    }

    /// Returns the call to make when the write is approved.
    ///
    /// # Errors
    /// The payload is not a valid call.
    pub fn call(&self) -> Result<StagedCall, Refusal> {
        let mut arguments = self.payload.clone();
        let expected_revision = arguments.remove("expected_revision").and_then(|value| value.as_u64());
        let mut allowed = |name| arguments.remove(name).and_then(|value| value.as_bool()).unwrap_or(false);
        let (empty, drift, is_exact) = (allowed("allow_empty"), allowed("allow_drift"), allowed("exact"));
        let mut call = tool::read(&Value::Object(arguments).to_string())?;
        if let Changes::Batch { emptying, .. } = &mut call.changes {
            *emptying = if empty { Emptying::Allowed } else { Emptying::Refused };
        }
        let drift = if drift { Drift::Allowed } else { Drift::Refused };
        Ok(StagedCall { call, drift, expected_revision, is_exact })
    }
}

/// A call that waits for a person's approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedCall {
    /// The changes.
    pub call: Call,
    /// Whether a drifted store stops them.
    pub drift: Drift,
    /// The revision that their author saw.
    pub expected_revision: Option<u64>,
    /// Whether each `old_text` must equal a whole entry.
    pub is_exact: bool,
}

/// The waiting writes of a profile.
#[derive(Debug)]
pub struct Pending {
    folder: PathBuf,
    /// The folder's stamp at the last read. `None` if the folder has to be read.
    known: Option<Option<Stamp>>,
    writes: Vec<PendingWrite>,
    /// Whether an undecided write expires.
    expires: bool,
}

/// The error for a write that can't be staged.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Too many writes wait already.
    #[error("{WAITING} writes wait for approval already; a person has to decide some of them first")]
    Full,
    /// The write could not be stored.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The error for a write that can't be moved to another queue.
#[derive(Debug, thiserror::Error)]
pub enum HandOverError {
    /// The payload is not a valid call.
    #[error("{0}")]
    Nothing(Refusal),
    /// A file can't be written or renamed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Pending {
    /// Creates the queue of a folder. The first access reads the folder.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder, known: None, writes: Vec::new(), expires: true }
    }

    /// Like `Pending::new`, but the writes never expire.
    #[must_use]
    pub const fn without_expiry(folder: PathBuf) -> Self {
        Self { folder, known: None, writes: Vec::new(), expires: false }
    }

    /// Reads the folder again and lists the waiting writes. Otherwise like [`Pending::list`].
    ///
    /// # Errors
    /// The folder can't be read.
    pub fn reload(&mut self, now: SystemTime) -> Result<&[PendingWrite], DiskError> {
        self.known = None;
        self.list(now)
    }

    /// Lists the waiting writes, oldest first, and removes expired ones. Reads the folder only if its stamp changed.
    /// Skips files that are not pending writes.
    ///
    /// # Errors
    /// The folder can't be read, or an expired write can't be removed.
    pub fn list(&mut self, now: SystemTime) -> Result<&[PendingWrite], DiskError> {
        let stamp = Stamp::now(&self.folder)?;
        if self.known != Some(stamp) || stamp.is_some_and(|stamp| !stamp.is_settled(now)) {
            self.writes = read(&self.folder)?;
            self.known = Some(stamp);
        }
        let now = seconds(now);
        let is_expired = |write: &PendingWrite| self.expires && now - write.created_at > EXPIRY_S;
        let (expired, waiting) = std::mem::take(&mut self.writes).into_iter().partition(is_expired);
        self.writes = waiting;
        for PendingWrite { id, .. } in expired {
            tracing::info!(id, "a write that waited for approval has expired");
            file::remove(&self.path(&id))?;
        }
        Ok(&self.writes)
    }

    /// Stores a write until a person decides. When this returns, the write survives a restart.
    ///
    /// # Errors
    /// Too many writes wait, or the write can't be stored.
    pub fn stage(&mut self, call: &StagedCall, author: &Author, now: SystemTime) -> Result<String, StageError> {
        if self.list(now)?.len() >= WAITING {
            return Err(StageError::Full);
        }
        folder::create(&self.folder)?;
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let payload = payload(call);
        let mut write = PendingWrite {
            id: String::new(),
            subsystem: "memory".into(),
            action: payload.get("action").and_then(Value::as_str).unwrap_or_default().to_owned(),
            summary: if call.is_exact { late_summary(&call.call) } else { summary(&call.call) },
            origin: foreground(),
            created_at: seconds(now),
            session: author.session.clone(),
            agent: author.agent.clone(),
            payload,
        };
        let mut salt = 0_u32;
        loop {
            write.id = hash(&format!("{} {} {salt} {:?}", since.as_nanos(), std::process::id(), write.payload));
            write.id.truncate(ID);
            let text = serde_json::to_string_pretty(&write).unwrap_or_default();
            match file::create(&self.path(&write.id), text.as_bytes(), TEMPORARY)? {
                Created::New => return Ok(write.id),
                Created::Exists => salt += 1,
            }
        }
    }

    /// Moves a write to another queue, where it waits for a person. Returns its id there, or `None` if the write is
    /// gone. The moved write needs whole entries as `old_text` and expects no revision, because the store has changed
    /// since. At any moment it is in at least one of the queues, even if the process ends. The other queue accepts it
    /// even when it is full.
    ///
    /// # Errors
    /// The write can't be moved. It then stays where it was.
    pub fn hand_over(
        &mut self,
        write: &PendingWrite,
        to: &mut Self,
        now: SystemTime,
    ) -> Result<Option<String>, HandOverError> {
        if !self.reload(now)?.iter().any(|waiting| waiting.id == write.id) {
            return Ok(None);
        }
        let call = write.call().map_err(HandOverError::Nothing)?;
        let call = StagedCall { expected_revision: None, is_exact: true, ..call };
        folder::create(&to.folder)?;
        let mut moved = PendingWrite {
            summary: late_summary(&call.call),
            // Its expiry starts now.
            created_at: seconds(now),
            payload: payload(&call),
            ..write.clone()
        };
        let is_taken = |id: &str| fs::symlink_metadata(to.path(id)).is_ok();
        let mut salt = 0_u32;
        while is_taken(&moved.id) {
            moved.id = hash(&format!("{} {salt}", write.id));
            moved.id.truncate(ID);
            salt += 1;
        }
        let text = serde_json::to_string_pretty(&moved).unwrap_or_default();
        // A write with a new id exists twice if the process ends before the removal. That is better than losing it.
        file::replace(&self.path(&moved.id), text.as_bytes(), TEMPORARY)?;
        if moved.id != write.id {
            file::remove(&self.path(&write.id))?;
        }
        file::rename(&self.path(&moved.id), &to.path(&moved.id))?;
        (self.known, to.known) = (None, None);
        Ok(Some(moved.id))
    }

    /// Removes a write. Returns false if no write has this id.
    ///
    /// # Errors
    /// The file can't be removed.
    pub fn discard(&mut self, id: &str) -> Result<bool, DiskError> {
        let known = self.writes.iter().any(|write| write.id == id);
        if known {
            file::remove(&self.path(id))?;
            self.writes.retain(|write| write.id != id);
        }
        Ok(known)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

fn foreground() -> String {
    "foreground".into()
}

fn read(folder: &Path) -> Result<Vec<PendingWrite>, DiskError> {
    let mut writes = Vec::new();
    for name in folder::names(folder)? {
        let Some(id) = name.strip_suffix(".json").filter(|id| is_id(id)) else { continue };
        let text = file::read_text(&folder.join(&name), FILE_LIMIT);
        let write = text.ok().flatten().and_then(|(text, _)| serde_json::from_str::<PendingWrite>(&text).ok());
        match write.filter(|write| write.id == id && write.subsystem == "memory") {
            Some(write) => writes.push(write),
            None => tracing::warn!("{} is no pending write", folder.join(&name).display()),
        }
    }
    writes.sort_by(|one, other| one.created_at.total_cmp(&other.created_at));
    Ok(writes)
}

fn is_id(name: &str) -> bool {
    name.len() == ID && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn payload(staged: &StagedCall) -> Map<String, Value> {
    let StagedCall { call, drift, expected_revision, is_exact } = staged;
    let fields = |change: &Change| match change {
        Change::Add { content } => json!({ "action": "add", "content": content }),
        Change::Replace { old_text, content } => {
            json!({ "action": "replace", "old_text": old_text, "content": content })
        }
        Change::Remove { old_text } => json!({ "action": "remove", "old_text": old_text }),
    };
    let mut payload = match &call.changes {
        Changes::Single(change) => fields(change),
        Changes::Batch { changes, emptying } => json!({
            "action": "batch",
            "operations": changes.iter().map(fields).collect::<Vec<_>>(),
            "allow_empty": *emptying == Emptying::Allowed,
        }),
    };
    payload["target"] = call.target.name().into();
    if *drift == Drift::Allowed {
        payload["allow_drift"] = true.into();
    }
    if *is_exact {
        payload["exact"] = true.into();
    }
    if let Some(revision) = expected_revision {
        payload["expected_revision"] = (*revision).into();
    }
    match payload {
        Value::Object(payload) => payload,
        _ => Map::new(),
    }
}

fn summary(call: &Call) -> String {
    let store = match call.target {
        Target::Memory => "memory",
        Target::User => "user profile",
    };
    match &call.changes {
        Changes::Single(Change::Add { content }) => format!("add to {store}: {}", cut(content)),
        Changes::Single(Change::Remove { old_text }) => format!("remove from {store}: {}", cut(old_text)),
        Changes::Single(Change::Replace { old_text, content }) => {
            format!("replace in {store}: {}\n{}", cut(old_text), cut(content))
        }
        Changes::Batch { changes, .. } => format!("change {store} in {} steps at once", changes.len()),
    }
}

/// Returns the summary of a write that waited for the shared database.
fn late_summary(call: &Call) -> String {
    format!("{} (kept while the shared database was away; the store has changed)", summary(call))
}

/// Unix seconds.
fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn cut(text: &str) -> String {
    text.trim().chars().take(DETAIL).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use std::time::Duration;

    use super::*;

    fn call(content: &str) -> StagedCall {
        let changes = Changes::Single(Change::Add { content: content.into() });
        StagedCall {
            call: Call { target: Target::User, changes },
            drift: Drift::Refused,
            expected_revision: None,
            is_exact: false,
        }
    }

    fn now() -> SystemTime {
        SystemTime::now()
    }

    fn stage(pending: &mut Pending, call: &StagedCall, now: SystemTime) -> String {
        let author = Author { session: Some("s".into()), ..Author::default() };
        pending.stage(call, &author, now).unwrap()
    }

    #[test]
    fn a_write_is_moved_once_and_waits_for_a_person_from_then_on() {
        let home = tempfile::tempdir().unwrap();
        let mut queue = Pending::without_expiry(home.path().join("queue"));
        let mut waiting = Pending::new(home.path().join("waiting"));
        let old = now() - Duration::from_secs(40 * 86_400);
        let id = stage(&mut queue, &StagedCall { expected_revision: Some(3), ..call("x") }, old);
        let write = queue.list(now()).unwrap()[0].clone();
        // The id is already in use in the other queue.
        folder::create(&waiting.folder).unwrap();
        file::create(&waiting.path(&id), b"of another program", TEMPORARY).unwrap();
        let moved = queue.hand_over(&write, &mut waiting, now()).unwrap().unwrap();
        assert_ne!(moved, id);
        assert!(queue.list(now()).unwrap().is_empty());
        // The write expires thirty days from now and needs whole entries.
        let found = waiting.list(now()).unwrap().to_vec();
        assert_eq!((found.len(), &found[0].id), (1, &moved));
        let expected = StagedCall { is_exact: true, ..call("x") };
        assert_eq!(found[0].call().unwrap(), expected);
        assert_eq!(fs::read_to_string(waiting.path(&id)).unwrap(), "of another program");
        assert!(queue.hand_over(&write, &mut waiting, now()).unwrap().is_none(), "it is moved once");
        assert_eq!(waiting.list(now()).unwrap().len(), 1);
    }

    #[test]
    fn staged_writes_come_back_as_they_were() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("pending/memory");
        let mut pending = Pending::new(folder.clone());
        assert_eq!(pending.list(now()).unwrap(), []);
        let changes = vec![
            Change::Replace { old_text: "a".into(), content: "é\n".into() },
            Change::Remove { old_text: "b".into() },
            Change::Add { content: "c".into() },
        ];
        let singles = changes.iter().cloned().map(|change| (Target::Memory, Changes::Single(change)));
        let batch = Changes::Batch { changes: changes.clone(), emptying: Emptying::Allowed };
        for (target, changes) in singles.chain([(Target::User, batch)]) {
            let call = StagedCall {
                call: Call { target, changes },
                drift: Drift::Allowed,
                expected_revision: Some(7),
                is_exact: true,
            };
            let id = pending.stage(&call, &Author::default(), now()).unwrap();
            let mut again = Pending::new(folder.clone());
            let write = again.list(now()).unwrap().iter().find(|write| write.id == id).cloned().unwrap();
            assert_eq!((write.target(), write.call()), (target, Ok(call)));
        }
    }

    #[test]
    fn writes_are_listed_oldest_first_until_they_are_decided_or_expire() {
        let home = tempfile::tempdir().unwrap();
        let mut pending = Pending::new(home.path().join("p"));
        let day = Duration::from_hours(24);
        let newer = stage(&mut pending, &call("new"), now());
        let older = stage(&mut pending, &call("old"), now() - day);
        let ids = |pending: &mut Pending, now| -> Vec<String> {
            pending.list(now).unwrap().iter().map(|write| write.id.clone()).collect()
        };
        assert_eq!(ids(&mut pending, now()), [older.clone(), newer.clone()]);
        assert_eq!(ids(&mut pending, now() + day * 29 + day / 2), std::slice::from_ref(&newer));
        assert!(!file::holds(&home.path().join(format!("p/{older}.json")), b"").unwrap());
        assert!(!pending.discard(&older).unwrap() && pending.discard(&newer).unwrap());
        assert_eq!(ids(&mut pending, now()), [""; 0]);
    }

    #[test]
    fn files_of_others_are_read_leniently_and_never_harm() {
        let home = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            file::create(&home.path().join(name), text.as_bytes(), TEMPORARY).unwrap();
        };
        put(
            "0a1b2c3d.json",
            r#"{"id":"0a1b2c3d","subsystem":"memory","action":"add","summary":"add to memory: tea","origin":"background",
                "created_at":1e12,"payload":{"action":"add","content":"tea"}}"#,
        );
        put("ffffffff.json", "{");
        put("11111111.json", r#"{"id":"../../x","subsystem":"memory"}"#);
        put("notes.json", "{}");
        let mut pending = Pending::new(home.path().to_owned());
        let writes = pending.list(now()).unwrap();
        assert_eq!(writes.len(), 1);
        let changes = Changes::Single(Change::Add { content: "tea".into() });
        let call = Call { target: Target::Memory, changes };
        assert_eq!(
            writes[0].call(),
            Ok(StagedCall { call, drift: Drift::Refused, expected_revision: None, is_exact: false })
        );
        assert!(!pending.discard("../../x").unwrap());
    }

    #[test]
    fn summaries_are_short() {
        let long = "x".repeat(200);
        assert_eq!(summary(&call(&long).call), format!("add to user profile: {}", "x".repeat(120)));
        let replaced = Changes::Single(Change::Replace { old_text: "old".into(), content: "new".into() });
        let replaced = Call { target: Target::Memory, changes: replaced };
        assert_eq!(summary(&replaced), "replace in memory: old\nnew");
    }
}
