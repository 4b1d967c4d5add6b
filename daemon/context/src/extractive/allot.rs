//! Distributes a number of chars among lists of items.

/// Chars of an item in addition to its text: number or dash, and the newline.
const ITEM_FRAME: usize = 6;

/// A list that needs room.
pub(super) struct Pool<'a> {
    /// Percent of the room for the list before the rest is distributed.
    share: usize,
    items: &'a mut Vec<String>,
    taken: usize,
}

impl<'a> Pool<'a> {
    /// Creates a pool; the most wanted item comes first.
    pub(super) fn new(share: usize, items: &'a mut Vec<String>) -> Self {
        Self { share, items, taken: 0 }
    }

    /// Selects items as long as they fit, and returns the room that is left.
    fn fill(&mut self, mut room: usize) -> usize {
        while let Some(item) = self.items.get(self.taken) {
            let cost = item.chars().count() + ITEM_FRAME;
            if cost > room {
                break;
            }
            room -= cost;
            self.taken += 1;
        }
        room
    }
}

/// Cuts every list to the items that fit: first each within its share, then, in order, all within the room
/// that the others left.
pub(super) fn allot(room: usize, pools: &mut [Pool<'_>]) {
    let mut left = room;
    for pool in pools.iter_mut() {
        let quota = room / 100 * pool.share;
        left -= quota - pool.fill(quota);
    }
    for pool in pools.iter_mut() {
        left = pool.fill(left);
        pool.items.truncate(pool.taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_list_leaves_another_takes() {
        let mut long: Vec<String> = (0..9).map(|_| "x".repeat(94)).collect();
        let mut short = vec!["y".repeat(14)];
        allot(1_000, &mut [Pool::new(50, &mut long), Pool::new(50, &mut short)]);
        assert_eq!((long.len(), short.len()), (9, 1));
        allot(400, &mut [Pool::new(50, &mut long), Pool::new(50, &mut short)]);
        assert_eq!((long.len(), short.len()), (3, 1));
    }
}
