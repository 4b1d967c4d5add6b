//! Sessions that hosts hand over to each other. The host that has a session publishes it. Another one takes it over
//! when the first has released it, or has not renewed it for [`LEASE`].

mod statements;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use herma_archive::handover::{Held, Name, Parts};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::database::Database;
use crate::error::SharedError;
use crate::foreign;
use crate::stores::{archive, signed, unsigned};

/// How long a session stays with its host after the host last renewed it.
pub const LEASE: Duration = Duration::from_mins(1);

/// Limits for reading a session: its parts, their bytes, and the bytes of its messages.
const MOST_PARTS: u64 = 20_000;
const MOST_PART_BYTES: u64 = 128 << 20;
const MOST_TEXT_BYTES: u64 = 512 << 20;

/// The number of parts that are read at a time.
const PARTS: usize = 16;

/// The maximum number of texts that are read at a time, and of their bytes.
const TEXTS: usize = 1_000;
const BYTES: u64 = 4 << 20;

/// A session as the database has it.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedSession {
    /// The profile.
    pub profile: String,
    /// Its id.
    pub session: String,
    /// Distinguishes it from another session of its id.
    pub birth: String,
    /// The host that has it.
    pub host: String,
    /// The archive of that host.
    pub archive: u32,
    /// How many hosts have had it so far, one after the other.
    pub term: u64,
    /// Seconds until it may be taken over; 0 if it may be now.
    pub lease_s: f64,
    /// The version of the tables of the archive that published it.
    pub version: u32,
}

impl Database {
    /// Publishes a session that an archive of this host has; only changed parts are sent. Returns false, and changes
    /// nothing, if another host took the session over.
    ///
    /// # Errors
    /// An error of the database. The session may have been published then, and can be published again.
    pub async fn publish_session(&self, archive: u32, parts: &Parts) -> Result<bool, SharedError> {
        let Held { session, profile, birth, term, .. } = &parts.held;
        let Self { space, .. } = self;
        let known = self.ask(statements::KNOWN, &[&space.name, profile, session, birth]).await?;
        let known: HashMap<String, Vec<u8>> = known.iter().map(|row| (row.get(0), row.get(1))).collect();
        let names: Vec<&str> = parts.parts.keys().map(String::as_str).collect();
        let with_sums = parts.parts.iter().map(|(name, body)| (name.as_str(), sum(body), body.as_str()));
        let changed: Vec<_> = with_sums.filter(|(name, sum, _)| known.get(*name) != Some(sum)).collect();
        let changed_names: Vec<&str> = changed.iter().map(|(name, ..)| *name).collect();
        let sums: Vec<&[u8]> = changed.iter().map(|(_, sum, _)| sum.as_slice()).collect();
        let bodies: Vec<&str> = changed.iter().map(|(.., body)| *body).collect();
        let archives: Vec<i64> = parts.archives.iter().map(|archive| i64::from(*archive)).collect();
        let lease = if parts.is_open { LEASE.as_secs_f64() } else { 0.0 };
        let (archive, term, version) = (i64::from(archive), signed(*term), version(parts.version));
        let said: [&(dyn ToSql + Sync); 14] = [
            &space.name,
            profile,
            session,
            birth,
            &space.host,
            &archive,
            &term,
            &lease,
            &archives,
            &version,
            &names,
            &changed_names,
            &sums,
            &bodies,
        ];
        let taken = self.take().await?;
        let work = async {
            let client = &taken.connection().client;
            client.query_one(statements::TELL, &said).await.map_err(|error| SharedError::of_change(&error))
        };
        let row = self.in_time(work, SharedError::Unsettled).await?;
        taken.release();
        Ok(row.get::<_, i64>(0) > 0)
    }

