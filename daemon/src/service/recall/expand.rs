//! Returns the text around a hit, byte for byte.

use std::ops::Range;
use std::sync::Arc;

use herma_archive::browse::ArchivedMessage;
use herma_archive::handle::Handle;
use herma_archive::node::{KeptNode, NodeRow, Stands};
use herma_archive::text_of;
use herma_context::engine::SectionKind;
use herma_context::tokens::estimate_text;
use herma_shared::messages::MessageKey;
use herma_spill::outputs::View;
use herma_spill::page::{Next, Page, Part};

use super::remote::{handle_of, key_of, rest_of};
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

/// The default number of messages of a compression.
const DEFAULT_MESSAGES: u64 = 50;

/// The largest size of messages in one answer, in bytes. The first message is always included.
const BYTES: usize = 2 << 20;

/// How many messages or lines around a hit are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Around {
    /// The number before it.
    pub before: Option<u64>,
    /// The number after it.
    pub after: Option<u64>,
    /// The largest number of tokens of messages in one answer. The first message is always included.
    pub tokens: Option<u64>,
}

/// The size of one answer with consecutive messages.
#[derive(Debug, Clone, Copy)]
struct PageSize {
    messages: u64,
    tokens: u64,
}

impl Around {
    fn page(self) -> PageSize {
        PageSize {
            messages: self.after.map_or(DEFAULT_MESSAGES, |after| after.saturating_add(1)),
            tokens: self.tokens.unwrap_or(u64::MAX),
        }
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
    /// For a message: the whole message, as JSON text.
    pub message: Option<String>,
}

/// The meaning of a handle.
#[derive(Debug, PartialEq, Eq)]
enum Target<'a> {
    Message(u64),
    /// Continues after an answer with messages.
    RestOfSession(u64),
    Memory(u64),
    /// A message of another host.
    Remote(MessageKey),
    /// Continues after an answer with messages of another host.
    RemoteRest(MessageKey),
    Output {
        handle: &'a str,
        line: Option<u64>,
    },
    /// Continues after an answer with a part of an output.
    Rest {
        handle: &'a str,
        line: u64,
    },
    Compression {
        handle: &'a str,
        from: u64,
    },
    Node {
        handle: &'a str,
        from: u64,
    },
}

impl<'a> Target<'a> {
    fn parse(handle: &'a str) -> Option<Self> {
        let (name, part) = match handle.split_once(':') {
            Some((name, part)) => match (name.split_once('_'), part.strip_suffix('+')) {
                (Some(("out", _)), Some(line)) => {
                    return Some(Self::Rest { handle: name, line: line.parse::<u64>().ok()?.max(1) });
                }
                _ => (name, Some(part.parse::<u64>().ok()?)),
            },
            None => (handle, None),
        };
        match (name.split_once('_')?, part) {
            (("msg", id), None) => match id.split_once('@') {
                Some((message, host)) => match message.strip_suffix('+') {
                    Some(message) => key_of(&format!("{message}@{host}")).map(Self::RemoteRest),
                    None => key_of(id).map(Self::Remote),
                },
                None => match id.strip_suffix('+') {
                    Some(id) => id.parse().ok().map(Self::RestOfSession),
                    None => id.parse().ok().map(Self::Message),
                },
            },
            (("mem", id), None) => id.parse().ok().map(Self::Memory),
            (("out", _), line) => Some(Self::Output { handle: name, line: line.map(|line| line.max(1)) }),
            (("cmp", _), from) => Some(Self::Compression { handle: name, from: from.unwrap_or(0) }),
            (("nod", _), from) => Some(Self::Node { handle: name, from: from.unwrap_or(0) }),
            _ => None,
        }
    }
}

