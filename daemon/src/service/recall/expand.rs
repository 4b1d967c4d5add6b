//! Returns the text behind a handle, page by page.

mod page;
mod target;

use std::ops::Range;
use std::sync::Arc;

use herma_archive::browse::ArchivedMessage;
use herma_archive::handle::Handle;
use herma_archive::node::{KeptNode, NodeRow, Stands};
use herma_archive::snippet::snippet;
use herma_archive::text_of;
use herma_context::engine::SectionKind;
use herma_shared::messages::MessageKey;
use herma_spill::outputs::View;
use herma_spill::page::{Next, Page, Part};

use self::page::{Candidate, Content, PageSize, choose, start_for};
use self::target::{Start, Target};
use super::remote::{handle_of, rest_of};
use super::{RecallService, shown};
use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::data::numbers::{to_u64, to_usize};
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::spilled_outputs::found_or_fetched;

/// The default number of messages or lines on each side.
const DEFAULT_AROUND: u64 = 2;

/// The largest number of messages or lines on each side in one call.
const AROUND: u64 = 100;

/// The default number of messages after the first one of a compression or node.
const DEFAULT_AFTER_FIRST: u64 = 49;

/// The default number of tokens of one answer with messages of a node, or about something.
const DEFAULT_TOKENS: u64 = 2_000;

/// What an answer should contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// The number of messages or lines before the hit.
    pub before: Option<u64>,
    /// The number after it.
    pub after: Option<u64>,
    /// The largest number of tokens of messages in one answer.
    pub tokens: Option<u64>,
    /// The words that the answer should be about.
    pub about: Option<String>,
    /// Whether messages come as texts only.
    pub is_text: bool,
}

impl Wanted {
    /// Returns the size of an answer, without a limit of its tokens if none was given.
    fn size(&self, default_after: u64) -> PageSize {
        PageSize {
            after: self.after.unwrap_or(default_after),
            tokens: self.tokens.unwrap_or(u64::MAX),
            has_parts: self.tokens.is_some(),
            is_whole: !self.is_text,
        }
    }

    /// Returns the size of an answer with messages of a node. Clients that read all of it get every message whole.
    fn of_node(&self) -> PageSize {
        PageSize { tokens: self.tokens.unwrap_or(DEFAULT_TOKENS), ..self.size(DEFAULT_AFTER_FIRST) }
    }

    /// Returns the size of an answer about something.
    fn about(&self) -> PageSize {
        PageSize { tokens: self.tokens.unwrap_or(DEFAULT_TOKENS), has_parts: true, ..self.size(DEFAULT_AROUND) }
    }
}

/// The content of a handle.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    /// The items, in order.
    pub items: Vec<Item>,
    /// The handle that continues.
    pub next: Option<String>,
    profile: Option<String>,
}

/// An archived text.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its handle.
    pub handle: String,
    /// For a message: its role.
    pub role: Option<String>,
    /// The text.
    pub text: String,
    /// For a part of a message: where it is.
    pub part: Option<Excerpt>,
    /// For a message: the whole message, as JSON text.
    pub message: Option<String>,
}

/// The place of a part in the text of a message, in chars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub range: Range<u64>,
    /// The length of the whole text.
    pub of: u64,
}

impl RecallService {
    /// Returns the content of a handle.
    pub(crate) async fn expand(&self, caller: &Caller, handle: &str, wanted: Wanted) -> Outcome<Expanded> {
        names::check("handle", handle)?;
        if wanted.before.max(wanted.after).is_some_and(|count| count > AROUND) {
            return Err(Error::param("before", format!("at most {AROUND} on each side are allowed")));
        }
        self.outputs.check_profile(caller.profile.as_deref(), handle)?;
        let found = match (Target::parse(handle), &wanted.about) {
            (Some(target @ (Target::Message(_) | Target::Node { .. })), Some(words)) => {
                self.about(caller, target, words, &wanted).await?
            }
            (Some(_), Some(_)) => return Err(Error::param("about", "counts for messages and for nodes of a map")),
            (Some(target), None) => self.target(caller, target, &wanted).await?,
            (None, _) => Expanded::default(),
        };
        if let (Some(own), Some(named)) = (&found.profile, &caller.profile)
            && own != named
        {
            return Err(Error::Conflict(format!("{handle:?} belongs to the profile {own:?}, not {named:?}")));
        }
        if found.items.is_empty() {
            if let Some(generation) = self.archive.undone_by(handle).await? {
                let words = "was undone: its messages are in the session's list again";
                return Err(Error::NotFound(format!("{handle:?} {words}, by generation {generation}")));
            }
            return Err(Error::NotFound(format!("there is nothing archived by the handle {handle:?}")));
        }
        for item in &found.items {
            self.outputs.kept.gave(&item.text);
        }
        Ok(found)
    }

