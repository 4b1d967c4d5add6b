//! herma next to Hermes: both add and remove entries in the same file, and the daemon is killed now and then. No update
//! of either program is lost.

use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;

use herma_client::{Client, ClientError};
use herma_protocol::memory::{AddParams, ListParams, Target, WriteResult};
use herma_tests::{Daemon, Home, Journal, python};

use crate::writer::Writer;

const CLIENTS: u64 = 4;

/// Number of daemon runs. All but the last end with a kill.
const ROUNDS: u64 = 6;

/// Acknowledged writes per round.
const WRITES: u64 = 500;

/// Minimum number of writes by Hermes.
const HERMES_WRITES: u64 = 1500;

/// Writes as Hermes does: flock, read, temporary file, replace. It adds and removes its own entries, and before each
/// write the file must contain exactly those. It prints `writes` when it has begun. It stops when its input has ended
/// and it has written often enough. Then it prints the number of writes and its entries.
const HERMES: &str = r#"
import fcntl, os, random, sys, tempfile, threading
path, least = sys.argv[1], int(sys.argv[2])
random.seed(20261121)
stopped = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stopped.set()), daemon=True).start()
own, number, writes = [], 0, 0

def read():
    try:
        text = open(path, encoding="utf-8").read()
    except FileNotFoundError:
        text = ""
    entries = [part.strip() for part in text.split("\n§\n") if part.strip()]
    there = [entry for entry in entries if entry.startswith("hermes says")]
    if there != own:
        sys.exit(f"after {writes} writes there should be {own}, but there are {there} in {entries}")
    return entries

while writes < least or not stopped.is_set():
    with open(path + ".lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        entries = read()
        if len(own) < 2 or len(own) < 6 and random.random() < 0.5:
            number += 1
            entry = f"hermes says {number}."
            entries.append(entry)
            own.append(entry)
        else:
            entry = random.choice(own)
            entries.remove(entry)
            own.remove(entry)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".mem_", suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("\n§\n".join(entries))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    writes += 1
    if writes == 1:
        print("writes", flush=True)
    # Without the lock, and so that others get it too.
    for _ in range(5):
        read()
print(writes, *own, sep="\n")
"#;

/// Writes until the daemon is gone or the round is over.
fn write(writer: &mut Writer, mut client: Client, written: &AtomicU64, kills: bool) {
    while kills || written.load(Ordering::Relaxed) < WRITES {
        match writer.step(&mut client) {
            Ok(()) => written.fetch_add(1, Ordering::Relaxed),
            Err(ClientError::Lost(_) | ClientError::Unreachable { .. }) => return,
            Err(error) => panic!("{error}"),
        };
    }
}

fn add(client: &mut Client, content: &str) -> WriteResult {
    let content = content.to_owned();
    let params = AddParams { target: Target::Memory, content, session: None, agent: None, expected_revision: None };
    client.memory_add(params).unwrap()
}

/// Checks that acknowledged entries are in the file, and in the journal as they were reported. Returns how many
/// revisions of others in the journal are newer than `seen`.
fn check_files(home: &Home, writers: &mut [Writer], seen: &mut u64) -> usize {
    let entries = home.entries(Target::Memory);
    let journal = Journal::read(home, Target::Memory);
    for writer in writers {
        writer.check(&entries);
        for (revision, told) in writer.take_told() {
            let row = journal.row(revision).unwrap_or_else(|| panic!("{revision} is not in the journal"));
            assert_eq!(row.after, told);
        }
    }
    let new = journal.rows.iter().filter(|row| row.revision > *seen);
    let others = new.filter(|row| row.action == "external").count();
    *seen = journal.newest().0;
    others
}

#[test]
fn no_update_is_lost_when_hermes_and_the_daemon_add_and_remove_at_once_and_the_daemon_is_killed() {
    let home = Home::configured("[memory]\njournal_revisions = 4000\n");
    let mut serving = Some(Daemon::start(&home));
    let client = |serving: &Option<Daemon>| serving.as_ref().unwrap().client();
    add(&mut client(&serving), "first");
    let path = home.store(Target::Memory);
    let mut hermes = python::start(HERMES, &[path.to_str().unwrap(), &HERMES_WRITES.to_string()]);
    let mut words = BufReader::new(hermes.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(words.next().as_deref(), Some("writes"));
    let names = (0..CLIENTS).map(|number| format!("client {number}"));
    let mut writers: Vec<Writer> =
        names.zip(1..).map(|(name, seed)| Writer::new(&name, Target::Memory, seed)).collect();
    let (mut seen, mut others) = (0, 0);
    for round in 1..=ROUNDS {
        let kills = round < ROUNDS;
        let written = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let write = |writer| {
                let (client, written) = (client(&serving), &written);
                scope.spawn(move || write(writer, client, written, kills))
            };
            let threads: Vec<_> = writers.iter_mut().map(write).collect();
            if kills {
                while written.load(Ordering::Relaxed) < WRITES && !threads.iter().any(ScopedJoinHandle::is_finished) {
                    std::thread::yield_now();
                }
                serving.take().unwrap().kill();
            }
        });
        assert_eq!(hermes.try_wait().unwrap(), None, "Hermes gave up in round {round}");
        if kills {
            others += check_files(&home, &mut writers, &mut seen);
            serving = Some(Daemon::start(&home));
        }
        // A write holds the lock, so its answer is up to date.
        let told = add(&mut client(&serving), &format!("round {round}"));
        assert!(told.revision.unwrap() > seen, "{} after {seen}", told.revision.unwrap());
        let entries = told.entries.unwrap();
        writers.iter_mut().for_each(|writer| writer.check_finally(&entries));
    }
    drop(hermes.stdin.take());
    let said: Vec<String> = words.collect();
    assert!(hermes.wait().unwrap().success());
    let (hermes_writes, hermes_own) = said.split_first().unwrap();
    let view = client(&serving).memory_list(ListParams { target: Some(Target::Memory), raw: Some(true) }).unwrap();
    let view = view.memory.unwrap();
    others += check_files(&home, &mut writers, &mut seen);
    let entries = home.entries(Target::Memory);
    let of_hermes: Vec<String> = entries.iter().filter(|entry| entry.starts_with("hermes says")).cloned().collect();
    assert_eq!(of_hermes, hermes_own);
    assert_eq!((view.revision, &view.entries), (seen, &entries));
    assert_eq!(Journal::read(&home, Target::Memory).newest(), (seen, entries));
    let hermes_writes: u64 = hermes_writes.parse().unwrap();
    let writes: u64 = writers.iter().map(Writer::writes).sum();
    assert!(hermes_writes + writes >= 4000, "{hermes_writes} and {writes}");
    assert!(others > 500, "{others} revisions of others in {seen}, after {hermes_writes} and {writes} writes");
}
