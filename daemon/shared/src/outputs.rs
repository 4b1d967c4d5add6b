//! Outputs of tools that any host kept, by their handles, and their texts by content.

mod statements;

use futures_util::future::try_join_all;
use sha2::{Digest, Sha256};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::database::Database;
use crate::error::SharedError;
use crate::foreign;
use crate::objects::Objects;
use crate::stores::{signed, unsigned};

/// The maximum length in bytes of a text that the database itself stores, if there is no object store.
pub const LONGEST_ROW: usize = 256 << 10;

/// The maximum length in bytes of a text that is read from an object store.
pub const LONGEST: u64 = 1 << 30;

/// The maximum number of texts that are removed at a time.
const REMOVED: i64 = 16;

/// An output that a host kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOutput {
    /// Its handle.
    pub handle: String,
    /// SHA-256 of its text.
    pub sha256: [u8; 32],
    /// The profile.
    pub profile: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The id of the call.
    pub call: String,
    /// When it was kept, in Unix seconds.
    pub at: f64,
}

/// An output that a host has.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedOutput {
    /// The host.
    pub host: String,
    /// The output itself.
    pub output: NewOutput,
    /// Bytes of its text.
    pub bytes: u64,
    /// Whether other hosts can read its text.
    pub is_shared: bool,
}

impl Database {
    /// Saves an output of this host, of `bytes` bytes. With its text, other hosts can read it. The text goes into the
    /// object store or, up to [`LONGEST_ROW`], into the database. Without the text, other hosts only learn which host
    /// has it.
    ///
    /// # Errors
    /// An error of the database or the object store, or a text with another sha256. The call can be repeated then.
    pub async fn keep_output(
        &self,
        output: &NewOutput,
        bytes: u64,
        text: Option<String>,
        objects: Option<&Objects>,
    ) -> Result<(), SharedError> {
        let is_shared = text.is_some();
        if text.as_ref().is_some_and(|text| !is_text(text.as_bytes(), &output.sha256)) {
            return Err(SharedError::Refused(format!("the file of {} was changed since it was kept", output.handle)));
        }
        let bytes = signed(bytes);
        let body = text.as_ref().filter(|_| objects.is_none()).map(String::as_bytes);
        // From here on, no host removes the text because no output names it.
        let sha256 = &output.sha256[..];
        let touched: [&(dyn ToSql + Sync); 4] = [&self.space.name, &sha256, &bytes, &body];
        self.change(statements::TOUCH, &touched).await?;
        if let (Some(objects), Some(text)) = (objects, text) {
            self.check_mark(objects).await?;
            objects.put(&self.space.name, &output.sha256, text).await?;
        }
        let NewOutput { handle, profile, session, tool, call, at, .. } = output;
        let (space, host) = (&self.space.name, &self.space.host);
        let said: [&(dyn ToSql + Sync); 10] =
            [space, host, handle, &sha256, profile, session, tool, call, &is_shared, at];
        self.change(statements::KEEP, &said).await.map(drop)
    }

    /// Marks an object store that has no text so far.
    ///
    /// # Errors
    /// An object store has texts already, and this one has no marker: it is another one, or is not mounted.
    async fn check_mark(&self, objects: &Objects) -> Result<(), SharedError> {
        if objects.is_marked(&self.space.name).await? {
            return Ok(());
        }
        let rows = self.ask(statements::IN_OBJECTS, &[&self.space.name]).await?;
        if rows.iter().any(|row| row.get(0)) {
            return Err(objects.unmarked());
        }
        objects.mark().await
    }

    /// Returns the handles of the outputs of this host in the database, each with whether other hosts can read it.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn own_outputs(&self) -> Result<Vec<(String, bool)>, SharedError> {
        let rows = self.ask(statements::OWN, &[&self.space.name, &self.space.host]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Forgets outputs of this host.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn forget_outputs(&self, handles: &[String]) -> Result<(), SharedError> {
        let said: [&(dyn ToSql + Sync); 3] = [&self.space.name, &self.space.host, &handles];
        self.change(statements::FORGET, &said).await.map(drop)
    }

    /// Returns the hosts' outputs with this handle in one of these profiles, those first that other hosts can read.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn outputs_of(&self, handle: &str, profiles: &[String]) -> Result<Vec<SharedOutput>, SharedError> {
        let said: [&(dyn ToSql + Sync); 3] = [&self.space.name, &handle, &profiles];
        let rows = self.ask(statements::OF_HANDLE, &said).await?;
        Ok(self.left_out.sift(rows.iter().map(shared)))
    }

