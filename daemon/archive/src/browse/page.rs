//! Pages of the messages of a session.

use rusqlite::params;

use super::{ArchivedMessage, MESSAGE, narrow};
use crate::{ArchiveError, Reader};

/// Selects a session's messages, of all roles or of those in a JSON array.
const OF_SESSION: &str = "message.session = (SELECT key FROM session_key WHERE id = ?1) \
     AND (?2 IS NULL OR role IN (SELECT value FROM json_each(?2)))";

/// A page of messages.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePage {
    /// The messages, in the order in which they came.
    pub messages: Vec<ArchivedMessage>,
    /// The number of the first one.
    pub from: u64,
    /// How many there are in all.
    pub total: u64,
}

impl Reader {
    /// Returns at most `limit` messages of a session, in the list and out of it, in the order in which they came. `from`
    /// is the number of the first one; below 0 it counts from the end. With `roles`, other messages do not count.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn session_page(
        &self,
        session: &str,
        from: i64,
        limit: usize,
        roles: Option<&[String]>,
    ) -> Result<MessagePage, ArchiveError> {
        let roles = roles.map(|roles| serde_json::Value::from(roles).to_string());
        let total: u64 = self
            .connection
            .prepare_cached(&format!("SELECT count(*) FROM message_row AS message WHERE {OF_SESSION}"))?
            .query_row(params![session, roles], |row| row.get(0))?;
        let from = if from < 0 { total.saturating_sub(from.unsigned_abs()) } else { from.unsigned_abs() };
        let query = format!("{MESSAGE} WHERE {OF_SESSION} ORDER BY message.id LIMIT ?3 OFFSET ?4");
        let offset = i64::try_from(from).unwrap_or(i64::MAX);
        let messages = self.messages(&query, params![session, roles, narrow(limit), offset])?;
        Ok(MessagePage { messages, from, total })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{archive, session};

    #[test]
    fn messages_come_in_order_from_either_end_and_by_role() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        archive.create_session(&session("t")).unwrap();
        let said: Vec<String> = (0..7)
            .map(|n| format!(r#"{{"role":"{}","content":"{n}"}}"#, if n % 3 == 0 { "user" } else { "assistant" }))
            .collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        archive.append("s", 0, 0, &said[..4], 1.0).unwrap();
        archive.append("t", 0, 0, &said[..1], 1.0).unwrap();
        archive.append("s", 0, 4, &said[4..], 2.0).unwrap();
        let reader = archive.reader();
        let page = |from: i64, limit: usize, roles: Option<&[String]>| {
            let page = reader.session_page("s", from, limit, roles).unwrap();
            let texts: String = page.messages.iter().map(|message| crate::text_of(&message.body)).collect();
            (texts, page.from, page.total)
        };
        let users = ["user".to_owned()];
        for (from, limit, roles, expected) in [
            (0, 50, None, ("0123456", 0, 7)),
            (2, 3, None, ("234", 2, 7)),
            (-2, 50, None, ("56", 5, 7)),
            (-99, 1, None, ("0", 0, 7)),
            (7, 50, None, ("", 7, 7)),
            (i64::MAX, 50, None, ("", i64::MAX.unsigned_abs(), 7)),
            (i64::MIN, 1, None, ("0", 0, 7)),
            (0, 50, Some(users.as_slice()), ("036", 0, 3)),
            (-1, 50, Some(&users), ("6", 2, 3)),
            (0, 50, Some(&[]), ("", 0, 0)),
        ] {
            let (texts, first, total) = expected;
            assert_eq!(page(from, limit, roles), (texts.to_owned(), first, total), "{from} {limit} {roles:?}");
        }
        assert_eq!(reader.session_page("nobody", 0, 50, None).unwrap().total, 0);
    }
}
