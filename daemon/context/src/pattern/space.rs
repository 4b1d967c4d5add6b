//! Search caches, which are freed when they are no longer of use.
//!
//! The search of a pattern needs a cache of automaton states and positions. A cache may take 2 MiB for one
//! pattern, makes later searches faster, and belongs to one thread. The caches of all threads can be freed at
//! once, when there is nothing to do. On two processors, after texts of 14 MB, they took 40 MiB.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use regex_automata::meta::{Cache, Regex};

/// The caches of one thread, each at its pattern's index; `None` while a search uses it, or before the first
/// search.
type Rooms = Mutex<Vec<Option<Box<Cache>>>>;

/// The caches of all threads that ever searched.
static ALL: Mutex<Vec<Weak<Rooms>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: OnceCell<Arc<Rooms>> = const { OnceCell::new() };
}

/// Frees all caches that no search uses. The next search of each pattern creates a new one.
pub fn free_search_caches() {
    locked(&ALL).retain(|rooms| match rooms.upgrade() {
        Some(rooms) => {
            drop(std::mem::take(&mut *locked(&rooms)));
            true
        }
        None => false,
    });
}

/// This thread's cache for a pattern, while a search uses it.
pub(super) struct Space {
    number: usize,
    cache: Option<Box<Cache>>,
}

impl Space {
    /// Returns the cache at this index, for this pattern.
    pub(super) fn of(regex: &Regex, number: usize) -> Self {
        let kept = OWN.with(|own| locked(own.get_or_init(registered)).get_mut(number).and_then(Option::take));
        Self { number, cache: Some(kept.unwrap_or_else(|| Box::new(regex.create_cache()))) }
    }

    /// Searches with the cache.
    pub(super) fn search<T: Default>(&mut self, search: impl FnOnce(&mut Cache) -> T) -> T {
        self.cache.as_mut().map(|cache| search(cache)).unwrap_or_default()
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let Some(cache) = self.cache.take() else { return };
        // A thread that is ending has no caches any more.
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

/// Locks a mutex. Its data is consistent even after a panic, because no change has two steps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) fn kept_here() -> usize {
    OWN.with(|own| own.get().map_or(0, |rooms| locked(rooms).iter().flatten().count()))
}