    /// Returns the sessions of an id, the most recently renewed first.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn sessions_of(&self, profile: &str, session: &str) -> Result<Vec<SharedSession>, SharedError> {
        let rows = self.ask(statements::OF_ID, &[&self.space.name, &profile, &session]).await?;
        Ok(self.left_out.sift(rows.iter().map(shared)))
    }

    /// Returns the parts of a session, as its host last published it.
    ///
    /// # Errors
    /// An error of the database, a session over the limits, or a part with another sha256.
    pub async fn session_parts(&self, of: &SharedSession) -> Result<BTreeMap<String, String>, SharedError> {
        let SharedSession { profile, session, birth, .. } = of;
        let space = &self.space.name;
        let size = self.ask(statements::SIZE, &[space, profile, session, birth]).await?;
        let (count, bytes) = size.first().map_or((0, 0), |row| (unsigned(row.get(0)), unsigned(row.get(1))));
        if count > MOST_PARTS || bytes > MOST_PART_BYTES {
            return Err(SharedError::Refused(format!(
                "session {session:?} has {count} parts of {bytes} bytes; at most {MOST_PARTS} of {MOST_PART_BYTES} are read"
            )));
        }
        let known = self.ask(statements::KNOWN, &[space, profile, session, birth]).await?;
        let names: Vec<String> = known.iter().map(|row| row.get(0)).collect();
        let mut parts = BTreeMap::new();
        for some in names.chunks(PARTS) {
            let rows = self.ask(statements::PARTS, &[space, profile, session, birth, &some]).await?;
            for row in rows {
                let (name, known, body): (String, Vec<u8>, String) = (row.get(0), row.get(1), row.get(2));
                if sum(&body) != known {
                    let words = format!("part {name:?} of session {session:?} differs from what its host published");
                    return Err(SharedError::Refused(words));
                }
                parts.insert(name, body);
            }
        }
        Ok(parts)
    }

    /// Returns texts of a session's messages, by their names; missing texts are left out. Each name comes with the
    /// bytes of the text.
    ///
    /// # Errors
    /// An error of the database, or texts over the limit.
    pub async fn session_texts(
        &self,
        of: &SharedSession,
        wanted: &[(Name, u64)],
    ) -> Result<HashMap<Name, String>, SharedError> {
        let SharedSession { profile, session, .. } = of;
        let space = &self.space.name;
        let rows = self.ask(statements::HOSTS, &[space, session]).await?;
        let hosts: HashMap<i64, String> = rows.iter().map(|row| (row.get(1), row.get(0))).collect();
        let bytes = wanted.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        if bytes > MOST_TEXT_BYTES {
            return Err(SharedError::Refused(format!(
                "the messages of session {session:?} have {bytes} bytes; at most {MOST_TEXT_BYTES} are read"
            )));
        }
        let mut texts = HashMap::new();
        for some in portions(wanted) {
            let archives: Vec<i64> = some.iter().map(|((archive, _), _)| i64::from(*archive)).collect();
            let numbers: Vec<i64> = some.iter().map(|((_, number), _)| signed(*number)).collect();
            let lengths: Vec<i64> = some.iter().map(|(_, bytes)| signed(*bytes)).collect();
            let by: Vec<&str> = archives.iter().map(|at| hosts.get(at).map_or("", String::as_str)).collect();
            let rows = self.ask(statements::TEXTS, &[space, profile, &by, &archives, &numbers, &lengths]).await?;
            for row in rows {
                texts.insert((archive(row.get(0))?, unsigned(row.get(1))), row.get(2));
            }
        }
        Ok(texts)
    }

    /// Takes over a session for an archive of this host, if the session still has these parts. Returns `None` if it
    /// does not, or if another host has it.
    ///
    /// # Errors
    /// An error of the database. The session may have been taken over then, and the call can be repeated.
    pub async fn take_session(
        &self,
        archive: u32,
        of: &SharedSession,
        parts: &BTreeMap<String, String>,
    ) -> Result<Option<SharedSession>, SharedError> {
        let mut taken = self.take().await?;
        let work = async {
            let client = &mut taken.connection_mut().client;
            let refused = |error: tokio_postgres::Error| SharedError::of_change(&error);
            let transaction = client.transaction().await.map_err(refused)?;
            let (archive, term, lease) = (i64::from(archive), signed(of.term), LEASE.as_secs_f64());
            let (space, host) = (&self.space.name, &self.space.host);
            let SharedSession { profile, session, birth, .. } = of;
            let said: [&(dyn ToSql + Sync); 8] = [space, profile, session, birth, host, &archive, &term, &lease];
            let Some(row) = transaction.query_opt(statements::TAKE, &said).await.map_err(refused)? else {
                return Ok(None);
            };
            let known =
                transaction.query(statements::KNOWN, &[space, profile, session, birth]).await.map_err(refused)?;
            let known: BTreeMap<String, Vec<u8>> = known.iter().map(|row| (row.get(0), row.get(1))).collect();
            if !known
                .iter()
                .map(|(name, sum)| (name, sum.clone()))
                .eq(parts.iter().map(|(name, body)| (name, sum(body))))
            {
                return Ok(None);
            }
            let session = shared(&row)?;
            transaction.commit().await.map_err(refused)?;
            Ok(Some(session))
        };
        let session = self.in_time(work, SharedError::Unsettled).await?;
        taken.release();
        Ok(session)
    }

    /// Returns the sessions that an archive of this host has in the database, by birth and term.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn own_sessions(&self, archive: u32) -> Result<HashSet<(String, u64)>, SharedError> {
        let archive = i64::from(archive);
        let said: [&(dyn ToSql + Sync); 3] = [&self.space.name, &self.space.host, &archive];
        let rows = self.ask(statements::OWN, &said).await?;
        Ok(rows.iter().map(|row| (row.get(0), unsigned(row.get(1)))).collect())
    }

    /// Renews the leases of sessions of an archive of this host. `lease` is [`LEASE`], or 0 to release them. Sessions
    /// that other hosts took over are left out, and so are released ones, unless `again` is true.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn renew_sessions(
        &self,
        archive: u32,
        held: &[Held],
        lease: Duration,
        again: bool,
    ) -> Result<(), SharedError> {
        let wanted = Wanted::of(held);
        let (archive, lease) = (i64::from(archive), lease.as_secs_f64());
        let Self { space, .. } = self;
        let said: [&(dyn ToSql + Sync); 9] = [
            &space.name,
            &wanted.profiles,
            &wanted.sessions,
            &wanted.births,
            &wanted.terms,
            &space.host,
            &archive,
            &lease,
            &again,
        ];
        self.change(statements::RENEW, &said).await.map(drop)
    }

    /// Returns those of some sessions that an archive of this host no longer has in their terms: those that other hosts
    /// took over, and those that it took over itself without getting the answer.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn lost_sessions(&self, archive: u32, held: &[Held]) -> Result<Vec<SharedSession>, SharedError> {
        let wanted = Wanted::of(held);
        let archive = i64::from(archive);
        let Self { space, .. } = self;
        let said: [&(dyn ToSql + Sync); 7] =
            [&space.name, &wanted.profiles, &wanted.sessions, &wanted.births, &wanted.terms, &space.host, &archive];
        self.ask(statements::LOST, &said).await?.iter().map(shared).collect()
    }

    /// Forgets a session that an archive of this host had in a term and removed. Removes also the messages that other
    /// hosts uploaded before they handed it over.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn forget_session(&self, archive: u32, session: &str, birth: &str, term: u64) -> Result<(), SharedError> {
        let (archive, term) = (i64::from(archive), signed(term));
        let said: [&(dyn ToSql + Sync); 6] = [&self.space.name, &self.space.host, &archive, &session, &birth, &term];
        self.change(statements::FORGET, &said).await.map(drop)
    }

    /// Forgets the sessions of a profile that an archive of this host has, because they stay on the host from now on.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn forget_sessions(&self, archive: u32, profile: &str) -> Result<(), SharedError> {
        let archive = i64::from(archive);
        let said: [&(dyn ToSql + Sync); 4] = [&self.space.name, &self.space.host, &archive, &profile];
        self.change(statements::FORGET_ALL, &said).await.map(drop)
    }
}