impl RecallService {
    /// Returns the content of a handle.
    pub(crate) async fn expand(&self, caller: &Caller, handle: &str, around: Around) -> Outcome<Expanded> {
        names::check("handle", handle)?;
        if around.before.max(around.after).is_some_and(|count| count > AROUND) {
            return Err(Error::param("before", format!("at most {AROUND} on each side are allowed")));
        }
        self.outputs.check_profile(caller.profile.as_deref(), handle)?;
        let before = around.before.unwrap_or(DEFAULT_AROUND);
        let after = around.after.unwrap_or(DEFAULT_AROUND);
        let found = match Target::parse(handle) {
            Some(Target::Message(id)) => self.message(id, before, after).await?,
            Some(Target::RestOfSession(id)) => self.message(id, 0, before + after).await?,
            Some(Target::Remote(key)) => self.around_remote(&key, caller.profile.as_deref(), (before, after)).await?,
            Some(Target::RemoteRest(key)) => {
                self.around_remote(&key, caller.profile.as_deref(), (0, before + after)).await?
            }
            Some(Target::Memory(id)) => self.memory(id).await?,
            Some(Target::Output { handle, line }) => self.output(caller, handle, line, (before, after)).await?,
            Some(Target::Rest { handle, line }) => self.output(caller, handle, Some(line), (0, before + after)).await?,
            Some(Target::Compression { handle, from }) => {
                self.compression(handle.to_owned(), from, around.page()).await?
            }
            Some(Target::Node { handle, from }) => self.node(handle, from, around.page()).await?,
            None => Expanded::default(),
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

    async fn message(&self, id: u64, before: u64, after: u64) -> Outcome<Expanded> {
        // One message more than wanted shows whether there are more.
        let mut around = self.archive.around(id, to_usize(before), to_usize(after).saturating_add(1)).await?;
        let named = |around: &[ArchivedMessage]| around.iter().position(|message| message.id == id).unwrap_or(0);
        let most = named(&around).saturating_add(to_usize(after)).saturating_add(1);
        let mut behind = if around.len() > most { around.pop() } else { None };
        // If all of them would be too long, the farthest go first.
        let of = |around: &[ArchivedMessage]| around.iter().map(|message| message.body.len()).sum::<usize>();
        while around.len() > 1 && of(&around) > BYTES {
            let at = named(&around);
            if at >= around.len() - 1 - at { drop(around.remove(0)) } else { behind = around.pop() }
        }
        let next = behind.map(|message| format!("{}+", Handle::Message(message.id)));
        Ok(Expanded { next, ..messages(around) })
    }

    /// Returns a message of another host, with the messages around it there.
    async fn around_remote(
        &self,
        key: &MessageKey,
        profile: Option<&str>,
        (before, after): (u64, u64),
    ) -> Outcome<Expanded> {
        if !self.sharing.is_configured() {
            let words =
                format!("{:?} names a message of the host {:?}, and nothing is shared here", handle_of(key), key.host);
            return Err(Error::NotFound(words));
        }
        let (found, next) = self.sharing.around(key, profile, (to_usize(before), to_usize(after))).await?;
        let next = next.map(|key| rest_of(&key));
        let items = found.into_iter().map(|message| Item {
            handle: handle_of(&message.key),
            role: Some(message.role).filter(|role| !role.is_empty()),
            text: text_of(&message.body),
            message: Some(message.body),
        });
        Ok(Expanded { items: items.collect(), next, profile: None })
    }

    async fn compression(&self, handle: String, from: u64, size: PageSize) -> Outcome<Expanded> {
        // One message more than wanted shows whether there are more.
        let count = to_usize(size.messages).saturating_add(1);
        let page = self.archive.removed_page(handle.clone(), to_usize(from), count).await?;
        Ok(paged(&handle, from, page, size))
    }

    /// Returns the messages of a leaf, or the children of any other node.
    async fn node(&self, id: &str, from: u64, size: PageSize) -> Outcome<Expanded> {
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
        for child in children.into_iter().skip(to_usize(from)) {
            let Some(child) = self.archive.node(child).await? else { continue };
            items.push(Item { handle: child.row.id.clone(), role: None, text: told(&child.row), message: None });
        }
        Ok(Expanded { items, next: None, profile })
    }

    /// Returns the messages that a leaf covers.
    async fn leaf(
        &self,
        id: &str,
        (handle, positions): (String, Range<u64>),
        from: u64,
        size: PageSize,
        profile: Option<String>,
    ) -> Outcome<Expanded> {
        let count = to_usize(size.messages).saturating_add(1);
        let page = self.archive.gone_range(handle, positions, to_usize(from), count).await?;
        Ok(Expanded { profile, ..paged(id, from, page, size) })
    }

    async fn memory(&self, id: u64) -> Outcome<Expanded> {
        let Some(kept) = self.archive.memory_text(id).await? else { return Ok(Expanded::default()) };
        let text = shown(&self.policy, &kept.text);
        let item = Item { handle: format!("mem_{id}"), role: None, text, message: None };
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
            let item = Item { handle: format!("{handle}:{first}"), role: None, text, message: None };
            Ok(Expanded { items: vec![item], next, profile: None })
        })
        .await
    }
}

