//! Parts of a conversation that are opened in the list and folded again, against real daemons that are killed.

use herma_client::{Client, ClientError};
use herma_protocol::context::opened::{FoldParams, FoldResult, OpenParams, OpenResult};
use herma_protocol::context::undo::UndoParams;
use herma_protocol::context::{CompressParams, Compressed, ConfigureParams, Edits, PlanParams, ReplyForm};
use herma_protocol::recall::{DescribeParams, ExpandParams, SearchParams};
use herma_protocol::session::transcript::AppendParams;
use herma_protocol::{ErrorKind, Json, RpcError};
use herma_tests::{Daemon, Home};

use crate::compression::conversation;

/// Number of messages of a conversation.
const MESSAGES: usize = 900;

/// A message that only one node has.
const PLANTED: &str = r#"{"role":"user","content":"The heron nests at kilometre 4711 of the canal."}"#;

/// An agent with its own list. If it appends messages, it never sends the list.
struct Agent {
    client: Client,
    appends: bool,
    generation: u64,
    /// Number of appended messages of this generation's list.
    appended: u64,
    list: Vec<Json>,
}

impl Agent {
    fn new(daemon: &Daemon, appends: bool) -> Self {
        let mut agent = Self { client: daemon.client(), appends, generation: 0, appended: 0, list: Vec::new() };
        agent.window(200_000);
        agent
    }

    fn window(&mut self, tokens: u64) {
        let params = ConfigureParams {
            session: "s".into(),
            context_length: Some(tokens),
            engine: Some("lossless".into()),
            ..ConfigureParams::default()
        };
        self.client.context_configure(params).unwrap();
    }

    fn say(&mut self, messages: &[Json]) {
        if self.appends {
            let (generation, position, messages) = (self.generation, self.appended, messages.to_vec());
            self.client.session_append(AppendParams { session: "s".into(), generation, position, messages }).unwrap();
        }
        self.appended += messages.len() as u64;
        self.list.extend_from_slice(messages);
    }

    fn given(&self) -> Option<Vec<Json>> {
        (!self.appends).then(|| self.list.clone())
    }

    fn ask_compress(&mut self, form: ReplyForm) -> Compressed {
        let (messages, reply) = (self.given(), Some(form));
        let params =
            CompressParams { session: "s".into(), messages, force: Some(true), reply, ..CompressParams::default() };
        self.client.context_compress(params).unwrap().compressed().unwrap()
    }

    fn compress(&mut self) -> Compressed {
        let done = self.ask_compress(ReplyForm::Messages);
        self.list = done.messages.clone().unwrap();
        (self.generation, self.appended) = (done.report.generation, self.list.len() as u64);
        done
    }

    fn open(&mut self, node: &str) -> Result<OpenResult, RpcError> {
        let params = OpenParams { session: "s".into(), node: node.into(), messages: self.given() };
        let opened = refused(self.client.context_open(params))?;
        let at = usize::try_from(opened.at).unwrap();
        self.list.splice(at..at, opened.messages.clone());
        Ok(opened)
    }

    fn fold(&mut self, node: Option<&str>) -> Result<FoldResult, RpcError> {
        let params = FoldParams { session: "s".into(), node: node.map(str::to_owned), messages: self.given() };
        let folded = refused(self.client.context_fold(params))?;
        for (from, to) in folded.remove.iter().rev() {
            self.list.drain(usize::try_from(*from).unwrap()..usize::try_from(*to).unwrap());
        }
        Ok(folded)
    }

    /// Returns the leaves of the map, oldest first.
    fn leaves(&mut self) -> Vec<String> {
        let map = self.client.recall_describe(DescribeParams { session: "s".into() }).unwrap().map;
        map.into_iter().filter(|node| node.depth == 0).map(|node| node.id).collect()
    }

    fn behind(&mut self, node: &str) -> Vec<Json> {
        let (mut found, mut next) = (Vec::new(), Some(node.to_owned()));
        while let Some(handle) = next {
            let page = self.client.recall_expand(ExpandParams { handle, ..ExpandParams::default() }).unwrap();
            found.extend(page.items.into_iter().filter_map(|item| item.message));
            next = page.next;
        }
        found
    }

