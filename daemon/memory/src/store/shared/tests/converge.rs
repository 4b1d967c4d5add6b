//! Two hosts converge after any steps in any order.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Add(usize),
    Remove(usize),
    AddByHand(usize),
    RemoveByHand(usize),
    Bind(usize),
    BindByHand(usize),
    Unbind(usize),
    Look,
    Sync,
    Reopen,
    Lazy(bool),
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = prop_oneof![
        (0..8_usize).prop_map(Step::Add),
        (0..8_usize).prop_map(Step::Remove),
        (0..8_usize).prop_map(Step::AddByHand),
        (0..8_usize).prop_map(Step::RemoveByHand),
        (0..8_usize).prop_map(Step::Bind),
        (0..8_usize).prop_map(Step::BindByHand),
        (0..8_usize).prop_map(Step::Unbind),
        Just(Step::Look),
        Just(Step::Sync),
        Just(Step::Reopen),
        any::<bool>().prop_map(Step::Lazy),
    ];
    prop::collection::vec((any::<bool>(), step), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn hosts_converge_and_nothing_is_lost_that_nobody_took_out(steps in steps()) {
        let mut central = Central::default();
        let mut hosts = [Host::new("one"), Host::new("other")];
        let (mut added, mut removed) = (BTreeSet::new(), BTreeSet::new());
        let mut bound = [BTreeSet::new(), BTreeSet::new()];
        for (which, step) in steps {
            let host = &mut hosts[usize::from(which)];
            let text = |at: usize| format!("entry {at}");
            match step {
                Step::Add(at) => {
                    host.add(&mut central, &text(at));
                    added.insert(text(at));
                }
                Step::Remove(at) => {
                    host.write(&mut central, Some(Change::Remove { old_text: text(at) }));
                    removed.insert(text(at));
                }
                Step::AddByHand(at) => {
                    host.by_hand(|entries| if !entries.contains(&text(at)) { entries.push(text(at)) });
                    added.insert(text(at));
                }
                Step::RemoveByHand(at) => {
                    host.by_hand(|entries| entries.retain(|entry| *entry != text(at)));
                    // Removing the last entry removes nothing, because an empty file counts as lost.
                    removed.insert(text(at));
                }
                Step::Bind(at) => {
                    let text = format!("[host-bound] {at}");
                    host.bind(add(&text)).unwrap();
                    bound[usize::from(which)].insert(text);
                }
                Step::BindByHand(at) => {
                    let text = format!("[host-bound] {at}");
                    host.by_hand(|entries| if !entries.contains(&text) { entries.insert(entries.len() / 2, text.clone()) });
                    bound[usize::from(which)].insert(text);
                }
                Step::Unbind(at) => {
                    let text = format!("[host-bound] {at}");
                    let is_there = bound[usize::from(which)].remove(&text);
                    assert_eq!(host.bind(Change::Remove { old_text: text }).is_ok(), is_there);
                }
                Step::Look => drop(host.store.view().unwrap()),
                Step::Sync => host.sync(&mut central),
                Step::Reopen => host.reopen(),
                Step::Lazy(is_lazy) => host.is_lazy = is_lazy,
            }
        }
        hosts.iter_mut().for_each(|host| host.is_lazy = false);
        for _ in 0..2 {
            hosts.iter_mut().for_each(|host| host.sync(&mut central));
        }
        hosts.iter_mut().for_each(|host| host.store.tidy().unwrap());
        let [one, other] = &mut hosts;
        prop_assert_eq!(one.shared(), other.shared());
        prop_assert_eq!([one.bound(), other.bound()], bound);
        prop_assert_eq!(one.log(), other.log());
        prop_assert!(!one.store.holds_an_edit().unwrap() && !other.store.holds_an_edit().unwrap());
        for text in added.difference(&removed) {
            prop_assert!(one.file().contains(text), "{text} is lost");
        }
    }
}
