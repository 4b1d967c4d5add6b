#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::thread;

use super::*;

const SCHEDULES: usize = 10_000;

/// Three programs take the lock whenever they can, and one of them removes the lock file before it
/// unlocks, as a cleanup tool might. A program that had opened the removed file must not believe
/// that it has the lock.
fn one_holds_it<L: Send + 'static, G: 'static>(new: fn(PathBuf) -> L, take: fn(&mut L) -> Option<G>) {
    shuttle::check_random(
        move || {
            let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
            let inside = Arc::new(AtomicBool::new(false));
            let threads = [false, false, true].map(|removes| {
                let (path, inside) = (folder.path().join("l"), Arc::clone(&inside));
                let mut lock = new(path.clone());
                thread::spawn(move || {
                    for _ in 0..3 {
                        let Some(guard) = take(&mut lock) else { continue };
                        assert!(!inside.swap(true, Ordering::SeqCst), "two hold the lock");
                        thread::yield_now();
                        inside.store(false, Ordering::SeqCst);
                        if removes {
                            std::fs::remove_file(&path).unwrap();
                        }
                        drop(guard);
                    }
                })
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        },
        SCHEDULES,
    );
}

#[test]
fn one_holds_a_lock() {
    one_holds_it(|path| path, |path| Lock::try_now(path).unwrap());
}

#[test]
fn one_holds_a_lock_that_stays_open() {
    one_holds_it(LockFile::new, |lock| lock.try_now().unwrap());
}
