//! What the locale can show.

use std::ffi::OsStr;

/// Returns whether the locale of the environment has all characters.
pub(super) fn is_unicode() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let first = set.into_iter().find(|value| !value.is_empty());
    has_all_characters(first.as_deref())
}

fn has_all_characters(locale: Option<&OsStr>) -> bool {
    let name = locale.unwrap_or_default().to_string_lossy().to_lowercase();
    name.contains("utf-8") || name.contains("utf8")
}

/// Returns what stands for the rest of a text that is cut.
pub fn ellipsis() -> &'static str {
    if is_unicode() { "…" } else { "..." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_locale_says_whether_it_has_all_characters() {
        for (locale, expected) in
            [(Some("en_US.UTF-8"), true), (Some("C.utf8"), true), (Some("C"), false), (Some(""), false), (None, false)]
        {
            assert_eq!(has_all_characters(locale.map(OsStr::new)), expected, "{locale:?}");
        }
    }
}
