//! Random walks through a session: an agent makes its requests in any order, and the daemon is killed at any time.
//! Providers must accept every list, no message may occur twice, and removed messages must be readable again.
//!
//! HERMA_WALKS sets the number of walks of each kind. The default is small.

use std::fmt::Write;

use herma_tests::random::Random;
use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

/// Steps of a walk.
const STEPS: usize = 60;

/// Default number of walks of each kind.
const FEW: u64 = 4;

/// The line that ends a handoff. A message that has a handoff in front of its text continues after this line.
const END: &str = "END OF CONTEXT SUMMARY";

struct Walk {
    random: Random,
    home: Home,
    daemon: Option<Daemon>,
    raw: Raw,
    /// Whether messages are appended, or the list is sent with each call.
    appends: bool,
    /// Whether the sent list has additional white space.
    is_spaced: bool,
    generation: u64,
    list: Vec<Value>,
    /// The number of the last message.
    last: u64,
    /// Each list before a compression, and the length of the list after it.
    before: Vec<(Vec<Value>, usize)>,
}

impl Walk {
    fn begin(seed: u64, engine: &str, appends: bool) -> Self {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let mut random = Random::seeded(seed);
        let window = [16_000, 32_000, 64_000][usize::try_from(random.below(3)).unwrap()];
        raw.result("context.configure", &json!({ "session": "s", "context_length": window, "engine": engine }));
        let is_spaced = random.below(2) == 0;
        let (generation, list, last, before) = (0, Vec::new(), 0, Vec::new());
        Self { random, home, daemon: Some(daemon), raw, appends, is_spaced, generation, list, last, before }
    }

    fn of(&mut self, count: usize) -> usize {
        usize::try_from(self.random.below(count as u64)).unwrap()
    }

    fn words(&mut self, role: &str) -> Value {
        self.last += 1;
        let length = [4, 60, 400][self.of(3)];
        json!({ "role": role, "content": format!("#{}# {}", self.last, "walk on \u{e9}\n".repeat(length)) })
    }

    /// Returns the messages of one turn of an agent.
    fn turn(&mut self) -> Vec<Value> {
        let mut turn = Vec::new();
        if self.list.is_empty() {
            turn.push(json!({ "role": "system", "content": "be good" }));
        }
        if self.of(2) == 0 {
            turn.push(self.words("user"));
        }
        for _ in 0..self.of(4) {
            self.last += 1;
            let ids: Vec<String> = (0..=self.of(2)).map(|at| format!("call-{}-{at}", self.last)).collect();
            let call = |id| json!({ "id": id, "function": { "name": "read", "arguments": "{\"path\": \"a\"}" } });
            let calls: Vec<Value> = ids.iter().map(call).collect();
            turn.push(json!({ "role": "assistant", "content": null, "tool_calls": calls }));
            for id in ids {
                let mut result = self.words("tool");
                result["tool_call_id"] = json!(id);
                turn.push(result);
            }
        }
        turn.push(self.words("assistant"));
        turn
    }

    fn say(&mut self) {
        let turn = self.turn();
        if self.appends {
            let params = json!({
                "session": "s", "generation": self.generation, "position": self.list.len(), "messages": turn
            });
            self.raw.result("session.append", &params);
        }
        self.list.extend(turn);
    }

