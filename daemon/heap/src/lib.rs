//! The allocator of the system: how it is to behave, and that it gives back what nobody uses.
//!
//! This is the one room with unsafe code: three lines that say which functions of glibc there are. Why they are
//! needed: a compression of 14 MB leaves pages of freed memory between those in use, and glibc gives none of
//! them back by itself. A daemon that had 84 MiB in memory after two of them had 47 after
//! [`give_back`]; thresholds, one arena, jemalloc and mimalloc did less. There is no safe way to ask glibc for it,
//! and how it is to behave it would otherwise read from the environment alone, before `main`.
//!
//! Why it is sound: both functions take numbers and give numbers; glibc's manual calls `malloc_trim` safe for
//! threads, and `mallopt` is called before there are any. Neither changes memory that is in use. Their
//! signatures are those of `malloc.h`: `int mallopt(int, int)`, `int malloc_trim(size_t)`.

/// Bytes from which an allocation is given back as soon as it is freed.
const OWN_MAPPING: i32 = 512 << 10;

/// Bytes at the end of the heap that are kept for the next allocation.
const KEPT: i32 = 2 << 20;

/// Heaps beside each other; each keeps pages of its own.
const ARENAS: i32 = 4;

/// Variables by which a user tells glibc the same; what they say stays.
const VARIABLES: [&str; 3] = ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_ARENA_MAX"];

/// Has the allocator keep little. Left alone it takes one large allocation for a sign that all large ones should
/// be kept for the next, and a daemon would stay as large as its largest moment. To be called at the
/// beginning of `main`, before there is another thread. On systems without glibc it does nothing.
pub fn keep_little() {
    if VARIABLES.iter().all(|name| std::env::var_os(name).is_none()) {
        system::keep_little();
    }
}

/// Gives pages back that nobody uses. It takes a millisecond or some, in which other threads may wait for
/// an allocation. On systems without glibc it does nothing.
pub fn give_back() {
    system::give_back();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use super::{ARENAS, KEPT, OWN_MAPPING};

    /// `M_TRIM_THRESHOLD`, `M_MMAP_THRESHOLD` and `M_ARENA_MAX` of `malloc.h`.
    const SETTINGS: [(i32, i32); 3] = [(-1, KEPT), (-3, OWN_MAPPING), (-8, ARENAS)];

    unsafe extern "C" {
        safe fn mallopt(name: i32, value: i32) -> i32;
        safe fn malloc_trim(kept: usize) -> i32;
    }

    pub(super) fn keep_little() {
        for (name, value) in SETTINGS {
            // A setting that this glibc doesn't know costs memory and nothing else.
            let _ = mallopt(name, value);
        }
    }

    pub(super) fn give_back() {
        let _ = malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    pub(super) fn keep_little() {}

    pub(super) fn give_back() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of this process in memory.
    fn resident() -> usize {
        let line = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
    }

    #[test]
    fn what_lies_between_things_in_use_goes_back() {
        if !cfg!(all(target_os = "linux", target_env = "gnu")) {
            return;
        }
        keep_little();
        let mut all: Vec<Option<Vec<u8>>> = (0..16_384).map(|_| Some(vec![1; 4_096])).collect();
        // Of eight in a row one stays.
        all.iter_mut().enumerate().filter(|(at, _)| at % 8 != 0).for_each(|(_, one)| *one = None);
        let before = resident();
        give_back();
        let after = resident();
        assert!(after + 8_000 < before, "{before} pages before, {after} after");
        assert_eq!(all.iter().flatten().count(), 2_048);
    }
}
