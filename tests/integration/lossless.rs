//! The lossless engine, against real daemons that are killed.

use herma_client::{Client, ClientError};
use herma_protocol::context::undo::UndoParams;
use herma_protocol::context::{CompressParams, ConfigureParams, Report};
use herma_protocol::recall::{DescribeParams, ExpandParams, ExpandResult, Node, SearchParams};
use herma_protocol::session::transcript::{AppendParams, RemoveParams};
use herma_protocol::{ErrorKind, Json};
use herma_tests::{Daemon, Home};

use crate::compression::conversation;

/// Messages between two compressions.
const ROUND: usize = 150;

/// The heading of a map in a handoff.
const MAP: &str = "## Map of the Conversation";

struct Agent {
    client: Client,
    appends: bool,
    generation: u64,
    list: Vec<Json>,
}

impl Agent {
    fn new(daemon: &Daemon, appends: bool) -> Self {
        let mut agent = Self { client: daemon.client(), appends, generation: 0, list: Vec::new() };
        agent.uses("lossless");
        agent
    }

    fn uses(&mut self, engine: &str) {
        let params = ConfigureParams {
            session: "s".into(),
            context_length: Some(16_000),
            engine: Some(engine.into()),
            ..ConfigureParams::default()
        };
        self.client.context_configure(params).unwrap();
    }

    fn say(&mut self, messages: &[Json]) {
        if self.appends {
            let position = self.list.len() as u64;
            let (generation, messages) = (self.generation, messages.to_vec());
            self.client.session_append(AppendParams { session: "s".into(), generation, position, messages }).unwrap();
        }
        self.list.extend_from_slice(messages);
    }

    fn compress(&mut self) -> Report {
        let messages = (!self.appends).then(|| self.list.clone());
        let params = CompressParams { session: "s".into(), messages, force: Some(true), ..CompressParams::default() };
        let done = self.client.context_compress(params).unwrap().compressed().unwrap();
        self.list = done.messages.unwrap();
        self.generation = done.report.generation;
        done.report
    }

    fn handoff(&self) -> &str {
        self.list.iter().map(Json::get).find(|text| text.contains("CONTEXT COMPACTION")).unwrap_or("")
    }

    fn map(&mut self) -> Vec<Node> {
        self.client.recall_describe(DescribeParams { session: "s".into() }).unwrap().map
    }

    fn expand(&mut self, handle: &str, tokens: Option<u64>) -> Result<ExpandResult, ClientError> {
        self.client.recall_expand(ExpandParams { handle: handle.into(), tokens, ..ExpandParams::default() })
    }

    /// Returns all messages of a node, byte for byte. Opens inner nodes from the top, and leaves page by page.
    fn messages(&mut self, id: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut next = Some(id.to_owned());
        while let Some(handle) = next {
            let page = self.expand(&handle, Some(4_000)).unwrap();
            next = page.next;
            for item in page.items {
                match item.message {
                    Some(message) => found.push(message.get().to_owned()),
                    None => found.extend(self.messages(&item.handle)),
                }
            }
        }
        found
    }
}

#[test]
fn every_message_that_left_is_behind_the_map_byte_for_byte_after_kill_9() {
    let all = conversation(8 * ROUND);
    for appends in [true, false] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let mut agent = Agent::new(&daemon, appends);
        for round in all.chunks(ROUND) {
            agent.say(round);
            let report = agent.compress();
            assert_eq!((report.fallback, report.aborted), (false, false));
            assert!(agent.handoff().contains(MAP));
            daemon.kill();
            daemon = Daemon::start(&home);
            agent.client = daemon.client();
        }
        let map = agent.map();
        assert!(map.iter().any(|node| node.depth > 0) && map.len() < 12, "{map:?}");
        assert!(map.windows(2).all(|two| two[0].next == two[1].first), "{map:?}");
        for node in &map {
            assert!(agent.handoff().contains(&format!("[{}] messages ", node.id)), "{}", agent.handoff());
        }
        let mut there: Vec<String> = map.iter().flat_map(|node| agent.messages(&node.id)).collect();
        there.extend(agent.list.iter().map(|message| message.get().to_owned()));
        // A message that the list has in a shorter form is whole under the handle of the compression that shortened it.
        let known = agent.client.recall_describe(DescribeParams { session: "s".into() }).unwrap().compressions;
        for compression in known.iter().rev().take(2) {
            there.extend(agent.messages(&compression.handle));
        }
        for message in &all {
            let content = serde_json::from_str::<serde_json::Value>(message.get()).unwrap();
            let is_there = there.iter().any(|text| text == message.get())
                // The system message has a note by now.
                || content["role"] == "system";
            assert!(is_there, "{message:?}");
        }
    }
}

