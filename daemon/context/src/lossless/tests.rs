#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::engine::Engine;
use crate::handoff;
use crate::testing::settings as window;

fn policy() -> Policy {
    Policy::default()
}

/// Returns `count` messages: questions and answers, each about another thing.
fn talk(count: usize) -> Vec<Message> {
    let said = |at: usize| {
        let words = "and some more words about it ".repeat(12);
        let text = if at.is_multiple_of(2) {
            format!("{{\"role\":\"user\",\"content\":\"Please look at file src/part_{at}.rs {words}\"}}")
        } else {
            format!("{{\"role\":\"assistant\",\"content\":\"File number {at} is fine: code E-{at}00. {words}\"}}")
        };
        Message::parse(text).unwrap()
    };
    (0..count).map(said).collect()
}

/// A session of this engine: its list, and the nodes as the archive would store them.
struct Session {
    window: u64,
    list: Vec<Message>,
    state: EngineState,
    all: Vec<NewNode>,
    left: u64,
}

impl Session {
    fn known(&self) -> SessionNodes {
        let children: Vec<&String> = self
            .all
            .iter()
            .filter_map(|new| match &new.of {
                Coverage::Nodes(children) => Some(children),
                _ => None,
            })
            .flatten()
            .collect();
        let mut nodes: Vec<Node> =
            self.all.iter().map(|new| new.node.clone()).filter(|node| !children.contains(&&node.id)).collect();
        nodes.sort_by_key(|node| node.first);
        SessionNodes {
            prefix: "nod_x_".into(),
            next: u64::try_from(self.all.len()).unwrap(),
            nodes,
            left: self.left,
            ..SessionNodes::default()
        }
    }

    fn compress(&mut self, engine: Engine) -> Compressed {
        let request = CompressRequest { nodes: self.known(), now: 1_795_341_720.0, ..CompressRequest::default() };
        let settings = window(self.window, 3, 20);
        let mut run = engine.prepare(&self.list, &settings, &self.state, &request, |_| ()).ok().unwrap();
        assert_eq!(run.needs_summary(), engine == Engine::Compressor);
        assert_eq!(run.write_summary(&policy()), Vec::<String>::new());
        let body = if run.needs_summary() { run.extractive_summary(None) } else { String::new() };
        let summary = Summary { body, writer: Writer::Extractive, ..Summary::default() };
        let compressed = run.finish(summary, format!("cmp_x_{}", self.state.compression_count + 1), &|_, _| None);
        self.list = compressed.messages(&self.list.clone()).cloned().collect();
        self.state = compressed.state.clone();
        self.left += u64::try_from(compressed.removed.len()).unwrap();
        self.all.extend(compressed.nodes.iter().cloned());
        compressed
    }
}

fn session(list: Vec<Message>) -> Session {
    Session { window: 20_000, list, state: EngineState::default(), all: Vec::new(), left: 0 }
}

#[test]
fn what_leaves_stands_in_a_map_and_every_message_in_one_leaf() {
    let mut session = session(talk(400));
    let compressed = session.compress(Engine::Lossless);
    let body = handoff::split(&compressed.handoff).unwrap().body;
    assert!(map::is_map(&body), "{body}");
    let leaves: Vec<Range<usize>> = compressed
        .nodes
        .iter()
        .filter_map(|new| match &new.of {
            Coverage::Messages(range) => Some(range.clone()),
            _ => None,
        })
        .collect();
    assert!(leaves.len() >= 2, "{leaves:?}");
    let covered: Vec<usize> = leaves.iter().cloned().flatten().collect();
    let dropped: Vec<usize> = compressed.removed.iter().map(|one| one.index()).filter(|at| *at > 0).collect();
    assert_eq!(covered, dropped);
    for new in &compressed.nodes {
        assert!(body.contains(&format!("[{}] messages ", new.node.id)), "{body}");
        assert!(!new.node.text.is_empty() && !new.node.references.is_empty(), "{new:?}");
        assert!(crate::tokens::estimate_text(&new.node.text) <= LEAF_TEXT.min(new.node.tokens / 2));
    }
    assert!(compressed.nodes.windows(2).all(|two| two[0].node.next == two[1].node.first));
}

#[test]
fn after_many_compressions_the_map_is_whole_and_fits() {
    let mut session = session(Vec::new());
    let talk = talk(6_000);
    for part in talk.chunks(200) {
        session.list.extend(part.iter().cloned());
        let compressed = session.compress(Engine::Lossless);
        let threshold = window(20_000, 3, 20).budgets().threshold_tokens;
        assert!(compressed.numbers.tokens_after < threshold, "{:?}", compressed.numbers);
        let frontier = session.known().nodes;
        assert!(frontier.windows(2).all(|two| two[0].next == two[1].first), "{frontier:?}");
        assert!(
            compressed.handoff.contains(&format!("messages {} to ", frontier[0].first + 1)),
            "{}",
            compressed.handoff
        );
        assert!(compressed.handoff.contains(&format!(" to {},", frontier[frontier.len() - 1].next)));
    }
    let frontier = session.known().nodes;
    assert!(frontier.iter().any(|node| node.depth >= 2), "{frontier:?}");
    assert!(frontier.len() <= 5 * 4, "{}", frontier.len());
    // Covered nodes are kept, and every node outside the map is covered by another one.
    assert_eq!(
        session.all.iter().map(|new| &new.node.id).collect::<std::collections::HashSet<_>>().len(),
        session.all.len()
    );
}

#[test]
fn a_session_that_had_another_engine_keeps_what_that_one_wrote() {
    let mut session = Session { window: 100_000, ..session(talk(400)) };
    session.compress(Engine::Compressor);
    session.list.extend(talk(300));
    let compressed = session.compress(Engine::Lossless);
    let first = compressed.nodes.first().unwrap();
    assert_eq!(first.of, Coverage::Handle("cmp_x_1".into()));
    assert!(first.node.text.contains("src/part_"), "{first:?}");
    assert!(compressed.handoff.contains(&format!("[{}] ", first.node.id)), "{}", compressed.handoff);
    // And back: the nodes stay, and the handoff contains the handle of the map.
    session.list.extend(talk(300));
    let back = session.compress(Engine::Compressor);
    assert!(back.nodes.is_empty() && !back.handoff.contains(map::HEADING));
    assert!(back.handoff.contains("Earlier ones: cmp_x_2, cmp_x_1."), "{}", back.handoff);
}

#[test]
fn nothing_of_a_secret_is_in_a_node() {
    let mut talk = talk(300);
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let said = format!(r#"{{"role":"user","content":"My token is {secret}, keep it. {}"}}"#, "More. ".repeat(50));
    for at in (10..200).step_by(3) {
        talk[at] = Message::parse(said.clone()).unwrap();
    }
    let mut session = session(talk);
    let compressed = session.compress(Engine::Lossless);
    assert!(compressed.nodes.iter().any(|new| new.node.text.contains("My token is")), "{:?}", compressed.nodes);
    for new in &compressed.nodes {
        let all = format!("{:?}", new.node);
        assert!(!all.contains("ghp_0123") && !all.contains("uvwxyz"), "{all}");
    }
}
