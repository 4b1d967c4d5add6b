//! Chooses some of many items, evenly.

/// Adds items that `is_asked_for` accepts. The costs of the additions stay within `room`, and the additions
/// are spread evenly.
///
/// Every candidate adds its share of the room; one is chosen when the shares so far cover its cost.
pub(super) fn sample(chosen: &mut [bool], costs: &[u64], room: u64, is_asked_for: impl Fn(usize) -> bool) {
    let is_candidate = |at: usize, is_chosen: bool| !is_chosen && is_asked_for(at);
    let all = chosen.iter().zip(costs).enumerate();
    let wanted = all.filter(|(at, (is_chosen, _))| is_candidate(*at, **is_chosen));
    let total: u128 = wanted.map(|(_, (_, cost))| u128::from(*cost)).sum();
    let room = u128::from(room).min(total);
    let mut credit: u128 = 0;
    for (at, (is_chosen, cost)) in chosen.iter_mut().zip(costs).enumerate() {
        if !is_candidate(at, *is_chosen) {
            continue;
        }
        credit = credit.saturating_add(u128::from(*cost).saturating_mul(room));
        let price = u128::from(*cost).saturating_mul(total);
        if credit >= price {
            credit -= price;
            *is_chosen = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_additions_lie_evenly() {
        for (count, room, expect) in [
            (8, 40, vec![1, 3, 5, 7]),
            (8, 20, vec![3, 7]),
            (8, 80, vec![0, 1, 2, 3, 4, 5, 6, 7]),
            (8, 1_000, vec![0, 1, 2, 3, 4, 5, 6, 7]),
            (8, 9, vec![]),
            (8, 0, vec![]),
            (0, 10, vec![]),
        ] {
            let mut chosen = vec![false; count];
            sample(&mut chosen, &vec![10; count], room, |_| true);
            let taken: Vec<usize> = (0..count).filter(|&at| chosen[at]).collect();
            assert_eq!(taken, expect, "{count} in {room}");
        }
    }

    #[test]
    fn only_what_is_asked_for_is_added() {
        let mut chosen = [true, false, false, false];
        sample(&mut chosen, &[9, 1, 1, 1], 2, |at| at != 2);
        assert_eq!(chosen, [true, true, false, true]);
    }
}
