//! The minimum that any daemon would have to do with a list before it answers.

use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Instant;

use serde_json::value::RawValue;

/// Returns the seconds to read the bytes from a socket, parse them into raw values, write them to a new file in the
/// folder and sync it.
#[expect(clippy::disallowed_methods, reason = "the floor is the system's own calls")]
pub(crate) fn floor(folder: &Path, bytes: &[u8]) -> f64 {
    let path = folder.join("floor");
    let (mut sender, mut receiver) = UnixStream::pair().unwrap();
    let took = thread::scope(|scope| {
        let started = Instant::now();
        scope.spawn(move || sender.write_all(bytes).unwrap());
        let mut received = vec![0; bytes.len()];
        receiver.read_exact(&mut received).unwrap();
        black_box(serde_json::from_slice::<Vec<&RawValue>>(&received).unwrap());
        let mut file = File::create(&path).unwrap();
        file.write_all(&received).unwrap();
        file.sync_data().unwrap();
        started.elapsed().as_secs_f64()
    });
    std::fs::remove_file(path).unwrap();
    took
}
