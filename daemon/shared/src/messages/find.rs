//! Finds messages by their tokens.

use std::collections::HashSet;

use herma_archive::handover::ReceivedMessages;
use herma_archive::search::remote::{AROUND, Document, Lookup, Part, RANKED, RemoteCandidates, Terms, rarity};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{Message, MessageKey, statements, tokens};
use crate::database::Database;
use crate::error::SharedError;
use crate::foreign;
use crate::stores::{archive, signed, unsigned};

/// The maximum number of messages that are counted. Above it, the database's estimate counts.
const COUNTED: i64 = 5_000;

/// The maximum number of messages with a part that are counted.
const COUNTED_WITH: i64 = 20_000;

/// The maximum number of messages that may have the words with which candidates are found. Next to rare words, common
/// words find none.
const BUDGET: usize = 12_000;

/// The maximum number of bytes of returned messages around one.
const MOST_BYTES: i64 = 2 << 20;

/// The maximum number of bytes of returned messages.
const MOST_TOLD: i64 = 32 << 20;

/// Above this number of messages, those that have only common words are not searched.
const ALL: usize = 200_000;

/// The messages to search. The archive of the request is left out, because its host searches it itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within<'a> {
    /// The archive of this host that sends the request.
    pub archive: u32,
    /// Messages that came to it with sessions, which are left out too.
    pub came: &'a [ReceivedMessages],
    /// The profiles.
    pub profiles: &'a [String],
    /// Only of sessions of this id.
    pub session: Option<&'a str>,
    /// Only from this time on, in Unix seconds.
    pub since: Option<f64>,
    /// Only before this time, in Unix seconds.
    pub until: Option<f64>,
}

/// The messages that were found, and their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RemoteMatches {
    /// The documents for a search, which ranks them together with local ones.
    pub remote: RemoteCandidates,
    /// The name of each document.
    pub keys: Vec<MessageKey>,
}

/// Returns a part as a `tsquery`; with `with_longer` it matches longer words too.
fn query(part: &Part, with_longer: bool) -> String {
    match part {
        Part::Word { forms, longer } => {
            let any = tokens::any(forms.iter().map(String::as_str));
            match longer.as_ref().filter(|_| with_longer) {
                Some(longer) => format!("{any} | {}", tokens::beginning(longer)),
                None => any,
            }
        }
        Part::Beginning(token) => tokens::beginning(token),
        Part::Sequence { tokens, .. } => tokens::sequence(tokens),
    }
}

/// A part as it is sent to PostgreSQL.
#[derive(Debug, Clone)]
struct Wanted {
    query: String,
    count: usize,
    finds: bool,
}

/// The first parameters of every query: the space, the archive of the request, and the messages to search.
struct Scope<'a> {
    within: Within<'a>,
    archive: i64,
    came_archives: Vec<i64>,
    came_sessions: Vec<&'a str>,
    came_through: Vec<i64>,
    database: &'a Database,
}

impl<'a> Scope<'a> {
    fn of(database: &'a Database, within: Within<'a>) -> Self {
        Self {
            within,
            archive: i64::from(within.archive),
            came_archives: within.came.iter().map(|came| i64::from(came.archive)).collect(),
            came_sessions: within.came.iter().map(|came| came.session.as_str()).collect(),
            came_through: within.came.iter().map(|came| signed(came.through)).collect(),
            database,
        }
    }