    /// Calls a method. A sent list is written as another library would write it.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        let mut params = params.clone();
        params["session"] = json!("s");
        if !self.appends {
            params["messages"] = json!(self.list);
        }
        let mut line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        if self.is_spaced && !self.appends {
            line = line.replace("\",\"", "\" , \"").replace("\":\"", "\" :\t\"");
        }
        self.raw.ask(&line)
    }

    /// Calls a method that may have nothing to do. Returns its result, if any.
    fn try_call(&mut self, method: &str, params: &Value) -> Option<Value> {
        let reply = self.call(method, params);
        match reply.get("error") {
            None => Some(reply["result"].clone()),
            Some(_) => {
                let known = ["not_found", "invalid_params", "conflict", "too_large"];
                assert!(known.contains(&kind(&reply)), "{method}: {reply}");
                None
            }
        }
    }

    fn step(&mut self) {
        match self.of(20) {
            0..=8 => self.say(),
            9 => {
                let title = format!("task {}", self.of(3));
                self.try_call("context.episode", &json!({ "action": "open", "title": title }));
            }
            10 | 11 => {
                let title = format!("task {}", self.of(3));
                self.try_call("context.episode", &json!({ "action": "close", "title": title }));
            }
            12 => {
                let position = self.of(self.list.len().max(1));
                match self.list.get(position).filter(|message| message["role"] == "tool").cloned() {
                    Some(output) => {
                        self.raw.result("context.discard", &json!({ "session": "s", "messages": [output] }))
                    }
                    None => return,
                };
            }
            13 => {
                let position = self.of(self.list.len().max(1));
                let Some(message) = self.list.get(position).cloned() else { return };
                drop(self.raw.call("context.pin", &json!({ "session": "s", "message": message })));
            }
            14 => self.undo(),
            15 => {
                self.daemon.take().unwrap().kill();
                let daemon = Daemon::start(&self.home);
                self.raw = daemon.raw();
                self.daemon = Some(daemon);
            }
            16 => {
                let (from, length) = (self.of(self.list.len().max(1)), self.of(30) + 1);
                self.compress(json!({ "range": [from, from + length], "force": true }));
            }
            17 => self.compress(json!({ "overflow": true })),
            _ => {
                let force = self.of(2) == 0;
                self.compress(json!({ "force": force }));
            }
        }
    }

    fn undo(&mut self) {
        let Some((mut wanted, length)) = self.before.pop() else { return };
        wanted.extend_from_slice(&self.list[length..]);
        let reply = self.call("context.undo", &json!({}));
        assert_eq!(reply["result"]["messages"].as_array(), Some(&wanted), "{}", reply["error"]);
        self.generation = reply["result"]["generation"].as_u64().unwrap();
        self.list = wanted;
    }

    fn compress(&mut self, params: Value) {
        let Some(done) = self.try_call("context.compress", &params) else { return };
        let report = &done["report"];
        if report["compressed"] != true {
            return;
        }
        let new = done["messages"].as_array().unwrap().clone();
        assert_eq!(refused(&new), "", "{params}");
        let numbers: Vec<u64> = new.iter().filter_map(number).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{params}: {numbers:?}");
        let mut gone: Vec<&Value> = self.list.iter().filter(|message| !new.contains(message)).collect();
        let mut next = report["archived"]["handle"].as_str().map(str::to_owned);
        while let Some(handle) = next {
            let page = self.raw.result("recall.expand", &json!({ "handle": handle, "after": 100 }));
            let items = page["items"].as_array().unwrap();
            gone.retain(|message| !items.iter().any(|item| item["message"] == **message));
            next = page["next"].as_str().map(str::to_owned);
        }
        assert_eq!(gone, Vec::<&Value>::new(), "{params}");
        self.generation = report["generation"].as_u64().unwrap();
        self.before.push((std::mem::replace(&mut self.list, new.clone()), new.len()));
        // At most this many compressions can be undone.
        if self.before.len() > 5 {
            self.before.remove(0);
        }
    }
}

/// Returns the number of a message, from its text or its first call.
fn number(message: &Value) -> Option<u64> {
    if let Some(id) = message["tool_calls"][0]["id"].as_str() {
        return id.split('-').nth(1)?.parse().ok();
    }
    let text = message["content"].as_str()?;
    let own = if text.starts_with("[CONTEXT COMPACTION") {
        text.rsplit_once(END)?.1.split_once('\n')?.1.trim_start()
    } else {
        text
    };
    own.strip_prefix('#')?.split('#').next()?.parse().ok()
}

/// Returns the reasons why a provider refuses a list. The text is empty if it accepts the list.
fn refused(list: &[Value]) -> String {
    let mut words = String::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            match open.iter().position(|one| *one == id) {
                Some(place) => drop(open.remove(place)),
                None => writeln!(words, "{at}: a result of {id} without its call").unwrap(),
            }
            continue;
        }
        if !open.is_empty() {
            writeln!(words, "{at}: {open:?} have no results").unwrap();
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open = calls.map(|call| call["id"].as_str().unwrap()).collect();
    }
    words
}

#[test]
fn whatever_is_asked_for_in_whatever_order_lists_are_valid_and_nothing_is_lost() {
    let seeds = std::env::var("HERMA_WALKS").map_or(FEW, |count| count.parse().unwrap());
    for seed in 0..seeds {
        for engine in ["compressor", "lossless"] {
            for appends in [true, false] {
                let mut walk = Walk::begin(seed, engine, appends);
                for step in 0..STEPS {
                    let so_far = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| walk.step()));
                    assert!(so_far.is_ok(), "seed {seed}, {engine}, appends {appends}, step {step}");
                }
                walk.raw.result("session.remove", &json!({ "session": "s" }));
            }
        }
    }
}
