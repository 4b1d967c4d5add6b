//! Answers a question about a session, or about one part of its map. A summarizer writes the answer from passages that
//! fit the question. Only its quotations from them count. Without a summarizer, the passages are the answer.

use std::collections::HashSet;

use herma_archive::node::Stands;
use herma_archive::search::Kinds;
use herma_context::Redaction;
use herma_context::ask::{self, Passage};
use herma_context::tokens::estimate_text;
use herma_guard::Scope;

use super::expand::Wanted;
use super::{Place, RecallService};
use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::data::numbers::to_u64;
use crate::data::summarizer_kind::Kind;
use crate::owners::archive::RecallQuery;
use crate::owners::summarizer::{Call, Main};
use crate::service::caller::Caller;

/// The number of places that are examined.
const PLACES: usize = 100;

/// The number of places that replace an answer if no summarizer writes one.
const SHOWN: usize = 5;

/// A passage may take one part of this number of the tokens, so that a long one leaves room for others.
const PARTS: u64 = 3;

/// The largest number of tokens of an answer.
const ANSWER: u64 = 1_000;

/// The largest number of nodes below a node that are examined.
const MOST_NODES: usize = 10_000;

/// A question with its limits.
#[derive(Debug)]
pub(crate) struct Question {
    /// The question.
    pub words: String,
    /// The session; `None` if `node` is given.
    pub session: Option<String>,
    /// Limits the search to this part of the session's map.
    pub node: Option<String>,
    /// The number of tokens for passages.
    pub tokens: u64,
    /// A summarizer to use instead of the configured ones.
    pub summarizer: Option<String>,
}

/// The answer to a question.
#[derive(Debug)]
pub(crate) struct AskAnswer {
    pub answer: Option<String>,
    pub evidence: Vec<Evidence>,
    pub by: Kind,
    /// The number of invented quotations.
    pub unverified: u64,
    /// Why no summarizer answered.
    pub notice: Option<String>,
}

/// A quotation from the conversation.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub quote: String,
    pub handle: String,
    pub role: Option<String>,
    pub time: f64,
}

/// A message that may answer the question.
struct Found {
    passage: Passage,
    /// Its most fitting part.
    best: Evidence,
}

impl RecallService {
    /// Answers from the archive. Dropping the future ends the call of a summarizer.
    pub(crate) async fn ask(&self, caller: &Caller, question: Question) -> Outcome<AskAnswer> {
        let kinds = self.kinds(question.summarizer.as_deref())?;
        let Question { words, session, node, tokens, .. } = question;
        let (session, leaves) = match (session, node) {
            (Some(session), None) => (self.sessions.known(caller, &session).await?, None),
            (None, Some(node)) => {
                let (session, leaves) = self.leaves(caller, &node).await?;
                (session, Some(leaves))
            }
            _ => return Err(Error::param("session", "give either a session or a node of its map")),
        };
        let places = self.places_in(caller, session, leaves.as_ref(), &words).await?;
        let found = self.passages(caller, places, tokens).await?;
        let mut notice =
            if found.is_empty() { Some("nothing that is archived there fits the question".to_owned()) } else { None };
        let passages: Vec<Passage> = found.iter().map(|found| found.passage.clone()).collect();
        for kind in kinds.into_iter().filter(|_| !found.is_empty()) {
            match self.answered(kind, &words, &passages).await {
                Ok(read) => {
                    let evidence = read.evidence.into_iter().filter_map(|quotation| {
                        let best = &found.get(quotation.passage)?.best;
                        Some(Evidence { quote: quotation.text, ..best.clone() })
                    });
                    let (answer, unverified) = (read.text, to_u64(read.unverified));
                    return Ok(AskAnswer { answer, evidence: evidence.collect(), by: kind, unverified, notice: None });
                }
                Err(why) => notice = Some(format!("{}: {why}", kind.name())),
            }
        }
        let mut best: Vec<Evidence> = found.into_iter().map(|found| found.best).collect();
        best.truncate(SHOWN);
        Ok(AskAnswer { answer: None, evidence: best, by: Kind::Extractive, unverified: 0, notice })
    }

    /// Returns the messages of a node that fit the words, best first.
    pub(super) async fn places_in_node(&self, caller: &Caller, node: &str, words: &str) -> Outcome<Vec<Place>> {
        let (session, leaves) = self.leaves(caller, node).await?;
        self.places_in(caller, session, Some(&leaves), words).await
    }

