//! Sentences about findings.

use crate::{Finding, Severity};

/// A sentence for people and models: what was found, where, and what follows from it. It repeats
/// nothing of the text.
pub fn threat_message(finding: &Finding) -> String {
    let Finding { id, start, end, .. } = finding;
    let (verdict, advice) = match (finding.severity, id.code_point()) {
        (Severity::Warn, _) => ("Warning", "It was let in."),
        (Severity::Block, Some(_)) => ("Blocked", "Take it out and try again."),
        (Severity::Block, None) => ("Blocked", "If it is an honest note, put it in other words."),
    };
    let disguise = if finding.folded { ", once look-alike characters are read as letters" } else { "" };
    match id.code_point() {
        Some(code) => format!("{verdict}: invisible unicode character {code} at char {start} ({id}). {advice}"),
        None => format!("{verdict}: chars {start} to {end} read like the threat '{id}'{disguise}. {advice}"),
    }
}
