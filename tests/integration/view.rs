//! `herma view`: who is answered, what is shown, and what a form changes. `tests/view` looks at the pages with a browser.

mod payloads;

use std::io::{Read, Write};
use std::net::TcpStream;

use herma_client::protocol::memory::Target;
use herma_tests::{Cli, Daemon, Home, Raw, Running};
use serde_json::{Value, json};

/// The page of a home, as a browser that opened it.
struct View {
    /// It ends with this value.
    _running: Running,
    host: String,
    /// The path with the token.
    opening: String,
    cookie: String,
}

/// The parts of an answer.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl View {
    /// Starts the page without opening it.
    fn unopened(home: &Home, options: &[&str]) -> Self {
        let running = Cli::new(home).start(&[&["view", "--no-open"], options].concat());
        let url = running.line();
        let (host, opening) = url.strip_prefix("http://").and_then(|url| url.split_once('/')).unwrap();
        let (host, opening) = (host.to_owned(), format!("/{opening}"));
        Self { _running: running, host, opening, cookie: String::new() }
    }

    fn open(home: &Home, options: &[&str]) -> Self {
        let mut view = Self::unopened(home, options);
        let opened = view.get(&view.opening);
        let cookie = header(&opened.head, "set-cookie").unwrap();
        assert!(opened.status == 200 && opened.body.contains("content=\"0;url=/\""), "{opened:?}");
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        view.cookie = cookie.split(';').next().unwrap().to_owned();
        view
    }

    fn get(&self, path: &str) -> Answer {
        let Self { host, cookie, .. } = self;
        ask(host, &format!("GET {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"))
    }

    /// Returns a page that is there.
    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let Self { host, cookie, .. } = self;
        let form: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let form = form.join("&");
        ask(
            host,
            &format!(
                "POST {path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\ncookie: {cookie}\r\nconnection: close\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
                form.len()
            ),
        )
    }

    /// Returns the secret of the forms in a page.
    fn secret(&self, path: &str) -> String {
        let page = self.page(path);
        let (_, rest) = page.split_once("name=\"form\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

fn ask(host: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn header(head: &str, name: &str) -> Option<String> {
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn only_the_browser_that_opened_the_address_is_answered() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let view = View::unopened(&home, &[]);
    assert_eq!(view.get("/").status, 403);
    assert_eq!(view.get("/?token=guess").status, 403);
    let rebound = format!("GET {} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n", view.opening);
    assert_eq!(ask(&view.host, &rebound).status, 403);
    assert_eq!(view.get("/style.css").status, 200, "what is the program's own is anybody's");
    let opened = view.get(&view.opening);
    let cookie = header(&opened.head, "set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(view.get(&view.opening).status, 403, "the address works once");
    let own = View { cookie, ..view };
    let page = own.get("/");
    assert_eq!(page.status, 200);
    let policy = header(&page.head, "content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for (name, value) in
        [("x-frame-options", "DENY"), ("referrer-policy", "same-origin"), ("cache-control", "no-store")]
    {
        assert_eq!(header(&page.head, name).as_deref(), Some(value));
    }
    for (extra, status) in [
        ("origin: http://evil.example\r\n", 403),
        ("sec-fetch-site: cross-site\r\n", 403),
        ("sec-fetch-site: same-origin\r\n", 200),
    ] {
        let View { host, cookie, .. } = &own;
        let request = format!("GET / HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\n{extra}connection: close\r\n\r\n");
        assert_eq!(ask(host, &request).status, status, "{extra}");
    }
    let View { host, cookie, .. } = &own;
    for (method, status) in [("HEAD", 200), ("PUT", 405), ("OPTIONS", 405)] {
        let request = format!("{method} / HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n");
        assert_eq!(ask(host, &request).status, status, "{method}");
    }
    // Another address of the machine is not served.
    assert!(own.host.starts_with("127.0.0.1:"));
    for (path, status) in [
        ("/nowhere", 404),
        ("/session?id=none", 404),
        ("/session", 400),
        ("/sessions?before=x", 400),
        ("/memory/history?target=x", 400),
        ("/memory?profile=none", 404),
    ] {
        let answer = own.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains("role=\"alert\""), "{path}");
    }
}

#[test]
fn every_view_is_there_for_an_empty_home_and_for_one_with_all() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let view = View::open(&home, &[]);
    const VIEWS: [&str; 8] = ["/", "/memory", "/sessions", "/search", "/savings", "/outputs", "/files", "/health"];
    for path in VIEWS {
        payloads::check(path, &view.page(path));
    }
    let mut raw = daemon.raw();
    raw.result(
        "memory.add",
        &json!({ "target": "user", "content": "likes tea", "agent": "an-agent", "session": "s 1" }),
    );
    raw.result(
        "session.open",
        &json!({ "session": "s 1", "agent": "an-agent", "cwd": "/w", "title": "Gulls", "context_length": 1_000 }),
    );
    let messages = json!([{ "role": "user", "content": "where do the gulls nest?" }, { "role": "assistant", "content": "In Ostrava." }]);
    raw.result("session.append", &json!({ "session": "s 1", "generation": 0, "position": 0, "messages": messages }));
    raw.result("context.record_usage", &json!({ "session": "s 1", "usage": { "input_tokens": 250, "output_tokens": 9 }, "api_mode": "anthropic_messages" }));
    let large = "a line of it\n".repeat(5_000);
    raw.result("output.admit", &json!({ "session": "s 1", "tool": "bash", "id": "c1", "content": large }));
    raw.result("files.write", &json!({ "path": "/memories/plan.md", "text": "the plan" }));
    for (path, words) in [
        ("/", &["Gulls", "25 %"][..]),
        ("/memory", &["likes tea", "by an-agent", "in <a href=\"/session?id=s+1\">"]),
        ("/memory/history?target=user", &["Revision 1: add", "<ins>likes tea</ins>"]),
        ("/sessions", &["Gulls", "an-agent", "/w"]),
        ("/sessions?q=gulls&agent=an-agent", &["Gulls"]),
        ("/session?id=s+1", &["where do the gulls nest?", "In Ostrava.", "25 %"]),
        ("/search?q=gulls&kind=message&days=7&agent=an-agent", &["In Ostrava.", "<mark>"]),
        ("/savings?days=7", &["Prompt cache by day"]),
        ("/outputs", &["bash"]),
        ("/files", &["/memories/plan.md"]),
        ("/file?path=%2Fmemories%2Fplan.md", &["the plan", "revision 1"]),
        ("/health", &["daemon"]),
    ] {
        let page = view.page(path);
        for words in words {
            assert!(page.contains(words), "{path}: {words} is not in {page}");
        }
        payloads::check(path, &page);
    }
    assert!(!view.page("/sessions?q=herons").contains("Gulls"));
    // What a hit and a row lead to is there.
    let found = view.page("/search?q=gulls");
    let lead = found.split("href=\"/message?").nth(1).unwrap().split('"').next().unwrap();
    assert!(view.page(&format!("/message?{lead}")).contains("gulls"));
    let outputs = view.page("/outputs");
    let lead = outputs.split("href=\"/output?").nth(1).unwrap().split('"').next().unwrap();
    let output = view.page(&format!("/output?{lead}"));
    assert!(output.contains("Lines 1 to 200 of 5,000") && output.contains("line=201"), "{output}");
    assert!(view.page(&format!("/output?{lead}:1000")).contains("Lines 995 to 1,194"), "as a hit names a line");
    assert!(view.page(&format!("/output?{lead}&line=4900")).contains("Lines 4,900 to 5,000"));
    assert!(view.page(&format!("/output?{lead}&q=a+line")).contains("<mark>a line</mark>"));
    assert!(view.page(&format!("/output?{lead}&line=99999999")).contains("No such line; it has 5,000"));
    assert!(view.page("/session?id=s+1&first=9223372036854775000").contains("No message is kept"));
    // One long line is read by its chars.
    let line = "x&\"".repeat(50_000);
    let id = raw.result("output.admit", &json!({ "session": "s 1", "tool": "curl", "id": "c2", "content": line }));
    let handle = id["handle"].as_str().unwrap_or_else(|| panic!("{id:.300}"));
    let page = view.page(&format!("/output?handle={handle}"));
    assert!(page.contains("Chars 0 to 40,000 of 150,000") && page.contains("offset=40000"), "{page:.2000}");
    assert!(page.len() < 400_000, "{}", page.len());
    let end = view.page(&format!("/output?handle={handle}&offset=140000"));
    assert!(end.contains("Chars 140,000 to 150,000 of 150,000"), "{end:.1500}");
    // The page only shows.
    assert!(!view.page("/memory").contains("<form"));
    let refused = view.post("/memory/undo", &[("target", "user"), ("revision", "1")]);
    assert!(refused.status == 403 && refused.body.contains("herma view --write"), "{refused:?}");
    assert_eq!(home.entries(Target::User), ["likes tea"]);
}

#[test]
fn a_compaction_is_shown_before_and_after() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "s", "context_length": 20_000 }));
    let said = |role: &str, text: String| json!({ "role": role, "content": text });
    let mut list = vec![said("system", "You help.".into()), said("user", "Never push to main.".into())];
    for turn in 0..40 {
        list.push(said("assistant", format!("step {turn}: {}", "word ".repeat(300))));
        list.push(said("user", format!("go on with {turn}")));
    }
    let compressed = raw.result("context.compress", &json!({ "session": "s", "messages": list, "force": true }));
    let view = View::open(&home, &[]);
    let page = view.page("/session?id=s");
    let lead = page.split("href=\"/compaction?").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    let side = view.page(&format!("/compaction?{lead}"));
    payloads::check("/compaction", &side);
    assert!(side.contains("Before: what left the list"), "{side:.3000}");
    assert!(side.contains("<pre class=\"text\">step 1: word"), "{side:.3000}");
    assert!(compressed["messages"].as_array().unwrap().len() < list.len());
    assert_eq!(view.get("/compaction?session=s&handle=cmp_none_1").status, 404);
}

