//! Sends imported messages to the daemon.

mod growth;
mod names;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use herma_base::kept::{hash, message, name};
use herma_base::{CliContext, Common, Failure};
use herma_client::protocol::ledger::Call;
use herma_client::protocol::profile::CreateParams;
use herma_client::protocol::session::chain::ShowParams;
use herma_client::protocol::session::import::ImportParams;
use herma_client::protocol::session::transcript::RemoveParams;
use herma_client::protocol::{ErrorKind, Json, RpcError, limits};
use herma_client::{Client, ClientError};
use herma_transcripts::{ModelCall, Session, TimedMessage};

use self::growth::{batch, rewrote};
use self::names::{profile, profile_of_project, shown};
use super::Arguments;
use super::record::{ImportedSession, Record};
use super::report::Report;

/// The most bytes of messages in one request, unless a single message is larger.
const BYTES: usize = 4 << 20;

/// How often a request is sent to a busy daemon, and the pause between two attempts.
const ASKED: u32 = 40;
/// See [`ASKED`].
const PAUSE: Duration = Duration::from_millis(250);

/// The most calls of the model in one request.
const CALLS: usize = 5_000;

/// The reason with which an imported session ends.
const IMPORTED: &str = "imported";

/// Whether messages that were read continue the imported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportOutcome {
    /// They are imported, or need no import.
    Done,
    /// They don't continue the imported session, so the file must be read from its beginning.
    Restart,
}

