//! Decides who is answered: only the browser that opened the printed address, and only for pages of this server. No I/O.

use http::{HeaderMap, Method, header};

/// The name of the parameter with the one-time token.
pub(crate) const TOKEN: &str = "token";

/// The secrets of a run.
#[derive(Debug)]
pub(crate) struct Access {
    /// The port. Cookies don't tell ports apart, so it is part of the cookie's name.
    port: u16,
    /// The token of the printed address, until it was used.
    token: Option<String>,
    /// The cookie's value.
    cookie: String,
    /// What every form has to send.
    form: String,
}

/// What a request may do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is answered.
    Welcome,
    /// It has the one-time token, and gets this cookie.
    New(String),
    /// It is refused, for this reason.
    Refused(&'static str),
}

impl Access {
    /// Creates the secrets from three random texts.
    pub(crate) fn new(port: u16, [token, cookie, form]: [String; 3]) -> Self {
        Self { port, token: Some(token), cookie, form }
    }

    /// Returns the address to open.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?{TOKEN}={}", self.port, self.token.as_deref().unwrap_or_default())
    }

    /// Returns the value that forms have to send.
    pub(crate) fn form(&self) -> &str {
        &self.form
    }

    /// Judges a request. The token works once.
    pub(crate) fn judge(&mut self, method: &Method, token: Option<&str>, headers: &HeaderMap) -> Verdict {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        // Browsers leave out the usual port.
        let port = if self.port == 80 { String::new() } else { format!(":{}", self.port) };
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}{port}"));
        // The name of another site may lead here (DNS rebinding).
        let Some(host) = text(header::HOST).filter(|host| hosts.iter().any(|own| own == host)) else {
            return Verdict::Refused("the address has another host than this page");
        };
        // The browser may come from a file that this program wrote, which is another site.
        let own = self.token.as_deref().filter(|_| *method == Method::GET);
        if token.zip(own).is_some_and(|(token, own)| is_same(own, token)) {
            self.token = None;
            let (name, value) = (self.cookie_name(), &self.cookie);
            return Verdict::New(format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/"));
        }
        let origin = text(header::ORIGIN);
        if origin.is_some_and(|origin| origin != format!("http://{host}")) {
            return Verdict::Refused("another site asked");
        }
        if *method == Method::POST && origin.is_none() {
            return Verdict::Refused("a change has to come from a form of this page");
        }
        let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Verdict::Refused("another site asked");
        }
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut own = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
        if own.any(|(found, value)| found == name && is_same(value, &self.cookie)) {
            return Verdict::Welcome;
        }
        Verdict::Refused(
            "this page belongs to the browser that opened it first. Run `herma view` again for an address that works",
        )
    }

    fn cookie_name(&self) -> String {
        format!("herma_view_{}", self.port)
    }
}

/// Compares two secrets in a time that doesn't depend on where they differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let differs = one.bytes().zip(other.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other));
    one.len() == other.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_the_browser_that_opened_the_page_is_answered() {
        let mut access = Access::new(8642, ["t", "c", "f"].map(str::to_owned));
        assert_eq!(access.address(), "http://127.0.0.1:8642/?token=t");
        let own = ("cookie", "a=b; herma_view_8642=c");
        let refused = |verdict: Verdict| matches!(verdict, Verdict::Refused(_));
        for (fields, is_welcome) in [
            (&[("host", "127.0.0.1:8642"), own][..], true),
            (&[("host", "localhost:8642"), own], true),
            (&[("host", "[::1]:8642"), own, ("origin", "http://[::1]:8642")], true),
            (&[("host", "127.0.0.1:8642"), own, ("sec-fetch-site", "none")], true),
            (&[("host", "127.0.0.1:8642"), ("cookie", "herma_view_8642=d")], false),
            (&[("host", "127.0.0.1:8642"), ("cookie", "herma_view_1=c")], false),
            (&[("host", "127.0.0.1:8642")], false),
            (&[("host", "evil.example:8642"), own], false),
            (&[("host", "127.0.0.1:1"), own], false),
            (&[own], false),
            (&[("host", "127.0.0.1:8642"), own, ("origin", "http://evil.example")], false),
            (&[("host", "127.0.0.1:8642"), own, ("origin", "null")], false),
            (&[("host", "127.0.0.1:8642"), own, ("sec-fetch-site", "cross-site")], false),
            (&[("host", "127.0.0.1:8642"), own, ("sec-fetch-site", "same-site")], false),
        ] {
            let verdict = access.judge(&Method::GET, None, &headers(fields));
            assert_eq!(verdict == Verdict::Welcome, is_welcome, "{fields:?}: {verdict:?}");
        }
        let host = ("host", "127.0.0.1:8642");
        assert!(refused(access.judge(&Method::POST, None, &headers(&[host, own]))), "a form sends its origin");
        let origin = ("origin", "http://127.0.0.1:8642");
        assert_eq!(access.judge(&Method::POST, None, &headers(&[host, own, origin])), Verdict::Welcome);
    }

    #[test]
    fn a_token_works_once_and_not_for_another_host() {
        let mut access = Access::new(8642, ["t", "c", "f"].map(str::to_owned));
        let (here, there) = (headers(&[("host", "127.0.0.1:8642")]), headers(&[("host", "evil.example:8642")]));
        assert!(matches!(access.judge(&Method::GET, Some("t"), &there), Verdict::Refused(_)));
        assert!(matches!(access.judge(&Method::GET, Some("x"), &here), Verdict::Refused(_)));
        assert!(matches!(access.judge(&Method::HEAD, Some("t"), &here), Verdict::Refused(_)));
        let cookie = "herma_view_8642=c; HttpOnly; SameSite=Strict; Path=/".to_owned();
        let from_file = headers(&[("host", "127.0.0.1:8642"), ("sec-fetch-site", "cross-site")]);
        assert_eq!(access.judge(&Method::GET, Some("t"), &from_file), Verdict::New(cookie));
        assert!(matches!(access.judge(&Method::GET, Some("t"), &here), Verdict::Refused(_)));
        assert!(matches!(access.judge(&Method::GET, Some(""), &here), Verdict::Refused(_)));
        let mut usual = Access::new(80, ["t", "c", "f"].map(str::to_owned));
        assert!(matches!(usual.judge(&Method::GET, Some("t"), &headers(&[("host", "127.0.0.1")])), Verdict::New(_)));
    }
}
