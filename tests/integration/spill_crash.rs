//! kill -9 at any instant while outputs and sessions are written. Acknowledged data is there as a whole, and nothing
//! else stays on the disk.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use herma_client::{Client, ClientError, Codec};
use herma_protocol::context::usage::RecordUsageParams;
use herma_protocol::daemon::StatusParams;
use herma_protocol::output::shelf::{GcParams, ListParams, RemoveParams as DropParams, Row, State};
use herma_protocol::output::{AdmitParams, ReadParams};
use herma_protocol::recall::SearchParams;
use herma_protocol::session::chain::ShowParams;
use herma_protocol::session::transcript::{AppendParams, RemoveParams};
use herma_protocol::value::{Content, Size};
use herma_protocol::{ErrorKind, Json};
use herma_tests::random::Random;
use herma_tests::{Daemon, Home, eventually};
use serde_json::json;

const AGENTS: u64 = 6;
const ROUNDS: u64 = 60;

/// Chars of the outputs: a line, a page, enough for an index, and several writes.
const LENGTHS: [usize; 8] = [30, 30, 30, 6_000, 6_000, 40_000, 40_000, 600_000];

/// A client and the answers that it got.
#[derive(Debug)]
struct Agent {
    name: String,
    random: Random,
    steps: u64,
    /// Outputs by their handles.
    outputs: HashMap<String, String>,
    /// Messages of its session. Those from index `told` on were not acknowledged.
    messages: Vec<String>,
    told: usize,
    /// The minimum and maximum number of recorded model calls.
    usage: (u64, u64),
    /// Removed sessions.
    removed: Vec<String>,
}

impl Agent {
    fn new(number: u64) -> Self {
        Self {
            name: format!("a{number}"),
            random: Random::seeded(number),
            steps: 0,
            outputs: HashMap::new(),
            messages: Vec::new(),
            told: 0,
            usage: (0, 0),
            removed: Vec::new(),
        }
    }

    /// Works until the daemon is gone.
    fn work(&mut self, mut client: Client, told: &Sender<()>) {
        loop {
            match self.step(&mut client) {
                // The receiver may be gone already.
                Ok(()) => drop(told.send(())),
                Err(ClientError::Lost(_) | ClientError::Unreachable { .. }) => return,
                Err(error) => panic!("{}: {error}", self.name),
            }
        }
    }

    fn step(&mut self, client: &mut Client) -> Result<(), ClientError> {
        self.steps += 1;
        match self.random.below(20) {
            0..=8 => {
                self.admit(client, self.name.clone()).map(|(handle, text)| drop(self.outputs.insert(handle, text)))
            }
            9..=13 => self.append(client),
            14..=16 => self.note(client),
            17 => {
                // From the request on, the output may be gone.
                let Some(handle) = self.outputs.keys().next().cloned() else { return Ok(()) };
                self.outputs.remove(&handle);
                client.output_remove(DropParams { handle }).map(drop)
            }
            18 => client.recall_search(SearchParams { query: self.name.clone(), ..SearchParams::default() }).map(drop),
            _ => self.come_and_go(client),
        }
    }

    fn admit(&mut self, client: &mut Client, session: String) -> Result<(String, String), ClientError> {
        let length = LENGTHS[usize::try_from(self.random.below(LENGTHS.len() as u64)).unwrap()];
        let line = format!("{} {} {:x}\n", self.name, self.steps, self.random.next());
        let text = line.repeat(length.div_ceil(line.len()));
        let admitted = client.output_admit(AdmitParams {
            session,
            tool: "t".into(),
            id: format!("call_{}", self.steps % 50),
            content: Content::Text(text.clone()),
            threshold: Some(Size::Chars(0)),
            config: None,
        })?;
        assert_eq!(admitted.failure, None);
        Ok((admitted.handle.unwrap(), text))
    }

