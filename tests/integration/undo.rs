//! Undoes compressions, against real daemons that are killed.

use herma_client::{Client, ClientError};
use herma_protocol::context::undo::{UndoParams, UndoResult};
use herma_protocol::context::{CompressParams, ConfigureParams, Mode};
use herma_protocol::recall::{DescribeParams, ExpandParams};
use herma_protocol::session::chain::{ListParams, ShowParams};
use herma_protocol::session::transcript::{AppendParams, RemoveParams};
use herma_protocol::{ErrorKind, Json};
use herma_tests::{Daemon, Home};
use serde_json::json;

use crate::compression::conversation;

/// Messages between two compressions.
const ROUND: usize = 150;

/// An agent of one session, with its earlier lists.
struct Agent {
    client: Client,
    session: &'static str,
    appends: bool,
    generation: u64,
    list: Vec<Json>,
    /// Each list before a compression, and the length of the list after it.
    before: Vec<(Vec<Json>, usize)>,
}

impl Agent {
    fn new(daemon: &Daemon, session: &'static str, appends: bool) -> Self {
        let mut client = daemon.client();
        let context_length = Some(16_000);
        let session_id = session.to_owned();
        client
            .context_configure(ConfigureParams { session: session_id, context_length, ..ConfigureParams::default() })
            .unwrap();
        Self { client, session, appends, generation: 0, list: Vec::new(), before: Vec::new() }
    }

    fn say(&mut self, messages: &[Json]) {
        if self.appends {
            let position = self.list.len() as u64;
            let (session, generation, messages) = (self.session.to_owned(), self.generation, messages.to_vec());
            self.client.session_append(AppendParams { session, generation, position, messages }).unwrap();
        }
        self.list.extend_from_slice(messages);
    }

    fn given(&self) -> Option<Vec<Json>> {
        (!self.appends).then(|| self.list.clone())
    }

    fn compress(&mut self) -> String {
        let (session, messages) = (self.session.to_owned(), self.given());
        let params = CompressParams { session, messages, force: Some(true), ..CompressParams::default() };
        let done = self.client.context_compress(params).unwrap().compressed().unwrap();
        let list = done.messages.unwrap();
        self.generation = done.report.generation;
        self.before.push((std::mem::replace(&mut self.list, list.clone()), list.len()));
        done.report.archived.unwrap().handle
    }

    fn undo(&mut self, generation: Option<u64>, is_look: bool) -> Result<UndoResult, ClientError> {
        let params = UndoParams {
            session: self.session.to_owned(),
            generation,
            messages: self.given(),
            dry_run: is_look.then_some(true),
        };
        self.client.context_undo(params)
    }

    /// Undoes the newest compression, and compares the lists.
    fn goes_back(&mut self) -> UndoResult {
        let (mut wanted, length) = self.before.pop().unwrap();
        wanted.extend_from_slice(&self.list[length..]);
        let undone = self.undo(None, false).unwrap();
        assert_eq!(undone.messages, wanted, "appends {}, generation {}", self.appends, undone.restored);
        self.list = wanted;
        self.generation = undone.generation;
        undone
    }
}

fn fails(result: Result<UndoResult, ClientError>, kind: ErrorKind, words: &str) {
    let Err(ClientError::Rpc(error)) = result else { panic!("{result:?}") };
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.message.contains(words), "{words:?} in {error}");
}

#[test]
fn five_lists_come_back_byte_for_byte_after_kill_9() {
    let all = conversation(7 * ROUND);
    for appends in [true, false] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut agent = Agent::new(&daemon, "s", appends);
        for round in all.chunks(ROUND).take(5) {
            agent.say(round);
            agent.compress();
        }
        agent.say(&all[5 * ROUND..6 * ROUND]);
        daemon.kill();
        let daemon = Daemon::start(&home);
        agent.client = daemon.client();
        let looked = agent.undo(None, true).unwrap();
        assert_eq!((looked.generation, looked.archived, looked.since), (5, None, ROUND as u64));
        for restored in (0..5).rev() {
            let undone = agent.goes_back();
            assert_eq!((undone.restored, undone.undone.len()), (restored, 1));
            assert!(undone.over_threshold && undone.tokens >= undone.threshold.unwrap(), "{restored}");
        }
        fails(agent.undo(None, false), ErrorKind::NotFound, "no compression that could be undone");
        daemon.kill();
        let daemon = Daemon::start(&home);
        agent.client = daemon.client();
        // The restored list is the session's transcript, whether the session had one before or not.
        agent.appends = true;
        agent.say(&all[6 * ROUND..]);
        agent.compress();
        agent.goes_back();
    }
}

