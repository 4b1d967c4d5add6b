//! Opening and closing parts of a conversation in its list.
//!
//! Opened parts are an addition to the session's list. The transcript does not contain them, and compressions and undos
//! ignore them. So they leave without being archived twice, and their record counts only for the generation in which
//! they were opened.

use std::ops::Range;
use std::sync::Arc;

use herma_archive::node::KeptNode;
use herma_archive::node::opened::{OpenedNode, OpenedRow};
use herma_context::forms::{Read, Translation};
use herma_context::opened::{self, Marks, OpenedPart};
use herma_context::{Message, Role, tokens};

use super::compress::alone;
use super::open_list::OpenList;
use super::{CompressionService, parse};
use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// A part that was put into the list.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The position of the message before which it is inserted.
    pub at: usize,
    /// Its messages, with their marks.
    pub messages: Vec<Message>,
    /// The tokens of its messages.
    pub tokens: u64,
    /// The tokens of the whole list with them.
    pub list_tokens: u64,
    /// The number of tokens from which a compression is due, if the session's window is known.
    pub threshold: Option<u64>,
    /// The ids of all parts that are open now.
    pub open: Vec<String>,
}

/// Parts that leave the list.
#[derive(Debug)]
pub(crate) struct Folded {
    /// The ids of their nodes.
    pub nodes: Vec<String>,
    /// Their ranges in the list.
    pub places: Vec<Range<usize>>,
    /// The tokens of the list without them.
    pub list_tokens: u64,
    /// The ids of the parts that are still open.
    pub open: Vec<String>,
}

impl CompressionService {
    /// Puts the messages of a node back into a session's list.
    pub(crate) async fn open(&self, session: &Arc<Session>, node: String, given: Option<Read>) -> Outcome<Opened> {
        names::check("node", &node)?;
        let _running = alone(session)?;
        let found = self.archive.node_messages(session.id.clone(), node.clone()).await?;
        let (kept, texts) = found.ok_or_else(|| no_node(session, &node))?;
        let gaps = self.archive.node_gaps(kept.clone()).await?;
        let parts = self.open_parts(session).await?;
        let is_given = given.is_some();
        let (given, translation) = taken_apart(given.map(|read| Self::in_form(session, read)));
        let list = self.list(session, given).await?;
        let translation = list.translation.or(translation);
        let threshold = self.threshold(session);
        let id = session.id.clone();
        let (opened, row) = blocking("context.open", move || {
            let list = parse(list.messages);
            let new = NewPart { session: &id, kept, messages: parse(texts), gaps, threshold };
            let (opened, row) = if is_given {
                new.place(list, parts)
            } else {
                let others: Vec<OpenedPart> = parts.into_iter().filter(|part| part.id != new.kept.row.id).collect();
                new.place(opened::with_parts(&list, &others), others)
            }?;
            Ok((opened.translated(translation.as_deref()), row))
        })
        .await?;
        self.archive.add_opened(session.id.clone(), session.generation(), row).await?;
        // A run that waits for a summary has the list without this part.
        self.forget(&session.id);
        Ok(opened)
    }

    /// Removes the messages of an open node, or of all open nodes, from a session's list.
    pub(crate) async fn fold(
        &self,
        session: &Arc<Session>,
        node: Option<String>,
        given: Option<Read>,
    ) -> Outcome<Folded> {
        let _running = alone(session)?;
        let parts = self.open_parts(session).await?;
        let is_wanted = |part: &OpenedPart| node.as_ref().is_none_or(|node| *node == part.id);
        let nodes: Vec<String> = parts.iter().filter(|part| is_wanted(part)).map(|part| part.id.clone()).collect();
        let open: Vec<String> = parts.iter().filter(|part| !is_wanted(part)).map(|part| part.id.clone()).collect();
        if nodes.is_empty() {
            return Err(not_open(session, node.as_deref(), &open));
        }
        let is_given = given.is_some();
        let (given, translation) = taken_apart(given.map(|read| Self::in_form(session, read)));
        let list = self.list(session, given).await?;
        let translation = list.translation.or(translation);
        let leaving = nodes.clone();
        let (places, list_tokens) = blocking("context.fold", move || {
            let list = if is_given { parse(list.messages) } else { opened::with_parts(&parse(list.messages), &parts) };
            let found = opened::find(&list, &parts).into_iter();
            let places: Vec<Range<usize>> =
                found.filter(|(part, _)| leaving.contains(&part.id)).map(|(_, range)| range).collect();
            let stays = |at: usize| !places.iter().any(|range| range.contains(&at));
            let left = list.iter().enumerate().filter(|(at, _)| stays(*at)).map(|(_, message)| message);
            let list_tokens = tokens::Measure::of_all(left).tokens();
            let of_items = |range: Range<usize>| match &translation {
                Some(translation) => translation.item_of(range.start)..translation.item_of(range.end),
                None => range,
            };
            Ok((places.into_iter().map(of_items).collect(), list_tokens))
        })
        .await?;
        self.archive.remove_opened(session.id.clone(), nodes.clone()).await?;
        self.forget(&session.id);
        Ok(Folded { nodes, places, list_tokens, open })
    }

    /// Returns a session's list if parts are open in it. Removes the parts from the given list.
    pub(super) async fn open_list(
        &self,
        session: &Session,
        given: &mut Option<Vec<String>>,
    ) -> Outcome<Option<Arc<OpenList>>> {
        let parts = self.open_parts(session).await?;
        if parts.is_empty() {
            return Ok(None);
        }
        let Some(texts) = given.take() else { return Ok(Some(Arc::new(OpenList::of_transcript(parts)))) };
        let open = blocking("context.compress", move || Ok(OpenList::of_list(parts, parse(texts)))).await?;
        *given = open.without_parts();
        Ok(Some(Arc::new(open)))
    }