/// The receiver of messages.
pub(super) struct Sink<'a> {
    context: &'a CliContext<'a>,
    arguments: &'a Arguments,
    /// A connection for each profile.
    clients: HashMap<Option<String>, Client>,
    asking: Option<Client>,
    /// The sessions that a dry run would have created or extended.
    imagined: HashSet<String>,
    pub(super) record: Record,
    pub(super) report: Report,
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        context: &'a CliContext<'a>,
        arguments: &'a Arguments,
        record: Record,
        report: Report,
    ) -> Result<Self, Failure> {
        let mut sink = Self {
            context,
            arguments,
            clients: HashMap::new(),
            asking: None,
            imagined: HashSet::new(),
            record,
            report,
        };
        sink.client(context.common.profile.as_ref())?;
        Ok(sink)
    }

    pub(super) const fn common(&self) -> &'a Common {
        self.context.common
    }

    pub(super) const fn is_watching(&self) -> bool {
        self.arguments.watch
    }

    /// Returns the record of a session. If there is none, asks the daemon.
    pub(super) fn known(&mut self, id: &str) -> Result<ImportedSession, Failure> {
        if let Some(known) = self.record.session(id) {
            return Ok(known.clone());
        }
        let mut known = self.ask(id, id)?;
        // Of a rewritten session the newest version counts, even if the older ones were removed.
        let mut version = 1;
        loop {
            let next = self.ask(id, &name(id, version))?;
            if next.messages == 0 {
                break;
            }
            known = ImportedSession { rewritten: version, ..next };
            version += 1;
        }
        self.record.know(id, known.clone());
        Ok(known)
    }

    /// Records the last row of a database that was read for a session.
    pub(super) fn read_to(&mut self, id: &str, row: i64) -> Result<(), Failure> {
        let known = self.known(id)?;
        self.record.know(id, ImportedSession { row, ..known });
        Ok(())
    }

    /// Returns whether an agent itself sends the session to herma, under its own name.
    pub(super) fn is_live(&mut self, own: &str) -> Result<bool, Failure> {
        let params = ShowParams { session: own.to_owned() };
        match self.asking()?.session_show(params) {
            Ok(row) => Ok(row.end_reason.as_deref() != Some(IMPORTED)),
            Err(ClientError::Rpc(error)) if is_unknown(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the imported session is still in the archive.
    fn is_there(&mut self, id: &str, known: &ImportedSession) -> Result<bool, Failure> {
        let name = name(id, known.rewritten);
        Ok(self.imagined.contains(&name) || self.ask(id, &name)?.messages > 0)
    }

    /// Records that its agent sends the session to herma, so that the daemon is not asked again.
    pub(super) fn is_known_live(&mut self, id: &str) -> Result<(), Failure> {
        let known = self.known(id)?;
        self.record.know(id, ImportedSession { live: true, ..known });
        Ok(())
    }

    fn ask(&mut self, id: &str, session: &str) -> Result<ImportedSession, Failure> {
        let params = ShowParams { session: self.named(session) };
        match self.asking()?.session_show(params) {
            Ok(row) => {
                let live = row.end_reason.as_deref() != Some(IMPORTED);
                let profile = Some(row.profile);
                Ok(ImportedSession {
                    messages: row.messages,
                    live,
                    profile,
                    title: row.title,
                    ..ImportedSession::default()
                })
            }
            Err(ClientError::Rpc(error)) if is_unknown(&error) => Ok(ImportedSession::default()),
            Err(ClientError::Rpc(error)) => Err(Failure::File(format!("{id}: {}", error.message))),
            Err(error) => Err(error.into()),
        }
    }

    /// Imports the messages of a session that were read from a file, if there are many. With `all` it imports them in
    /// any case.
    pub(super) fn take(&mut self, path: &Path, transcript: &mut Session, all: bool) -> Result<ImportOutcome, Failure> {
        if !all && transcript.waiting() < BYTES {
            return Ok(ImportOutcome::Done);
        }
        let (first, said) = transcript.take();
        let mut known = self.known(&transcript.id)?;
        if known.removed {
            self.report.removed(&transcript.id);
        } else if known.live {
            self.report.live(&transcript.id);
        }
        if known.removed || known.live {
            return Ok(ImportOutcome::Done);
        }
        if first > known.messages {
            return Ok(ImportOutcome::Restart);
        }
        let is_shorter = all && first + (said.len() as u64) < known.messages && first + (said.len() as u64) > 0;
        if is_shorter || rewrote(&known, first, &said) {
            // A session that the user removed must not return under another name.
            if !self.is_there(&transcript.id, &known)? {
                self.report.removed(&transcript.id);
                self.record.know(&transcript.id, ImportedSession { removed: true, ..known });
                return Ok(ImportOutcome::Done);
            }
            let rewritten = known.rewritten.saturating_add(1);
            let known = ImportedSession { rewritten, profile: known.profile, ..ImportedSession::default() };
            self.record.know(&transcript.id, known);
            return Ok(ImportOutcome::Restart);
        }
        // A dry run sends nothing, so it must ask whether the session was removed.
        if self.arguments.dry_run && known.messages > 0 && !self.is_there(&transcript.id, &known)? {
            self.report.removed(&transcript.id);
            return Ok(ImportOutcome::Done);
        }
        let passed = usize::try_from(known.messages.saturating_sub(first)).unwrap_or(usize::MAX);
        let new = said.get(passed..).unwrap_or_default();
        let is_renamed = known.messages > 0 && transcript.title.is_some() && transcript.title != known.title;
        if new.is_empty() && !is_renamed {
            return Ok(ImportOutcome::Done);
        }
        if known.messages == 0 && known.profile.is_none() {
            known.profile = self.profile(transcript.cwd.as_deref());
        }
        let (is_new, before) = (known.messages == 0, known.messages);
        let calls = self.calls(transcript);
        let taken = self.send(path, transcript, new, calls, &mut known)?;
        self.report.session(&transcript.id, is_new, known.messages.saturating_sub(before));
        self.record.know(&transcript.id, known);
        Ok(taken)
    }

    /// Imports a document. An earlier version of it is removed first, so that a search finds only the newest. A document
    /// that the user removed does not return.
    pub(super) fn document(&mut self, path: &Path, id: &str, messages: &[TimedMessage]) -> Result<(), Failure> {
        let known = self.known(id)?;
        let all: String = messages.iter().map(|said| said.message.as_str()).collect();
        let last = hash(all.as_bytes());
        let is_there = known.messages > 0 && self.is_there(id, &known)?;
        if known.removed || (known.messages > 0 && !is_there && !known.replacing) {
            self.report.removed(id);
            self.record.know(id, ImportedSession { removed: true, ..known });
            return Ok(());
        }
        if messages.is_empty() || (is_there && known.last == last && !known.replacing) {
            return Ok(());
        }
        if is_there && !self.arguments.dry_run {
            // A run that is killed from here on is repeated by the next one.
            self.record.know(id, ImportedSession { replacing: true, ..known.clone() });
            self.record.save()?;
            let session = self.named(id);
            self.asking()?.session_remove(RemoveParams { session })?;
        }
        let mut transcript = Session::new(id);
        transcript.title = path.file_name().map(|name| format!("memory: {}", name.to_string_lossy()));
        let project = id.split('/').nth(1).unwrap_or_default();
        let profile = known.profile.or_else(|| profile_of_project(&self.arguments.profile_for, project));
        let mut fresh = ImportedSession { profile, ..ImportedSession::default() };
        self.send(path, &transcript, messages, Vec::new(), &mut fresh)?;
        self.report.session(id, !is_there, fresh.messages);
        self.record.know(id, ImportedSession { last, ..fresh });
        Ok(())
    }

    /// Sends messages that continue the imported session, and records them.
    fn send(
        &mut self,
        path: &Path,
        transcript: &Session,
        new: &[TimedMessage],
        mut calls: Vec<Call>,
        known: &mut ImportedSession,
    ) -> Result<ImportOutcome, Failure> {
        let mut rest = new;
        loop {
            let count = batch(rest);
            let (part, after) = rest.split_at(count);
            let later = calls.split_off(calls.len().min(CALLS));
            let sent = Some(std::mem::replace(&mut calls, later)).filter(|calls| !calls.is_empty());
            let params = ImportParams { calls: sent, ..self.params(path, transcript, part, known) };
            if self.arguments.dry_run {
                self.imagined.insert(name(&transcript.id, known.rewritten));
            }
            match self.import(params, known.profile.clone()) {
                Ok(()) => {}
                Err(ClientError::Rpc(error)) => return self.refused(&transcript.id, path, error, known),
                Err(error) => return Err(error.into()),
            }
            known.messages = known.messages.saturating_add(part.len() as u64);
            if let Some(last) = part.last() {
                known.last = hash(last.message.as_bytes());
            }
            known.title.clone_from(&transcript.title);
            rest = after;
            if rest.is_empty() && calls.is_empty() {
                return Ok(ImportOutcome::Done);
            }
        }
    }

    /// Returns the calls of the model that were read and not sent.
    fn calls(&self, transcript: &mut Session) -> Vec<Call> {
        let reported = |call: ModelCall| {
            let usage = Json::parse(call.usage).ok()?;
            let (provider, api_mode) = self.arguments.program.provider.unzip();
            let (provider, api_mode) = (provider.map(str::to_owned), api_mode.map(str::to_owned));
            Some(Call { id: call.id, time: call.time, model: call.model, provider, api_mode, usage })
        };
        transcript.take_calls().into_iter().filter_map(reported).collect()
    }

    fn params(
        &self,
        path: &Path,
        transcript: &Session,
        part: &[TimedMessage],
        known: &ImportedSession,
    ) -> ImportParams {
        let named = |id: &str| self.named(id);
        ImportParams {
            session: named(&name(&transcript.id, known.rewritten)),
            agent: Some(self.arguments.program.name.to_owned()),
            source: Some(shown(&path.display().to_string(), limits::PATH)),
            cwd: transcript.cwd.as_deref().map(|cwd| shown(cwd, limits::PATH)),
            parent: transcript.parent.as_deref().map(named),
            title: transcript.title.as_deref().map(|title| shown(title, limits::NAME)),
            model: transcript.model.as_deref().map(|model| shown(model, limits::NAME)),
            context_length: transcript.window,
            branch: transcript.branch.as_deref().map(|branch| shown(branch, limits::NAME)),
            calls: None,
            position: known.messages,
            messages: part.iter().filter_map(message).collect(),
            times: Some(part.iter().map(|said| said.time).collect()),
            redact: self.arguments.redacts(),
        }
    }

    fn import(&mut self, params: ImportParams, profile: Option<String>) -> Result<(), ClientError> {
        if self.arguments.dry_run {
            return Ok(());
        }
        for _ in 1..ASKED {
            match self.client(profile.as_ref())?.session_import(params.clone()) {
                Err(ClientError::Rpc(error)) if matches!(error.kind, ErrorKind::Busy | ErrorKind::Unavailable) => {
                    std::thread::sleep(PAUSE);
                }
                answer => return answer.map(|done| self.report.masked(&done)),
            }
        }
        let done = self.client(profile.as_ref())?.session_import(params)?;
        self.report.masked(&done);
        Ok(())
    }

    /// Handles a refusal of the daemon.
    fn refused(
        &mut self,
        id: &str,
        path: &Path,
        error: RpcError,
        known: &mut ImportedSession,
    ) -> Result<ImportOutcome, Failure> {
        let details = error.details.as_ref().and_then(|details| serde_json::from_str(details.get()).ok());
        let position = details.as_ref().and_then(|details: &serde_json::Value| details.get("position")?.as_u64());
        match (error.kind, position) {
            // The daemon has no message of the session, so it was removed.
            (ErrorKind::Conflict, Some(0)) => {
                known.removed = true;
                self.report.removed(id);
                Ok(ImportOutcome::Done)
            }
            // An older archive was restored.
            (ErrorKind::Conflict, Some(position)) => {
                (known.messages, known.last, known.row) = (position, String::new(), 0);
                Ok(ImportOutcome::Restart)
            }
            (ErrorKind::Busy | ErrorKind::Unavailable, _) => Err(ClientError::Rpc(error).into()),
            // The session was imported before, and now its agent continues it in herma.
            _ if self.ask(id, &name(id, known.rewritten))?.live => {
                known.live = true;
                self.report.live(id);
                Ok(ImportOutcome::Done)
            }
            _ => Err(Failure::File(format!("{}: session {id}: {}", path.display(), error.message))),
        }
    }

    /// Returns the connection for questions about sessions of all profiles.
    fn asking(&mut self) -> Result<&mut Client, ClientError> {
        if self.asking.is_none() {
            self.asking = Some(self.context.connect()?.with_profile(None));
        }
        self.asking.as_mut().ok_or(ClientError::NoHome)
    }

    /// Returns the connection for a profile. A profile that a rule names is created if it is missing.
    fn client(&mut self, profile: Option<&String>) -> Result<&mut Client, ClientError> {
        let profile = profile.or(self.context.common.profile.as_ref());
        if !self.clients.contains_key(&profile.cloned()) {
            let mut client = self.context.connect()?.with_profile(profile.cloned());
            if let Some(rule) = self.arguments.profile_for.iter().find(|rule| Some(&rule.profile) == profile) {
                client.profile_create(CreateParams { name: rule.profile.clone() })?;
            }
            self.clients.insert(profile.cloned(), client);
        }
        self.clients.get_mut(&profile.cloned()).ok_or(ClientError::NoHome)
    }

    /// Drops the connections, so that new ones are made.
    pub(super) fn disconnect(&mut self) {
        self.clients.clear();
        self.asking = None;
    }

    /// Returns the profile of a folder. Of the matching rules, the one with the longest folder counts.
    fn profile(&self, cwd: Option<&str>) -> Option<String> {
        profile(&self.arguments.profile_for, cwd?)
    }

    fn named(&self, id: &str) -> String {
        shown(&format!("{}:{id}", self.arguments.program.name), limits::NAME)
    }
}

fn is_unknown(error: &RpcError) -> bool {
    error.kind == ErrorKind::NotFound
}