    async fn target(&self, caller: &Caller, target: Target<'_>, wanted: &Wanted) -> Outcome<Expanded> {
        let before = wanted.before.unwrap_or(DEFAULT_AROUND);
        let around = wanted.size(DEFAULT_AROUND);
        let rest = PageSize { after: before + around.after, ..around };
        let profile = caller.profile.as_deref();
        match target {
            Target::Message(message) => self.message(Start { message, chars: 0 }, before, around, None).await,
            Target::RestOfSession(from) => self.message(from, 0, rest, None).await,
            Target::Remote(key) => self.around_remote(key, 0, before, profile, around).await,
            Target::RemoteRest(key, chars) => self.around_remote(key, chars, 0, profile, rest).await,
            Target::Memory(id) => self.memory(id).await,
            Target::Output { handle, line } => self.output(caller, handle, line, (before, around.after)).await,
            Target::Rest { handle, line } => self.output(caller, handle, Some(line), (0, rest.after)).await,
            Target::Compression { handle, from } => {
                self.compression(handle.to_owned(), from, wanted.size(DEFAULT_AFTER_FIRST)).await
            }
            Target::Node { handle, from } => self.node(handle, from, wanted.of_node()).await,
        }
    }

    /// Returns the message of a node that fits the words best, or the part of one message that does.
    async fn about(&self, caller: &Caller, target: Target<'_>, words: &str, wanted: &Wanted) -> Outcome<Expanded> {
        let message = match target {
            Target::Message(id) => Some(id),
            Target::Node { handle, .. } => self.best_in_node(caller, handle, words).await?,
            _ => None,
        };
        match (message, target) {
            (Some(message), _) => {
                let before = wanted.before.unwrap_or(DEFAULT_AROUND);
                self.message(Start { message, chars: 0 }, before, wanted.about(), Some(words)).await
            }
            // Nothing in it fits, so it is opened from its beginning.
            (None, Target::Node { handle, .. }) => self.node(handle, Start::default(), wanted.of_node()).await,
            (None, _) => Ok(Expanded::default()),
        }
    }

    /// Returns the id of the message of a node that fits the words best.
    async fn best_in_node(&self, caller: &Caller, node: &str, words: &str) -> Outcome<Option<u64>> {
        let places = self.places_in_node(caller, node, words).await?;
        let ids = places.iter().filter_map(|place| match Target::parse(&place.handle) {
            Some(Target::Message(id)) => Some(id),
            _ => None,
        });
        Ok(ids.into_iter().next())
    }

    /// Returns a message with those around it. `about` decides which part of a long one comes.
    async fn message(&self, from: Start, before: u64, size: PageSize, about: Option<&str>) -> Outcome<Expanded> {
        // One message more than wanted shows whether there are more.
        let around =
            self.archive.around(from.message, to_usize(before), to_usize(size.after).saturating_add(1)).await?;
        let named = around.iter().position(|message| message.id == from.message).unwrap_or(0);
        let profile = around.first().map(|message| message.profile.clone());
        let ids: Vec<u64> = around.iter().map(|message| message.id).collect();
        let all: Vec<Archived> = around.into_iter().map(Archived::local).collect();
        let start = about.zip(all.get(named)).map_or(from.chars, |(words, message)| {
            start_for(&message.text, to_u64(snippet(&message.text, words, &[]).before), size.tokens)
        });
        let (items, rest) = answer(all, named, start, size);
        let next = match rest {
            Rest::InNamed(chars) => Some(format!("{}.{chars}+", Handle::Message(from.message))),
            Rest::From(at) => ids.get(at).map(|id| format!("{}+", Handle::Message(*id))),
        };
        Ok(Expanded { items, next, profile })
    }