/// Returns as many messages of a page as are wanted. The page has one more if there are more.
fn paged(handle: &str, from: u64, mut page: Vec<ArchivedMessage>, size: PageSize) -> Expanded {
    let (mut bytes, mut tokens) = (0_usize, 0_u64);
    let fitting = page.iter().take_while(|message| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(message.body.len());
        tokens = tokens.saturating_add(estimate_text(&message.body));
        is_first || (bytes <= BYTES && tokens <= size.tokens)
    });
    let taken = fitting.count().min(to_usize(size.messages));
    let has_more = page.len() > taken;
    page.truncate(taken);
    let next = has_more.then(|| format!("{handle}:{}", from.saturating_add(to_u64(taken))));
    Expanded { next, ..messages(page) }
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

fn messages(archived: Vec<ArchivedMessage>) -> Expanded {
    let profile = archived.first().map(|message| message.profile.clone());
    let items = archived.into_iter().map(|message| Item {
        handle: Handle::Message(message.id).to_string(),
        text: text_of(&message.body),
        role: message.role,
        message: Some(message.body),
    });
    Expanded { items: items.collect(), next: None, profile }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_lead_to_their_kind() {
        for (handle, place) in [
            ("msg_12", Some(Target::Message(12))),
            ("mem_3", Some(Target::Memory(3))),
            ("out_ab", Some(Target::Output { handle: "out_ab", line: None })),
            ("out_ab:120", Some(Target::Output { handle: "out_ab", line: Some(120) })),
            ("out_ab:0", Some(Target::Output { handle: "out_ab", line: Some(1) })),
            ("out_ab:7+", Some(Target::Rest { handle: "out_ab", line: 7 })),
            ("msg_1:7+", None),
            ("cmp_x_2", Some(Target::Compression { handle: "cmp_x_2", from: 0 })),
            ("cmp_x_2:50", Some(Target::Compression { handle: "cmp_x_2", from: 50 })),
            ("nod_x_2", Some(Target::Node { handle: "nod_x_2", from: 0 })),
            ("nod_x_2:50", Some(Target::Node { handle: "nod_x_2", from: 50 })),
            ("msg_x", None),
            ("msg_x@y", None),
            ("msg_0000000a-3@b", Some(Target::Remote(MessageKey { host: "b".into(), archive: 10, number: 3 }))),
            ("msg_12+", Some(Target::RestOfSession(12))),
            ("msg_0000000a-3+@b+", Some(Target::RemoteRest(MessageKey { host: "b+".into(), archive: 10, number: 3 }))),
            ("msg_12++", None),
            ("msg_+@b", None),
            ("msg_1:2", None),
            ("out_ab:x", None),
            ("", None),
            ("../etc", None),
        ] {
            assert_eq!(Target::parse(handle), place, "{handle}");
        }
    }
}
