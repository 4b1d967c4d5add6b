//! Context windows of models, as their providers reported them in an error. A guess is never stored.

use rusqlite::{OptionalExtension, params};

use crate::{Archive, ArchiveError, Reader};

impl Archive {
    /// Saves the context window of a model at an endpoint, in tokens; the latest one counts. An empty endpoint means
    /// that none is named.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn keep_window(&self, model: &str, base_url: &str, tokens: u64, now: f64) -> Result<(), ArchiveError> {
        let query = "INSERT INTO windows (model, base_url, context_length, at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET context_length = excluded.context_length, at = excluded.at";
        self.connection().prepare_cached(query)?.execute(params![model, base_url, tokens, now])?;
        Ok(())
    }
}

impl Reader {
    /// Returns the context window of a model at an endpoint, in tokens, if a provider reported it.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn window(&self, model: &str, base_url: &str) -> Result<Option<u64>, ArchiveError> {
        let query = "SELECT context_length FROM windows WHERE model = ?1 AND base_url = ?2";
        Ok(self.connection.prepare_cached(query)?.query_row([model, base_url], |row| row.get(0)).optional()?)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::archive;

    #[test]
    fn a_window_is_that_of_a_model_at_an_endpoint() {
        let (_folder, archive) = archive();
        archive.keep_window("m", "", 8_192, 1.0).unwrap();
        archive.keep_window("m", "http://one", 32_768, 2.0).unwrap();
        let window = |model, url| archive.reader().window(model, url).unwrap();
        assert_eq!((window("m", ""), window("m", "http://one")), (Some(8_192), Some(32_768)));
        assert_eq!((window("m", "http://other"), window("n", ""), window("", "")), (None, None, None));
        archive.keep_window("m", "", 16_384, 3.0).unwrap();
        assert_eq!((window("m", ""), window("m", "http://one")), (Some(16_384), Some(32_768)));
    }
}
