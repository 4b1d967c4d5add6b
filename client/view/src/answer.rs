//! Answers with the headers that every answer has.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use maud::Markup;

/// The body of an answer.
pub(crate) type Body = BoxBody<Bytes, std::convert::Infallible>;

/// What the browser may do with a page: load from this server, and nothing else. No script and no style is inline.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; \
base-uri 'none'; frame-ancestors 'none'";

/// Returns an answer with a body of a type. A browser tells the origin of a form only where it may tell the page, too.
pub(crate) fn of(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let fields = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (http::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (http::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fields {
        response.headers_mut().insert(name, http::HeaderValue::from_static(value));
    }
    response
}

/// Returns an answer with a text.
pub(crate) fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    of(status, kind, Full::new(text.into()).boxed())
}

/// Returns a page.
pub(crate) fn html(status: StatusCode, page: Markup) -> Response<Body> {
    text(status, "text/html; charset=utf-8", page.into_string())
}

/// Returns an answer that leads to another page.
pub(crate) fn see_other(place: &str) -> Response<Body> {
    let mut response = text(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    // An address that is not one leads to the beginning.
    let place = place.parse().unwrap_or(http::HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, place);
    response
}
