//! Finding messages by their tokens.

use std::collections::HashSet;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{Message, MessageKey, statements, tokens};
use crate::database::Database;
use crate::error::SharedError;
use crate::stores::{signed, unsigned};

/// Messages that are counted; from there on their number is what the database takes it for.
const COUNTED: i64 = 5_000;

/// The same of those that have a part.
const COUNTED_WITH: i64 = 20_000;

/// Messages that may have the words by which the best are found. Common words find none beside rare ones.
const BUDGET: usize = 12_000;

/// Bytes of messages around one that are given at most.
const MOST_BYTES: i64 = 2 << 20;

/// The same of messages that were found.
const MOST_TOLD: i64 = 32 << 20;

/// With so many messages, those that have only common words are not gone through.
const ALL: usize = 200_000;

/// Which messages are looked at: none of the archive that asks, for it knows these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within<'a> {
    /// The archive of this host that asks.
    pub archive: u32,
    /// The profiles.
    pub profiles: &'a [String],
    /// Only of sessions of this id.
    pub session: Option<&'a str>,
    /// Only from this time on, in Unix seconds.
    pub since: Option<f64>,
    /// Only before this time, in Unix seconds.
    pub until: Option<f64>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What a message may have.
    pub parts: &'a [Part],
    /// Where so many have a word, longer ones are not looked for.
    pub enough: usize,
    /// How many are found at most.
    pub most: usize,
    /// How many messages before and behind one are told of.
    pub around: Around,
    /// What having a part is worth: of all messages so many have it.
    pub worth: fn(usize, usize) -> f64,
}

/// How many messages before and behind one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Around {
    /// Before.
    pub before: usize,
    /// Behind.
    pub after: usize,
}

/// Something that a message may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Any of these tokens; where few messages have one, also one that begins with `longer`.
    Word {
        /// The tokens.
        forms: Vec<String>,
        /// The beginning of others.
        longer: Option<String>,
    },
    /// A token that begins with this.
    Beginning(String),
    /// Tokens that follow each other.
    Sequence {
        /// The tokens.
        tokens: Vec<String>,
        /// What has it not is not found, where anything has it.
        is_quoted: bool,
    },
}

/// What there is of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// How many messages there are, more or less.
    pub messages: usize,
    /// In how many each part is, more or less.
    pub counts: Vec<usize>,
    /// Only what has all that was quoted was found.
    pub is_quoted: bool,
    /// The best, the best first.
    pub documents: Vec<Document>,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Names it.
    pub key: MessageKey,
    /// What the parts that it has are worth.
    pub first: f64,
    /// For each part whether it has it.
    pub has: Vec<bool>,
    /// Its terms.
    pub terms: Terms,
    /// Those of the messages before it, the nearest first.
    pub before: Vec<Terms>,
    /// Those behind it.
    pub after: Vec<Terms>,
}

/// The terms of a message, as they were brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// How many words.
    pub count: u32,
    /// What the text is besides its words.
    pub marks: u8,
    /// How often each occurs.
    pub terms: Vec<u8>,
}

impl Part {
    fn query(&self, with_longer: bool) -> String {
        match self {
            Self::Word { forms, longer } => {
                let any = tokens::any(forms.iter().map(String::as_str));
                match longer.as_ref().filter(|_| with_longer) {
                    Some(longer) => format!("{any} | {}", tokens::beginning(longer)),
                    None => any,
                }
            }
            Self::Beginning(token) => tokens::beginning(token),
            Self::Sequence { tokens, .. } => tokens::sequence(tokens),
        }
    }

    /// Whether messages are found by it.
    const fn finds(&self) -> bool {
        !matches!(self, Self::Sequence { is_quoted: false, .. })
    }

    const fn is_quoted(&self) -> bool {
        matches!(self, Self::Sequence { is_quoted: true, .. })
    }

    fn may_be_longer(&self) -> bool {
        matches!(self, Self::Word { longer: Some(_), .. })
    }
}

/// A part as PostgreSQL is asked for it.
#[derive(Debug, Clone)]
struct Wanted {
    query: String,
    count: usize,
    finds: bool,
}