#[test]
fn a_generation_can_be_wanted_and_what_cannot_be_had_is_told() {
    let all = conversation(4 * ROUND);
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut agent = Agent::new(&daemon, "s", true);
    let mut handles = Vec::new();
    for round in all.chunks(ROUND).take(3) {
        agent.say(round);
        handles.push(agent.compress());
    }
    let list = agent.list.clone();
    fails(agent.undo(Some(3), false), ErrorKind::NotFound, "the session is at it");
    assert_eq!(agent.undo(Some(3), true).unwrap().messages, list, "it can be looked at");
    fails(agent.undo(Some(9), false), ErrorKind::NotFound, "generation 9 can't be brought back");
    agent.appends = false;
    agent.list[1] = Json::parse(r#"{"role":"user","content":"something else"}"#.into()).unwrap();
    fails(agent.undo(None, false), ErrorKind::Conflict, &handles[2]);
    agent.list = list;
    let undone = agent.undo(Some(1), false).unwrap();
    assert_eq!((undone.generation, undone.restored), (4, 1));
    assert_eq!(undone.undone, [handles[2].clone(), handles[1].clone()]);
    // The list of generation 1 with its later messages, and the messages of generation 2.
    let mut wanted = agent.before[1].0.clone();
    wanted.extend_from_slice(&all[2 * ROUND..3 * ROUND]);
    assert_eq!(undone.messages, wanted);
    fails(agent.undo(Some(2), false), ErrorKind::NotFound, "it was undone");

    // Messages that the second compression removed are in the list again. Messages that the undo removes are under the
    // handle in the answer.
    let expand = |handle: &str| ExpandParams { handle: handle.to_owned(), ..ExpandParams::default() };
    let Err(ClientError::Rpc(error)) = agent.client.recall_expand(expand(&handles[1])) else { panic!() };
    assert!(error.message.contains("by generation 4"), "{error}");
    let left = undone.archived.unwrap();
    assert_eq!(agent.client.recall_expand(expand(&left.handle)).unwrap().items.len() as u64, left.messages.min(50));
    let described = agent.client.recall_describe(DescribeParams { session: "s".into() }).unwrap().compressions;
    let story: Vec<_> = described.iter().map(|one| (one.generation, one.back_to, one.undone)).collect();
    assert_eq!(story, [(1, None, None), (2, None, Some(4)), (3, None, Some(4)), (4, Some(1), None)]);

    agent.client.session_remove(RemoveParams { session: "s".into() }).unwrap();
    fails(agent.undo(None, false), ErrorKind::NotFound, "no session");
}

#[test]
fn a_session_that_goes_on_names_the_one_to_undo() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut agent = Agent::new(&daemon, "s", true);
    agent.say(&conversation(ROUND));
    let before = agent.list.clone();
    let mode = Some(Mode::Continue);
    let params = CompressParams { session: "s".into(), force: Some(true), mode, ..CompressParams::default() };
    let done = agent.client.context_compress(params).unwrap().compressed().unwrap();
    assert_eq!(done.report.session, "s-c2");
    agent.session = "s-c2";
    fails(agent.undo(None, false), ErrorKind::NotFound, "it goes on for \"s\"");
    let said = Json::parse(json!({ "role": "user", "content": "and then?" }).to_string()).unwrap();
    let list: Vec<Json> = done.messages.unwrap().into_iter().chain([said.clone()]).collect();
    let params = UndoParams { session: "s".into(), messages: Some(list), ..UndoParams::default() };
    let undone = agent.client.context_undo(params).unwrap();
    assert_eq!(undone.messages, before.into_iter().chain([said]).collect::<Vec<_>>());
    let shown = agent.client.session_show(ShowParams { session: "s".into() }).unwrap();
    assert_eq!((shown.generation, shown.ended_at, shown.end_reason), (2, None, None));
    // The session that continued it stays a separate one.
    let listed = agent.client.session_list(ListParams::default()).unwrap().sessions;
    let mut ids: Vec<&str> = listed.iter().map(|row| row.session.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["s", "s-c2"]);
}

#[test]
fn an_undo_that_is_killed_happened_whole_or_not_at_all() {
    let all = conversation(8 * ROUND);
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut agent = Agent::new(&daemon, "s", true);
    agent.say(&all);
    agent.compress();
    let (before, after) = (agent.before[0].0.clone(), agent.list.clone());
    let mut undone = false;
    for pause_us in (0..).step_by(400) {
        let mut client = daemon.client();
        let asked = std::thread::spawn(move || {
            client.context_undo(UndoParams { session: "s".into(), ..UndoParams::default() }).map(drop)
        });
        // The moment of the kill is random on purpose. Every moment must work.
        std::thread::sleep(std::time::Duration::from_micros(pause_us));
        daemon.kill();
        let answered = asked.join().unwrap().is_ok();
        daemon = Daemon::start(&home);
        agent.client = daemon.client();
        let generation = agent.client.session_show(ShowParams { session: "s".into() }).unwrap().generation;
        assert!(!answered || generation == 2, "answered, and lost");
        let list = agent.undo(Some(generation), true).unwrap().messages;
        if generation == 2 {
            assert_eq!(list, before);
            undone = true;
            break;
        }
        assert_eq!((generation, &list), (1, &after));
        assert!(pause_us < 2_000_000, "it never comes through");
    }
    assert!(undone);
}
