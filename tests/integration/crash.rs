//! kill -9 at any instant is a supported way to stop the daemon.

use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};

use herma_client::{Client, ClientError};
use herma_protocol::daemon::{JournalState, StatusParams, StoreState};
use herma_protocol::memory::{ListParams, LogParams, Target};
use herma_protocol::output::{AdmitParams, ReadParams};
use herma_protocol::session::{OpenParams, Snapshot, SnapshotParams};
use herma_protocol::value::{Content, Size};
use herma_tests::random::Random;
use herma_tests::{Daemon, Home, Journal};

use crate::writer::Writer;

const AGENTS: u64 = 8;
const ROUNDS: u64 = 200;

/// Number of revisions that the journals keep. It is small, so that they are often shortened.
const KEPT: usize = 150;

/// A client that writes to both stores, and the answers that it got.
#[derive(Debug)]
struct Agent {
    number: u64,
    stores: [Writer; 2],
    steps: u64,
    outputs: Vec<(String, String)>,
    snapshots: Vec<(String, Snapshot)>,
}

impl Agent {
    fn new(number: u64) -> Self {
        let writer = |target| Writer::new(&format!("a{number}"), target, number);
        let stores = [writer(Target::Memory), writer(Target::User)];
        Self { number, stores, steps: 0, outputs: vec![], snapshots: vec![] }
    }