impl Database {
    /// The messages of other archives that have most of what is asked for.
    ///
    /// # Errors
    /// What the database says.
    pub async fn find_messages(&self, within: Within<'_>, asked: Asked<'_>) -> Result<Found, SharedError> {
        let messages = self.count_all(within).await?;
        let mut found = Found { messages, counts: vec![0; asked.parts.len()], ..Found::default() };
        if messages == 0 || asked.parts.is_empty() {
            return Ok(found);
        }
        let mut queries: Vec<String> = asked.parts.iter().map(|part| part.query(false)).collect();
        // How many have words in a row is seen in what is found: to look for it in all takes as long as reading them.
        let counted: Vec<usize> = (0..).zip(asked.parts).filter(|(_, part)| part.finds()).map(|(at, _)| at).collect();
        self.count_into(within, &queries, &counted, &mut found.counts).await?;
        let few = |at: &usize| found.counts.get(*at).is_some_and(|count| *count <= asked.enough);
        let longer: Vec<usize> =
            (0..).zip(asked.parts).filter(|(_, part)| part.may_be_longer()).map(|(at, _)| at).filter(few).collect();
        if !longer.is_empty() {
            for at in &longer {
                if let (Some(query), Some(part)) = (queries.get_mut(*at), asked.parts.get(*at)) {
                    *query = part.query(true);
                }
            }
            self.count_into(within, &queries, &longer, &mut found.counts).await?;
        }
        let wanted: Vec<Wanted> = queries
            .into_iter()
            .zip(&found.counts)
            .zip(asked.parts)
            .map(|((query, count), part)| Wanted { query, count: *count, finds: part.finds() })
            .collect();
        let worths = worths(&wanted, |count| (asked.worth)(messages, count));
        let quoted = asked.parts.iter().zip(&wanted).filter(|(part, wanted)| part.is_quoted() && wanted.count > 0);
        let quoted: Vec<&Wanted> = quoted.map(|(_, wanted)| wanted).collect();
        if !quoted.is_empty() {
            found.documents = self.best(within, asked, (&wanted, &worths), &joined(&quoted, " & ")).await?;
            found.is_quoted = !found.documents.is_empty();
        }
        for expression in expressions(&wanted, messages) {
            if found.is_quoted || found.documents.len() >= asked.most {
                break;
            }
            let known: HashSet<MessageKey> = found.documents.iter().map(|document| document.key.clone()).collect();
            let more = match self.best(within, asked, (&wanted, &worths), &expression).await {
                // What has the rare words is found already.
                Err(error) if error.is_passing() && !found.documents.is_empty() => break,
                more => more?,
            };
            found.documents.extend(more.into_iter().filter(|document| !known.contains(&document.key)));
        }
        found.documents.truncate(asked.most);
        for (at, count) in
            found.counts.iter_mut().enumerate().filter(|(at, _)| !asked.parts.get(*at).is_some_and(Part::finds))
        {
            *count = found.documents.iter().filter(|document| document.has.get(at) == Some(&true)).count();
        }
        Ok(found)
    }

    /// A message of another archive with so many before and behind it, oldest first; none where there is no such
    /// message of these profiles.
    ///
    /// # Errors
    /// What the database says.
    pub async fn messages_around(
        &self,
        key: &MessageKey,
        profiles: &[String],
        around: Around,
    ) -> Result<Vec<Message>, SharedError> {
        let (archive, number) = (i64::from(key.archive), signed(key.number));
        let (before, after) = (narrow(around.before), narrow(around.after));
        let said: [&(dyn ToSql + Sync); 8] =
            [&self.space.name, &key.host, &archive, &number, &profiles, &before, &after, &MOST_BYTES];
        let rows = self.ask(statements::AROUND, &said).await?;
        rows.iter().map(message).collect()
    }

    /// Messages by their names, in any order; those that are gone, of other profiles, or too many bytes are left out.
    ///
    /// # Errors
    /// What the database says.
    pub async fn messages(&self, keys: &[MessageKey], profiles: &[String]) -> Result<Vec<Message>, SharedError> {
        let hosts: Vec<&str> = keys.iter().map(|key| key.host.as_str()).collect();
        let archives: Vec<i64> = keys.iter().map(|key| i64::from(key.archive)).collect();
        let numbers: Vec<i64> = keys.iter().map(|key| signed(key.number)).collect();
        let said: [&(dyn ToSql + Sync); 6] = [&self.space.name, &hosts, &archives, &numbers, &profiles, &MOST_TOLD];
        self.ask(statements::BY_KEY, &said).await?.iter().map(message).collect()
    }

