//! Outputs of tools that were kept on any host, by their handles; their texts by content.

mod statements;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::database::Database;
use crate::error::SharedError;
use crate::objects::Objects;
use crate::stores::{signed, unsigned};

/// Bytes of the longest text that the database keeps itself, where there is no object store.
pub const LONGEST_ROW: usize = 256 << 10;

/// Texts that are removed at one time.
const REMOVED: i64 = 100;

/// An output that a host kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOutput {
    /// Names it.
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
    /// What it is.
    pub output: NewOutput,
    /// Bytes of its text.
    pub bytes: u64,
    /// Whether its text is there for others.
    pub is_shared: bool,
}

impl Database {
    /// Keeps an output of this host, with its text where there is room for it: in the object store, or, up to
    /// [`LONGEST_ROW`], in the database. Says whether others can read it.
    ///
    /// # Errors
    /// What the database or the object store says. It can be done again then.
    pub async fn keep_output(
        &self,
        output: &NewOutput,
        text: &str,
        objects: Option<&Objects>,
    ) -> Result<bool, SharedError> {
        let (bytes, is_row) = (signed(text.len().try_into().unwrap_or(u64::MAX)), text.len() <= LONGEST_ROW);
        let body = (objects.is_none() && is_row).then_some(text.as_bytes());
        // From here on nobody takes the text for one that no output names.
        let sha256 = &output.sha256[..];
        let touched: [&(dyn ToSql + Sync); 4] = [&self.space.name, &sha256, &bytes, &body];
        self.change(statements::TOUCH, &touched).await?;
        if let Some(objects) = objects {
            objects.put(&self.space.name, &output.sha256, text).await?;
        }
        let is_shared = objects.is_some() || is_row;
        let NewOutput { handle, profile, session, tool, call, at, .. } = output;
        let (space, host) = (&self.space.name, &self.space.host);
        let said: [&(dyn ToSql + Sync); 10] =
            [space, host, handle, &sha256, profile, session, tool, call, &is_shared, at];
        self.change(statements::KEEP, &said).await?;
        Ok(is_shared)
    }

    /// Handles of the outputs that this host has there, each with whether others can read it.
    ///
    /// # Errors
    /// What the database says.
    pub async fn own_outputs(&self) -> Result<Vec<(String, bool)>, SharedError> {
        let rows = self.ask(statements::OWN, &[&self.space.name, &self.space.host]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Forgets outputs of this host.
    ///
    /// # Errors
    /// What the database says.
    pub async fn forget_outputs(&self, handles: &[String]) -> Result<(), SharedError> {
        let said: [&(dyn ToSql + Sync); 3] = [&self.space.name, &self.space.host, &handles];
        self.change(statements::FORGET, &said).await
    }

    /// Who has an output of this handle in one of these profiles, those first that others can read.
    ///
    /// # Errors
    /// What the database says.
    pub async fn outputs_of(&self, handle: &str, profiles: &[String]) -> Result<Vec<SharedOutput>, SharedError> {
        let said: [&(dyn ToSql + Sync); 3] = [&self.space.name, &handle, &profiles];
        let rows = self.ask(statements::OF_HANDLE, &said).await?;
        rows.iter().map(shared).collect()
    }

    /// The text of an output that others can read; `None` where it is gone.
    ///
    /// # Errors
    /// What the database or the object store says; a text that is not the one that was kept.
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
            (None, Some(objects)) => objects.get(&self.space.name, &output.output.sha256, output.bytes).await?,
            (None, None) => None,
        };
        let text = bytes.map(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string())).transpose();
        text.map_err(|words| SharedError::Refused(format!("the text of {} is none: {words}", output.output.handle)))
    }

    /// Removes texts that no output names any more; true when there may be more.
    ///
    /// # Errors
    /// What the database or the object store says.
    pub async fn remove_unnamed(&self, objects: Option<&Objects>) -> Result<bool, SharedError> {
        let mut taken = self.take().await?;
        let refused = |error: tokio_postgres::Error| SharedError::of_change(&error);
        let work = async {
            let client = &mut taken.connection_mut().client;
            let transaction = client.transaction().await.map_err(refused)?;
            let rows = transaction.query(statements::UNNAMED, &[&self.space.name, &REMOVED]).await.map_err(refused)?;
            // Who is about to name one waits for the end of this, and then keeps it anew.
            for row in rows.iter().filter(|row| !row.get::<_, bool>(1)) {
                if let (Some(objects), Ok(sha256)) = (objects, row.get::<_, &[u8]>(0).try_into()) {
                    objects.remove(&self.space.name, sha256).await?;
                }
            }
            transaction.commit().await.map_err(refused)?;
            Ok(rows.len() == usize::try_from(REMOVED).unwrap_or(usize::MAX))
        };
        let is_more = self.in_time(work, SharedError::Unsettled).await?;
        taken.give_back();
        Ok(is_more)
    }
}

fn shared(row: &Row) -> Result<SharedOutput, SharedError> {
    let sha256 = <[u8; 32]>::try_from(row.get::<_, &[u8]>(2));
    let sha256 = sha256.map_err(|_| SharedError::Refused("an output has no sha256".to_owned()))?;
    let output = NewOutput {
        handle: row.get(1),
        sha256,
        profile: row.get(3),
        session: row.get(4),
        tool: row.get(5),
        call: row.get(6),
        at: row.get(8),
    };
    Ok(SharedOutput { host: row.get(0), output, bytes: unsigned(row.get(9)), is_shared: row.get(7) })
}
