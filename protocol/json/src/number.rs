//! Numbers as different writers of JSON write them.

/// Below this magnitude a double represents every whole number exactly: 2^53.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Returns a whole number without its point or exponent (`3` for `3.0`); `None` for any other token, and for a number
/// that has neither.
#[must_use]
pub fn whole_number(token: &str) -> Option<String> {
    let is_number = token.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let number = token.parse::<f64>().ok().filter(|_| is_number && token.contains(['.', 'e', 'E']))?;
    (number.fract() == 0.0 && number.abs() < WHOLE).then(|| format!("{number:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_of_nothing_is_left_out() {
        for (token, expected) in [
            ("3.0", Some("3")),
            ("-7.000", Some("-7")),
            ("1e3", Some("1000")),
            ("120E-1", Some("12")),
            ("0.0", Some("0")),
            ("3", None),
            ("3.5", None),
            ("9007199254740992.0", None),
            ("1e999", None),
            ("infinity", None),
            ("\"3.0\"", None),
            (".0", None),
        ] {
            assert_eq!(whole_number(token).as_deref(), expected, "{token}");
        }
    }
}
