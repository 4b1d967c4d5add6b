//! What other hosts said, found beside what was said here.

use herma_archive::search::elsewhere::{AROUND, Document, Elsewhere, Lookup, Part, RANKED, Terms, rarity};
use herma_shared::SharedError;
use herma_shared::messages::{self, Around, Asked, Message, MessageKey, Within};

use tokio::time::timeout;

use super::Sharing;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::RecallQuery;

/// What the database has of a query, and the names of the documents in it.
#[derive(Debug, Default)]
pub(crate) struct FoundElsewhere {
    /// For the search here, which ranks all.
    pub elsewhere: Elsewhere,
    /// The name of each document.
    pub keys: Vec<MessageKey>,
}

impl Sharing {
    /// What the messages of other hosts, and of archives that this one had before, have of a query.
    pub(crate) async fn find(&self, archive: u32, query: &RecallQuery) -> Outcome<FoundElsewhere> {
        let profiles = self.seen_profiles(query.profile.as_deref());
        if profiles.is_empty() {
            return Ok(FoundElsewhere::default());
        }
        let parts: Vec<messages::Part> = Lookup::of(&query.words).parts.into_iter().map(part).collect();
        let within = Within {
            archive,
            profiles: &profiles,
            session: query.session.as_deref(),
            since: query.since,
            until: query.until,
        };
        let asked = Asked {
            parts: &parts,
            enough: query.limit,
            most: RANKED,
            around: Around { before: AROUND.0, after: AROUND.1 },
            worth: rarity,
        };
        // All of it within the time that one thing may take: somebody waits.
        let late = || SharedError::Unreachable(format!("no answer within {} s", self.config().timeout.as_secs_f64()));
        let found = timeout(self.config().timeout, self.ready_database()?.find_messages(within, asked)).await;
        let found = found.unwrap_or_else(|_| Err(late())).map_err(Error::Unread)?;
        let (keys, documents) = found.documents.into_iter().map(document).unzip();
        let elsewhere = Elsewhere { documents: found.messages, counts: found.counts, found: documents };
        Ok(FoundElsewhere { elsewhere, keys })
    }

    /// Messages by their names; those that are gone are left out.
    pub(crate) async fn messages(&self, keys: &[MessageKey], profile: Option<&str>) -> Outcome<Vec<Message>> {
        let profiles = self.seen_profiles(profile);
        self.ready_database()?.messages(keys, &profiles).await.map_err(Error::Unread)
    }

    /// A message of another host with so many before and behind it in its session, oldest first; none where
    /// there is no such message.
    pub(crate) async fn around(
        &self,
        key: &MessageKey,
        profile: Option<&str>,
        (before, after): (usize, usize),
    ) -> Outcome<Vec<Message>> {
        let profiles = self.seen_profiles(profile);
        let around = Around { before, after };
        self.ready_database()?.messages_around(key, &profiles, around).await.map_err(Error::Unread)
    }

    /// Whose messages may be seen: those of profiles that this host shares.
    pub(super) fn seen_profiles(&self, profile: Option<&str>) -> Vec<String> {
        let mut profiles = self.joined.profiles();
        profiles.retain(|one| profile.is_none_or(|profile| profile == one));
        profiles
    }

    /// The database, unless it is known to be away.
    pub(super) fn ready_database(&self) -> Outcome<&herma_shared::Database> {
        let database = self.database()?;
        match self.link.state() {
            state if state.is_up == Some(false) => match state.error {
                Some(error) => Err(Error::Unread(error)),
                None => Ok(database),
            },
            _ => Ok(database),
        }
    }
}

fn part(part: Part) -> messages::Part {
    match part {
        Part::Word { forms, longer } => messages::Part::Word { forms, longer },
        Part::Beginning(token) => messages::Part::Beginning(token),
        Part::Sequence { tokens, is_quoted } => messages::Part::Sequence { tokens, is_quoted },
    }
}

fn document(found: messages::Document) -> (MessageKey, Document) {
    let messages::Document { key, first, has, terms, before, after } = found;
    let all = |near: Vec<messages::Terms>| near.into_iter().map(self::terms).collect();
    (key, Document { first, has, terms: self::terms(terms), before: all(before), after: all(after) })
}

fn terms(terms: messages::Terms) -> Terms {
    Terms { count: terms.count, marks: terms.marks, terms: terms.terms }
}
