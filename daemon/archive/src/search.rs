//! Search over messages, outputs and memory.
//!
//! First FTS5 ranks all documents that have the rarer words of a query. Then the best of these are ranked by how much
//! of the whole query they have, and the messages around them.

mod candidates;
mod filter;
mod hit;
mod near;
mod pending;
mod period;
mod place;
mod rank;
pub mod remote;
mod resolve;
mod vocabulary;

use std::cmp::Reverse;
use std::collections::HashSet;

use rusqlite::Connection;

use self::candidates::TermCache;
use self::filter::Filter;
pub(crate) use self::hit::of as hit_of;
use self::pending::{Pending, PendingMatch};
use self::place::Places;
pub use self::place::{Nearby, Surroundings};
use self::rank::{Candidate, DocumentId, Ranking};
use self::remote::RemoteCandidates;
use self::resolve::{Index, Resolved, sequence};
use crate::handle::Source;
use crate::list::of_folder;
pub use crate::query::{LONGEST_QUERY, MOST_WORDS};
use crate::query::{Query, SHORTEST_BEGINNING};
use crate::{ArchiveError, Reader};

/// How many documents the first ranking returns at least.
const CANDIDATES: usize = 400;

/// How many of these are ranked together with the messages around them.
const LOOKED_AROUND: usize = 150;

/// How many documents are enough, so that none are looked for that have only more common words.
const ENOUGH: usize = 100;

/// The maximum number of documents that may have the words with which candidates are found. Next to rare words, common
/// words find no candidates; they only rank them.
const BUDGET: usize = 12_000;

/// The same for quoted words, which every hit must have.
const QUOTED: usize = 200_000;

/// The number of terms below which a query says too little about what fits it.
const FEW_TERMS: usize = 4;

/// How many of the common words of a query are combined. Each combination costs as much as its words are common.
const COMBINED: usize = 3;

/// A search. The filters are exact: they are part of the search, not applied to its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search<'a> {
    /// The query, as people ask. The more of its words a text has, in whatever form, and the rarer they are, the higher
    /// it ranks. Words in double quotes must occur exactly or, at the end, as the beginning of a longer word, unless no
    /// text has them. A word that no text has also matches longer words, or words of which it may be a typo.
    pub query: &'a str,
    /// Only this session and the sessions that it continues.
    pub session: Option<&'a str>,
    /// Only of this profile.
    pub profile: Option<&'a str>,
    /// Only of sessions of this agent.
    pub agent: Option<&'a str>,
    /// Only of sessions of this folder, or of one below it.
    pub folder: Option<&'a str>,
    /// Only these kinds.
    pub kinds: Kinds,
    /// Only from this time on, in Unix seconds.
    pub since: Option<f64>,
    /// Only before this time, in Unix seconds.
    pub until: Option<f64>,
    /// The time that the query is about, in Unix seconds. Documents of that time rank higher.
    pub period: Option<(f64, f64)>,
    /// The maximum number of hits.
    pub limit: usize,
    /// The maximum number of hits in one output. A long output would leave no room for anything else.
    pub of_one_output: usize,
    /// How many messages each hit has on each side. A message that is in the place of a better hit is no hit of its own.
    pub around: usize,
    /// How well a hit fits the whole query at least, from 0 to 1: the share of the words that it has, itself or in the
    /// messages around it, where rare words count more and words of long texts less. Above 0, a query of few words has
    /// no hits.
    pub least_fit: f64,
    /// The embedding of the query. Documents with similar vectors are found too.
    pub vector: Option<&'a [f32]>,
    /// The documents of other archives for the query.
    pub remote: Option<&'a RemoteCandidates>,
}

/// The most sessions of an agent or a folder that a search looks at, the newest ones. The index merges their documents.
const SESSIONS: i64 = 2_000;

/// The default number of hits in one output.
const OF_ONE_OUTPUT: usize = 3;

