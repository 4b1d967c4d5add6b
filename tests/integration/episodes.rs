//! Sub-tasks that an agent opens and closes, against a real daemon that is killed.

use herma_client::protocol::context::episode::{EpisodeAction, EpisodeParams, EpisodeResult};
use herma_client::{Client, ClientError};
use herma_protocol::context::undo::UndoParams;
use herma_protocol::context::{CompressParams, Compressed, ConfigureParams, PlanParams};
use herma_protocol::session::transcript::{AppendParams, RemoveParams};
use herma_protocol::{ErrorKind, Json};
use herma_tests::{Daemon, Home};
use serde_json::{Value, json};

use crate::compression::conversation;

fn value(message: &Json) -> Value {
    serde_json::from_str(message.get()).unwrap()
}

fn say(role: &str, text: &str) -> Json {
    Json::from_value(&json!({"role": role, "content": text})).unwrap()
}

/// The messages of a sub-task: twenty calls with their results, and an answer.
fn sub_task() -> Vec<Json> {
    let exchange = |at: usize| {
        let id = format!("leak-{at}");
        let arguments = format!("{{\"path\": \"src/pool_{at}.rs\"}}");
        let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "read_file", "arguments": arguments}}]});
        let result =
            json!({"role": "tool", "tool_call_id": id, "content": format!("pool {at} keeps what it has. ").repeat(30)});
        [call, result].map(|message| Json::from_value(&message).unwrap())
    };
    let mut all: Vec<Json> = (0..20).flat_map(exchange).collect();
    all.push(say("assistant", "The pool kept its connections; it gives them back now."));
    all
}

/// A session with its list, which is appended to it or sent with each call.
struct Talk {
    client: Client,
    appends: bool,
    list: Vec<Json>,
    generation: u64,
}

impl Talk {
    fn say(&mut self, more: Vec<Json>) {
        let position = self.list.len() as u64;
        self.list.extend_from_slice(&more);
        if self.appends {
            let params = AppendParams { session: "s".into(), generation: self.generation, position, messages: more };
            self.client.session_append(params).unwrap();
        }
    }

    /// Continues with the list of a compression.
    fn go_on(&mut self, list: Vec<Json>) {
        self.list = list;
        self.generation += 1;
    }

    fn sent(&self) -> Option<Vec<Json>> {
        (!self.appends).then(|| self.list.clone())
    }

    fn step(
        &mut self,
        action: EpisodeAction,
        title: &str,
        outcome: Option<&str>,
    ) -> Result<EpisodeResult, ClientError> {
        let (title, outcome) = (title.to_owned(), outcome.map(str::to_owned));
        let params = EpisodeParams { session: "s".into(), action, title, outcome, messages: self.sent() };
        self.client.context_episode(params)
    }

    fn compress(&mut self) -> Compressed {
        let params = CompressParams { session: "s".into(), messages: self.sent(), ..CompressParams::default() };
        self.client.context_compress(params).unwrap().compressed().unwrap()
    }
}

fn configured(daemon: &Daemon, engine: &str) -> Client {
    let mut client = daemon.client();
    let params = ConfigureParams {
        session: "s".into(),
        context_length: Some(60_000),
        engine: Some(engine.into()),
        ..ConfigureParams::default()
    };
    client.context_configure(params).unwrap();
    client
}

fn handoff(list: &[Json]) -> String {
    let texts = list.iter().map(value).filter_map(|message| message["content"].as_str().map(str::to_owned));
    let found: Vec<String> = texts.filter(|text| text.starts_with("[CONTEXT COMPACTION")).collect();
    assert_eq!(found.len(), 1);
    found[0].clone()
}

#[test]
fn a_closed_sub_task_leaves_the_end_of_the_list_and_what_is_around_it_stays() {
    for (engine, appends) in [("compressor", true), ("compressor", false), ("lossless", true)] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let client = configured(&daemon, engine);
        let mut talk = Talk { client, appends, list: Vec::new(), generation: 0 };
        talk.say(conversation(400));
        talk.say(vec![say("user", "Find the leak."), say("assistant", "I look for it in the pools.")]);
        talk.say(vec![say("user", "Do so, and then go on with the release.")]);
        let opened = talk.step(EpisodeAction::Open, "find the leak", None).unwrap();
        assert_eq!((opened.open, opened.messages), (vec!["find the leak".to_owned()], 0));
        daemon.kill();
        daemon = Daemon::start(&home);
        talk.client = daemon.client();
        let sub_task = sub_task();
        talk.say(sub_task.clone());
        let closed = talk.step(EpisodeAction::Close, "find the leak", Some("the pool\nkept its connections")).unwrap();
        assert!(closed.open.is_empty() && closed.messages == 41 && closed.tokens > 1_000, "{closed:?}");
        let after = vec![say("user", "Now the release."), say("assistant", "I tag it."), say("user", "Go on.")];
        talk.say(after.clone());
        let before = talk.list.clone();
        let plan = PlanParams {
            session: Some("s".into()),
            messages: before.clone(),
            preview: Some(true),
            ..PlanParams::default()
        };
        let looked = talk.client.context_plan(plan).unwrap().preview.unwrap();
        assert!(looked.handoff.contains("- find the leak (40 messages)"), "{}", looked.handoff);
        daemon.kill();
        daemon = Daemon::start(&home);
        talk.client = daemon.client();
        let done = talk.compress();
        assert_eq!(done.report.episodes, 1, "{engine}");
        let new = done.messages.unwrap();
        let line = "## Finished Episodes\n- find the leak (40 messages): the pool kept its connections\n";
        assert!(handoff(&new).contains(line), "{engine}: {}", handoff(&new));
        // The answer is between the user's messages before and after it.
        assert!(new.contains(&sub_task[40]) && !sub_task[..40].iter().any(|one| new.contains(one)), "{engine}");
        assert!(new.ends_with(&after), "{engine}");
        let before_it = say("assistant", "I look for it in the pools.");
        let at = new.iter().position(|one| *one == before_it).expect("what was said before it stays");
        let roles: Vec<Value> = new[at..].iter().map(|one| value(one)["role"].clone()).collect();
        assert!(!roles.windows(2).any(|pair| pair[0] == pair[1]), "{engine}: {roles:?}");
        let undo =
            UndoParams { session: "s".into(), messages: (!appends).then(|| new.clone()), ..UndoParams::default() };
        assert!(talk.client.context_undo(undo).unwrap().messages == before, "{engine}");
        talk.client.session_remove(RemoveParams { session: "s".into() }).unwrap();
    }
}

