//! Callers with one key, in thousands of interleavings.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use shuttle::future::{block_on, yield_now};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

use super::*;

#[test]
fn a_mutation_is_done_once_and_everybody_gets_its_result_also_when_the_first_one_fails() {
    shuttle::check_random(
        || {
            let (all, now) = (Idempotency::default(), Instant::now());
            let (tries, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let callers: Vec<_> = (0..3)
                .map(|_| {
                    let (all, tries, done) = (all.clone(), Arc::clone(&tries), Arc::clone(&done));
                    thread::spawn(move || {
                        block_on(async {
                            let mutation = Mutation { key: "k".into(), fingerprint: [1; 32] };
                            loop {
                                match all.begin(&mutation, now) {
                                    Begin::First(ticket) => {
                                        yield_now().await;
                                        // The first attempt fails, or its caller goes away.
                                        if tries.fetch_add(1, Ordering::SeqCst) == 0 {
                                            drop(ticket);
                                            continue;
                                        }
                                        let at = done.fetch_add(1, Ordering::SeqCst);
                                        ticket.done(RawValue::from_string(at.to_string()).unwrap().into(), now);
                                    }
                                    Begin::Running(mut running) => while running.changed().await.is_ok() {},
                                    Begin::Done(result) => return result.get().to_owned(),
                                    Begin::Reused => panic!("it is the same"),
                                }
                            }
                        })
                    })
                })
                .collect();
            for caller in callers {
                assert_eq!(caller.join().unwrap(), "0");
            }
            assert_eq!((tries.load(Ordering::SeqCst), done.load(Ordering::SeqCst)), (2, 1));
        },
        10_000,
    );
}