    /// Returns the parts that are open in a session's list.
    async fn open_parts(&self, session: &Session) -> Outcome<Vec<OpenedPart>> {
        let opened = self.archive.opened(session.id.clone(), session.generation()).await?;
        if opened.is_empty() {
            Ok(Vec::new())
        } else {
            blocking("context.open", move || Ok(opened.into_iter().map(part).collect())).await
        }
    }

    /// Returns the number of tokens from which a session's list is to be compressed, if its window is known.
    fn threshold(&self, session: &Session) -> Option<u64> {
        let settings = session.settings().in_force(&self.defaults).ok()?;
        Some(settings.budgets().threshold_tokens)
    }
}

impl Opened {
    /// Converts the part to the form of the list.
    fn translated(self, translation: Option<&Translation>) -> Self {
        let Some(translation) = translation else { return self };
        Self { at: translation.item_of(self.at), messages: translation.write(&self.messages), ..self }
    }
}

fn taken_apart(given: Option<Read>) -> (Option<Vec<String>>, Option<Arc<Translation>>) {
    given.map_or((None, None), |Read { messages, translation }| (Some(messages), translation))
}

/// A part to be put into a list.
struct NewPart<'a> {
    session: &'a str,
    kept: KeptNode,
    messages: Vec<Message>,
    gaps: Vec<usize>,
    threshold: Option<u64>,
}

impl NewPart<'_> {
    /// Finds the position of the part in a list.
    fn place(self, list: Vec<Message>, parts: Vec<OpenedPart>) -> Outcome<(Opened, OpenedRow)> {
        let Self { session, kept, messages, gaps, threshold } = self;
        let (row, id) = (&kept.row, kept.row.id.clone());
        if messages.is_empty() {
            return Err(Error::NotFound(format!("the messages of {id:?} are not kept any more")));
        }
        let found = opened::find(&list, &parts);
        let there = found.iter().find(|(part, _)| part.id == id);
        if let Some((_, range)) = there {
            return Err(Error::Conflict(format!(
                "{id:?} is open in this list already, from message {} on",
                range.start
            )));
        }
        let others: Vec<OpenedPart> = found.into_iter().map(|(part, _)| part.clone()).collect();
        let has_same = |part: &&OpenedPart| part.numbers.start < row.next && row.first < part.numbers.end;
        if let Some(other) = others.iter().find(has_same) {
            let words = format!("messages of {id:?} are open already, as those of {:?}; fold that first", other.id);
            return Err(Error::Conflict(words));
        }
        let at = opened::place(&list, row.first, &others).ok_or_else(|| {
            Error::param("messages", "the list has no handoff in it, so no node replaces any of its messages")
        })?;
        let before = at.checked_sub(1).and_then(|before| list.get(before));
        let marks = Marks::between(before, &messages, list.get(at));
        let role = |role: &Option<Role>| role.as_ref().map(|role| role.as_str().to_owned());
        let noted = OpenedRow { node: id.clone(), before: role(&marks.before), behind: role(&marks.behind) };
        let part = OpenedPart { id: id.clone(), numbers: row.first..row.next, messages, gaps, marks };
        let messages = part.block();
        let tokens = tokens::estimate_messages(&messages);
        let list_tokens = tokens::Measure::of_all(&list).tokens().saturating_add(tokens);
        if let Some(threshold) = threshold.filter(|threshold| list_tokens >= *threshold) {
            return Err(Error::TooLarge(format!(
                "the messages of {id:?} take {tokens} tokens, and session {session:?} would be at {list_tokens} with them, but \
                 its compression is due from {threshold} on; fold what is open, open a part of it (recall.expand names those \
                 of a node) or read it page by page with recall.expand"
            )));
        }
        let mut open: Vec<(u64, String)> = others.iter().map(|part| (part.numbers.start, part.id.clone())).collect();
        open.push((row.first, id));
        open.sort();
        let open = open.into_iter().map(|(_, id)| id).collect();
        Ok((Opened { at, messages, tokens, list_tokens, threshold, open }, noted))
    }
}

/// Converts an open node into a part of a list.
fn part(opened: OpenedNode) -> OpenedPart {
    let OpenedNode { row, first, next, messages, gaps } = opened;
    let role = |role: Option<String>| match role.as_deref() {
        Some("user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        _ => None,
    };
    let marks = Marks { before: role(row.before), behind: role(row.behind) };
    OpenedPart { id: row.node, numbers: first..next, messages: parse(messages), gaps, marks }
}

fn no_node(session: &Session, node: &str) -> Error {
    let (id, shown): (_, String) = (&session.id, node.chars().take(64).collect());
    Error::NotFound(format!(
        "session {id:?} has no node {shown:?} that counts; recall.describe has its map, and only the engine \"lossless\" makes one"
    ))
}

fn not_open(session: &Session, node: Option<&str>, open: &[String]) -> Error {
    let id = &session.id;
    Error::NotFound(match node {
        None => format!("nothing is open in the list of session {id:?}"),
        Some(node) => {
            let (shown, open): (String, _) = (node.chars().take(64).collect(), open.join(", "));
            format!("{shown:?} is not open in the list of session {id:?}; open are: {open}")
        }
    })
}
