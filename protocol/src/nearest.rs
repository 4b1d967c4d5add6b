//! The known name that somebody may have meant.

/// Names that are less like each other than this are not taken for each other.
const NEAR: f64 = 0.75;

/// The known name that is nearest to `name`, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    by_likeness(name, known).filter(|(likeness, _)| *likeness > NEAR).map(|(_, candidate)| candidate)
}

/// The known name that is most like `name`, however little that is.
pub fn most_like<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    by_likeness(name, known).map(|(_, candidate)| candidate)
}

/// The name that is most like another, case aside, with how like it is: 1 for the same.
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