impl<'a> Search<'a> {
    /// Searches everywhere, in every kind of text.
    #[must_use]
    pub const fn everywhere(query: &'a str, limit: usize) -> Self {
        Self {
            query,
            session: None,
            profile: None,
            agent: None,
            folder: None,
            kinds: Kinds::ALL,
            since: None,
            until: None,
            period: None,
            limit,
            of_one_output: OF_ONE_OUTPUT,
            around: 0,
            least_fit: 0.0,
            vector: None,
            remote: None,
        }
    }
}

/// Kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    /// Messages, in a transcript or removed from one.
    pub messages: bool,
    /// Tool outputs.
    pub outputs: bool,
    /// Memory stores' history.
    pub memory: bool,
}

impl Kinds {
    /// Every kind.
    pub const ALL: Self = Self { messages: true, outputs: true, memory: true };
    /// Only messages.
    pub const MESSAGES: Self = Self { messages: true, outputs: false, memory: false };
    /// Only outputs.
    pub const OUTPUTS: Self = Self { messages: false, outputs: true, memory: false };
    /// Only memory.
    pub const MEMORY: Self = Self { messages: false, outputs: false, memory: true };
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The hits, the best first; of equal ones the newest first.
    pub hits: Vec<Hit>,
    /// Whether there are more hits.
    pub more: bool,
    /// Words of the archive that replaced words of the query that it does not have.
    pub instead: Vec<String>,
}

/// A document that matches the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it is.
    pub source: Source,
    /// The session, if there is one.
    pub session: Option<String>,
    /// The profile; empty if the hit is in another archive.
    pub profile: String,
    /// Which agent the session was opened with.
    pub agent: Option<String>,
    /// The file of another program that the session was imported from.
    pub origin: Option<String>,
    /// The folder that the session's agent worked in.
    pub folder: Option<String>,
    /// A message's role.
    pub role: Option<String>,
    /// When, in Unix seconds.
    pub time: f64,
    /// Higher is better. Scores are comparable only within one search.
    pub score: f64,
    /// The text of a message or memory; `None` for an output, which is a file outside the archive.
    pub text: Option<String>,
    /// The messages around it; none for an output, a memory, or a message of another archive.
    pub around: Surroundings,
}

