//! Requests of two sessions on one connection, in thousands of interleavings.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;

use shuttle::future::{block_on, spawn, yield_now};
use shuttle::sync::Mutex;

use super::*;

#[test]
fn requests_of_a_session_run_one_after_the_other_in_the_order_in_which_they_came() {
    shuttle::check_random(
        || {
            let began: Arc<Mutex<Vec<(&str, usize)>>> = Arc::default();
            let running: Arc<Mutex<Vec<&str>>> = Arc::default();
            let mut order = Order::default();
            let mut tasks = Vec::new();
            for at in 0..4 {
                for session in ["s", "t"] {
                    let place = order.queue(Some(session));
                    let (began, running) = (Arc::clone(&began), Arc::clone(&running));
                    tasks.push(spawn(async move {
                        // This request is given up while it waits.
                        if at == 1 {
                            return place.leave().await;
                        }
                        place.turn().come().await;
                        {
                            let mut running = running.lock().unwrap();
                            assert!(!running.contains(&session), "two of {session} at the same time");
                            running.push(session);
                        }
                        began.lock().unwrap().push((session, at));
                        yield_now().await;
                        running.lock().unwrap().retain(|other| *other != session);
                        place.leave().await;
                    }));
                }
            }
            for task in tasks {
                block_on(task).unwrap();
            }
            for session in ["s", "t"] {
                let began = began.lock().unwrap();
                let of_it: Vec<usize> = began.iter().filter(|(of, _)| *of == session).map(|(_, at)| *at).collect();
                assert_eq!(of_it, [0, 2, 3]);
                assert!(!order.is_busy(Some(session)));
            }
        },
        10_000,
    );
}