#[test]
fn a_search_says_in_which_part_a_hit_lies_and_that_part_gives_it() {
    let all = conversation(2 * ROUND);
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut agent = Agent::new(&daemon, true);
    agent.say(&all[..20]);
    let planted = r#"{"role":"user","content":"The heron nests at kilometre 4711 of the canal."}"#;
    agent.say(&[Json::parse(planted.to_owned()).unwrap()]);
    agent.say(&all[20..]);
    agent.compress();
    let query = SearchParams { query: "where does the heron nest".into(), ..SearchParams::default() };
    let hit = agent.client.recall_search(query).unwrap().hits.into_iter().find(|hit| hit.snippet.contains("4711"));
    let node = hit.unwrap().node.unwrap();
    assert!(agent.messages(&node).iter().any(|text| text == planted));
    let by_name = ExpandParams { node: Some(node.clone()), ..ExpandParams::default() };
    assert!(!agent.client.recall_expand(by_name).unwrap().items.is_empty());
    let both = ExpandParams { node: Some(node.clone()), handle: node, ..ExpandParams::default() };
    let Err(ClientError::Rpc(error)) = agent.client.recall_expand(both) else { panic!() };
    assert_eq!(error.kind, ErrorKind::InvalidParams);
}

#[test]
fn an_undo_brings_the_map_of_before_back() {
    let all = conversation(3 * ROUND);
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut agent = Agent::new(&daemon, true);
    agent.say(&all[..ROUND]);
    agent.compress();
    let before = agent.map();
    agent.say(&all[ROUND..2 * ROUND]);
    agent.compress();
    let newest = agent.map().pop().unwrap();
    let undone = agent.client.context_undo(UndoParams { session: "s".into(), ..UndoParams::default() }).unwrap();
    agent.list = undone.messages;
    agent.generation = undone.generation;
    assert_eq!(agent.map(), before);
    let Err(ClientError::Rpc(error)) = agent.expand(&newest.id, None) else { panic!() };
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(error.message.contains("in the session's list again, by generation 3"), "{error}");
    // The session continues from there.
    agent.say(&all[2 * ROUND..]);
    agent.compress();
    let map = agent.map();
    assert_eq!(map[..before.len()], before);
    assert!(map.len() > before.len() && map.iter().all(|node| node.id != newest.id));
}

#[test]
fn the_engine_can_change_either_way_and_everything_stays() {
    let all = conversation(4 * ROUND);
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut agent = Agent::new(&daemon, true);
    agent.uses("compressor");
    agent.say(&all[..ROUND]);
    let first = agent.compress();
    assert!(!agent.handoff().contains(MAP) && agent.map().is_empty());
    agent.uses("lossless");
    agent.say(&all[ROUND..2 * ROUND]);
    agent.compress();
    let map = agent.map();
    let taken_out = agent.messages(&map[0].id).len() as u64;
    assert_eq!(taken_out, first.dropped, "what the other engine took out, and nothing that became shorter");
    assert!(taken_out < first.archived.unwrap().messages);
    agent.uses("compressor");
    agent.say(&all[2 * ROUND..3 * ROUND]);
    agent.compress();
    assert!(!agent.handoff().contains(MAP));
    assert_eq!(agent.map(), map);
    agent.uses("lossless");
    agent.say(&all[3 * ROUND..]);
    agent.compress();
    let by_now = agent.map();
    assert!(by_now.len() >= map.len() + 2 && by_now.windows(2).all(|two| two[0].next <= two[1].first), "{by_now:?}");
}

#[test]
fn nothing_to_do_changes_nothing_and_a_removed_session_leaves_no_node() {
    let all = conversation(ROUND);
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut agent = Agent::new(&daemon, true);
    agent.say(&all[..6]);
    let params = CompressParams { session: "s".into(), ..CompressParams::default() };
    let done = agent.client.context_compress(params).unwrap().compressed().unwrap();
    assert!(done.report.archived.is_none() && agent.map().is_empty());
    agent.say(&all[6..]);
    agent.compress();
    let node = agent.map()[0].id.clone();
    agent.client.session_remove(RemoveParams { session: "s".into() }).unwrap();
    let Err(ClientError::Rpc(error)) = agent.expand(&node, None) else { panic!() };
    assert_eq!(error.kind, ErrorKind::NotFound);
}
