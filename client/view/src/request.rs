//! The parameters of a request. No I/O.

use url::form_urlencoded;

/// The parameters of an address or a form, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Parses the part of an address behind the question mark, or the body of a form.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// Returns a parameter, if it is there and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(found, value)| found == name && !value.trim().is_empty());
        found.map(|(_, value)| value.trim())
    }

    /// Returns all values of a parameter.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(found, _)| found == name).map(|(_, value)| value.clone()).collect()
    }

    /// Returns a parameter as it was sent.
    pub(crate) fn whole(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns a parameter that is a number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

/// Returns an address with parameters. Those without a value are left out.
pub(crate) fn address(path: &str, params: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    params.iter().filter(|(_, value)| !value.is_empty()).for_each(|(name, value)| {
        query.append_pair(name, value);
    });
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_says_is_read_back() {
        let odd = "a&b=c?d/é\"<>\u{0}";
        let built = address("/session", &[("id", odd), ("empty", ""), ("at", "7")]);
        let params = Params::parse(built.split_once('?').unwrap().1.as_bytes());
        assert_eq!((params.get("id"), params.number("at"), params.get("empty")), (Some(odd), Some(7), None));
        assert_eq!(address("/", &[]), "/");
        let twice = Params::parse(b"id=1&id=2&x=%ff&y");
        assert_eq!(twice.all("id"), ["1", "2"]);
        assert_eq!((twice.get("x"), twice.get("y"), twice.number("x")), (Some("\u{fffd}"), None, None));
    }
}
