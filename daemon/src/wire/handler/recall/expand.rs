//! `recall.expand`: the text around a hit, byte for byte.

use std::sync::Arc;

use herma_archive::browse::ArchivedMessage;
use herma_archive::handle::Handle;
use herma_archive::text_of;
use herma_protocol::Json;
use herma_protocol::recall::{ExpandParams, ExpandResult, Item};
use herma_spill::outputs::View;
use herma_spill::page::{Next, Page, Part};

use crate::data::error::{Error, Outcome};
use crate::wire::caller::Caller;
use crate::wire::handler::{blocking, check_name, narrow, output, wide};
use crate::wire::state::State;

/// Messages or lines on each side when the caller doesn't say.
const DEFAULT_AROUND: u64 = 2;

/// Messages or lines on each side that one call may ask for.
const AROUND: u64 = 100;

/// Messages of a compression when the caller doesn't say.
const DEFAULT_MESSAGES: u64 = 50;

/// Bytes of messages in one answer; the first one always goes.
const BYTES: usize = 2 << 20;

/// What a handle leads to.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    Message(u64),
    Memory(u64),
    Output {
        handle: &'a str,
        line: Option<u64>,
    },
    /// Where an answer about an output ended.
    Rest {
        handle: &'a str,
        line: u64,
    },
    Compression {
        handle: &'a str,
        from: u64,
    },
}

impl<'a> Place<'a> {
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
            (("msg", id), None) => id.parse().ok().map(Self::Message),
            (("mem", id), None) => id.parse().ok().map(Self::Memory),
            (("out", _), line) => Some(Self::Output { handle: name, line: line.map(|line| line.max(1)) }),
            (("cmp", _), from) => Some(Self::Compression { handle: name, from: from.unwrap_or(0) }),
            _ => None,
        }
    }
}

pub(in crate::wire::handler) async fn expand(
    state: &Arc<State>,
    caller: &Caller,
    params: ExpandParams,
) -> Outcome<ExpandResult> {
    check_name("handle", &params.handle)?;
    if params.before.max(params.after).is_some_and(|count| count > AROUND) {
        return Err(Error::param("before", format!("at most {AROUND} on each side are allowed")));
    }
    output::check_profile(state, caller, &params.handle)?;
    let before = params.before.unwrap_or(DEFAULT_AROUND);
    let after = params.after.unwrap_or(DEFAULT_AROUND);
    let found = match Place::parse(&params.handle) {
        Some(Place::Message(id)) => message(state, id, before, after).await?,
        Some(Place::Memory(id)) => memory(state, id).await?,
        Some(Place::Output { handle, line }) => lines(state, handle.to_owned(), line, before, after).await?,
        Some(Place::Rest { handle, line }) => lines(state, handle.to_owned(), Some(line), 0, before + after).await?,
        Some(Place::Compression { handle, from }) => {
            let limit = params.after.map_or(DEFAULT_MESSAGES, |after| after.saturating_add(1));
            compression(state, handle.to_owned(), from, limit).await?
        }
        None => Found::default(),
    };
    if let (Some(own), Some(named)) = (&found.profile, &caller.profile)
        && own != named
    {
        let words = format!("{:?} belongs to the profile {own:?}, not {named:?}", params.handle);
        return Err(Error::Conflict(words));
    }
    if found.items.is_empty() {
        let words = format!("there is nothing archived by the handle {:?}", params.handle);
        return Err(Error::NotFound(words));
    }
    for item in &found.items {
        state.outputs.gave(&item.text);
    }
    Ok(ExpandResult { items: found.items, next: found.next, recalled: true })
}

/// What a handle led to.
#[derive(Debug, Default)]
struct Found {
    items: Vec<Item>,
    next: Option<String>,
    profile: Option<String>,
}