#[test]
fn one_that_is_opened_where_another_one_ended_has_its_own_messages_only() {
    for (engine, appends) in [("compressor", true), ("compressor", false), ("lossless", true)] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let client = configured(&daemon, engine);
        let mut talk = Talk { client, appends, list: Vec::new(), generation: 0 };
        talk.say(conversation(400));
        talk.step(EpisodeAction::Open, "find the leak", None).unwrap();
        talk.say(sub_task());
        talk.step(EpisodeAction::Close, "find the leak", Some("a pool")).unwrap();
        talk.step(EpisodeAction::Open, "mend it", None).unwrap();
        talk.say(vec![say("user", "Mend it."), say("assistant", "I do.")]);
        let done = talk.compress();
        assert_eq!(done.report.episodes, 1, "{engine}");
        talk.go_on(done.messages.unwrap());
        daemon.kill();
        daemon = Daemon::start(&home);
        talk.client = daemon.client();
        let kept = [say("user", "A word in between: port 4711."), say("assistant", "Noted.")];
        talk.say(vec![say("user", "And test it."), say("assistant", "It works.")]);
        let closed = talk.step(EpisodeAction::Close, "mend it", Some("tested")).unwrap();
        assert_eq!(closed.messages, 4, "{engine}");
        talk.say(kept.to_vec());
        talk.say(vec![say("user", "What now?"), say("assistant", "The release.")]);
        let params = CompressParams {
            session: "s".into(),
            messages: talk.sent(),
            force: Some(true),
            ..CompressParams::default()
        };
        let done = talk.client.context_compress(params).unwrap().compressed().unwrap();
        let new = done.messages.unwrap();
        assert!(kept.iter().all(|one| new.contains(one)) && !new.contains(&say("user", "And test it.")), "{engine}");
        let lines = handoff(&new);
        assert!(lines.contains("- find the leak (41 messages)") || lines.contains("- find the leak (40 messages)"));
        assert!(lines.contains("- mend it ("), "{engine}: {lines}");
    }
}

#[test]
fn a_step_that_can_not_be_taken_says_why() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let client = configured(&daemon, "compressor");
    let mut talk = Talk { client, appends: true, list: Vec::new(), generation: 0 };
    let kind = |result: Result<EpisodeResult, ClientError>| match result {
        Err(ClientError::Rpc(error)) => (error.kind, error.message),
        other => panic!("{other:?}"),
    };
    let (refused, words) = kind(talk.step(EpisodeAction::Open, "look", None));
    assert_eq!(refused, ErrorKind::InvalidParams);
    assert!(words.contains("nothing was appended"), "{words}");
    talk.say(vec![say("user", "go")]);
    assert_eq!(kind(talk.step(EpisodeAction::Open, " \n", None)).0, ErrorKind::InvalidParams);
    assert_eq!(kind(talk.step(EpisodeAction::Open, "look", Some("seen"))).0, ErrorKind::InvalidParams);
    assert_eq!(kind(talk.step(EpisodeAction::Close, "look", None)).0, ErrorKind::NotFound);
    let secret = format!("sk-{}", "a1B2c3D4".repeat(6));
    let opened = talk.step(EpisodeAction::Open, &format!("look\nfor {secret}"), None).unwrap();
    assert!(opened.title.starts_with("look for ") && !opened.title.contains(&secret), "{opened:?}");
    talk.step(EpisodeAction::Open, "look", None).unwrap();
    let (refused, words) = kind(talk.step(EpisodeAction::Open, "look", None));
    assert!(refused == ErrorKind::InvalidParams && words.contains("open already"), "{words}");
    let (refused, words) = kind(talk.step(EpisodeAction::Close, "search", None));
    assert!(refused == ErrorKind::NotFound && words.contains(r#"open are: "look", "look for"#), "{words}");
    let closed = talk.step(EpisodeAction::Close, "look", None).unwrap();
    assert_eq!((closed.messages, closed.open.len()), (0, 1), "nothing was said in it");
}