    /// Returns the places of a session, or of some leaves of its map, that fit the words, best first.
    async fn places_in(
        &self,
        caller: &Caller,
        session: String,
        leaves: Option<&HashSet<String>>,
        words: &str,
    ) -> Outcome<Vec<Place>> {
        let query = RecallQuery {
            words: words.to_owned(),
            session: Some(session),
            profile: caller.profile.clone(),
            agent: None,
            folder: None,
            kinds: Kinds { messages: true, outputs: leaves.is_none(), memory: false },
            since: None,
            until: None,
            period: None,
            limit: PLACES,
            of_one_output: 1,
            around: 0,
            least_fit: 0.0,
            vector: None,
            remote: None,
        };
        let mut places = self.search(query, false).await?.places;
        if let Some(leaves) = leaves {
            places.retain(|place| place.node.as_ref().is_some_and(|leaf| leaves.contains(leaf)));
        }
        Ok(places)
    }

    /// Returns the summarizers that may answer, in order; none if only herma itself is configured.
    fn kinds(&self, asked: Option<&str>) -> Outcome<Vec<Kind>> {
        Ok(match self.summarizers.named(asked)? {
            Some(Kind::Client) => {
                return Err(Error::param("summarizer", "\"client\" answers nothing here; search and read yourself"));
            }
            Some(Kind::Extractive) => Vec::new(),
            Some(kind) => vec![kind],
            None => self.summarizers.chain().iter().copied().filter(|kind| can_answer(*kind)).collect(),
        })
    }

    /// Whether a model is configured that can answer.
    pub(crate) fn can_answer(&self) -> bool {
        self.summarizers.chain().iter().any(|kind| can_answer(*kind))
    }

    /// Returns the session of a node, and the leaves below it.
    async fn leaves(&self, caller: &Caller, id: &str) -> Outcome<(String, HashSet<String>)> {
        names::check("node", id)?;
        let none = || Error::NotFound(format!("there is no node {id:?}"));
        let top = self.archive.node(id.to_owned()).await?.ok_or_else(none)?;
        if let Some(generation) = top.undone {
            let words = "does not count any more: what it stood for is in the session's list again";
            return Err(Error::NotFound(format!("{id:?} {words}, by generation {generation}")));
        }
        let session = self.sessions.known(caller, &top.session).await?;
        let (mut leaves, mut open, mut seen) = (HashSet::new(), vec![top.row], 0);
        while let Some(row) = open.pop() {
            seen += 1;
            match row.of {
                Stands::Nodes(children) if seen < MOST_NODES => {
                    for child in children {
                        open.extend(self.archive.node(child).await?.map(|child| child.row));
                    }
                }
                _ => {
                    leaves.insert(self.archive.newest_node(row.id.clone()).await?);
                    leaves.insert(row.id);
                }
            }
        }
        Ok((session, leaves))
    }

    /// Returns the passages of the best places, best first, within this number of tokens.
    async fn passages(&self, caller: &Caller, places: Vec<Place>, tokens: u64) -> Outcome<Vec<Found>> {
        let redaction = self.redaction();
        let alone = || Wanted { before: Some(0), after: Some(0), is_text: true, ..Wanted::default() };
        let (mut found, mut left) = (Vec::new(), tokens);
        for Place { handle, hit, snippet, .. } in places {
            // A message that was just removed is skipped.
            let Ok(expanded) = self.expand(caller, &handle, alone()).await else { continue };
            let whole = expanded.items.into_iter().next().map_or_else(String::new, |item| item.text);
            let text = if estimate_text(&whole) <= tokens / PARTS { whole } else { snippet.text.clone() };
            let takes = estimate_text(&text);
            if takes > left || text.trim().is_empty() {
                continue;
            }
            left -= takes;
            let role = hit.role.clone();
            let passage =
                Passage { label: role.clone().unwrap_or_default(), text: redaction.apply(&text).into_owned() };
            let quote = snippet.text.split_whitespace().collect::<Vec<_>>().join(" ");
            found.push(Found { passage, best: Evidence { quote, handle, role, time: hit.time } });
        }
        Ok(found)
    }

    /// Returns how secrets are treated on the way to a summarizer and back.
    fn redaction(&self) -> Redaction {
        if self.redact { Redaction::On } else { Redaction::Off }
    }

    /// Returns the valid part of a summarizer's answer.
    async fn answered(&self, kind: Kind, question: &str, passages: &[Passage]) -> Result<ask::Answer, String> {
        let prompt = ask::prompt(question, passages);
        let main = Main::default();
        let call = Call { prompt: &prompt, max_tokens: ANSWER, model: None, main: &main };
        let written = self.summarizers.write(kind, call).await.map_err(|failure| failure.text)?;
        let mut read = ask::read(&written.text, passages).ok_or("its answer quotes nothing of what it was given")?;
        // The answer must not contain text that memory would refuse.
        if let Some(text) = &read.text {
            if !self.policy.blocks(text, Scope::Context).is_empty() {
                return Err("the guard refuses what it answered".to_owned());
            }
            read.text = Some(self.redaction().apply(text).into_owned());
        }
        Ok(read)
    }
}

/// Whether a summarizer can answer questions, and not only write a record.
fn can_answer(kind: Kind) -> bool {
    !matches!(kind, Kind::Extractive | Kind::Client)
}
