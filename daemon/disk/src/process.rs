//! What the system says of this process.

/// The effective user id of this process.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Resident memory of this process in bytes; 0 where the system has no `/proc`.
#[must_use]
pub fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|line| line.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()));
    pages.unwrap_or(0) * u64::try_from(rustix::param::page_size()).unwrap_or(4096)
}

/// Names the time since the system was started: what was written to files before a
/// process of the same time ended is there. `None` where the system doesn't tell.
#[must_use]
pub fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}
