//! Talks to the real `herma mcp` in raw lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::cli;
use crate::home::Home;
use crate::wait::{PATIENCE, eventually};

/// The newest protocol version that starts with `initialize`.
pub const VERSION: &str = "2025-11-25";

/// A server for a home. Dropping this value kills it.
#[derive(Debug)]
pub struct Mcp {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Messages that are not the awaited answer, oldest first.
    told: Vec<Value>,
    last_id: u64,
}

impl Mcp {
    /// Starts a server on the home's socket.
    #[must_use]
    pub fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::start_on(home, &home.socket(), arguments)
    }

    /// Starts a server on another socket.
    #[must_use]
    pub fn start_on(home: &Home, socket: &Path, arguments: &[&str]) -> Self {
        Self::run(home, socket, arguments, Command::new(cli::program()))
    }

    /// Starts a server for a user with this home directory.
    #[must_use]
    pub fn start_for(home: &Home, user: &Path) -> Self {
        let mut command = Command::new(cli::program());
        command.env("HOME", user).env("CLAUDE_CONFIG_DIR", "").current_dir(user);
        Self::run(home, &home.socket(), &[], command)
    }

    fn run(home: &Home, socket: &Path, arguments: &[&str], mut command: Command) -> Self {
        for name in ["HERMA_HOME", "HERMES_HOME", "HERMA_SOCKET", "HERMA_LOG"] {
            command.env_remove(name);
        }
        command.env("HERMAD", crate::daemon::program());
        command.arg("mcp").arg("--home").arg(home.path()).arg("--socket").arg(socket).args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // The receiver is gone when the test is over.
                drop(tell.send(line));
            }
        });
        Self { input: child.stdin.take(), child, lines, told: Vec::new(), last_id: 0 }
    }

    /// Starts a server and initializes it as every client does.
    #[must_use]
    pub fn ready(home: &Home, arguments: &[&str]) -> Self {
        let mut mcp = Self::start(home, arguments);
        drop(mcp.initialize("probe"));
        mcp
    }

    /// Sends the client's name, and returns the server's answer.
    pub fn initialize(&mut self, client: &str) -> Value {
        let result = self.result("initialize", &introduction(client));
        self.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        result
    }

    /// Sends a line.
    ///
    /// # Panics
    /// The server is gone.
    pub fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes.
    ///
    /// # Panics
    /// The server is gone.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Waits for the answer to a request. Keeps notifications.
    ///
    /// # Panics
    /// The answer is late, or a message violates the protocol.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
            self.told.push(message);
        }
    }

    /// Sends a request and waits for its answer.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Calls a method that is expected to succeed, and returns its result.
    ///
    /// # Panics
    /// The answer is an error.
    pub fn result(&mut self, method: &str, params: &Value) -> Value {
        let mut reply = self.call(method, params);
        assert!(reply["error"].is_null(), "{method} {params}: {reply}");
        reply["result"].take()
    }

    /// Calls a tool. Returns whether the result is an error, and the JSON in its text.
    pub fn tool(&mut self, name: &str, arguments: &Value) -> (bool, Value) {
        let result = self.result("tools/call", &json!({ "name": name, "arguments": arguments }));
        content(&result)
    }

    /// Calls a tool that is expected to succeed.
    ///
    /// # Panics
    /// The result is an error.
    pub fn done(&mut self, name: &str, arguments: &Value) -> Value {
        let (failed, told) = self.tool(name, arguments);
        assert!(!failed, "{name} {arguments}: {told}");
        told
    }

    /// Returns the text of a resource.
    pub fn read(&mut self, uri: &str) -> String {
        let result = self.result("resources/read", &json!({ "uri": uri }));
        result["contents"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Waits for a notification.
    pub fn notification(&mut self) -> Value {
        if self.told.is_empty() { self.next() } else { self.told.remove(0) }
    }

    /// Takes the messages that no test has read yet.
    pub fn told(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.told)
    }

    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        for one in message.as_array().unwrap_or(&vec![message.clone()]) {
            assert_eq!(one["jsonrpc"], "2.0", "{line}");
        }
        message
    }

    /// Closes the input and waits for the server to end. Returns its exit code and its standard error.
    ///
    /// # Panics
    /// The server doesn't end, or a message violates the protocol.
    pub fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let child = &mut self.child;
        let status = eventually("the server to end", || child.try_wait().unwrap());
        let mut words = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        while let Ok(line) = self.lines.recv() {
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
        }
        (status.code(), words)
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // The process may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns whether a tool's result is an error, and the JSON in its text. A text that is not JSON is returned as a
/// string.
///
/// # Panics
/// The result has no text.
#[must_use]
pub fn content(result: &Value) -> (bool, Value) {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    let failed = result["isError"] == json!(true);
    (failed, serde_json::from_str(text).unwrap_or_else(|_| json!(text)))
}

/// Returns the parameters of `initialize` for a client of this name.
#[must_use]
pub fn introduction(client: &str) -> Value {
    let info = json!({ "name": client, "version": "1" });
    json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": info })
}
