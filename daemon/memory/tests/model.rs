//! Compares a store with a simple model: a list of texts and a list of revisions.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "the test plays other programs and crashes")]

mod model {
    pub(crate) mod operation;
    pub(crate) mod rules;
    pub(crate) mod world;
}

use herma_disk::lock::Lock;
use herma_memory::entries::{join, parse};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use model::operation::{Operation, add, operation};
use model::world::World;

fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(20_261_121), failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn any_sequence_of_operations_edits_and_crashes_does_what_the_model_does(
        operations in prop::collection::vec(operation(), 1..40)
    ) {
        let mut world = World::new();
        for operation in &operations {
            world.step(operation);
        }
        world.check_log();
    }

    #[test]
    fn what_is_accepted_comes_back_from_the_file(
        texts in prop::collection::vec("[a§ \n\r\t\u{feff}日]{0,8}|§{0,2}\n?a", 1..8)
    ) {
        let mut world = World::new();
        for text in texts {
            world.step(&Operation::Edit(add(&text)));
        }
        let entries = world.entries();
        prop_assert_eq!(parse(&join(&entries)), entries.clone());
        prop_assert_eq!(parse(&world.text()), entries.clone());
        world.step(&Operation::Reopen { settled: false });
        prop_assert_eq!(world.entries(), entries);
    }
}

/// `g\n§` is read as one entry. An entry `a` added after it is read back as `§\na`.
#[test]
fn an_entry_that_is_added_behind_a_last_line_that_is_only_a_sign_stays_an_entry() {
    for text in ["g\n§", "g\n§ \n§\nh"] {
        let mut world = World::new();
        world.write(text);
        let told = world.applied(&add("a")).unwrap();
        assert_eq!(told.last().map(String::as_str), Some("a"), "{text:?}");
        let there: Vec<String> = world.entries().iter().map(|entry| entry.to_string()).collect();
        assert_eq!(there, told, "{text:?}");
    }
}

/// The store is killed between journal and file, and starts while another program has the lock. That program removes
/// the shown revision, which it has never seen.
#[test]
fn what_is_shown_after_a_crash_does_not_vanish_when_another_program_had_the_lock() {
    let mut world = World::new();
    for text in ["a", "b"] {
        world.applied(&add(text)).unwrap();
    }
    world.write("a");
    let lock = Lock::try_now(&world.lock()).unwrap().unwrap();
    world.open_again();
    let shown = world.entries();
    world.write("a\n§\nc");
    drop(lock);
    let there = world.entries();
    assert!(shown.iter().all(|entry| there.contains(entry)), "{shown:?}, then {there:?}");
}
