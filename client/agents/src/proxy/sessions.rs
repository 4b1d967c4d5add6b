//! The sessions that a proxy keeps: the conversations of its requests, and their places in the daemon.

use std::time::SystemTime;

use herma_base::Settings;
use herma_base::kept::{self, hash};
use herma_client::protocol::context::ConstantsParams;
use herma_client::protocol::ledger::{Call, Change, RecordParams};
use herma_client::protocol::session::transcript::AppendParams;
use herma_client::protocol::session::{CloseParams, OpenParams};
use herma_client::protocol::{ErrorKind, Json};
use herma_client::{Client as Daemon, ClientError, Codec};
use herma_proxy::Exchange;
use herma_proxy::api::answer::Said;
use herma_proxy::api::request::Asked;
use herma_proxy::conversation::{Conversation, Fit, has_answer};
use herma_proxy::summaries::Summary;
use herma_transcripts::{TimedMessage, wire};

use super::Report;
use super::saved::{self, Saved};
use crate::compression::{Compaction, WINDOW};
use crate::hook::{handover, handover_change, place, unix_now};

/// The name of the agent if neither its request nor the command line has one.
const UNKNOWN: &str = "unknown";

/// The reason with which the sessions end.
const ENDED: &str = "the proxy ended";

/// The sessions of a proxy.
pub(super) struct Sessions {
    settings: Settings,
    agent: Option<String>,
    report: Report,
    daemon: Option<Daemon>,
    sessions: Vec<Kept>,
}

/// A session.
struct Kept {
    saved: Saved,
    /// The hash of the request for a summary that was answered last, and the answer. It may be sent again.
    answered: Option<(String, String)>,
    /// Whether this process opened it.
    is_open: bool,
}

impl Sessions {
    /// Creates the sessions that earlier proxies of this home had.
    pub(super) fn new(settings: Settings, agent: Option<String>, report: Report) -> Self {
        let saved = saved::read(&settings.place.home);
        let kept = |saved| Kept { saved, answered: None, is_open: false };
        Self { settings, agent, report, daemon: None, sessions: saved.into_iter().map(kept).collect() }
    }

    /// Keeps what is new in a request, and the answer to it.
    pub(super) fn keep(&mut self, exchange: &Exchange) -> Result<(), String> {
        let Exchange { asked, summary, said, .. } = exchange;
        if let Some(summary) = summary {
            // The question and its answer are no part of the conversation, but the next window begins with the answer.
            if let Some((at, text)) = self.asked_in(asked, summary).zip(said.as_ref().map(words)) {
                self.session(at)?.saved.conversation.note_summary(&text);
                self.save(at);
            }
            return Ok(());
        }
        // Titles and the like are one question without tools.
        if !asked.has_tools && !has_answer(&asked.items) && asked.previous.is_none() {
            return Ok(());
        }
        let at = self.append(asked, said.as_ref(), |fit| fit.new_from)?;
        if let Some(call) = said.as_ref().and_then(|said| call(asked, said)) {
            self.record(at, Some(call), None)?;
        }
        Ok(())
    }

    /// Returns the answer to a request for a summary; `None` if the model should write it.
    pub(super) fn summary(&mut self, asked: &Asked, summary: &Summary) -> Result<Option<String>, String> {
        let at = if summary.is_quoting {
            let Some(at) = self.asked_in(asked, summary) else { return Ok(None) };
            at
        } else {
            let items = asked.items.get(..summary.messages).unwrap_or_default();
            if items.is_empty() {
                return Ok(None);
            }
            let talk = Asked { items: items.to_vec(), ..asked.clone() };
            self.append(&talk, None, |fit| fit.behind)?
        };
        let request = hash(serde_json::to_string(&asked.items).unwrap_or_default().as_bytes());
        if let Some((answered, text)) = &self.session(at)?.answered
            && *answered == request
        {
            // An answer can be lost on its way.
            return Ok(Some(text.clone()));
        }
        let session = self.session(at)?.saved.name.clone();
        let compaction = Compaction { session: &session, window: WINDOW, focus: None, takes_short_calls: true };
        let compressed = self.ask(|daemon| compaction.carry_out(daemon))?;
        let compressed = compressed.map_err(|why| format!("{session} is not compressed: {why}"))?;
        let mark = self.ask(|daemon| daemon.context_constants(ConstantsParams {}).map_err(in_words))?.metadata_key;
        let text = handover(&compressed.list, &mark).ok_or_else(|| format!("{session} has no handoff"))?;
        let kept = self.session(at)?;
        (kept.saved.generation, kept.saved.position) = (compressed.generation, compressed.position);
        kept.saved.conversation.note_summary(&text);
        let answer = summary.shaped(&text);
        kept.answered = Some((request, answer.clone()));
        self.save(at);
        self.record(at, None, Some(handover_change(unix_now(), &text)))?;
        Ok(Some(answer))
    }