    /// Appends some messages, together with earlier ones that were not acknowledged.
    fn append(&mut self, client: &mut Client) -> Result<(), ClientError> {
        for _ in 0..=self.random.below(4) {
            let content = format!("{} said {}", self.name, self.random.next()).repeat(1 + self.messages.len() % 40);
            self.messages.push(json!({ "role": "user", "content": content }).to_string());
        }
        self.append_from(client, self.told)
    }

    fn append_from(&mut self, client: &mut Client, position: usize) -> Result<(), ClientError> {
        let messages = self.messages[position..].iter().map(|text| Json::parse(text.clone()).unwrap()).collect();
        let params = AppendParams { session: self.name.clone(), generation: 0, position: position as u64, messages };
        let next = client.session_append(params)?.position;
        self.told = self.messages.len();
        assert_eq!(next, self.told as u64);
        Ok(())
    }

    fn note(&mut self, client: &mut Client) -> Result<(), ClientError> {
        self.usage.1 += 1;
        let usage = Json::from_value(&json!({ "prompt_tokens": 10, "completion_tokens": 1 })).unwrap();
        client.context_record_usage(RecordUsageParams {
            session: Some(self.name.clone()),
            usage: Some(usage),
            ..Default::default()
        })?;
        self.usage.0 += 1;
        Ok(())
    }

    /// Opens a session, and removes it after its first output and message.
    fn come_and_go(&mut self, client: &mut Client) -> Result<(), ClientError> {
        let session = format!("{}-{}", self.name, self.steps);
        self.admit(client, session.clone())?;
        let message = Json::from_value(&json!({ "role": "user", "content": "soon gone" })).unwrap();
        let params = AppendParams { session: session.clone(), generation: 0, position: 0, messages: vec![message] };
        client.session_append(params)?;
        let removed = client.session_remove(RemoveParams { session: session.clone() })?;
        assert_eq!((removed.messages, removed.outputs), (1, 1));
        self.removed.push(session);
        Ok(())
    }

    /// Checks that the next daemon has the acknowledged data.
    fn check(&mut self, client: &mut Client, rows: &HashMap<&str, &Row>) {
        for (handle, text) in &self.outputs {
            let row = rows.get(handle.as_str()).unwrap_or_else(|| panic!("{}: {handle} is not listed", self.name));
            assert_eq!((row.state, row.bytes, &row.session), (State::Kept, text.len() as u64, &self.name));
            let part = ReadParams { handle: Some(handle.clone()), limit: Some(2_000_000), ..ReadParams::default() };
            let read = client.output_read(ReadParams { offset: Some(0), ..part }).unwrap();
            assert!(text.starts_with(&read.text) && read.text.len() >= text.len().min(90_000), "{handle}");
            assert_eq!(read.total_chars, text.len() as u64);
            assert!(fs::read(&row.path).unwrap() == text.as_bytes(), "{handle} is torn");
        }
        if self.told > 0 {
            let row = client.session_show(ShowParams { session: self.name.clone() }).unwrap();
            let possible = self.told as u64..=self.messages.len() as u64;
            assert!(possible.contains(&row.messages), "{} of {possible:?}", row.messages);
            // Existing messages are accepted only if their bytes are equal.
            self.append_from(client, 0).unwrap();
        }
        if self.usage.0 > 0 {
            let calls = client.session_show(ShowParams { session: self.name.clone() }).unwrap().usage.calls;
            assert!((self.usage.0..=self.usage.1).contains(&calls), "{calls} of {:?}", self.usage);
            self.usage = (calls, calls);
        }
        for session in self.removed.drain(..) {
            let shown = client.session_show(ShowParams { session: session.clone() });
            assert!(matches!(&shown, Err(ClientError::Rpc(error)) if error.kind == ErrorKind::NotFound), "{shown:?}");
            assert!(!rows.values().any(|row| row.session == session), "{session}");
        }
    }
}

