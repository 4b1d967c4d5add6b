//! A person who edits a store in place without a lock, in a profile that has no other writer.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_client::{Client, Codec, Place};
use herma_protocol::memory::{ListParams, Target};
use herma_protocol::profile;
use herma_tests::random::Random;

/// How long the daemon may take to see an edit, including its downtime.
const PATIENCE: Duration = Duration::from_secs(90);

/// Edits the store until the soak stops. Returns the number of edits, and those that the daemon did not see.
pub(crate) fn run(home: &Path, out: &Path, mut random: Random) -> (u64, Vec<String>) {
    let (mut edits, mut losses) = (0, Vec::new());
    let path = home.join("profiles/hand/memories/USER.md");
    while !out.join("stop").exists() {
        let Some(mut client) = connected(home) else { continue };
        if !path.parent().is_some_and(Path::is_dir) {
            drop(client.profile_create(profile::CreateParams { name: "hand".into() }));
            std::thread::sleep(Duration::from_millis(200));
            continue;
        }
        let entries: Vec<String> =
            (0..=random.below(4)).map(|at| format!("line {at} by hand, {:x}", random.next())).collect();
        if !write(&path, &entries.join("\n§\n")) {
            // No room. The file is not what the person wrote.
            std::thread::sleep(Duration::from_millis(500));
            continue;
        }
        edits += 1;
        let until = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while seen != entries && Instant::now() < until && !out.join("stop").exists() {
            match client.memory_list(ListParams { target: Some(Target::User), raw: Some(true) }) {
                Ok(listed) => seen = listed.user.map(|view| view.entries).unwrap_or_default(),
                Err(_) => client = connected(home).unwrap_or(client),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        if seen != entries && Instant::now() >= until {
            losses.push(format!("{entries:?} was written by hand, and {seen:?} is seen"));
        }
        std::thread::sleep(Duration::from_millis(500 + random.below(3_000)));
    }
    (edits, losses)
}

fn connected(home: &Path) -> Option<Client> {
    let place = Place { home: home.to_owned(), socket: home.join("herma/hermad.sock") };
    let connected = Client::connect_with(&place, Codec::Json).and_then(|mut client| {
        client.set_timeout(Some(Duration::from_secs(20)))?;
        Ok(client.with_profile(Some("hand".into())))
    });
    if connected.is_err() {
        std::thread::sleep(Duration::from_millis(100));
    }
    connected.ok()
}

/// Writes a file in two pieces, as an editor does that writes in place.
fn write(path: &PathBuf, text: &str) -> bool {
    let written = fs::File::create(path).and_then(|mut file| {
        let (head, tail) = text.as_bytes().split_at(text.len() / 2);
        file.write_all(head)?;
        std::thread::sleep(Duration::from_millis(2));
        file.write_all(tail)
    });
    written.is_ok()
}