    /// Returns the text of an output that other hosts can read; `None` if it is gone.
    ///
    /// # Errors
    /// An error of the database or the object store, or a text that is not the one that was saved.
    pub async fn output_text(
        &self,
        output: &SharedOutput,
        objects: Option<&Objects>,
    ) -> Result<Option<String>, SharedError> {
        let sha256 = &output.output.sha256[..];
        let said: [&(dyn ToSql + Sync); 2] = [&self.space.name, &sha256];
        let rows = self.ask(statements::BODY, &said).await?;
        let body: Option<Vec<u8>> = rows.first().and_then(|row| row.get(0));
        let bytes = match (body, objects) {
            (Some(body), _) => Some(body),
            (None, Some(_)) if output.bytes > LONGEST => {
                return Err(SharedError::Refused(format!(
                    "{} has {} bytes, and at most {LONGEST} are read",
                    output.output.handle, output.bytes
                )));
            }
            (None, Some(objects)) => objects.get(&self.space.name, &output.output.sha256, output.bytes).await?,
            (None, None) => None,
        };
        if bytes.as_ref().is_some_and(|bytes| !is_text(bytes, &output.output.sha256)) {
            return Err(SharedError::Refused(format!("{} has other bytes than were kept", output.output.handle)));
        }
        let text = bytes.map(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string())).transpose();
        text.map_err(|words| SharedError::Refused(format!("the text of {} is none: {words}", output.output.handle)))
    }

    /// Removes texts that no output names any more. Returns true if there may be more.
    ///
    /// # Errors
    /// An error of the database or the object store.
    pub async fn remove_unnamed(&self, objects: Option<&Objects>) -> Result<bool, SharedError> {
        let mut taken = self.take().await?;
        let refused = |error: tokio_postgres::Error| SharedError::of_change(&error);
        let work = async {
            let client = &mut taken.connection_mut().client;
            let transaction = client.transaction().await.map_err(refused)?;
            let rows = transaction
                .query(statements::UNNAMED, &[&self.space.name, &REMOVED, &objects.is_some()])
                .await
                .map_err(refused)?;
            // A host that is about to name one of them waits for the end of this transaction, and then saves it again.
            if let Some(objects) = objects {
                let each = rows.iter().filter_map(|row| <[u8; 32]>::try_from(row.get::<_, &[u8]>(0)).ok());
                try_join_all(each.map(|sha256| objects.remove(&self.space.name, sha256))).await?;
            }
            transaction.commit().await.map_err(refused)?;
            Ok(rows.len() == usize::try_from(REMOVED).unwrap_or(usize::MAX))
        };
        let is_more = self.in_time(work, SharedError::Unsettled).await?;
        taken.release();
        Ok(is_more)
    }
}

/// Whether bytes have this sha256.
fn is_text(bytes: &[u8], sha256: &[u8; 32]) -> bool {
    <[u8; 32]>::from(Sha256::digest(bytes)) == *sha256
}

fn shared(row: &Row) -> Result<SharedOutput, SharedError> {
    let sha256 = <[u8; 32]>::try_from(row.get::<_, &[u8]>(2));
    let sha256 = sha256.map_err(|_| SharedError::Refused("an output has no sha256".to_owned()))?;
    let output = NewOutput {
        handle: row.get(1),
        sha256,
        profile: row.get(3),
        session: foreign::name(row.get(4)),
        tool: foreign::name(row.get(5)),
        call: foreign::name(row.get(6)),
        at: foreign::seconds(row.get(8)),
    };
    Ok(SharedOutput { host: foreign::name(row.get(0)), output, bytes: unsigned(row.get(9)), is_shared: row.get(7) })
}