    fn is_open(&mut self) -> Vec<String> {
        self.client.recall_describe(DescribeParams { session: "s".into() }).unwrap().open
    }
}

fn refused<T>(answer: Result<T, ClientError>) -> Result<T, RpcError> {
    answer.map_err(|error| match error {
        ClientError::Rpc(error) => error,
        other => panic!("{other}"),
    })
}

/// Starts a daemon, and an agent whose conversation was compressed once.
fn compressed(home: &Home, appends: bool) -> (Daemon, Agent) {
    let daemon = Daemon::start(home);
    let mut agent = Agent::new(&daemon, appends);
    let all = conversation(MESSAGES - 1);
    agent.say(&all[..20]);
    agent.say(&[Json::parse(PLANTED.to_owned()).unwrap()]);
    agent.say(&all[20..]);
    agent.compress();
    (daemon, agent)
}

fn texts(list: &[Json]) -> Vec<&str> {
    list.iter().map(Json::get).collect()
}

fn role(message: &Json) -> String {
    serde_json::from_str::<serde_json::Value>(message.get()).unwrap()["role"].as_str().unwrap().to_owned()
}

fn edited(list: &[Json], edits: &Edits) -> Vec<Json> {
    let place = |at: u64| usize::try_from(at).unwrap();
    let mut new = Vec::new();
    for &(from, to) in &edits.keep {
        for at in from..to {
            new.extend(edits.insert.iter().filter(|one| one.at == at).map(|one| one.message.clone()));
            let replaced = edits.replace.iter().find(|one| one.index == at).map(|one| one.message.clone());
            new.push(replaced.unwrap_or_else(|| list[place(at)].clone()));
        }
    }
    new.extend(edits.insert.iter().filter(|one| place(one.at) == list.len()).map(|one| one.message.clone()));
    new
}

#[test]
fn what_is_opened_stands_in_the_list_word_for_word_until_it_is_closed() {
    for appends in [true, false] {
        let home = Home::new();
        let (mut daemon, mut agent) = compressed(&home, appends);
        let (before, leaves) = (agent.list.clone(), agent.leaves());
        assert!(leaves.len() > 1, "{leaves:?}");
        // The newer node is opened first. The older one is still inserted before it.
        for node in [&leaves[1], &leaves[0]] {
            let behind = agent.behind(node);
            let opened = agent.open(node).unwrap();
            assert!(opened.messages.len() - behind.len() <= 2, "only marks are added");
            let at = usize::try_from(opened.at).unwrap();
            for seam in [at, at + opened.messages.len()] {
                let (one, next) = (role(&agent.list[seam - 1]), role(&agent.list[seam]));
                assert!(one != next || one == "tool", "two of {one} in a row");
            }
            assert!(opened.messages.windows(behind.len()).any(|part| texts(part) == texts(&behind)));
            assert!(
                opened.list_tokens > opened.tokens && opened.threshold.is_some_and(|most| opened.list_tokens < most)
            );
            daemon.kill();
            daemon = Daemon::start(&home);
            agent.client = daemon.client();
        }
        assert_eq!(agent.is_open(), leaves[..2]);
        assert!(texts(&agent.list).contains(&PLANTED));
        // A new message comes after the opened parts, and stays when they are folded.
        let said = conversation(4).split_off(2);
        agent.say(&said);
        assert_eq!(agent.fold(Some(&leaves[1])).unwrap().open, leaves[..1]);
        assert!(texts(&agent.list).contains(&PLANTED));
        assert_eq!(agent.fold(None).unwrap().folded, leaves[..1]);
        assert_eq!(texts(&agent.list), texts(&before).into_iter().chain(texts(&said)).collect::<Vec<_>>());
        assert!(agent.is_open().is_empty());
        let error = agent.fold(None).unwrap_err();
        assert_eq!((error.kind, error.message.contains("nothing is open")), (ErrorKind::NotFound, true));
    }
}