    fn and<'b>(&'b self, more: &[&'b (dyn ToSql + Sync)]) -> Vec<&'b (dyn ToSql + Sync)> {
        let (space, within) = (&self.database.space, &self.within);
        let first: [&(dyn ToSql + Sync); 10] = [
            &space.name,
            &space.host,
            &self.archive,
            &self.came_archives,
            &self.came_sessions,
            &self.came_through,
            &within.profiles,
            &within.session,
            &within.since,
            &within.until,
        ];
        first.iter().chain(more).copied().collect()
    }

    async fn count_all(&self) -> Result<usize, SharedError> {
        let rows = self.database.ask(statements::COUNT_ALL, &self.and(&[&COUNTED])).await?;
        Ok(rows.first().map_or(0, |row| count(row.get(0))))
    }

    /// Counts the messages with the parts at these indexes.
    async fn count(&self, queries: &[String], places: &[usize], counts: &mut [usize]) -> Result<(), SharedError> {
        let wanted: Vec<&String> = places.iter().filter_map(|at| queries.get(*at)).collect();
        let rows = self.database.ask(statements::COUNT, &self.and(&[&wanted, &COUNTED_WITH])).await?;
        for (at, row) in places.iter().zip(rows) {
            if let Some(known) = counts.get_mut(*at) {
                *known = count(row.get(0));
            }
        }
        Ok(())
    }

    /// Returns the best messages for an expression, by the worth of each part.
    async fn best(
        &self,
        wanted: &[Wanted],
        worths: &[f64],
        expression: &str,
    ) -> Result<Vec<(MessageKey, Document)>, SharedError> {
        let queries: Vec<&str> = wanted.iter().map(|wanted| wanted.query.as_str()).collect();
        let [most, before, after] = [RANKED, AROUND.0, AROUND.1].map(narrow);
        let said = self.and(&[&expression, &queries, &worths, &most, &before, &after]);
        let rows = self.database.ask(statements::FIND, &said).await?;
        Ok(self.database.left_out.sift(rows.iter().map(document)))
    }
}

impl Database {
    /// Returns the messages of other archives that match most of a query. Longer words are searched only if at most
    /// `enough` messages have the word.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn find_messages(
        &self,
        within: Within<'_>,
        lookup: &Lookup,
        enough: usize,
    ) -> Result<RemoteMatches, SharedError> {
        let (scope, parts) = (Scope::of(self, within), &lookup.parts);
        let documents = scope.count_all().await?;
        let mut counts = vec![0; parts.len()];
        if documents == 0 || parts.is_empty() {
            return Ok(RemoteMatches {
                remote: RemoteCandidates { documents, counts, ..RemoteCandidates::default() },
                keys: Vec::new(),
            });
        }
        let mut queries: Vec<String> = parts.iter().map(|part| query(part, false)).collect();
        // Sequences are counted in the found messages: counting them in all messages takes as long as reading these.
        let places = |is: fn(&Part) -> bool| (0..).zip(parts).filter(move |(_, part)| is(part)).map(|(at, _)| at);
        let counted: Vec<usize> = places(Part::finds).collect();
        scope.count(&queries, &counted, &mut counts).await?;
        let few = |at: &usize| counts.get(*at).is_some_and(|count| *count <= enough);
        let longer: Vec<usize> = places(Part::may_be_longer).filter(few).collect();
        if !longer.is_empty() {
            queries = (0..).zip(parts).map(|(at, part)| query(part, longer.contains(&at))).collect();
            scope.count(&queries, &longer, &mut counts).await?;
        }
        let wanted = queries.into_iter().zip(&counts).zip(parts);
        let wanted = wanted.map(|((query, count), part)| Wanted { query, count: *count, finds: part.finds() });
        let wanted: Vec<Wanted> = wanted.collect();
        let worths = worths(&wanted, |count| rarity(documents, count));
        let quoted = parts.iter().zip(&wanted).filter(|(part, wanted)| part.is_quoted() && wanted.count > 0);
        let quoted: Vec<&Wanted> = quoted.map(|(_, wanted)| wanted).collect();
        let mut found = Vec::new();
        if !quoted.is_empty() {
            found = scope.best(&wanted, &worths, &joined(&quoted, " & ")).await?;
        }
        let has_quoted = !found.is_empty();
        for expression in expressions(&wanted, documents) {
            if has_quoted || found.len() >= RANKED {
                break;
            }
            let more = match scope.best(&wanted, &worths, &expression).await {
                // The messages with the rare words are found already.
                Err(error) if error.is_passing() && !found.is_empty() => break,
                more => more?,
            };
            let known: HashSet<MessageKey> = found.iter().map(|(key, _)| key.clone()).collect();
            found.extend(more.into_iter().filter(|(key, _)| !known.contains(key)));
        }
        found.truncate(RANKED);
        let (keys, found): (Vec<MessageKey>, Vec<Document>) = found.into_iter().unzip();
        for (at, count) in counts.iter_mut().enumerate().filter(|(at, _)| !counted.contains(at)) {
            *count = found.iter().filter(|document| document.has.get(at) == Some(&true)).count();
        }
        Ok(RemoteMatches { remote: RemoteCandidates { documents, counts, found }, keys })
    }

    /// Returns a message of another archive with up to `before` and `after` messages around it, oldest first. Also
    /// returns the number of the message with which its session continues after them. Returns no messages if these
    /// profiles have no such message.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn messages_around(
        &self,
        key: &MessageKey,
        profiles: &[String],
        (before, after): (usize, usize),
    ) -> Result<(Vec<Message>, Option<u64>), SharedError> {
        let (archive, number) = (i64::from(key.archive), signed(key.number));
        let (before, after) = (narrow(before), narrow(after));
        let said: [&(dyn ToSql + Sync); 8] =
            [&self.space.name, &key.host, &archive, &number, &profiles, &before, &after, &MOST_BYTES];
        let rows = self.ask(statements::AROUND, &said).await?;
        let next = rows.first().and_then(|row| row.get::<_, Option<i64>>(9)).map(unsigned);
        Ok((self.left_out.sift(rows.iter().map(message)), next))
    }

    /// Returns messages by their names, in any order. Messages that are gone, of other profiles, or over the byte limit
    /// are left out.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn messages(&self, keys: &[MessageKey], profiles: &[String]) -> Result<Vec<Message>, SharedError> {
        let hosts: Vec<&str> = keys.iter().map(|key| key.host.as_str()).collect();
        let archives: Vec<i64> = keys.iter().map(|key| i64::from(key.archive)).collect();
        let numbers: Vec<i64> = keys.iter().map(|key| signed(key.number)).collect();
        let said: [&(dyn ToSql + Sync); 6] = [&self.space.name, &hosts, &archives, &numbers, &profiles, &MOST_TOLD];
        let rows = self.ask(statements::BY_KEY, &said).await?;
        Ok(self.left_out.sift(rows.iter().map(message)))
    }
}