    /// Returns a message of another host, with the messages around it there.
    async fn around_remote(
        &self,
        key: MessageKey,
        from: u64,
        before: u64,
        profile: Option<&str>,
        size: PageSize,
    ) -> Outcome<Expanded> {
        if !self.sharing.is_configured() {
            let words =
                format!("{:?} names a message of the host {:?}, and nothing is shared here", handle_of(&key), key.host);
            return Err(Error::NotFound(words));
        }
        let (found, behind) = self.sharing.around(&key, profile, (to_usize(before), to_usize(size.after))).await?;
        let named = found.iter().position(|message| message.key == key).unwrap_or(0);
        let keys: Vec<MessageKey> = found.iter().map(|message| message.key.clone()).chain(behind).collect();
        let all = found.into_iter().map(|message| Archived {
            handle: handle_of(&message.key),
            role: Some(message.role).filter(|role| !role.is_empty()),
            text: text_of(&message.body),
            body: message.body,
        });
        let (items, rest) = answer(all.collect(), named, from, size);
        let next = match rest {
            Rest::InNamed(chars) => Some(rest_of(&key, chars)),
            Rest::From(at) => keys.get(at).map(|key| rest_of(key, 0)),
        };
        Ok(Expanded { items, next, profile: None })
    }

    async fn compression(&self, handle: String, from: Start, size: PageSize) -> Outcome<Expanded> {
        // One message more than wanted shows whether there are more.
        let count = to_usize(size.after).saturating_add(2);
        let page = self.archive.removed_page(handle.clone(), to_usize(from.message), count).await?;
        Ok(paged(&handle, from, page, size))
    }

    /// Returns the messages of a leaf, or the children of any other node.
    async fn node(&self, id: &str, from: Start, size: PageSize) -> Outcome<Expanded> {
        let Some(KeptNode { row, profile, made_by, undone, .. }) = self.archive.node(id.to_owned()).await? else {
            return Ok(Expanded::default());
        };
        if let Some(generation) = undone {
            let words = "does not count any more: what it stood for is in the session's list again";
            return Err(Error::NotFound(format!("{id:?} {words}, by generation {generation}")));
        }
        let profile = Some(profile);
        let children = match row.of {
            Stands::Messages(positions) => return self.leaf(id, (made_by, positions), from, size, profile).await,
            Stands::Handle(handle) => return self.leaf(id, (handle, 0..u64::MAX), from, size, profile).await,
            Stands::Nodes(children) => children,
        };
        let mut items = Vec::with_capacity(children.len());
        for child in children.into_iter().skip(to_usize(from.message)) {
            let Some(child) = self.archive.node(child).await? else { continue };
            items.push(Item::of_text(child.row.id.clone(), told(&child.row)));
        }
        Ok(Expanded { items, next: None, profile })
    }

    /// Returns the messages that a leaf covers.
    async fn leaf(
        &self,
        id: &str,
        (handle, positions): (String, Range<u64>),
        from: Start,
        size: PageSize,
        profile: Option<String>,
    ) -> Outcome<Expanded> {
        let count = to_usize(size.after).saturating_add(2);
        let page = self.archive.gone_range(handle, positions, to_usize(from.message), count).await?;
        Ok(Expanded { profile, ..paged(id, from, page, size) })
    }

    async fn memory(&self, id: u64) -> Outcome<Expanded> {
        let Some(kept) = self.archive.memory_text(id).await? else { return Ok(Expanded::default()) };
        let item = Item::of_text(format!("mem_{id}"), shown(&self.policy, &kept.text));
        Ok(Expanded { items: vec![item], next: None, profile: Some(kept.profile) })
    }

    /// Returns lines of an output, from another host if this one never had it.
    async fn output(
        &self,
        caller: &Caller,
        handle: &str,
        line: Option<u64>,
        (before, after): (u64, u64),
    ) -> Outcome<Expanded> {
        let fetched = self.outputs.fetch_missing(handle, caller.profile.as_deref()).await;
        found_or_fetched(self.lines(handle.to_owned(), line, before, after).await, fetched)
    }