#[test]
fn a_look_at_a_compression_leaves_out_what_is_open_as_the_compression_does() {
    let home = Home::new();
    let (_daemon, mut agent) = compressed(&home, false);
    agent.say(&conversation(200));
    let node = agent.leaves().remove(0);
    agent.open(&node).unwrap();
    let messages = agent.list.clone();
    let look = PlanParams { messages, session: Some("s".into()), preview: Some(true), ..PlanParams::default() };
    let look = agent.client.context_plan(look).unwrap().preview.unwrap();
    let done = agent.ask_compress(ReplyForm::Edits);
    assert_eq!(Some(look.edits), done.edits);
    assert_eq!((look.messages_after, look.tokens_after), (done.report.messages_after, done.report.tokens_after));
}

#[test]
fn a_compression_closes_what_is_open_and_archives_nothing_of_it_twice() {
    for appends in [true, false] {
        for form in [ReplyForm::Messages, ReplyForm::Edits] {
            let home = Home::new();
            let (_daemon, mut agent) = compressed(&home, appends);
            let more = conversation(60);
            agent.say(&more);
            let twin = Home::new();
            let (_other, mut other) = compressed(&twin, appends);
            other.say(&more);
            let leaf = agent.leaves().remove(0);
            agent.open(&leaf).unwrap();
            let done = agent.ask_compress(form);
            let new = match &done.edits {
                Some(edits) => edited(&agent.list, edits),
                None => done.messages.clone().unwrap(),
            };
            assert_eq!(done.report.folded, [leaf]);
            assert!(!texts(&new).contains(&PLANTED) && agent.is_open().is_empty());
            let wanted = other.compress();
            assert_eq!(done.report.archived, wanted.report.archived);
            let shape =
                |list: &[Json]| list.iter().map(|message| (role(message), message.get().len())).collect::<Vec<_>>();
            assert_eq!(shape(&new), shape(&other.list));
            let query = SearchParams { query: "heron kilometre 4711".into(), ..SearchParams::default() };
            let hits = agent.client.recall_search(query).unwrap().hits;
            assert_eq!(hits.iter().filter(|hit| hit.snippet.starts_with("The heron")).count(), 1, "{hits:?}");
        }
    }
}

#[test]
fn an_undo_takes_no_notice_of_what_is_open() {
    for appends in [true, false] {
        let home = Home::new();
        let (_daemon, mut agent) = compressed(&home, appends);
        let leaf = agent.leaves().remove(0);
        agent.open(&leaf).unwrap();
        let params = UndoParams { session: "s".into(), messages: agent.given(), ..UndoParams::default() };
        let undone = agent.client.context_undo(params).unwrap();
        assert_eq!((undone.restored, undone.since, undone.messages.len()), (0, 0, MESSAGES));
        assert!(agent.is_open().is_empty());
    }
}

#[test]
fn what_can_not_be_opened_is_refused_and_changes_nothing() {
    let home = Home::new();
    let (_daemon, mut agent) = compressed(&home, false);
    let leaf = agent.leaves().remove(0);
    let error = agent.open("nod_043a718774c5_77").unwrap_err();
    assert_eq!((error.kind, error.message.contains("recall.describe has its map")), (ErrorKind::NotFound, true));
    assert_eq!(agent.open("../../etc/passwd").unwrap_err().kind, ErrorKind::NotFound);
    let list = std::mem::replace(&mut agent.list, conversation(6));
    let error = agent.open(&leaf).unwrap_err();
    assert_eq!((error.kind, error.message.contains("no handoff")), (ErrorKind::InvalidParams, true));
    agent.list = list;
    agent.window(16_000);
    let error = agent.open(&leaf).unwrap_err();
    assert_eq!((error.kind, error.message.contains("recall.expand")), (ErrorKind::TooLarge, true), "{error}");
    assert!(agent.is_open().is_empty());
    agent.window(200_000);
    agent.open(&leaf).unwrap();
    let error = agent.open(&leaf).unwrap_err();
    assert_eq!((error.kind, error.message.contains("already")), (ErrorKind::Conflict, true));
    assert_eq!(agent.is_open(), [leaf]);
}
