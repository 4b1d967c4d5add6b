//! The tables, by versions: each is a migration of the one before, and none goes back.

use tokio_postgres::Client;

use crate::error::SharedError;

/// The version that this program needs and creates.
pub const VERSION: i32 = 4;

/// The version of the first release. Tables of earlier versions were never released.
const FIRST: i32 = 4;

/// The first step makes the tables of [`FIRST`] from nothing, each other one those of the next version.
const STEPS: [&str; 1] = [include_str!("schema/4.sql")];

/// The id of the lock under which the tables are created, so that two callers at the same time create them once.
const LOCK: i64 = 0x6865_726d_6100;

/// Returns the name of the version table, or null.
const FOUND: &str = "SELECT to_regclass('herma.version')::text";

/// Returns everything that `herma shared init` executes, for a person who wants to read it or run it with another
/// program.
#[must_use]
pub fn sql() -> String {
    let step =
        |(version, step): (i32, &str)| format!("{step}\nINSERT INTO herma.version (version) VALUES ({version});\n");
    format!("BEGIN;\n{}COMMIT;\n", (FIRST..).zip(STEPS).map(step).collect::<String>())
}

/// Returns the statements with the rights that a role needs to use a space, and no more.
#[must_use]
pub fn grants(role: &str, space: &str) -> String {
    let role = role.trim_matches('"');
    format!(
        "{}INSERT INTO herma.member (role, space) VALUES ({}, {}) ON CONFLICT DO NOTHING;\n",
        rights(role),
        literal(role),
        literal(space),
    )
}

/// Returns the statements with the rights of a role that uses any space.
fn rights(role: &str) -> String {
    format!(
        "GRANT USAGE ON SCHEMA herma TO {role};\n\
         GRANT SELECT ON herma.version, herma.member TO {role};\n\
         GRANT SELECT, INSERT, UPDATE ON herma.store TO {role};\n\
         GRANT SELECT, INSERT, DELETE ON herma.journal, herma.message TO {role};\n\
         GRANT SELECT, INSERT, UPDATE, DELETE ON herma.shipped, herma.content, herma.output TO {role};\n\
         GRANT SELECT, INSERT, UPDATE, DELETE ON herma.session, herma.session_part TO {role};\n\
         GRANT EXECUTE ON FUNCTION herma.count_messages, herma.find_messages TO {role};\n",
        role = quoted(role),
    )
}

/// Creates or migrates the tables, and lets a role use a space. Returns the version that was found; 0 for none.
///
/// # Errors
/// Tables of a later version, or an error of the database.
pub(crate) async fn make(client: &mut Client, grant: Option<(&str, &str)>) -> Result<i32, SharedError> {
    let refused = |error: tokio_postgres::Error| SharedError::of_change(&error);
    let transaction = client.transaction().await.map_err(refused)?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(refused)?;
    let has_any = transaction.query_one(FOUND, &[]).await.map_err(refused)?.get::<_, Option<String>>(0).is_some();
    let found = if has_any { transaction.query_one(NEWEST, &[]).await.map_err(refused)?.get(0) } else { 0 };
    if found > VERSION {
        return Err(SharedError::NewTables { found, known: VERSION });
    }
    if (1..FIRST).contains(&found) {
        return Err(SharedError::UnreleasedTables(found));
    }
    for (version, step) in (FIRST..).zip(STEPS).filter(|(version, _)| *version > found) {
        transaction.batch_execute(step).await.map_err(refused)?;
        transaction.execute("INSERT INTO herma.version (version) VALUES ($1)", &[&version]).await.map_err(refused)?;
    }
    // Roles that may use a space already get the rights for new tables.
    for member in transaction.query(MEMBERS, &[]).await.map_err(refused)? {
        transaction.batch_execute(&rights(member.get(0))).await.map_err(refused)?;
    }
    if let Some((role, space)) = grant {
        transaction.batch_execute(&grants(role, space)).await.map_err(refused)?;
    }
    transaction.commit().await.map_err(refused)?;
    Ok(found)
}

/// The roles that may use a space, without those that no longer exist.
const MEMBERS: &str = "SELECT DISTINCT role FROM herma.member WHERE role IN (SELECT rolname FROM pg_roles)";

const NEWEST: &str = "SELECT coalesce(max(version), 0)::int4 FROM herma.version";

/// Checks that the tables have the version that this program needs.
///
/// # Errors
/// There are no tables, or they have another version.
pub(crate) async fn check(client: &Client) -> Result<(), SharedError> {
    let newest = client.query_one(NEWEST, &[]).await.map_err(|error| SharedError::of_question(&error))?;
    match newest.get(0) {
        0 => Err(SharedError::NoTables),
        found if found < FIRST => Err(SharedError::UnreleasedTables(found)),
        found if found < VERSION => Err(SharedError::OldTables { found, needed: VERSION }),
        found if found > VERSION => Err(SharedError::NewTables { found, known: VERSION }),
        _ => Ok(()),
    }
}

/// Quotes a name for SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a text for SQL.
fn literal(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_stay_what_they_are() {
        let grants = grants("te\"am", "it's \\ a space");
        assert!(grants.contains("TO \"te\"\"am\";") && grants.contains("E'it''s \\\\ a space'"), "{grants}");
        assert!(sql().starts_with("BEGIN;") && sql().contains("VALUES (4);"));
    }
}
