//! Checks of names from outside: ids of sessions, tools, titles, holders.

use herma_protocol::limits;

use super::error::{Error, Outcome};

/// Checks a name of at most [`limits::NAME`] chars without control characters.
pub(crate) fn check(param: &str, name: &str) -> Outcome<()> {
    check_up_to(limits::NAME, param, name)
}

/// Checks a path that is only shown, of at most [`limits::PATH`] chars without control characters.
pub(crate) fn check_path(param: &str, path: &str) -> Outcome<()> {
    check_up_to(limits::PATH, param, path)
}

fn check_up_to(most: usize, param: &str, name: &str) -> Outcome<()> {
    let chars = name.chars().count();
    if chars > most {
        return Err(Error::param(param, format!("{chars} chars; at most {most} are allowed")));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::param(param, "control characters are not allowed"));
    }
    Ok(())
}

/// Checks all names that are present.
pub(crate) fn check_all(names: &[(&str, Option<&String>)]) -> Outcome<()> {
    names.iter().try_for_each(|(param, name)| name.map_or(Ok(()), |name| check(param, name)))
}
