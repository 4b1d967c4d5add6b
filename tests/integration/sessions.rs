//! A session's snapshot is frozen: every client gets the same bytes at any time.

use herma_client::{Client, ClientError, Codec};
use herma_protocol::ErrorKind;
use herma_protocol::memory::{AddParams, Target};
use herma_protocol::session::{CloseParams, OpenParams, OpenResult, Snapshot, SnapshotParams};
use herma_tests::{Daemon, Home, python};
use sha2::{Digest, Sha256};

fn open(client: &mut Client, session: &str) -> OpenResult {
    client.session_open(OpenParams { session: session.into(), ..OpenParams::default() }).unwrap()
}

fn snapshot(client: &mut Client, session: &str) -> Snapshot {
    client.session_snapshot(SnapshotParams { session: session.into() }).unwrap()
}

fn add(client: &mut Client, target: Target, content: &str) {
    let params = AddParams { target, content: content.into(), session: None, agent: None, expected_revision: None };
    assert!(client.memory_add(params).unwrap().success);
}

/// Returns the hash as WIRE defines it: memory block, newline, user block. A missing block counts as empty.
fn sha256(snapshot: &Snapshot) -> String {
    let [memory, user] = [&snapshot.memory, &snapshot.user].map(|block| block.as_deref().unwrap_or_default());
    let digest = Sha256::digest(format!("{memory}\n{user}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_snapshot_stays_the_same_whatever_happens() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    add(&mut client, Target::Memory, "uses zsh");
    add(&mut client, Target::Memory, "日本語 §");
    add(&mut client, Target::User, "likes tea");
    let opened = open(&mut client, "s");
    let frozen = opened.snapshot.clone();
    assert!(!opened.resumed && opened.generation == 0);
    let rule = "═".repeat(46);
    let block = format!("{rule}\nMEMORY (your personal notes) [0% — 16/2,200 chars]\n{rule}\nuses zsh\n§\n日本語 §");
    assert_eq!(frozen.memory.as_deref(), Some(block.as_str()));
    assert_eq!(frozen.sha256, sha256(&frozen));
    assert_eq!((frozen.revision.memory, frozen.revision.user), (2, 1));

    add(&mut daemon.client(), Target::Memory, "written by another agent");
    home.write_store(Target::User, b"edited by hand");
    assert_eq!(snapshot(&mut client, "s"), frozen);
    for codec in [Codec::Json, Codec::Bincode] {
        assert_eq!(snapshot(&mut daemon.client_with(codec), "s"), frozen);
    }
    let again = open(&mut daemon.client(), "s");
    assert!(again.resumed && again.snapshot == frozen);

    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    assert_eq!(snapshot(&mut client, "s"), frozen);
    client.session_close(CloseParams { session: "s".into(), reason: None }).unwrap();
    let reopened = open(&mut client, "s");
    assert!(reopened.resumed && reopened.snapshot == frozen);

    // Another session gets the current content.
    let other = open(&mut client, "t").snapshot;
    assert!(other.memory.as_deref().unwrap().contains("written by another agent"));
    assert!(other.user.as_deref().unwrap().contains("edited by hand"));
    assert_eq!(other.sha256, sha256(&other));
    assert_ne!(other.sha256, frozen.sha256);
}

#[test]
fn another_process_gets_the_same_bytes() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    add(&mut client, Target::Memory, "uses zsh");
    let frozen = open(&mut client, "s").snapshot;
    add(&mut client, Target::Memory, "later");
    let script = r#"
import hashlib, json, socket, sys
peer = socket.socket(socket.AF_UNIX)
peer.settimeout(20)
peer.connect(sys.argv[1])
peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"session":"s"}}\n')
result = json.loads(peer.makefile().readline())["result"]["snapshot"]
text = (result["memory"] or "") + "\n" + (result["user"] or "")
assert hashlib.sha256(text.encode()).hexdigest() == result["sha256"]
print(result["sha256"])
"#;
    let printed = python::run(script, &[home.socket().to_str().unwrap()]);
    assert_eq!(printed.trim(), frozen.sha256);
}

#[test]
fn empty_stores_have_no_blocks_and_still_a_hash() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let opened = open(&mut daemon.client(), "s").snapshot;
    assert_eq!((&opened.memory, &opened.user), (&None, &None));
    assert_eq!(opened.sha256, sha256(&opened));
}

#[test]
fn a_session_that_was_never_opened_is_not_found() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let params = SnapshotParams { session: "none".into() };
    let close = CloseParams { session: "none".into(), reason: None };
    let errors = [client.session_snapshot(params).err(), client.session_close(close).err()];
    for error in errors {
        assert!(
            matches!(&error, Some(ClientError::Rpc(error)) if error.kind == ErrorKind::NotFound && error.message.contains("none")),
            "{error:?}"
        );
    }
}

#[test]
fn eight_connections_that_race_to_open_a_session_get_the_same_bytes() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    add(&mut daemon.client(), Target::Memory, "before");
    for round in 0..5 {
        let session = format!("race-{round}");
        let barrier = std::sync::Barrier::new(9);
        let opened: Vec<OpenResult> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    let mut client = daemon.client();
                    let (barrier, session) = (&barrier, &session);
                    scope.spawn(move || {
                        barrier.wait();
                        open(&mut client, session)
                    })
                })
                .collect();
            // A concurrent writer changes the stores between the opens.
            let mut writer = daemon.client();
            barrier.wait();
            for number in 0..5 {
                add(&mut writer, Target::Memory, &format!("{round} {number}"));
            }
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(opened.iter().all(|one| one.snapshot == opened[0].snapshot), "{opened:?}");
        assert_eq!(opened.iter().filter(|one| !one.resumed).count(), 1, "{opened:?}");
        assert_eq!(opened[0].snapshot.sha256, sha256(&opened[0].snapshot));
        assert_eq!(snapshot(&mut daemon.client(), &session), opened[0].snapshot);
    }
}

#[test]
fn a_profile_has_stores_and_snapshots_of_its_own() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    add(&mut daemon.client(), Target::User, "in the default profile");
    let mut work = daemon.client().with_profile(Some("work".into()));
    assert_eq!(open(&mut work, "w").snapshot.user, None);
    add(&mut work, Target::User, "at work");
    assert!(open(&mut work, "x").snapshot.user.unwrap().contains("at work"));
    assert_eq!(home.entries(Target::User), ["in the default profile"]);
}