    async fn count_all(&self, within: Within<'_>) -> Result<usize, SharedError> {
        let archive = i64::from(within.archive);
        let said: [&(dyn ToSql + Sync); 8] = [
            &self.space.name,
            &self.space.host,
            &archive,
            &within.profiles,
            &within.session,
            &within.since,
            &within.until,
            &COUNTED,
        ];
        let rows = self.ask(statements::COUNT_ALL, &said).await?;
        Ok(rows.first().map_or(0, |row| count(row.get(0))))
    }

    /// Counts some parts, by their places.
    async fn count_into(
        &self,
        within: Within<'_>,
        queries: &[String],
        places: &[usize],
        counts: &mut [usize],
    ) -> Result<(), SharedError> {
        let wanted: Vec<String> = places.iter().filter_map(|at| queries.get(*at).cloned()).collect();
        for (at, count) in places.iter().zip(self.count(within, &wanted).await?) {
            if let Some(known) = counts.get_mut(*at) {
                *known = count;
            }
        }
        Ok(())
    }

    async fn count(&self, within: Within<'_>, queries: &[String]) -> Result<Vec<usize>, SharedError> {
        let archive = i64::from(within.archive);
        let said: [&(dyn ToSql + Sync); 9] = [
            &self.space.name,
            &self.space.host,
            &archive,
            &within.profiles,
            &within.session,
            &within.since,
            &within.until,
            &queries,
            &COUNTED_WITH,
        ];
        let rows = self.ask(statements::COUNT, &said).await?;
        Ok(rows.iter().map(|row| count(row.get(0))).collect())
    }

    async fn best(
        &self,
        within: Within<'_>,
        asked: Asked<'_>,
        (wanted, worths): (&[Wanted], &[f64]),
        expression: &str,
    ) -> Result<Vec<Document>, SharedError> {
        let queries: Vec<&str> = wanted.iter().map(|wanted| wanted.query.as_str()).collect();
        let archive = i64::from(within.archive);
        let (most, before, after) = (narrow(asked.most), narrow(asked.around.before), narrow(asked.around.after));
        let said: [&(dyn ToSql + Sync); 13] = [
            &self.space.name,
            &self.space.host,
            &archive,
            &within.profiles,
            &within.session,
            &within.since,
            &within.until,
            &expression,
            &queries,
            &worths,
            &most,
            &before,
            &after,
        ];
        self.ask(statements::FIND, &said).await?.iter().map(document).collect()
    }
}

/// What having each part is worth. Words in a row, of which it is not known how many have them, are worth half of
/// what the rarest other part is.
fn worths(wanted: &[Wanted], worth: impl Fn(usize) -> f64) -> Vec<f64> {
    let known = wanted.iter().filter(|part| part.finds && part.count > 0).map(|part| worth(part.count));
    let in_a_row = known.fold(0.0, f64::max) / 2.0;
    wanted.iter().map(|part| if part.finds { worth(part.count) } else { in_a_row }).collect()
}

/// What finds messages, one expression after the other until there are enough: the rarer parts, two of the common
/// ones together, and, where there are not too many messages, any part.
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
        agent: row.get(5),
        role: row.get(6),
        at: row.get(7),
        body: row.get(8),
    })
}

fn document(row: &Row) -> Result<Document, SharedError> {
    let near = |first: usize| -> Vec<Terms> {
        let words: Vec<i32> = row.get::<_, Option<_>>(first).unwrap_or_default();
        let marks: Vec<i16> = row.get::<_, Option<_>>(first + 1).unwrap_or_default();
        let all: Vec<Vec<u8>> = row.get::<_, Option<_>>(first + 2).unwrap_or_default();
        words.into_iter().zip(marks).zip(all).map(|((words, marks), of)| terms(words, marks, of)).collect()
    };
    let own: Option<Vec<u8>> = row.get(5);
    Ok(Document {
        key: MessageKey { host: row.get(0), archive: archive(row.get(1))?, number: unsigned(row.get(2)) },
        first: row.get(6),
        has: row.get(7),
        terms: terms(row.get(3), row.get(4), own.unwrap_or_default()),
        before: near(8),
        after: near(11),
    })
}

fn terms(words: i32, marks: i16, terms: Vec<u8>) -> Terms {
    Terms { count: u32::try_from(words).unwrap_or(0), marks: u8::try_from(marks).unwrap_or(0), terms }
}

fn archive(number: i64) -> Result<u32, SharedError> {
    u32::try_from(number).map_err(|_| SharedError::Refused(format!("an archive has the number {number}")))
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
            (part.query(false), part.query(true)),
            ("'run' | 'runs'".into(), "'run' | 'runs' | 'runs':*".into())
        );
    }
}
