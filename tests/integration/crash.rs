//! kill -9 at any instant is a supported way to stop the daemon.

use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};

use herma_client::{Client, ClientError};
use herma_protocol::daemon::{StatusParams, StoreState};
use herma_protocol::memory::{AddParams, ListParams, ReplaceParams, Target};
use herma_protocol::output::{AdmitParams, ReadParams};
use herma_protocol::session::{OpenParams, Snapshot, SnapshotParams};
use herma_protocol::value::{Content, Size};
use herma_tests::random::Random;
use herma_tests::{Daemon, Home};

const WRITERS: usize = 4;
const ROUNDS: u64 = 15;

/// What one writer was promised.
#[derive(Debug, Default)]
struct Writer {
    number: usize,
    /// Its note in MEMORY.md says at least this, and at most one more.
    count: u64,
    /// Highest revision of MEMORY.md that it was told.
    revision: u64,
    notes: Vec<String>,
    outputs: Vec<(String, String)>,
    snapshots: Vec<(String, Snapshot)>,
}

impl Writer {
    fn note(&self, count: u64) -> String {
        format!("writer {} is at {count}.", self.number)
    }

    /// Writes until the daemon is gone.
    fn write(&mut self, mut client: Client, told: &Sender<()>) {
        loop {
            match self.step(&mut client) {
                // The test may have heard enough.
                Ok(()) => drop(told.send(())),
                Err(ClientError::Lost(_) | ClientError::Unreachable { .. }) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn step(&mut self, client: &mut Client) -> Result<(), ClientError> {
        let next = self.count + 1;
        let replaced = client.memory_replace(ReplaceParams {
            target: Target::Memory,
            old_text: format!("writer {} is", self.number),
            content: self.note(next),
            session: None,
            agent: None,
            expected_revision: None,
            allow_drift: None,
        })?;
        assert!(replaced.success, "{replaced:?}");
        self.count = next;
        self.revision = replaced.revision.unwrap();
        let name = format!("w{}-{next}", self.number);
        if next.is_multiple_of(3) {
            let params = AddParams {
                target: Target::User,
                content: name.clone(),
                session: None,
                agent: None,
                expected_revision: None,
            };
            assert!(client.memory_add(params)?.success);
            self.notes.push(name.clone());
        }
        if next.is_multiple_of(4) {
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
        if next.is_multiple_of(5) {
            let opened = client.session_open(OpenParams { session: name.clone(), ..OpenParams::default() })?;
            self.snapshots.push((name, opened.snapshot));
        }
        Ok(())
    }

    /// Looks at the files, without any daemon.
    fn check_files(&mut self, home: &Home) {
        let entries = home.entries(Target::Memory);
        let start = format!("writer {} is", self.number);
        let own: Vec<&String> = entries.iter().filter(|entry| entry.starts_with(&start)).collect();
        let [note] = own[..] else { panic!("{entries:?}") };
        assert!(*note == self.note(self.count) || *note == self.note(self.count + 1), "{note} after {}", self.count);
        if *note == self.note(self.count + 1) {
            self.count += 1;
        }
        let notes = home.entries(Target::User);
        for note in &self.notes {
            assert_eq!(notes.iter().filter(|other| *other == note).count(), 1, "{note} in {notes:?}");
        }
    }

    /// Asks the next daemon for what was promised since the last time.
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

/// Waits for some acknowledged steps, and every other time until a file is
/// just being written. False when there is nothing to wait for.
fn right_moment(told: &Receiver<()>, home: &Home, random: &mut Random) -> bool {
    for _ in 0..=random.below(25) {
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
    if random.below(2) == 0 {
        for _ in 0..5000 {
            if half_written() {
                return true;
            }
        }
    }
    true
}

#[test]
fn what_was_acknowledged_survives_fifteen_kills_under_load() {
    let home = Home::configured("[memory]\nuser_limit = 100_000\n");
    let mut random = Random::seeded(20_261_121);
    let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer { number, ..Writer::default() }).collect();
    let mut daemon = Daemon::start(&home);
    for writer in &writers {
        let content = writer.note(0);
        let params = AddParams { target: Target::Memory, content, session: None, agent: None, expected_revision: None };
        assert!(daemon.client().memory_add(params).unwrap().success);
    }
    for round in 0..ROUNDS {
        let (tell, told) = channel();
        std::thread::scope(|scope| {
            for writer in &mut writers {
                let (client, tell) = (daemon.client(), tell.clone());
                scope.spawn(move || writer.write(client, &tell));
            }
            drop(tell);
            let heard = right_moment(&told, &home, &mut random);
            daemon.kill();
            assert!(heard, "all writers gave up");
        });
        for writer in &mut writers {
            writer.check_files(&home);
        }
        daemon = Daemon::start(&home);
        let mut client = daemon.client();
        let told = writers.iter().map(|writer| writer.revision).max().unwrap();
        let view =
            client.memory_list(ListParams { target: Some(Target::Memory), raw: Some(true) }).unwrap().memory.unwrap();
        assert_eq!(view.entries, home.entries(Target::Memory), "round {round}");
        assert!(view.revision >= told, "round {round}: {} after {told}", view.revision);
        let status = client.status(StatusParams {}).unwrap();
        assert!(status.stores.iter().all(|store| store.state == StoreState::Ok), "{status:?}");
        assert_eq!(status.archive.state, "ok");
        for writer in &mut writers {
            writer.check_served(&mut client);
        }
    }
    assert!(writers.iter().map(|writer| writer.count).sum::<u64>() > ROUNDS, "{writers:?}");
}