#[test]
fn a_form_changes_what_it_says_and_nothing_twice() {
    let home = Home::configured("[memory]\napproval = true\n");
    let daemon = Daemon::start(&home);
    let (mut raw, mut person) = (daemon.raw(), daemon.raw());
    for text in ["likes tea", "likes trains", "likes boats"] {
        raw.result("memory.add", &json!({ "target": "user", "content": text, "agent": "an-agent" }));
    }
    let view = View::open(&home, &["--write"]);
    let secret = view.secret("/memory");
    let form = |fields: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        [("form", secret.as_str())].iter().chain(fields).map(|(name, value)| (*name, (*value).to_owned())).collect()
    };
    let post = |path: &str, fields: &[(&'static str, &str)]| {
        let fields = form(fields);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        view.post(path, &fields)
    };
    let page = view.page("/memory");
    assert!(page.contains("Waiting for approval (3)") && page.contains("<ins>likes boats</ins>"), "{page}");
    // Each write has three forms: approve, reject, edit.
    let ids: Vec<&str> = page.split("name=\"id\" value=\"").skip(1).map(|rest| &rest[..8]).step_by(3).collect();
    // Without the secret, and with a wrong one, nothing happens.
    assert_eq!(view.post("/memory/approve", &[("id", ids[0])]).status, 403);
    assert_eq!(view.post("/memory/approve", &[("id", ids[0]), ("form", "guess")]).status, 403);
    assert!(home.entries(Target::User).is_empty());
    for id in &ids[..2] {
        let done = post("/memory/approve", &[("id", id)]);
        assert_eq!((done.status, header(&done.head, "location").as_deref()), (303, Some("/memory?profile=default")));
    }
    assert_eq!(post("/memory/approve", &[("id", ids[0])]).status, 404, "it was decided before");
    assert_eq!(post("/memory/reject", &[("id", ids[2])]).status, 303);
    assert_eq!(home.entries(Target::User), ["likes tea", "likes trains"]);
    // An edited text takes the place of the requested one, and the writes of a session are decided together.
    for text in ["likes bikes", "likes kites", "likes stars"] {
        raw.result("memory.add", &json!({ "target": "memory", "content": text, "session": "s" }));
    }
    let page = view.page("/memory");
    let id = &page.split("name=\"id\" value=\"").nth(1).unwrap()[..8];
    assert!(page.contains("<textarea name=\"content\" rows=\"4\">\nlikes bikes</textarea>"), "{page}");
    assert_eq!(post("/memory/approve", &[("id", id), ("content", "likes\r\nbicycles")]).status, 303);
    assert_eq!(home.entries(Target::Memory), ["likes\nbicycles"]);
    assert_eq!(post("/memory/approve", &[("session", "s")]).status, 303);
    assert_eq!(home.entries(Target::Memory), ["likes\nbicycles", "likes kites", "likes stars"]);
    assert_eq!(post("/memory/approve", &[]).status, 400);
    // A second click finds another store, not another entry.
    for text in ["owns a cat", "owns a cat and a dog"] {
        let id = raw.result("memory.add", &json!({ "target": "memory", "content": text }))["pending_id"].take();
        assert_eq!(post("/memory/approve", &[("id", id.as_str().unwrap())]).status, 303);
    }
    let before = home.entries(Target::Memory).len();
    let page = view.page("/memory");
    let revision = page.split("MEMORY.md").nth(1).unwrap().split("name=\"revision\" value=\"").nth(1).unwrap();
    let revision = revision.split('"').next().unwrap();
    let remove = [("target", "memory"), ("revision", revision), ("entry", "owns a cat")];
    // Removing is a write that waits as any other.
    assert_eq!(post("/memory/remove", &remove).status, 303);
    let id = view.page("/memory").split("name=\"id\" value=\"").nth(1).unwrap()[..8].to_owned();
    assert_eq!(person.result("memory.approve", &json!({ "ids": [id] }))["approved"].as_array().unwrap().len(), 1);
    assert_eq!(home.entries(Target::Memory).len(), before - 1);
    assert_eq!(post("/memory/remove", &remove).status, 409, "the page is older than the store");
    assert!(home.entries(Target::Memory).contains(&"owns a cat and a dog".to_owned()));
    // An undo is for the revision that its page showed.
    let undo = [("target", "user"), ("revision", "2")];
    assert_eq!(post("/memory/undo", &undo).status, 303);
    assert_eq!(home.entries(Target::User), ["likes tea"]);
    let late = post("/memory/undo", &undo);
    assert_eq!(late.status, 409, "{late:?}");
    assert_eq!(home.entries(Target::User), ["likes tea"]);
    assert_eq!(post("/memory/revert", &[("target", "user"), ("revision", "1")]).status, 303);
    assert!(home.entries(Target::User).is_empty());
    assert_eq!(post("/nowhere", &[]).status, 404);
    assert_eq!(post("/session/undo", &[("session", "none"), ("handle", "cmp_0_1")]).status, 404);
}