    /// Closes the sessions that this process opened.
    pub(super) fn close(&mut self) {
        let open: Vec<String> =
            self.sessions.iter().filter(|kept| kept.is_open).map(|kept| kept.saved.name.clone()).collect();
        for session in open {
            let params = CloseParams { session, reason: Some(ENDED.to_owned()) };
            if self.ask(|daemon| daemon.session_close(params).map_err(in_words)).is_err() {
                return;
            }
        }
    }

    /// Returns the session whose conversation a request for a summary is about.
    fn asked_in(&self, asked: &Asked, summary: &Summary) -> Option<usize> {
        if !summary.is_quoting {
            let items = asked.items.get(..summary.messages)?;
            return self.find(&Asked { items: items.to_vec(), ..asked.clone() }).map(|(at, _)| at);
        }
        let text = summary.quoted(asked);
        let is_of = |kept: &Kept| match (kept.saved.conversation.id(), &asked.id) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let sessions = self.sessions.iter().enumerate().filter(|(_, kept)| is_of(kept));
        let mut counts: Vec<_> = sessions.map(|(at, kept)| (kept.saved.conversation.quoted_in(&text), at)).collect();
        counts.sort_unstable();
        // Of two that fit alike it is not known which one is meant.
        let (most, at) = counts.pop().filter(|(most, _)| *most > 0)?;
        counts.last().is_none_or(|(next, _)| *next < most).then_some(at)
    }

    /// Returns the session of a request, and how it goes on with it.
    fn find(&self, asked: &Asked) -> Option<(usize, Fit)> {
        let fits = self.sessions.iter().enumerate();
        let fits = fits.filter_map(|(at, kept)| Some((kept.saved.conversation.fit(asked)?, at)));
        fits.max().map(|(fit, at)| (at, fit))
    }

    /// Appends the messages of a request that are new, and the answer. Returns the session.
    fn append(&mut self, asked: &Asked, said: Option<&Said>, new_from: fn(&Fit) -> usize) -> Result<usize, String> {
        let (at, new_from) = match self.find(asked) {
            Some((at, fit)) => (at, new_from(&fit)),
            None => (self.begin(asked), 0),
        };
        self.open(at, asked)?;
        let items = asked.items.iter().chain(said.iter().flat_map(|said| &said.items));
        let new: Vec<Json> = wire::messages(items, new_from).into_iter().filter_map(message).collect();
        if !new.is_empty() {
            self.append_to(at, new)?;
        }
        let kept = self.session(at)?;
        kept.saved.conversation.note(asked, said);
        self.save(at);
        Ok(at)
    }

    fn append_to(&mut self, at: usize, messages: Vec<Json>) -> Result<(), String> {
        let Saved { name, generation, position, .. } = self.session(at)?.saved.clone();
        let params = |(generation, position)| AppendParams {
            session: name.clone(),
            generation,
            position,
            messages: messages.clone(),
        };
        let append = |daemon: &mut Daemon| match daemon.session_append(params((generation, position))) {
            // Another proxy of this home went on with the session, or a compression of it was not noted.
            Err(ClientError::Rpc(error)) if error.kind == ErrorKind::Conflict => {
                let now = error.details.as_ref().and_then(|details| place(details.get()));
                let now = now.ok_or_else(|| error.message.clone())?;
                daemon.session_append(params(now)).map(|result| (now.0, result.position)).map_err(in_words)
            }
            answer => answer.map(|result| (generation, result.position)).map_err(in_words),
        };
        let place = self.ask(append)?;
        let saved = &mut self.session(at)?.saved;
        (saved.generation, saved.position) = place;
        Ok(())
    }

