//! Search in the messages of other hosts.

use herma_archive::handover::ReceivedMessages;
use herma_archive::search::remote::Lookup;
use herma_shared::Database;
use herma_shared::messages::{Message, MessageKey, RemoteMatches, Within};

use super::Sharing;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::RecallQuery;

impl Sharing {
    /// Searches the messages of other hosts and of former archives of this host, except those that came here with
    /// sessions.
    pub(crate) async fn find(
        &self,
        archive: u32,
        came: &[ReceivedMessages],
        query: &RecallQuery,
    ) -> Outcome<RemoteMatches> {
        let profiles = self.seen_profiles(query.profile.as_deref());
        if profiles.is_empty() {
            return Ok(RemoteMatches::default());
        }
        let within = Within {
            archive,
            came,
            profiles: &profiles,
            session: query.session.as_deref(),
            since: query.since,
            until: query.until,
        };
        let lookup = Lookup::of(&query.words);
        // The whole search has the time limit of one call, because a client waits.
        let found = Box::pin(self.ready_database()?.find_messages(within, &lookup, query.limit));
        super::within(self.config().timeout, found).await.map_err(Error::SharedRead)
    }

    /// Returns messages by their names. Messages that are gone are left out.
    pub(crate) async fn messages(&self, keys: &[MessageKey], profile: Option<&str>) -> Outcome<Vec<Message>> {
        let profiles = self.seen_profiles(profile);
        self.ready_database()?.messages(keys, &profiles).await.map_err(Error::SharedRead)
    }

    /// Returns a message of another host with some messages before and after it in its session, oldest first, and the
    /// name of the message that continues it. Returns none if the message does not exist.
    pub(crate) async fn around(
        &self,
        key: &MessageKey,
        profile: Option<&str>,
        around: (usize, usize),
    ) -> Outcome<(Vec<Message>, Option<MessageKey>)> {
        let profiles = self.seen_profiles(profile);
        let found = self.ready_database()?.messages_around(key, &profiles, around).await;
        let (messages, next) = found.map_err(Error::SharedRead)?;
        Ok((messages, next.map(|number| MessageKey { number, ..key.clone() })))
    }

    /// Returns the profiles whose messages may be seen: those that this host shares.
    pub(super) fn seen_profiles(&self, profile: Option<&str>) -> Vec<String> {
        let mut profiles = self.joined.profiles();
        profiles.retain(|one| profile.is_none_or(|profile| profile == one));
        profiles
    }

    /// Returns the database, unless it is known to be unreachable.
    pub(super) fn ready_database(&self) -> Outcome<&Database> {
        let database = self.database()?;
        match self.link.state() {
            state if state.is_up == Some(false) => match state.error {
                Some(error) => Err(Error::SharedRead(error)),
                None => Ok(database),
            },
            _ => Ok(database),
        }
    }
}