impl Reader {
    /// Finds the best texts. A query without any letter or digit finds nothing.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn search(&self, search: &Search<'_>) -> Result<Found, ArchiveError> {
        let query = Query::of(search.query);
        if query.is_empty() || search.limit == 0 {
            return Ok(Found::default());
        }
        // One read transaction from the first statement to the last, whatever the writer does meanwhile.
        let view = self.connection.unchecked_transaction()?;
        let sessions = self.searched_sessions(search)?;
        let pending = Pending::of(&view, search, sessions.as_deref(), &query)?;
        let filter = Filter::of(&view, search, sessions.as_deref())?;
        if filter.is_none() && search.remote.is_none() {
            return Ok(Found::default());
        }
        let least = CANDIDATES.max(2 * search.limit);
        let quoted = quoted(&view, filter.as_ref(), &query)?;
        let required = required(&view, filter.as_ref(), (&query, &quoted), search.remote)?;
        let all: i64 = view.query_row("SELECT value FROM meta WHERE name = 'next_id'", [], |row| row.get(0))?;
        let remote = search.remote;
        let rows = usize::try_from(all).unwrap_or(0);
        let documents = rows + remote.map_or(0, |remote| remote.documents);
        let (pending_words, languages) = (&pending.words, &query.languages[..]);
        let index = Index { connection: &view, rows, documents, pending: pending_words, languages, remote };
        let resolved = Resolved::of(&index, (&query, &quoted), search.limit)?;
        let is_quoted = !required.parts.is_empty();
        let mut found = match &filter {
            None => Vec::new(),
            Some(filter) if is_quoted => filter.best(&view, &required.expression, (least, QUOTED))?,
            Some(filter) => first_rank(&view, filter, &resolved.parts, least)?,
        };
        let unindexed = UnindexedCandidates { pending, remote, required: &required.parts };
        if !is_quoted {
            let of_period = period::candidates(&view, (search, sessions.as_deref()), &resolved.parts, least)?;
            found = together(found, of_period, 2 * least);
        }
        let ranked = rank(&view, (&query, &resolved), &found, unindexed, search.least_fit)?;
        let mut ranked: Vec<(DocumentId, f64)> =
            ranked.iter().map(|(candidate, score)| (candidate.id, *score)).collect();
        if let Some(period) = search.period {
            period::favour(&view, period, &mut ranked)?;
        }
        // Quoted parts must occur, so vectors don't count then.
        if let Some(vector) = search.vector.filter(|_| !is_quoted) {
            ranked = near::fused(&ranked, &near::nearest(&view, search, sessions.as_deref(), vector)?);
        }
        let (hits, more) = best(&view, search, &ranked)?;
        Ok(Found { hits, more, instead: resolved.instead })
    }

    /// Returns the sessions that a search is limited to; `None` for all.
    fn searched_sessions(&self, search: &Search<'_>) -> Result<Option<Vec<String>>, ArchiveError> {
        let lineage = search.session.map(|session| self.lineage(session)).transpose()?;
        if search.agent.is_none() && search.folder.is_none() {
            return Ok(lineage);
        }
        let mut query = self.connection.prepare_cached(&format!(
            "SELECT id FROM session WHERE (?1 IS NULL OR agent = ?1)
             AND {}
             AND (?4 IS NULL OR profile = ?4) AND (?5 IS NULL OR started_at < ?5)
             AND (?6 IS NULL OR coalesce(last_active, ended_at, started_at) >= ?6)
             ORDER BY coalesce(last_active, ended_at, started_at) DESC LIMIT ?3",
            of_folder(2)
        ))?;
        let most = if lineage.is_some() { -1 } else { SESSIONS };
        let Search { agent, folder, profile, since, .. } = *search;
        // An import gives a session the time of its first message as its beginning.
        let values = rusqlite::params![agent, folder, most, profile, search.until, since];
        let rows = query.query_map(values, |row| row.get(0))?;
        let chosen: Vec<String> = rows.collect::<Result<_, _>>()?;
        let Some(lineage) = lineage else { return Ok(Some(chosen)) };
        let chosen: HashSet<String> = chosen.into_iter().collect();
        Ok(Some(lineage.into_iter().filter(|session| chosen.contains(session)).collect()))
    }
}

/// The quoted parts that must occur.
#[derive(Debug, Default)]
struct Required {
    /// All of them as one expression; empty if none must occur.
    expression: String,
    /// Their indexes in the query, for documents of other archives.
    parts: Vec<usize>,
}

/// Returns the quoted parts as FTS5 expressions: exact if any document here has them, otherwise as the beginning of a
/// longer word.
fn quoted(connection: &Connection, filter: Option<&Filter<'_>>, query: &Query) -> Result<Vec<String>, ArchiveError> {
    let of = |tokens: &Vec<String>| {
        let whole = sequence(tokens);
        let is_here = filter.map_or(Ok(false), |filter| filter.has_any(connection, &whole))?;
        // A single short word begins too many others.
        let can_go_on =
            tokens.len() > 1 || tokens.iter().any(|token| token.chars().nth(SHORTEST_BEGINNING - 1).is_some());
        Ok(if is_here || !can_go_on { whole } else { format!("{whole} *") })
    };
    query.quoted.iter().map(of).collect()
}