    /// Begins a session for a conversation that is not known.
    fn begin(&mut self, asked: &Asked) -> usize {
        let agent = self.agent.as_deref().or(asked.client.as_deref()).unwrap_or(UNKNOWN).to_owned();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seed = format!("{} {} {}", std::process::id(), now.as_nanos(), self.sessions.len());
        let name = format!("proxy:{agent}:{}", hash(seed.as_bytes()));
        // An agent's second conversation of the same id is that of a subagent, or comes after it was cleared.
        let is_same = |kept: &Kept| asked.id.is_some() && kept.saved.conversation.id() == asked.id.as_deref();
        let parent = self.sessions.iter().find(|kept| is_same(kept)).map(|kept| kept.saved.name.clone());
        let conversation = Conversation::new(asked.id.clone());
        let saved = Saved { name, agent, parent, generation: 0, position: 0, conversation };
        self.sessions.push(Kept { saved, answered: None, is_open: false });
        self.sessions.len() - 1
    }

    fn open(&mut self, at: usize, asked: &Asked) -> Result<(), String> {
        let kept = self.session(at)?;
        if kept.is_open {
            return Ok(());
        }
        let cwd = std::env::current_dir().ok().and_then(|folder| folder.to_str().map(str::to_owned));
        let params = OpenParams {
            session: kept.saved.name.clone(),
            agent: Some(kept.saved.agent.clone()),
            parent: kept.saved.parent.clone(),
            model: asked.model.clone(),
            cwd,
            captured: Some(true),
            ..OpenParams::default()
        };
        let opened = self.ask(|daemon| daemon.session_open(params).map_err(in_words))?;
        let kept = self.session(at)?;
        kept.is_open = true;
        kept.saved.generation = opened.generation;
        Ok(())
    }

    /// Reports a call of the model, or a change of the window, to the daemon's ledger.
    fn record(&mut self, at: usize, call: Option<Call>, change: Option<Change>) -> Result<(), String> {
        let session = self.session(at)?.saved.name.clone();
        let params =
            RecordParams { session, calls: call.map(|call| vec![call]), changes: change.map(|change| vec![change]) };
        self.ask(|daemon| daemon.ledger_record(params).map(drop).map_err(in_words))
    }

    fn session(&mut self, at: usize) -> Result<&mut Kept, String> {
        self.sessions.get_mut(at).ok_or_else(|| "there is no such session".to_owned())
    }

    /// Saves a session, so that the next proxy knows it. Without that it would keep it once more.
    fn save(&self, at: usize) {
        if let Some(kept) = self.sessions.get(at) {
            saved::write(&self.settings.place.home, &kept.saved)
                .unwrap_or_else(|error| (self.report)(&format!("{} is not saved: {error}", kept.saved.name)));
        }
    }

    /// Asks the daemon, with a new connection after an error.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut Daemon) -> Result<T, String>) -> Result<T, String> {
        let mut daemon = match self.daemon.take() {
            Some(daemon) => daemon,
            None => {
                let mut daemon = (self.settings.connect)(&self.settings.place, Codec::Bincode)
                    .map_err(in_words)?
                    .with_profile(self.settings.profile.clone());
                daemon.set_timeout(Some(self.settings.timeout)).map_err(in_words)?;
                daemon
            }
        };
        let answer = ask(&mut daemon)?;
        self.daemon = Some(daemon);
        Ok(answer)
    }
}

/// Returns a message as the archive takes it.
fn message(message: String) -> Option<Json> {
    kept::message(&TimedMessage { time: None, message })
}

/// Returns the text of an answer.
fn words(said: &Said) -> String {
    let texts = said.items.iter().filter_map(|item| item.get("content")).map(herma_proxy::api::text);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn call(asked: &Asked, said: &Said) -> Option<Call> {
    let usage = said.usage.as_ref()?;
    let model = said.model.as_ref().or(asked.model.as_ref()).cloned();
    let provider = match asked.api {
        herma_proxy::api::Api::Messages => "anthropic",
        _ => "openai",
    };
    Some(Call {
        id: said.id.clone()?,
        time: unix_now(),
        model,
        provider: Some(provider.into()),
        api_mode: Some(asked.api.name().into()),
        usage: Json::parse(usage.to_string()).ok()?,
    })
}

fn in_words(error: ClientError) -> String {
    error.to_string()
}
