//! Suggestions for misspelled names.

/// The similarity (Jaro-Winkler, 0 to 1) above which a name is suggested.
const NEAR: f64 = 0.75;

/// Returns the known name nearest to `name`, if it is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    by_likeness(name, known).filter(|(likeness, _)| *likeness > NEAR).map(|(_, candidate)| candidate)
}

/// Returns the known name most similar to `name`, however small the similarity.
pub fn most_like<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    by_likeness(name, known).map(|(_, candidate)| candidate)
}

/// Returns the most similar name and its similarity, 1 for the same name; ignores case.
fn by_likeness<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<(f64, &'a str)> {
    let name = name.to_lowercase();
    let likeness = |candidate: &'a str| (strsim::jaro_winkler(&name, &candidate.to_lowercase()), candidate);
    known.into_iter().map(likeness).max_by(|one, other| one.0.total_cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_meant_by_one_that_is_much_like_it() {
        for (name, meant, most) in [
            ("memory.ad", Some("memory.add"), "memory.add"),
            ("MEMORY.ADD", Some("memory.add"), "memory.add"),
            ("zzz", None, "memory.undo"),
            ("png", Some("ping"), "ping"),
        ] {
            let known = ["ping", "memory.add", "memory.undo"];
            assert_eq!((nearest(name, known), most_like(name, known)), (meant, Some(most)), "{name}");
        }
        assert_eq!(most_like("x", []), None);
    }
}
