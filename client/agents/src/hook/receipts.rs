//! The receipts of what hooks added to the context of models: `herma/clients/added.jsonl` in the home.

use std::io::Write;
use std::path::{Path, PathBuf};

use herma_base::own_file::{append_to, make, read, replace};
use serde::{Deserialize, Serialize};

use super::folder::of_all;

/// The bytes from which the older half of the receipts is dropped.
const LARGEST: u64 = 512 << 10;

/// Something that a hook added to a model's context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// When, in Unix seconds.
    pub time: f64,
    /// The session's id in the daemon.
    pub session: String,
    /// What it is: `window` for memory, rules and state at the beginning of a window, `earlier sessions` for places that
    /// fit the first prompt.
    pub kind: String,
    /// The chars of the text.
    pub chars: usize,
    /// The text; left out for a window, which has what `herma session snapshot` prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Saves a receipt. A receipt that can't be saved is lost.
pub(super) fn save(home: &Path, receipt: &Receipt) {
    let Ok(mut line) = serde_json::to_string(receipt) else { return };
    line.push('\n');
    let path = path(home);
    drop(make(&of_all(home)));
    if std::fs::metadata(&path).is_ok_and(|file| file.len() > LARGEST) {
        let kept = read(&path, 2 * LARGEST).unwrap_or_default();
        let from = kept.len() / 2;
        let from = kept[from..].iter().position(|byte| *byte == b'\n').map_or(kept.len(), |at| from + at + 1);
        drop(replace(&path, &kept[from..]));
    }
    drop(append_to(&path).and_then(|mut file| file.write_all(line.as_bytes())));
}

/// Returns the receipts of a home, oldest first. Damaged lines are skipped.
#[must_use]
pub fn all(home: &Path) -> Vec<Receipt> {
    let bytes = read(&path(home), 2 * LARGEST).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn path(home: &Path) -> PathBuf {
    of_all(home).join("added.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_come_back_and_the_oldest_are_dropped() {
        let home = tempfile::tempdir().unwrap();
        let receipt = |time: f64| Receipt {
            time,
            session: "claude-code:1".into(),
            kind: "window".into(),
            chars: 9,
            text: Some("x".repeat(10_000)),
        };
        assert_eq!(all(home.path()), []);
        let times: Vec<f64> = (0..80).map(f64::from).collect();
        times.iter().for_each(|time| save(home.path(), &receipt(*time)));
        let kept: Vec<f64> = all(home.path()).iter().map(|receipt| receipt.time).collect();
        assert!(kept.len() < times.len() && times.ends_with(&kept) && !kept.is_empty(), "{kept:?}");
    }
}
