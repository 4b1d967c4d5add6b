//! Properties that must hold for every input of the private parts. Only with the feature `fuzzing`.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a panic is the finding")]

use crate::catalog::known::Known;
use crate::catalog::row;

/// Applies the lines of a catalog. The rows that are written for the resulting records produce the same records again.
pub fn catalog(lines: &[Vec<u8>]) {
    let mut known = Known::default();
    for line in lines {
        let _ = row::is_torn_begin(line);
        let Ok(row) = row::read(line) else { continue };
        let mut written = Vec::new();
        row::write(&row, &mut written);
        assert_eq!(row::read(&written), Ok(row.clone()));
        known.apply(row);
    }
    known.prune(2e9);
    let mut again = Known::default();
    for row in known.rows() {
        let mut written = Vec::new();
        row::write(&row, &mut written);
        again.apply(row::read(&written).unwrap());
    }
    assert_eq!(again.usage(), known.usage());
    assert_eq!(again.records().count(), known.records().count());
}
