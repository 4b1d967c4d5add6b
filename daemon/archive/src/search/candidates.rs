//! Reads the terms of the documents that are ranked, and of the messages around them.

use std::collections::HashMap;
use std::rc::Rc;

use rusqlite::{Connection, OptionalExtension, params};

use super::rank::{AFTER, BEFORE, Candidate, DocumentId, Neighbour};
use crate::ArchiveError;
use crate::browse::narrow;
use crate::terms::{DocumentTerms, Marks};

/// The session of a document that is a message, and the document's terms.
type Known = Option<(Option<i64>, Rc<DocumentTerms>)>;

/// Reads terms, those of each document once.
pub(super) struct TermCache<'a> {
    connection: &'a Connection,
    known: HashMap<i64, Known>,
}

impl<'a> TermCache<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        Self { connection, known: HashMap::new() }
    }

    /// Returns the documents without the messages around them. A document that is only in the index has no terms.
    pub(super) fn candidates(&mut self, found: &[(i64, f64)]) -> Result<Vec<Candidate>, ArchiveError> {
        let mut candidates = Vec::with_capacity(found.len());
        for &(id, first) in found {
            let terms = self.get(id)?.map(|(_, terms)| DocumentTerms::clone(&terms)).unwrap_or_default();
            candidates.push(Candidate {
                id: DocumentId::Local(id),
                terms,
                first,
                before: Vec::new(),
                after: Vec::new(),
            });
        }
        Ok(candidates)
    }

    /// Adds the terms of a message that is not in the index.
    pub(super) fn put(&mut self, session: i64, id: i64, candidate: &Candidate) {
        self.known.insert(id, Some((Some(session), Rc::new(candidate.terms.clone()))));
    }

    /// Adds the messages around a candidate in its session. A candidate of another archive has them already.
    pub(super) fn look_around(&mut self, candidate: &mut Candidate) -> Result<(), ArchiveError> {
        let DocumentId::Local(id) = candidate.id else { return Ok(()) };
        let Some((Some(session), _)) = self.get(id)? else { return Ok(()) };
        let before = "SELECT id FROM message_row WHERE session = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";
        candidate.before = self.neighbours(before, session, id, BEFORE.len())?;
        let after = "SELECT id FROM message_row WHERE session = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
        candidate.after = self.neighbours(after, session, id, AFTER.len())?;
        Ok(())
    }

    fn neighbours(&mut self, query: &str, session: i64, id: i64, count: usize) -> Result<Vec<Neighbour>, ArchiveError> {
        let ids: Vec<i64> = {
            let mut query = self.connection.prepare_cached(query)?;
            let rows = query.query_map(params![session, id, narrow(count)], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        };
        let mut terms = Vec::with_capacity(ids.len());
        for id in ids {
            terms.push((Some(DocumentId::Local(id)), self.get(id)?.map(|(_, terms)| terms).unwrap_or_default()));
        }
        Ok(terms)
    }

    fn get(&mut self, id: i64) -> Result<Known, ArchiveError> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let mut query =
            self.connection.prepare_cached("SELECT session, words, marks, terms FROM document_terms WHERE id = ?1")?;
        let found = query.query_row([id], |row| {
            let terms = DocumentTerms { words: row.get(1)?, marks: Marks::decode(row.get(2)?), encoded: row.get(3)? };
            Ok((row.get(0)?, Rc::new(terms)))
        });
        let found = found.optional()?;
        self.known.insert(id, found.clone());
        Ok(found)
    }
}
