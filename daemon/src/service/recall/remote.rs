//! Messages of other hosts that share.

use std::collections::HashMap;
use std::sync::Arc;

use herma_archive::handle::Source;
use herma_archive::search::Hit;
use herma_archive::{searched, text_of};
use herma_shared::messages::{Message, MessageKey, RemoteMatches};
use tokio::task::JoinSet;

use super::{NearbyMessage, RecallService};
use crate::data::error::Error;
use crate::owners::archive::RecallQuery;

/// A message of another host that was found.
#[derive(Debug)]
pub(super) struct RemoteHit {
    /// Its name.
    pub key: MessageKey,
    /// The messages right before it.
    pub before: Vec<NearbyMessage>,
    /// The messages right after it.
    pub after: Vec<NearbyMessage>,
}

impl RecallService {
    /// Searches other hosts. If they can't be reached, adds a notice, and only this host is searched.
    pub(super) async fn remote(&self, query: &RecallQuery, notices: &mut Vec<String>) -> RemoteMatches {
        if !self.sharing.is_configured() {
            notices.push("nothing is shared here, so only what this host has was searched".to_owned());
            return RemoteMatches::default();
        }
        let found = match self.archive.shipped().await {
            Ok(here) => match self.archive.received().await {
                Ok(received) => self.sharing.find(here.identity, &received, query).await,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        found.unwrap_or_else(|error| {
            notices.push(format!("other hosts could not be asked, so only what this one has was searched: {error}"));
            RemoteMatches::default()
        })
    }

    /// Adds the texts to hits of other hosts. Returns their names, by their places. A message that was removed
    /// meanwhile has none.
    pub(super) async fn tell(
        &self,
        hits: &mut [Hit],
        keys: &[MessageKey],
        profile: Option<&str>,
        notices: &mut Vec<String>,
    ) -> HashMap<usize, RemoteHit> {
        let wanted: Vec<MessageKey> = hits.iter().filter_map(place_of).filter_map(|at| keys.get(at)).cloned().collect();
        if wanted.is_empty() {
            return HashMap::new();
        }
        let told = self.sharing.messages(&wanted, profile).await.unwrap_or_else(|error| {
            notices.push(format!("what other hosts have could not be read: {error}"));
            Vec::new()
        });
        let mut told: HashMap<MessageKey, Message> =
            told.into_iter().map(|message| (message.key.clone(), message)).collect();
        let mut names = HashMap::new();
        for hit in hits {
            let Some(at) = place_of(hit) else { continue };
            let Some(message) = keys.get(at).and_then(|key| told.remove(key)) else { continue };
            names.insert(at, RemoteHit { key: message.key, before: Vec::new(), after: Vec::new() });
            hit.text = Some(text_of(&message.body));
            hit.session = Some(message.session);
            hit.profile = message.profile;
            hit.agent = message.agent;
            hit.role = Some(message.role).filter(|role| !role.is_empty());
            hit.time = message.at;
        }
        names
    }

    /// Adds the messages around messages of other hosts. A place of which they can't be read has none.
    pub(super) async fn add_surroundings(
        &self,
        hits: &mut HashMap<usize, RemoteHit>,
        profile: Option<&str>,
        around: usize,
        notices: &mut Vec<String>,
    ) {
        if around == 0 {
            return;
        }
        let mut reads = JoinSet::new();
        for (at, hit) in hits.iter() {
            let (at, key, profile, sharing) =
                (*at, hit.key.clone(), profile.map(str::to_owned), Arc::clone(&self.sharing));
            reads.spawn(async move { (at, sharing.around(&key, profile.as_deref(), (around, around)).await) });
        }
        let mut failed = None;
        while let Some(read) = reads.join_next().await {
            match read {
                Ok((at, Ok((messages, _)))) => {
                    if let Some(hit) = hits.get_mut(&at) {
                        hit.surround(messages);
                    }
                }
                Ok((_, Err(error))) => failed = Some(error),
                Err(_) => failed = Some(Error::internal("recall.search")),
            }
        }
        if let Some(error) = failed {
            notices.push(format!("some messages around those of other hosts could not be read: {error}"));
        }
    }
}

impl RemoteHit {
    /// Takes the messages of its place, oldest first, among which it is itself.
    fn surround(&mut self, messages: Vec<Message>) {
        let own = messages.iter().position(|message| message.key == self.key);
        for (at, message) in messages.into_iter().enumerate() {
            let text = searched(&message.body);
            if Some(at) == own || text.is_empty() {
                continue;
            }
            let role = Some(message.role).filter(|role| !role.is_empty());
            let side = if own.is_some_and(|own| at < own) { &mut self.before } else { &mut self.after };
            side.push(NearbyMessage { handle: handle_of(&message.key), role, text });
        }
    }
}

fn place_of(hit: &Hit) -> Option<usize> {
    match hit.source {
        Source::Remote { at } => Some(at),
        Source::Message { .. } | Source::Output { .. } | Source::Memory { .. } => None,
    }
}

/// Returns the global name of a message: `msg_<archive>-<number>@<host>`, with the archive as eight hexadecimal digits.
pub(super) fn handle_of(key: &MessageKey) -> String {
    format!("msg_{:08x}-{}@{}", key.archive, key.number, key.host)
}

/// Returns the handle that continues with this message of another host, after this number of its chars.
pub(super) fn rest_of(key: &MessageKey, chars: u64) -> String {
    let from = if chars == 0 { String::new() } else { format!(".{chars}") };
    format!("msg_{:08x}-{}{from}+@{}", key.archive, key.number, key.host)
}

/// Reads such a name, without the `msg_`.
pub(super) fn key_of(name: &str) -> Option<MessageKey> {
    let (message, host) = name.split_once('@')?;
    let (archive, number) = message.split_once('-')?;
    let key = MessageKey {
        host: host.to_owned(),
        archive: u32::from_str_radix(archive, 16).ok()?,
        number: number.parse().ok()?,
    };
    (handle_of(&key).strip_prefix("msg_") == Some(name)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_were_given_are_read() {
        let key = MessageKey { host: "attic.example-1".into(), archive: 0x0f2c, number: 4711 };
        assert_eq!(handle_of(&key), "msg_00000f2c-4711@attic.example-1");
        assert_eq!(key_of("00000f2c-4711@attic.example-1"), Some(key));
        for name in
            ["12", "f2c-4711@a", "00000F2C-1@a", "00000f2c-01@a", "00000f2c-1", "100000f2c-1@a", "00000f2c--1@a"]
        {
            assert_eq!(key_of(name), None, "{name}");
        }
    }
}
