//! Information from the system about this process.

use std::time::Duration;

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

/// Returns the processor time that this process has used, in all of its threads; 0 if the system has no `/proc`.
///
/// It is not read with `clock_gettime`, because rustix finds that function in a way that valgrind does not allow.
#[must_use]
pub fn cpu_time() -> Duration {
    /// Milliseconds of a tick, the unit of the file: Linux shows every program 100 ticks a second.
    const TICK: u64 = 10;
    /// The fields before the two times, after the name of the program.
    const BEFORE: usize = 11;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may contain anything, also a `)`.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(BEFORE).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * TICK)
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
    fn work_takes_processor_time() {
        let (before, started) = (cpu_time(), std::time::Instant::now());
        // Time on a clock is a bound for the work, in case the system has no such file.
        while cpu_time() < before + Duration::from_millis(50) && started.elapsed() < Duration::from_secs(20) {}
        let used = cpu_time() - before;
        assert!(!std::path::Path::new("/proc/self/stat").exists() || used >= Duration::from_millis(50), "{used:?}");
    }

    #[test]
    fn a_process_is_in_memory() {
        if std::path::Path::new("/proc/self/status").exists() {
            assert!((1 << 20..1 << 36).contains(&resident_bytes()), "{}", resident_bytes());
        }
    }
}