/// Asks for something that may be refused.
fn tried(raw: &mut Raw, method: &str, params: &Value) -> Value {
    raw.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string())
}

#[test]
fn texts_of_an_enemy_are_shown_as_texts() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let payloads = payloads::all();
    assert!(payloads.len() >= 200, "{}", payloads.len());
    for (at, payload) in payloads.iter().enumerate() {
        let session = format!("s{at}{payload}").replace(char::is_control, "");
        let opened =
            json!({ "session": session, "agent": payload, "title": payload, "cwd": payload, "branch": payload });
        // Some are no names for a session.
        if tried(&mut raw, "session.open", &opened).get("error").is_some() {
            continue;
        }
        let messages = json!([
            { "role": "user", "content": format!("gulls {payload}") },
            { "role": "assistant", "content": payload, "tool_calls": [{ "id": payload, "type": "function", "function": { "name": payload, "arguments": payload } }] },
            { "role": "tool", "tool_call_id": payload, "name": payload, "content": payload },
        ]);
        tried(
            &mut raw,
            "session.append",
            &json!({ "session": session, "generation": 0, "position": 0, "messages": messages }),
        );
        tried(
            &mut raw,
            "memory.add",
            &json!({ "target": "memory", "content": format!("{at} {payload}"), "agent": payload, "session": session }),
        );
        tried(
            &mut raw,
            "files.write",
            &json!({ "path": format!("/memories/{at}.md"), "text": payload, "agent": payload }),
        );
        if at % 20 == 0 {
            let text = format!("{payload}\n").repeat(40_000 / (payload.len() + 1) + 1);
            tried(
                &mut raw,
                "output.admit",
                &json!({ "session": session, "tool": payload, "id": payload, "content": text }),
            );
        }
    }
    let view = View::open(&home, &["--write"]);
    let mut seen = 0;
    for path in [
        "/",
        "/memory",
        "/memory/history?target=memory",
        "/sessions",
        "/search?q=gulls",
        "/savings",
        "/outputs",
        "/files",
    ] {
        let page = view.page(path);
        payloads::check(path, &page);
        // Each link of a list is a page, too.
        let leads = page.split("href=\"/").skip(1).map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
        for lead in leads.filter(|lead| lead.contains('?')).take(60) {
            let answer = view.get(&format!("/{lead}"));
            assert!(matches!(answer.status, 200 | 404), "{lead}: {answer:?}");
            payloads::check(&lead, &answer.body);
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen}");
    // What an address says is a text as well.
    for payload in &payloads {
        for path in ["/search?q", "/sessions?q", "/sessions?agent", "/session?id", "/memory?profile", "/output?handle"]
        {
            payloads::check(path, &view.get(&format!("{path}={}", encoded(payload))).body);
        }
    }
    let report = home.path().join("report.html");
    drop(Cli::new(&home).run(&["view", "--export", report.to_str().unwrap()]).done());
    let report = std::fs::read_to_string(report).unwrap();
    payloads::check("the report", &report);
    assert!(!report.contains("<script") && !report.contains("<a href"), "a report leads nowhere");
}

#[test]
fn the_page_outlives_the_daemon() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.raw().result("memory.add", &json!({ "target": "user", "content": "likes tea" }));
    let view = View::open(&home, &[]);
    assert!(view.page("/memory").contains("likes tea"));
    daemon.kill();
    let away = view.get("/memory");
    assert!(away.status == 503 && away.body.contains("The page works again once the daemon does"), "{away:?}");
    let _daemon = Daemon::start(&home);
    assert!(view.page("/memory").contains("likes tea"));
    let taken = Cli::new(&home).run(&["view", "--no-open", "--port", view.host.split(':').nth(1).unwrap()]);
    assert!(taken.code == 1 && taken.err.contains("can't be listened on"), "{taken:?}");
}
