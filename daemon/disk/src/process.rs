//! What the system says of this process.

/// The effective user id of this process.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Resident memory of this process in bytes; 0 where the system has no `/proc`.
#[must_use]
pub fn resident_bytes() -> u64 {
    // In KiB, whatever a page is.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Names the time since the system was started: what was written to files before a
/// process of the same time ended is there. `None` where the system doesn't tell.
#[must_use]
pub fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_in_memory() {
        if std::path::Path::new("/proc/self/status").exists() {
            assert!((1 << 20..1 << 36).contains(&resident_bytes()), "{}", resident_bytes());
        }
    }
}
