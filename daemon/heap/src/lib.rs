//! The system's allocator: sets its parameters, and makes it return unused memory to the system.
//!
//! This is the only crate with unsafe code: three lines that declare functions of glibc. They are needed because a
//! compression of 14 MB leaves freed pages between pages in use, and glibc returns none of them by itself. A daemon
//! that had 84 MiB in memory after two compressions had 47 MiB after [`trim`]. Thresholds, one arena, jemalloc and
//! mimalloc did less. There is no safe way to call glibc for it, and glibc reads its parameters otherwise only from the
//! environment, before `main`.
//!
//! Why it is sound: both functions take numbers and return numbers. glibc's manual calls `malloc_trim` thread-safe, and
//! `mallopt` is called before there are threads. Neither changes memory that is in use. Their signatures are those of
//! `malloc.h`: `int mallopt(int, int)`, `int malloc_trim(size_t)`.

/// Bytes from which an allocation is returned to the system as soon as it is freed.
const OWN_MAPPING: i32 = 512 << 10;

/// Bytes at the end of the heap that are kept for the next allocation.
const KEPT: i32 = 2 << 20;

/// The maximum number of parallel heaps; each keeps pages of its own.
const ARENAS: i32 = 4;

/// Environment variables with which a user sets the same parameters of glibc. If one is set, no parameter is changed.
const VARIABLES: [&str; 3] = ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_ARENA_MAX"];

/// Makes the allocator keep little freed memory. By default, one large allocation makes it keep all large ones for
/// later, so a daemon would stay as large as it ever was. Call it at the beginning of `main`, before there is another
/// thread. On systems without glibc it does nothing.
pub fn limit_retained_memory() {
    if VARIABLES.iter().all(|name| std::env::var_os(name).is_none()) {
        system::limit_retained_memory();
    }
}

/// Returns unused pages to the system. This takes about a millisecond, in which other threads may wait for an
/// allocation. On systems without glibc it does nothing.
pub fn trim() {
    system::trim();
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

    pub(super) fn limit_retained_memory() {
        for (name, value) in SETTINGS {
            // If this glibc doesn't know a parameter, the only effect is more memory.
            let _ = mallopt(name, value);
        }
    }

    pub(super) fn trim() {
        let _ = malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    pub(super) fn limit_retained_memory() {}

    pub(super) fn trim() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many pages of this process are in memory.
    fn resident() -> usize {
        let line = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
    }

    #[test]
    fn what_lies_between_things_in_use_goes_back() {
        if !cfg!(all(target_os = "linux", target_env = "gnu")) {
            return;
        }
        limit_retained_memory();
        let mut all: Vec<Option<Vec<u8>>> = (0..16_384).map(|_| Some(vec![1; 4_096])).collect();
        // Of every eight, one stays.
        all.iter_mut().enumerate().filter(|(at, _)| at % 8 != 0).for_each(|(_, one)| *one = None);
        let before = resident();
        trim();
        let after = resident();
        assert!(after + 8_000 < before, "{before} pages before, {after} after");
        assert_eq!(all.iter().flatten().count(), 2_048);
    }
}
