//! What searches work with, for as long as it is of use.
//!
//! A search of a pattern needs room: states that it has met, lists of places. It may be 2 MiB for one pattern, is the
//! quicker for what it met before, and each thread needs its own. The rooms of all threads can be given up at once, when
//! there is nothing to do: on two processors, after texts of 14 MB, they were 40 MiB.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use regex_automata::meta::{Cache, Regex};

/// The rooms of one thread, each at its pattern's number; none where a search has it, or never needed it.
type Rooms = Mutex<Vec<Option<Box<Cache>>>>;

/// The rooms of all threads that ever searched.
static ALL: Mutex<Vec<Weak<Rooms>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: OnceCell<Arc<Rooms>> = const { OnceCell::new() };
}

/// Gives up all rooms that no search works in. The next search of each pattern makes its own again.
pub fn forget_searches() {
    locked(&ALL).retain(|rooms| match rooms.upgrade() {
        Some(rooms) => {
            drop(std::mem::take(&mut *locked(&rooms)));
            true
        }
        None => false,
    });
}

/// This thread's room for a pattern, while a search works in it.
pub(super) struct Space {
    number: usize,
    cache: Option<Box<Cache>>,
}

impl Space {
    /// The room for this pattern, which has this number.
    pub(super) fn of(regex: &Regex, number: usize) -> Self {
        let kept = OWN.with(|own| locked(own.get_or_init(registered)).get_mut(number).and_then(Option::take));
        Self { number, cache: Some(kept.unwrap_or_else(|| Box::new(regex.create_cache()))) }
    }

    /// Searches in it.
    pub(super) fn search<T: Default>(&mut self, search: impl FnOnce(&mut Cache) -> T) -> T {
        self.cache.as_mut().map(|cache| search(cache)).unwrap_or_default()
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let Some(cache) = self.cache.take() else { return };
        // A thread that ends has none any more.
        let _gone = OWN.try_with(|own| {
            let mut rooms = locked(own.get_or_init(registered));
            if rooms.len() <= self.number {
                rooms.resize_with(self.number + 1, || None);
            }
            if let Some(room) = rooms.get_mut(self.number) {
                *room = Some(cache);
            }
        });
    }
}

fn registered() -> Arc<Rooms> {
    let rooms = Arc::new(Rooms::default());
    let mut all = locked(&ALL);
    all.retain(|rooms| rooms.strong_count() > 0);
    all.push(Arc::downgrade(&rooms));
    rooms
}

/// What a thread that panicked left is still as whole as before: nothing is changed in two steps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) fn kept_here() -> usize {
    OWN.with(|own| own.get().map_or(0, |rooms| locked(rooms).iter().flatten().count()))
}
