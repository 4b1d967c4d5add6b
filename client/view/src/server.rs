//! Listens on loopback and answers requests.

use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use herma_base::Failure;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use crate::access::{self, Access, Verdict};
use crate::answer::{self, Body};
use crate::daemon::{Daemon, ViewError};
use crate::page::Frame;
use crate::request::Params;
use crate::{changes, events, page, views};

/// After so long without a request the server ends.
const QUIET: Duration = Duration::from_secs(3_600);

/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(30);

/// How long a browser may take to send the head of a request, and the body of a form.
const HEAD: Duration = Duration::from_secs(10);

/// The most bytes of a form.
const FORM: usize = 256 << 10;

/// The most connections at the same time. A browser has six.
const CONNECTIONS: usize = 64;

/// The random bytes of a secret.
const SECRET: usize = 24;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
const ICON: &str = include_str!("icon.svg");

/// A server that listens.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    state: Arc<State>,
    address: String,
}

/// What all requests share.
#[derive(Debug)]
struct State {
    daemon: Arc<Daemon>,
    access: Mutex<Access>,
    can_write: bool,
    last: Mutex<Instant>,
}

impl Server {
    /// Starts to listen on a port of 127.0.0.1; 0 takes a free one.
    pub(crate) async fn listen(daemon: Daemon, port: u16, can_write: bool) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::File(format!("127.0.0.1:{port} can't be listened on: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let secrets = secrets().map_err(|error| Failure::File(format!("/dev/urandom: {error}")))?;
        let access = Access::new(port, secrets);
        let address = access.address();
        let state =
            State { daemon: Arc::new(daemon), access: Mutex::new(access), can_write, last: Mutex::new(Instant::now()) };
        Ok(Self { listener, state: Arc::new(state), address })
    }

    /// Returns the address that works once.
    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    /// Serves until the program is told to stop, or nobody asked for an hour.
    pub(crate) async fn serve(self) {
        let Self { listener, state, .. } = self;
        let quiet = Arc::clone(&state);
        tokio::select! {
            () = accept(listener, state) => {}
            () = until_quiet(&quiet) => {}
            () = stopped(SignalKind::interrupt()) => {}
            () = stopped(SignalKind::terminate()) => {}
        }
    }
}

/// Returns three random texts.
fn secrets() -> std::io::Result<[String; 3]> {
    let mut bytes = [0; 3 * SECRET];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let text = base16ct::lower::encode_string(&bytes);
    Ok([0, 1, 2].map(|at| text[at * 2 * SECRET..(at + 1) * 2 * SECRET].to_owned()))
}

async fn stopped(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

async fn until_quiet(state: &State) {
    loop {
        tokio::time::sleep(LOOK).await;
        if state.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= QUIET {
            return;
        }
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for instance: others may close soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(respond(request, &state).await) }
            });
            let mut server = http1::Builder::new();
            let server = server.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // A browser that is gone is no failure.
            drop(server.serve_connection(TokioIo::new(stream), service).await);
            drop(permit);
        });
    }
}

async fn respond(request: Request<Incoming>, state: &State) -> Response<Body> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let is_read = matches!(head.method, Method::GET | Method::HEAD);
    if let Some(file) = file(&path).filter(|_| is_read) {
        return file;
    }
    let params = Params::parse(head.uri.query().unwrap_or_default().as_bytes());
    let (verdict, form) = {
        let mut access = state.access.lock().unwrap_or_else(PoisonError::into_inner);
        (access.judge(&head.method, params.get(access::TOKEN), &head.headers), access.form().to_owned())
    };
    let frame = Frame { form: state.can_write.then_some(form) };
    match verdict {
        Verdict::Refused(why) => {
            let error = ViewError::new(StatusCode::FORBIDDEN, why);
            answer::html(error.status, page::refused(&error))
        }
        Verdict::New(cookie) => {
            // A redirection would be part of the visit from elsewhere, which gets no strict cookie.
            let mut response = answer::html(StatusCode::OK, page::welcome());
            if let Ok(cookie) = cookie.parse() {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Verdict::Welcome if path == "/events" && is_read => events::stream(&state.daemon),
        Verdict::Welcome => {
            // Events ask again by themselves.
            *state.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            match head.method {
                Method::GET | Method::HEAD => get(&path, params, &frame, state).await,
                Method::POST => post(&path, body, &frame, state).await,
                _ => {
                    let mut response =
                        answer::text(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", "only GET and POST");
                    response.headers_mut().insert(header::ALLOW, http::HeaderValue::from_static("GET, HEAD, POST"));
                    response
                }
            }
        }
    }
}

/// Returns a file of the program itself, which anybody may have.
fn file(path: &str) -> Option<Response<Body>> {
    let (kind, text) = match path {
        "/style.css" => ("text/css; charset=utf-8", STYLE),
        "/page.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "/icon.svg" | "/favicon.ico" => ("image/svg+xml", ICON),
        _ => return None,
    };
    Some(answer::text(StatusCode::OK, kind, text))
}

async fn get(path: &str, params: Params, frame: &Frame, state: &State) -> Response<Body> {
    let (daemon, shown, own) = (Arc::clone(&state.daemon), path.to_owned(), frame.clone());
    let page = blocking(move || views::load(&daemon, &shown, &params, &own)).await;
    match page {
        Ok(page) => answer::html(StatusCode::OK, page::whole(&page, frame)),
        Err(error) => answer::html(error.status, page::failed(&error, frame, true)),
    }
}

async fn post(path: &str, body: Incoming, frame: &Frame, state: &State) -> Response<Body> {
    let Some(own) = frame.form.clone() else {
        let error =
            ViewError::new(StatusCode::FORBIDDEN, "this page only shows. Run `herma view --write` to change something");
        return answer::html(error.status, page::failed(&error, frame, false));
    };
    let Ok(Ok(body)) = tokio::time::timeout(HEAD, Limited::new(body, FORM).collect()).await else {
        let error = ViewError::new(StatusCode::PAYLOAD_TOO_LARGE, "the form is too large, or it did not arrive");
        return answer::html(error.status, page::failed(&error, frame, false));
    };
    let params = Params::parse(&body.to_bytes());
    if !params.whole(page::FORM).is_some_and(|sent| access::is_same(sent, &own)) {
        let error = ViewError::new(StatusCode::FORBIDDEN, "the form is of an older page. Load the page again");
        return answer::html(error.status, page::failed(&error, frame, false));
    }
    let (daemon, path) = (Arc::clone(&state.daemon), path.to_owned());
    match blocking(move || changes::make(&daemon, &path, &params)).await {
        Ok(place) => answer::see_other(&place),
        Err(error) => answer::html(error.status, page::failed(&error, frame, false)),
    }
}

/// Runs work that waits for the daemon on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ViewError> + Send + 'static,
) -> Result<T, ViewError> {
    let failed = |_| ViewError::new(StatusCode::INTERNAL_SERVER_ERROR, "a bug in herma: this page failed");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}