/// Waits for some acknowledged steps. Then returns at once, when a temporary file exists, or after a random delay.
/// Returns false if no step is acknowledged any more.
fn right_moment(told: &Receiver<()>, home: &Home, random: &mut Random) -> bool {
    for _ in 0..=random.below(60) {
        if told.recv().is_err() {
            return false;
        }
    }
    let is_half_written = || home.outputs().iter().any(|path| path.extension().is_some_and(|end| end == "tmp"));
    match random.below(3) {
        0 => {}
        1 => drop((0..300).find(|_| is_half_written())),
        _ => (0..random.below(400_000)).for_each(|at| assert_eq!(std::hint::black_box(at), at)),
    }
    true
}

/// Checks that files and catalog agree after a collection.
fn check_files(home: &Home, client: &mut Client) -> Vec<Row> {
    // A daemon removes the leftovers of a killed one while it gives its first answers.
    eventually("leftovers to be removed", || {
        client.output_gc(GcParams { dry_run: None }).unwrap();
        let is_left = |path: &PathBuf| path.extension().is_some_and(|end| end == "tmp");
        (!home.outputs().iter().any(is_left)).then_some(())
    });
    let rows = client.output_list(ListParams { limit: Some(100_000), ..ListParams::default() }).unwrap().outputs;
    let kept: HashMap<&str, &Row> =
        rows.iter().filter(|row| row.state == State::Kept).map(|row| (row.path.as_str(), row)).collect();
    let mut found = 0;
    for path in home.outputs() {
        let path = path.to_str().unwrap();
        match path.strip_suffix(".idx") {
            Some(output) => assert!(kept.contains_key(output), "{path} has no output"),
            None => {
                let row = kept.get(path).unwrap_or_else(|| panic!("{path} is an orphan"));
                let bytes = fs::read(path).unwrap();
                // Every output repeats one line.
                let line = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap();
                assert!(bytes.chunks(line.len()).all(|other| other == line), "{path} is torn");
                assert_eq!(bytes.len() as u64, row.bytes, "{path} is torn");
                found += 1;
            }
        }
    }
    assert_eq!(found, kept.len(), "outputs without a file");
    rows
}

#[test]
fn what_was_acknowledged_survives_sixty_kills_under_load_and_nothing_else_stays() {
    let home = Home::configured("[output]\nquota = \"64 MiB\"\n");
    let mut random = Random::seeded(20_261_122);
    let mut agents: Vec<Agent> = (0..AGENTS).map(Agent::new).collect();
    let mut daemon = Daemon::start(&home);
    for round in 0..ROUNDS {
        let (tell, told) = channel();
        std::thread::scope(|scope| {
            for (agent, codec) in agents.iter_mut().zip([Codec::Json, Codec::Bincode].into_iter().cycle()) {
                let (client, tell) = (daemon.client_with(codec), tell.clone());
                scope.spawn(move || agent.work(client, &tell));
            }
            drop(tell);
            let heard = right_moment(&told, &home, &mut random);
            daemon.kill();
            assert!(heard, "all agents gave up in round {round}");
        });
        daemon = Daemon::start(&home);
        let mut client = daemon.client();
        assert_eq!(client.status(StatusParams {}).unwrap().archive.state, "ok", "round {round}");
        let rows = check_files(&home, &mut client);
        let by_handle: HashMap<&str, &Row> = rows.iter().map(|row| (row.handle.as_str(), row)).collect();
        agents.iter_mut().for_each(|agent| agent.check(&mut client, &by_handle));
        if round % 10 == 9 {
            // The stored data must not keep growing, and the quota must not remove any of it.
            for agent in &mut agents {
                for (handle, _) in agent.outputs.drain() {
                    client.output_remove(DropParams { handle }).unwrap();
                }
            }
        }
    }
    let (messages, calls): (usize, u64) =
        agents.iter().fold((0, 0), |sum, agent| (sum.0 + agent.told, sum.1 + agent.usage.0));
    assert!(messages > 200 && calls > 100, "{messages} {calls}");
}
