//! Messages of other hosts that share.

use std::collections::HashMap;

use herma_archive::handle::Source;
use herma_archive::search::Hit;
use herma_archive::text_of;
use herma_shared::messages::{Message, MessageKey, RemoteMatches};

use super::RecallService;
use crate::owners::archive::RecallQuery;

/// The name of a message of another host.
#[derive(Debug)]
pub(super) struct RemoteNames {
    /// Its handle.
    pub handle: String,
    /// The host.
    pub host: String,
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
    ) -> HashMap<usize, RemoteNames> {
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
            names.insert(at, RemoteNames { handle: handle_of(&message.key), host: message.key.host });
            hit.text = Some(text_of(&message.body));
            hit.session = Some(message.session);
            hit.profile = message.profile;
            hit.agent = message.agent;
            hit.role = Some(message.role).filter(|role| !role.is_empty());
            hit.time = message.at;
        }
        names
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

/// Returns the handle that continues with this message of another host.
pub(super) fn rest_of(key: &MessageKey) -> String {
    format!("msg_{:08x}-{}+@{}", key.archive, key.number, key.host)
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
