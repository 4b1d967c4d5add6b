//! `herma guard allow` and `herma guard block`: the configured treatment of a finding.

use std::io::Write;

use herma_base::settings_file::SettingsFile;
use herma_base::{CliContext, Failure, out, own_file, owner};
use serde_json::json;
use tempfile::NamedTempFile;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::config;

/// Sets the guard's treatment of a finding. `None` restores the default, which is to block.
pub(super) fn run(context: &CliContext<'_>, id: &str, treatment: Option<&str>) -> Result<(), Failure> {
    owner::check(&context.place.home)?;
    let folder = context.place.home.join("herma");
    let path = folder.join("config.toml");
    let unusable = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let file = SettingsFile::read(&path).map_err(unusable)?;
    // The checked text always names the finding, so `block` also reports a misspelled name.
    check(context, &changed(&file.text, id, Some(treatment.unwrap_or("block"))).map_err(unusable)?)?;
    let new = changed(&file.text, id, treatment).map_err(unusable)?;
    let mut backup = None;
    if new != file.text {
        own_file::make(&folder).map_err(|error| unusable(error.to_string()))?;
        backup = file.write(&new)?;
    }
    let said = treatment.unwrap_or("block");
    out::show(context.common, &json!({ "id": id, "severity": said, "path": path, "backup": backup }), |_| {
        let what = match said {
            "block" => "is kept out",
            "warn" => "is let in with a warning",
            _ => "is let in",
        };
        let mut text = format!("{id} {what} ({}), after a restart: herma daemon restart", path.display());
        if let Some(backup) = &backup {
            text.push_str(&format!("\nthe file of before is {}", backup.display()));
        }
        text
    })
}

/// Returns the configuration with another treatment of a finding. Everything else stays as it is.
fn changed(text: &str, id: &str, treatment: Option<&str>) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let known = document.get("guard").and_then(|guard| guard.get("severity"));
    if treatment.is_none() && known.and_then(|severity| severity.get(id)).is_none() {
        return Ok(text.to_owned());
    }
    let implicit = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let guard = document.entry("guard").or_insert_with(implicit);
    let guard = guard.as_table_like_mut().ok_or("`guard` is no table")?;
    let severity = guard.entry("severity").or_insert_with(|| Item::Table(Table::new()));
    let severity = severity.as_table_like_mut().ok_or("`guard.severity` is no table")?;
    match treatment {
        Some(treatment) => drop(severity.insert(id, value(treatment))),
        None => drop(severity.remove(id)),
    }
    Ok(document.to_string())
}

/// Checks the new text with the daemon's program before it is saved, because that program knows the names.
fn check(context: &CliContext<'_>, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::File(format!("a temporary file: {error}"));
    let mut file = NamedTempFile::new().map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let checked = config::ask(context, Some(&file.path().to_owned()), &["--check"]);
    checked.map(drop).map_err(|failure| match failure {
        Failure::File(words) => Failure::File(words.replace(&format!("{}: ", file.path().display()), "")),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_treatment_changes() {
        for (text, treatment, expect) in [
            ("", Some("warn"), "[guard.severity]\nssh_access = \"warn\"\n"),
            ("", None, ""),
            ("# mine\n[log]\nlevel = \"debug\" # loud\n", None, "# mine\n[log]\nlevel = \"debug\" # loud\n"),
            (
                "# mine\n[guard]\nredact = true # yes\n[log]\nlevel = \"debug\"\n",
                Some("off"),
                "# mine\n[guard]\nredact = true # yes\n\n[guard.severity]\nssh_access = \"off\"\n[log]\nlevel = \"debug\"\n",
            ),
            (
                "[guard.severity]\nssh_access = { strict = \"off\" }\nread_secrets = \"warn\"\n",
                Some("warn"),
                "[guard.severity]\nssh_access = \"warn\"\nread_secrets = \"warn\"\n",
            ),
            (
                "guard = { severity = { ssh_access = \"off\" } }\n",
                Some("warn"),
                "guard = { severity = { ssh_access = \"warn\" } }\n",
            ),
            ("[guard.severity]\nssh_access = \"warn\"\n", None, "[guard.severity]\n"),
        ] {
            assert_eq!(changed(text, "ssh_access", treatment).as_deref(), Ok(expect), "{text}");
        }
        assert!(changed("guard = 1", "x", Some("warn")).is_err());
        assert!(changed("[", "x", Some("warn")).is_err());
    }
}