/// Sessions as one list per column.
struct Wanted<'a> {
    profiles: Vec<&'a str>,
    sessions: Vec<&'a str>,
    births: Vec<&'a str>,
    terms: Vec<i64>,
}

impl<'a> Wanted<'a> {
    fn of(held: &'a [Held]) -> Self {
        Self {
            profiles: held.iter().map(|held| held.profile.as_str()).collect(),
            sessions: held.iter().map(|held| held.session.as_str()).collect(),
            births: held.iter().map(|held| held.birth.as_str()).collect(),
            terms: held.iter().map(|held| signed(held.term)).collect(),
        }
    }
}

/// Splits the names of texts into the portions of single queries.
fn portions(wanted: &[(Name, u64)]) -> Vec<&[(Name, u64)]> {
    let (mut portions, mut rest) = (Vec::new(), wanted);
    while !rest.is_empty() {
        let mut bytes = 0_u64;
        let count = rest.iter().take(TEXTS).take_while(|(_, more)| {
            bytes = bytes.saturating_add(*more);
            bytes <= BYTES
        });
        let (some, more) = rest.split_at(count.count().max(1));
        portions.push(some);
        rest = more;
    }
    portions
}

fn shared(row: &Row) -> Result<SharedSession, SharedError> {
    Ok(SharedSession {
        profile: row.get(0),
        session: row.get(1),
        birth: row.get(2),
        host: foreign::name(row.get(3)),
        archive: archive(row.get(4))?,
        term: unsigned(row.get(5)),
        lease_s: foreign::seconds(row.get(6)),
        version: u32::try_from(row.get::<_, i32>(7)).unwrap_or_default(),
    })
}

fn version(version: u32) -> i32 {
    i32::try_from(version).unwrap_or(i32::MAX)
}

fn sum(body: &str) -> Vec<u8> {
    Sha256::digest(body).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_asked_for_in_portions_and_each_once() {
        let wanted: Vec<(Name, u64)> =
            (0..2_500).map(|at| ((1, at), 10)).chain([((2, 1), BYTES * 2), ((2, 2), 1)]).collect();
        let counts: Vec<usize> = portions(&wanted).iter().map(|some| some.len()).collect();
        assert_eq!(counts, [1_000, 1_000, 500, 1, 1]);
        assert_eq!(portions(&[]), Vec::<&[(Name, u64)]>::new());
    }
}