    async fn lines(&self, handle: String, line: Option<u64>, before: u64, after: u64) -> Outcome<Expanded> {
        let outputs = Arc::clone(&self.outputs.kept);
        blocking("recall.expand", move || {
            let first = line.map_or(1, |line| line.saturating_sub(before).max(1));
            let wanted = line.unwrap_or(1).saturating_sub(first).saturating_add(after).saturating_add(1);
            let part = Part::Lines { line: to_usize(first), lines: to_usize(wanted) };
            let Page { text, next, .. } = outputs.page(&handle, part, View::Raw)?;
            let next = match next {
                Some(Next::Line(next)) => Some(format!("{handle}:{next}+")),
                // The rest of a line that is longer than a page is available through output.read.
                Some(Next::Offset(_)) | None => None,
            };
            let item = Item::of_text(format!("{handle}:{first}"), text);
            Ok(Expanded { items: vec![item], next, profile: None })
        })
        .await
    }
}

/// A message of this host or another one.
struct Archived {
    handle: String,
    role: Option<String>,
    body: String,
    text: String,
}

/// Where an answer goes on.
enum Rest {
    /// Within the named message, after this number of chars.
    InNamed(u64),
    /// With the message of this index, if there is one.
    From(usize),
}

impl Archived {
    fn local(message: ArchivedMessage) -> Self {
        Self {
            handle: Handle::Message(message.id).to_string(),
            text: text_of(&message.body),
            role: message.role,
            body: message.body,
        }
    }

    /// Returns the whole message as an item.
    fn whole(self, size: PageSize) -> Item {
        let Self { handle, role, body, text } = self;
        Item { handle, role, text, part: None, message: size.is_whole.then_some(body) }
    }

    fn part(self, range: Range<u64>) -> Item {
        let Self { handle, role, text, .. } = self;
        let of = to_u64(text.chars().count());
        let text = text.chars().skip(to_usize(range.start)).take(to_usize(range.end - range.start)).collect();
        Item { handle, role, text, part: Some(Excerpt { range, of }), message: None }
    }
}

impl Item {
    fn of_text(handle: String, text: String) -> Self {
        Self { handle, role: None, text, part: None, message: None }
    }
}

/// Returns the items of one answer: the named message from this char on, and those around it that fit.
fn answer(all: Vec<Archived>, named: usize, from: u64, size: PageSize) -> (Vec<Item>, Rest) {
    let candidates: Vec<Candidate<'_>> =
        all.iter().map(|message| Candidate { body: &message.body, text: &message.text }).collect();
    let Content { messages, part, goes_on } = choose(&candidates, named, from, size);
    let rest = match (&part, goes_on) {
        (Some(part), true) => Rest::InNamed(part.end),
        _ => Rest::From(messages.end),
    };
    let chosen = all.into_iter().enumerate().take(messages.end).skip(messages.start);
    let items = chosen.map(|(at, message)| match &part {
        Some(part) if at == named => message.part(part.clone()),
        _ => message.whole(size),
    });
    (items.collect(), rest)
}

/// Returns as many messages of a page as are wanted. The page has one more if there are more.
fn paged(handle: &str, from: Start, page: Vec<ArchivedMessage>, size: PageSize) -> Expanded {
    let profile = page.first().map(|message| message.profile.clone());
    let count = page.len();
    let (items, rest) = answer(page.into_iter().map(Archived::local).collect(), 0, from.chars, size);
    let next = match rest {
        Rest::InNamed(chars) => Some(format!("{handle}:{}.{chars}", from.message)),
        Rest::From(at) => (at < count).then(|| format!("{handle}:{}", from.message.saturating_add(to_u64(at)))),
    };
    Expanded { items, next, profile }
}

/// Returns the whole text of a node.
fn told(node: &NodeRow) -> String {
    let parts = [
        ("", node.text.as_str()),
        (SectionKind::State.heading(), &node.state),
        (SectionKind::Anchors.heading(), &node.references),
    ];
    let parts = parts.iter().filter(|(_, text)| !text.is_empty());
    let parts = parts.map(|(heading, text)| format!("{heading}\n{text}").trim_start().to_owned());
    let range = format!("messages {} to {}", node.first.saturating_add(1), node.next);
    std::iter::once(range).chain(parts).collect::<Vec<_>>().join("\n\n")
}