    /// Writes until the daemon is gone.
    fn write(&mut self, mut client: Client, told: &Sender<()>) {
        loop {
            match self.step(&mut client) {
                // The receiver may be gone already.
                Ok(()) => drop(told.send(())),
                Err(ClientError::Lost(_) | ClientError::Unreachable { .. }) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn step(&mut self, client: &mut Client) -> Result<(), ClientError> {
        self.steps += 1;
        self.stores[usize::from(self.steps.is_multiple_of(3))].step(client)?;
        let name = format!("w{}-{}", self.number, self.steps);
        if (self.steps + self.number).is_multiple_of(24) {
            let text = format!("output {name} ").repeat(200);
            let admitted = client.output_admit(AdmitParams {
                session: format!("w{}", self.number),
                tool: "t".into(),
                id: name.clone(),
                content: Content::Text(text.clone()),
                threshold: Some(Size::Chars(0)),
                config: None,
            })?;
            self.outputs.push((admitted.handle.unwrap(), text));
        }
        if (self.steps + self.number).is_multiple_of(40) {
            let opened = client.session_open(OpenParams { session: name.clone(), ..OpenParams::default() })?;
            self.snapshots.push((name, opened.snapshot));
        }
        Ok(())
    }

    /// Checks the outputs and snapshots that were acknowledged since the last check.
    fn check_served(&mut self, client: &mut Client) {
        for (handle, text) in self.outputs.drain(..) {
            let limit = Some(1_000_000);
            assert_eq!(
                client.output_read(ReadParams { handle: Some(handle), limit, ..ReadParams::default() }).unwrap().text,
                text
            );
        }
        for (session, snapshot) in self.snapshots.drain(..) {
            assert_eq!(client.session_snapshot(SnapshotParams { session }).unwrap(), snapshot);
        }
    }
}

/// Waits for some acknowledged steps. Then returns at once, when a temporary file exists, or after a random delay.
/// Returns false if no step is acknowledged any more.
fn right_moment(told: &Receiver<()>, home: &Home, random: &mut Random) -> bool {
    for _ in 0..=random.below(40) {
        if told.recv().is_err() {
            return false;
        }
    }
    let half_written = || {
        ["memories", "herma/journal/default", "herma/outputs/w0"].iter().any(|folder| {
            let Ok(entries) = fs::read_dir(home.path().join(folder)) else { return false };
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"))
        })
    };
    match random.below(3) {
        0 => {}
        1 => drop((0..2000).find(|_| half_written())),
        _ => (0..random.below(400_000)).for_each(|at| assert_eq!(std::hint::black_box(at), at)),
    }
    true
}

/// Checks the files of a store without a daemon. Acknowledged entries are in them, only the journal's last line may be
/// torn, and no revision is missing. `last` is the highest acknowledged revision.
fn check_files(home: &Home, target: Target, agents: &mut [Agent], last: &mut u64) -> Journal {
    let text = home.read_store(target);
    let entries = home.entries(target);
    assert_eq!(entries.join("\n§\n"), text);
    let journal = Journal::read(home, target);
    let (newest, after) = journal.newest();
    // The file is at the newest revision, or at an older one if no client got an answer since.
    let is_behind = after != entries;
    let before = *last;
    let kept_from = journal.rows.first().map_or(0, |row| row.revision);
    assert!(journal.rows.len() >= KEPT || kept_from == 1, "from {kept_from} to {newest}");
    for writer in agents.iter_mut().flat_map(|agent| &mut agent.stores).filter(|writer| writer.target() == target) {
        writer.check(&entries);
        for (revision, told) in writer.take_told() {
            assert!(revision > before && revision <= newest, "{revision} of {newest} after {before}");
            match journal.row(revision) {
                Some(row) => assert_eq!(row.after, told, "{row:?}"),
                None => assert!(revision < kept_from, "{revision} is not in {journal:?}"),
            }
            *last = revision.max(*last);
        }
    }
    if is_behind {
        let row = journal.rows.iter().rev().find(|row| row.before == entries).unwrap();
        assert!(row.revision > *last, "{target:?} is before {}, told {last}", row.revision);
    }
    journal
}

/// Checks the store of the next daemon, which must need no repair. Returns the store's revision.
fn check_store(home: &Home, client: &mut Client, target: Target, agents: &mut [Agent], journal: Journal) -> u64 {
    let listed = client.memory_list(ListParams { target: Some(target), raw: Some(true) }).unwrap();
    let view = listed.memory.or(listed.user).unwrap();
    assert_eq!(view.entries, home.entries(target));
    for writer in agents.iter_mut().flat_map(|agent| &mut agent.stores).filter(|writer| writer.target() == target) {
        writer.check_finally(&view.entries);
    }
    assert_eq!(journal.newest(), (view.revision, view.entries));
    let params = LogParams { target: Some(target), limit: Some(7), raw: Some(true), ..LogParams::default() };
    let log = client.memory_log(params).unwrap();
    assert_eq!(log.damaged, 0);
    let logged = log.rows.into_iter().map(|row| (row.revision, row.action, row.before, row.after));
    let written = journal.rows.into_iter().rev().map(|row| (row.revision, row.action, row.before, row.after));
    assert_eq!(logged.collect::<Vec<_>>(), written.take(7).collect::<Vec<_>>());
    view.revision
}

#[test]
fn what_was_acknowledged_survives_two_hundred_kills_under_load() {
    let home = Home::configured(&format!("[memory]\njournal_revisions = {KEPT}\n"));
    let mut random = Random::seeded(20_261_121);
    let mut agents: Vec<Agent> = (0..AGENTS).map(Agent::new).collect();
    let mut daemon = Daemon::start(&home);
    let mut revisions = [0, 0];
    for round in 0..ROUNDS {
        let (tell, told) = channel();
        std::thread::scope(|scope| {
            for agent in &mut agents {
                let (client, tell) = (daemon.client(), tell.clone());
                scope.spawn(move || agent.write(client, &tell));
            }
            drop(tell);
            let heard = right_moment(&told, &home, &mut random);
            daemon.kill();
            assert!(heard, "all writers gave up in round {round}");
        });
        let [memory, user] = &mut revisions;
        let memory_journal = check_files(&home, Target::Memory, &mut agents, memory);
        let user_journal = check_files(&home, Target::User, &mut agents, user);
        daemon = Daemon::start(&home);
        let mut client = daemon.client();
        *memory = check_store(&home, &mut client, Target::Memory, &mut agents, memory_journal);
        *user = check_store(&home, &mut client, Target::User, &mut agents, user_journal);
        let status = client.status(StatusParams {}).unwrap();
        let is_fine = |state, journal| (state, journal) == (StoreState::Ok, JournalState::Ok);
        assert!(status.stores.iter().all(|store| is_fine(store.state, store.journal)), "round {round}: {status:?}");
        assert_eq!(status.archive.state, "ok");
        agents.iter_mut().for_each(|agent| agent.check_served(&mut client));
    }
    let writes: u64 = agents.iter().flat_map(|agent| &agent.stores).map(Writer::writes).sum();
    assert!(writes > 10 * ROUNDS, "{writes}");
    let [memory, user] = revisions;
    assert!(memory > 300 && user > 300, "the journals were never shortened: {revisions:?}");
}
