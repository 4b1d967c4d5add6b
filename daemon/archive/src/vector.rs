//! Vectors of documents, which an embedder makes from their texts.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::browse::narrow;
pub use crate::packed::{DIMENSIONS, QuantizedVector};
use crate::search::{Hit, hit_of};
use crate::{Archive, ArchiveError, Reader};

/// Documents that wait for their vectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Waiting {
    /// The documents, each with its id, the oldest first.
    pub documents: Vec<(i64, Hit)>,
    /// The id of the newest document in the archive.
    pub newest: i64,
}

/// The result of saving vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveVectorsResult {
    /// They are saved.
    Saved,
    /// They are saved. The earlier ones were deleted, because they had another number of dimensions.
    Replaced,
    /// Nothing was saved: no embedder is set, because the archive is another one than before.
    NoEmbedder,
}

impl Reader {
    /// Returns documents without a vector after this id, the oldest first, each with its id. For a part of an output
    /// this is only its location; the text is in the output's file.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn without_vector(&self, behind: i64, limit: usize) -> Result<Waiting, ArchiveError> {
        // One read transaction: documents that are removed meanwhile are still there.
        let view = self.connection.unchecked_transaction()?;
        let newest = view.query_row("SELECT coalesce(max(id), 0) FROM document", [], |row| row.get(0))?;
        let mut query = view.prepare_cached(
            // Messages may be indexed after outputs that have larger ids.
            "SELECT id FROM document WHERE id > min(?1, (SELECT value FROM meta WHERE name = 'indexed'))
             AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.id = document.id) ORDER BY id LIMIT ?2",
        )?;
        let ids = query.query_map(params![behind, narrow(limit)], |row| row.get(0))?;
        let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
        let documents = ids.into_iter().map(|id| Ok((id, hit_of(&view, id)?))).collect::<Result<_, ArchiveError>>()?;
        Ok(Waiting { documents, newest })
    }

    /// Returns how many documents have a vector, and how many there are.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn count_vectors(&self) -> Result<(u64, u64), ArchiveError> {
        let count = |table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            self.connection.prepare_cached(&query)?.query_row([], |row| row.get(0))
        };
        Ok((count("vector")?, count("document")?))
    }
}

impl Archive {
    /// Sets the embedder that makes the vectors from now on. Vectors of another embedder can't be compared, and are
    /// deleted.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn use_embedder(&mut self, name: &str) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        if space(&transaction)?.is_none_or(|(known, _)| known != name) {
            begin(&transaction, name, None)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Saves vectors of documents that still exist. `dimensions` is the number of numbers in each, if any of them is
    /// not [`QuantizedVector::none`]. If it differs from that of the earlier vectors, those are deleted.
    ///
    /// # Errors
    /// A failure of the database; none is saved then.
    pub fn keep_vectors(
        &mut self,
        dimensions: Option<usize>,
        vectors: &[(i64, QuantizedVector)],
    ) -> Result<SaveVectorsResult, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Some((name, known)) = space(&transaction)? else { return Ok(SaveVectorsResult::NoEmbedder) };
        let is_other = dimensions.is_some() && known.is_some() && known != dimensions;
        if dimensions.is_some() && known != dimensions {
            begin(&transaction, &name, dimensions)?;
        }
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO vector (id, body)
                 SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM document WHERE id = ?1)",
            )?;
            for (id, vector) in vectors {
                insert.execute(params![id, vector.bytes()])?;
            }
        }
        transaction.commit()?;
        Ok(if is_other { SaveVectorsResult::Replaced } else { SaveVectorsResult::Saved })
    }
}

fn space(connection: &Connection) -> Result<Option<(String, Option<usize>)>, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT embedder, dimensions FROM vector_space")?;
    Ok(query.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Deletes all vectors, and notes the embedder of the next ones.
fn begin(transaction: &Transaction<'_>, name: &str, dimensions: Option<usize>) -> Result<(), ArchiveError> {
    transaction.execute("DELETE FROM vector", [])?;
    let query = "INSERT OR REPLACE INTO vector_space (one, embedder, dimensions) VALUES (1, ?1, ?2)";
    transaction.execute(query, params![name, dimensions])?;
    Ok(())
}

#[cfg(test)]
mod tests;