/// Returns the worth of each part. A sequence, whose count is unknown, is worth half of the rarest other part.
fn worths(wanted: &[Wanted], worth: impl Fn(usize) -> f64) -> Vec<f64> {
    let known = wanted.iter().filter(|part| part.finds && part.count > 0).map(|part| worth(part.count));
    let in_a_row = known.fold(0.0, f64::max) / 2.0;
    wanted.iter().map(|part| if part.finds { worth(part.count) } else { in_a_row }).collect()
}

/// Returns the expressions that find messages, to be tried in turn until enough are found: the rarer parts, two common
/// parts together, and any part if there are not too many messages.
fn expressions(wanted: &[Wanted], messages: usize) -> Vec<String> {
    let mut parts: Vec<&Wanted> = wanted.iter().filter(|part| part.finds && part.count > 0).collect();
    parts.sort_by_key(|part| part.count);
    let mut sum = 0_usize;
    let rare = parts.iter().take_while(|part| {
        sum = sum.saturating_add(part.count);
        sum <= BUDGET
    });
    let rare = rare.count();
    let (rare, common) = parts.split_at(rare);
    let mut expressions = Vec::new();
    if !rare.is_empty() {
        expressions.push(joined(rare, " | "));
    }
    if let Some(pair) = common.get(..2) {
        expressions.push(joined(pair, " & "));
    }
    if !common.is_empty() && messages <= ALL {
        expressions.push(joined(&parts, " | "));
    }
    expressions
}

fn joined(parts: &[&Wanted], by: &str) -> String {
    parts.iter().map(|part| format!("({})", part.query)).collect::<Vec<_>>().join(by)
}

fn message(row: &Row) -> Result<Message, SharedError> {
    Ok(Message {
        key: MessageKey { host: row.get(0), archive: archive(row.get(1))?, number: unsigned(row.get(2)) },
        profile: row.get(3),
        session: row.get(4),
        agent: row.get::<_, Option<String>>(5).map(foreign::name),
        role: foreign::name(row.get(6)),
        at: foreign::seconds(row.get(7)),
        body: row.get(8),
    })
}

fn document(row: &Row) -> Result<(MessageKey, Document), SharedError> {
    let near = |first: usize| -> Vec<Terms> {
        let words: Vec<i32> = row.get::<_, Option<_>>(first).unwrap_or_default();
        let marks: Vec<i16> = row.get::<_, Option<_>>(first + 1).unwrap_or_default();
        let all: Vec<Vec<u8>> = row.get::<_, Option<_>>(first + 2).unwrap_or_default();
        words.into_iter().zip(marks).zip(all).map(|((words, marks), of)| terms(words, marks, of)).collect()
    };
    let own: Option<Vec<u8>> = row.get(5);
    let key = MessageKey { host: row.get(0), archive: archive(row.get(1))?, number: unsigned(row.get(2)) };
    let terms = terms(row.get(3), row.get(4), own.unwrap_or_default());
    Ok((key, Document { first: row.get(6), has: row.get(7), terms, before: near(8), after: near(11) }))
}

fn terms(words: i32, marks: i16, terms: Vec<u8>) -> Terms {
    Terms { count: u32::try_from(words).unwrap_or(0), marks: u8::try_from(marks).unwrap_or(0), terms }
}

fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

fn narrow(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(counts: &[(&str, usize)]) -> Vec<Wanted> {
        let one =
            |(query, count): &(&str, usize)| Wanted { query: (*query).into(), count: *count, finds: *query != "s" };
        counts.iter().map(one).collect()
    }

    #[test]
    fn common_words_find_only_together_or_where_there_is_little() {
        for (parts, messages, expect) in [
            (&[("a", 3), ("b", 0), ("s", 5)][..], 10, &["(a)"][..]),
            (&[("a", 20_000), ("b", 7)], 1_000_000, &["(b)"]),
            (&[("a", 20_000), ("b", 7)], 100_000, &["(b)", "(b) | (a)"]),
            (&[("a", 20_000), ("b", 30_000)], 1_000_000, &["(a) & (b)"]),
            (&[("a", 20_000)], 1_000_000, &[]),
            (&[], 5, &[]),
        ] {
            assert_eq!(expressions(&wanted(parts), messages), expect, "{parts:?}");
        }
    }

    #[test]
    fn longer_words_are_looked_for_where_few_have_one() {
        let part = Part::Word { forms: vec!["run".into(), "runs".into()], longer: Some("runs".into()) };
        assert_eq!(
            (query(&part, false), query(&part, true)),
            ("'run' | 'runs'".into(), "'run' | 'runs' | 'runs':*".into())
        );
    }
}
