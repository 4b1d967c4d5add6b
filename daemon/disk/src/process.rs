//! Information from the system about this process.

/// Returns the effective user id of this process.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the resident memory of this process in bytes; 0 if the system has no `/proc`.
#[must_use]
pub fn resident_bytes() -> u64 {
    // `VmRSS` is in KiB, independent of the page size.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Returns an id of the current boot of the system; `None` if the system reports none. Data that a
/// process of the same boot wrote to files is still there, even without a sync.
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