async fn message(state: &State, id: u64, before: u64, after: u64) -> Outcome<Found> {
    let mut around = state.archive.read(move |reader| reader.around(id, narrow(before), narrow(after))).await?;
    // What is furthest away goes first where all of it would be too long.
    let of = |around: &[ArchivedMessage]| around.iter().map(|message| message.body.len()).sum::<usize>();
    while around.len() > 1 && of(&around) > BYTES {
        let at = around.iter().position(|message| message.id == id).unwrap_or(0);
        if at >= around.len() - 1 - at { drop(around.remove(0)) } else { drop(around.pop()) }
    }
    Ok(messages(around))
}

async fn compression(state: &State, handle: String, from: u64, limit: u64) -> Outcome<Found> {
    let name = handle.clone();
    // One more than is wanted tells whether there are more.
    let count = narrow(limit);
    let mut page =
        state.archive.read(move |reader| reader.removed_page(&name, narrow(from), count.saturating_add(1))).await?;
    let mut bytes = 0_usize;
    let fitting = page.iter().take_while(|message| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(message.body.len());
        is_first || bytes <= BYTES
    });
    let taken = fitting.count().min(count);
    let has_more = page.len() > taken;
    page.truncate(taken);
    let next = has_more.then(|| format!("{handle}:{}", from.saturating_add(wide(taken))));
    Ok(Found { next, ..messages(page) })
}

fn messages(archived: Vec<ArchivedMessage>) -> Found {
    let profile = archived.first().map(|message| message.profile.clone());
    let items = archived.into_iter().map(|message| Item {
        handle: Handle::Message(message.id).to_string(),
        text: text_of(&message.body),
        role: message.role,
        message: Json::parse(message.body).ok(),
    });
    Found { items: items.collect(), next: None, profile }
}

async fn memory(state: &State, id: u64) -> Outcome<Found> {
    let found = state.archive.read(move |reader| reader.memory_text(id)).await?;
    Ok(match found {
        None => Found::default(),
        Some(kept) => Found {
            items: vec![Item {
                handle: format!("mem_{id}"),
                role: None,
                text: super::shown(&state.config.guard.severity, &kept.text),
                message: None,
            }],
            next: None,
            profile: Some(kept.profile),
        },
    })
}

async fn lines(state: &Arc<State>, handle: String, line: Option<u64>, before: u64, after: u64) -> Outcome<Found> {
    let state = Arc::clone(state);
    blocking("recall.expand", move || {
        let first = line.map_or(1, |line| line.saturating_sub(before).max(1));
        let wanted = line.unwrap_or(1).saturating_sub(first).saturating_add(after).saturating_add(1);
        let part = Part::Lines { line: narrow(first), lines: narrow(wanted) };
        let Page { text, next, .. } = state.outputs.page(&handle, part, View::Raw).map_err(Error::from)?;
        let next = match next {
            Some(Next::Line(next)) => Some(format!("{handle}:{next}+")),
            // A line that is longer than a page goes on in output.read.
            Some(Next::Offset(_)) | None => None,
        };
        let item = Item { handle: format!("{handle}:{first}"), role: None, text, message: None };
        Ok(Found { items: vec![item], next, profile: None })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_lead_to_their_kind() {
        for (handle, place) in [
            ("msg_12", Some(Place::Message(12))),
            ("mem_3", Some(Place::Memory(3))),
            ("out_ab", Some(Place::Output { handle: "out_ab", line: None })),
            ("out_ab:120", Some(Place::Output { handle: "out_ab", line: Some(120) })),
            ("out_ab:0", Some(Place::Output { handle: "out_ab", line: Some(1) })),
            ("out_ab:7+", Some(Place::Rest { handle: "out_ab", line: 7 })),
            ("msg_1:7+", None),
            ("cmp_x_2", Some(Place::Compression { handle: "cmp_x_2", from: 0 })),
            ("cmp_x_2:50", Some(Place::Compression { handle: "cmp_x_2", from: 50 })),
            ("msg_x", None),
            ("msg_1:2", None),
            ("out_ab:x", None),
            ("", None),
            ("../etc", None),
        ] {
            assert_eq!(Place::parse(handle), place, "{handle}");
        }
    }
}