/// Returns the quoted parts that occur here or in other archives; none if no document has all of them.
fn required(
    connection: &Connection,
    filter: Option<&Filter<'_>>,
    (query, quoted): (&Query, &[String]),
    remote: Option<&RemoteCandidates>,
) -> Result<Required, ArchiveError> {
    let mut required = Required::default();
    let mut expressions = Vec::new();
    for (part, expression) in (query.words.len() + query.chars.len()..).zip(quoted) {
        let is_here = filter.map_or(Ok(false), |filter| filter.has_any(connection, expression))?;
        if is_here || remote.is_some_and(|remote| remote.has_any(part)) {
            expressions.push(expression.as_str());
            required.parts.push(part);
        }
    }
    required.expression = expressions.join(" AND ");
    if required.parts.is_empty() || remote.is_some_and(|remote| remote.has_all(&required.parts)) {
        return Ok(required);
    }
    let is_here = filter.map_or(Ok(false), |filter| filter.has_any(connection, &required.expression))?;
    Ok(if is_here { required } else { Required::default() })
}

/// Returns the documents that have the rarer words of a query, the best first. If they are too few, those follow that
/// have several common words.
fn first_rank(
    connection: &Connection,
    filter: &Filter<'_>,
    parts: &[(String, usize)],
    limit: usize,
) -> Result<Vec<(i64, f64)>, ArchiveError> {
    let (rare, common) = by_rarity(parts, BUDGET);
    let all: Vec<&str> = rare.iter().chain(&common).copied().collect();
    let several = common.get(..common.len().min(COMBINED)).unwrap_or_default();
    let mut found = Vec::new();
    for expression in [any_of(&rare), three_of(several), two_of(several), any_of(&all)] {
        if found.len() >= ENOUGH || (common.is_empty() && !found.is_empty()) {
            break;
        }
        if !expression.is_empty() {
            found = together(found, filter.best(connection, &expression, (limit, BUDGET))?, limit);
        }
    }
    Ok(found)
}

/// Returns the rarest parts, which are in at most `budget` documents together, and the others that any document has, the
/// rarest first.
fn by_rarity(parts: &[(String, usize)], budget: usize) -> (Vec<&str>, Vec<&str>) {
    let mut parts: Vec<&(String, usize)> = parts.iter().filter(|(_, documents)| *documents > 0).collect();
    parts.sort_by_key(|(_, documents)| *documents);
    let mut documents = 0;
    let within = parts.iter().take_while(|part| {
        documents += part.1;
        documents <= budget
    });
    let (rare, common) = parts.split_at(within.count());
    let [rare, common] = [rare, common].map(|parts| parts.iter().map(|(part, _)| part.as_str()).collect());
    (rare, common)
}

/// Returns an expression for the documents that have any of the parts; empty if there are none.
fn any_of(parts: &[&str]) -> String {
    parts.join(" OR ")
}

/// Returns an expression for the documents that have at least two of the parts; empty if there is only one.
fn two_of(parts: &[&str]) -> String {
    let pair = |(at, part): (usize, &&str)| {
        let others = any_of(parts.get(at + 1..).unwrap_or_default());
        (!others.is_empty()).then(|| format!("({part} AND ({others}))"))
    };
    parts.iter().enumerate().filter_map(pair).collect::<Vec<_>>().join(" OR ")
}

/// Returns an expression for the documents that have at least three of the parts; empty if there are only two.
fn three_of(parts: &[&str]) -> String {
    let three = |(at, part): (usize, &&str)| {
        let others = two_of(parts.get(at + 1..).unwrap_or_default());
        (!others.is_empty()).then(|| format!("({part} AND ({others}))"))
    };
    parts.iter().enumerate().filter_map(three).collect::<Vec<_>>().join(" OR ")
}

/// Returns both lists as one, each document once.
fn together(mut found: Vec<(i64, f64)>, more: Vec<(i64, f64)>, limit: usize) -> Vec<(i64, f64)> {
    let known: HashSet<i64> = found.iter().map(|(id, _)| *id).collect();
    found.extend(more.into_iter().filter(|(id, _)| !known.contains(id)));
    found.truncate(limit);
    found
}

/// Documents that were found outside of the index.
struct UnindexedCandidates<'a> {
    pending: Pending,
    remote: Option<&'a RemoteCandidates>,
    /// The parts that documents of other archives must have.
    required: &'a [usize],
}

