//! Texts that would do something in a page if they were not texts, and a check that a page has no markup but its own.

/// What an enemy writes, in the ways in which pages are broken out of.
const VECTORS: [&str; 26] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=http://evil.example><input name=form>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "<base href=http://evil.example/>",
    "<link rel=stylesheet href=http://evil.example/x.css>",
    "<style>*{display:none}</style>",
    "<!-- ",
    "--><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<math><mi//xlink:href=\"data:x,<script>alert(4)</script>\">",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "\u{202e}<script>\u{202c}",
    "\u{2028}<script>alert(1)\u{2029}",
    "<scr\u{0}ipt>alert(1)</scr\u{0}ipt>",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "<object data=javascript:alert(1)>",
];

/// What closes the place in which a text stands.
const CLOSERS: [&str; 9] = [
    "",
    "\">",
    "'>",
    "\" onmouseover=\"alert(1)",
    "</pre>",
    "</textarea></title></style>",
    "</a></td></table>",
    "</main>--!>",
    "\\\"></script>",
];

/// Returns each vector behind each closer.
pub(super) fn all() -> Vec<String> {
    let behind = |closer: &&str| VECTORS.map(|vector| format!("{closer}{vector}"));
    CLOSERS.iter().flat_map(behind).collect()
}

/// The elements and the attributes of the pages themselves.
const ELEMENTS: &str = "html head meta title link script style body header a nav strong ul ol li main h1 h2 h3 p span dl dt dd div \
section article form input label button select option table thead tbody tr th td time progress figure figcaption svg rect line \
circle textarea i pre code details summary mark del ins";
const ATTRIBUTES: &str = "lang charset name content rel href type src defer class id aria-label aria-current aria-labelledby \
aria-live role data-live data-name http-equiv tabindex datetime title method action value max maxlength placeholder selected \
autofocus scope viewBox preserveAspectRatio x y x1 x2 y1 y2 width height rx cx cy r rows";

/// Asserts that a page consists of its own elements and attributes, and leads nowhere else.
pub(super) fn check(page: &str, html: &str) {
    let (elements, attributes): (Vec<&str>, Vec<&str>) =
        (ELEMENTS.split_whitespace().collect(), ATTRIBUTES.split_whitespace().collect());
    // The style of a report is in it.
    let html = match (html.split_once("<style>"), html.split_once("</style>")) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => html.to_owned(),
    };
    for tag in html.trim_start_matches("<!DOCTYPE html>").split('<').skip(1) {
        let (inner, _) = tag.split_once('>').unwrap_or_else(|| panic!("{page}: an open tag: {tag:.200}"));
        let inner = inner.trim_start_matches('/').trim_end_matches('/');
        let (name, mut rest) = inner.split_once(' ').unwrap_or((inner, ""));
        assert!(elements.contains(&name), "{page}: the element {name:?} in <{tag:.200}");
        while !rest.trim().is_empty() {
            rest = rest.trim_start();
            let end = rest.find(['=', ' ']).unwrap_or(rest.len());
            let (attribute, after) = rest.split_at(end);
            assert!(attributes.contains(&attribute), "{page}: the attribute {attribute:?} in <{tag:.200}");
            let Some(quoted) = after.strip_prefix("=\"") else {
                assert!(!after.starts_with('='), "{page}: a value without quotes in <{tag:.200}");
                rest = after;
                continue;
            };
            let (value, after) = quoted.split_once('"').unwrap_or_else(|| panic!("{page}: an open value: {tag:.200}"));
            if ["href", "src", "action"].contains(&attribute) {
                let is_own =
                    value.is_empty() || value.starts_with('#') || value.starts_with('/') && !value.starts_with("//");
                assert!(is_own, "{page}: {attribute}={value:?}");
            }
            rest = after;
        }
    }
}

#[test]
fn the_check_finds_what_is_not_escaped() {
    for payload in [
        "<script>alert(1)</script onx>",
        "<img src=x onerror=alert(1)>",
        "<a href=\"javascript:x\">",
        "<p onclick=\"x\">",
        "<a href=\"//evil\">",
    ] {
        let caught = std::panic::catch_unwind(|| check("a page", payload));
        assert!(caught.is_err(), "{payload}");
    }
    check("a page", "<!DOCTYPE html><p class=\"a\">1 &lt; 2</p><input value=\"&quot;&gt;\" selected>");
}