/// Returns the candidates with their scores, the best first.
fn rank(
    connection: &Connection,
    (query, resolved): (&Query, &Resolved),
    found: &[(i64, f64)],
    unindexed: UnindexedCandidates<'_>,
    least_fit: f64,
) -> Result<Vec<(Candidate, f64)>, ArchiveError> {
    let mut cache = TermCache::new(connection);
    let mut candidates = cache.candidates(found)?;
    let UnindexedCandidates { pending, remote, required } = unindexed;
    for PendingMatch { session, id, candidate } in pending.found {
        cache.put(session, id, &candidate);
        candidates.push(candidate);
    }
    let best = found.iter().map(|(_, first)| *first).fold(0.0, f64::max);
    // Other archives have another first ranking. Its best score counts like the best one here.
    let best = if best > 0.0 { best } else { 1.0 };
    candidates.extend(remote.into_iter().flat_map(|remote| remote.candidates(best, required)));
    let ranking = Ranking { wanted: &resolved.wanted, asks_when: query.asks_when, best };
    let mut ranked: Vec<(Candidate, f64)> = candidates
        .into_iter()
        .map(|candidate| {
            let score = ranking.score(&candidate);
            (candidate, score)
        })
        .filter(|(candidate, score)| candidate.first > 0.0 || *score > 0.0)
        .collect();
    sort(&mut ranked);
    let own = ranked.iter_mut().filter(|(candidate, _)| matches!(candidate.id, DocumentId::Local(_)));
    for (candidate, score) in own.take(LOOKED_AROUND) {
        cache.look_around(candidate)?;
        *score = ranking.score(candidate);
    }
    if least_fit > 0.0 {
        let has_terms = ranking.wanted.iter().filter(|wanted| wanted.is_term).count() >= FEW_TERMS;
        ranked.retain(|(candidate, _)| has_terms && ranking.fit(candidate) >= least_fit);
    }
    sort(&mut ranked);
    Ok(ranked)
}

/// Returns the best hits, and whether there are more. One output has at most the wanted number of hits, and of parts
/// that follow each other in it only the better one is returned.
fn best(
    connection: &Connection,
    search: &Search<'_>,
    ranked: &[(DocumentId, f64)],
) -> Result<(Vec<Hit>, bool), ArchiveError> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut places = Places::new(connection, search.around);
    for (id, score) in ranked {
        if matches!(id, DocumentId::Local(id) if places.has(id.unsigned_abs())) {
            continue;
        }
        let mut hit = match id {
            DocumentId::Remote(Reverse(at)) => Hit { score: *score, ..remote::hit(*at) },
            DocumentId::Local(id) => Hit { score: *score, ..hit_of(connection, *id)? },
        };
        if let Source::Output { handle, start, chars, .. } = &hit.source {
            let of_it = hits.iter().filter_map(|hit| match &hit.source {
                Source::Output { handle: other, start, chars, .. } if other == handle => Some((*start, *chars)),
                _ => None,
            });
            let of_it: Vec<(u64, u64)> = of_it.collect();
            let follows = |(from, count): &(u64, u64)| from + count == *start || start + chars == *from;
            if of_it.len() >= search.of_one_output || of_it.iter().any(follows) {
                continue;
            }
        }
        if hits.len() == search.limit {
            return Ok((hits, true));
        }
        if let Source::Message { id } = hit.source {
            hit.around = places.add(id)?;
        }
        hits.push(hit);
    }
    Ok((hits, false))
}

/// Sorts the best first; of equal ones the shortest, and of equally long ones the newest.
fn sort(ranked: &mut [(Candidate, f64)]) {
    ranked.sort_by(|(one, score), (other, higher)| {
        let shorter = one.terms.words.cmp(&other.terms.words);
        higher.total_cmp(score).then(shorter).then(other.id.cmp(&one.id))
    });
}

#[cfg(test)]
mod tests;
