//! Finds the home and its socket: the same rules for the daemon, the CLI and every client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The longest socket path in bytes. Linux allows 107 and macOS 103; the smaller limit lets both share a home.
pub const SOCKET_PATH: usize = 103;

/// The folder of a home that contains herma's data. Next to it are the files that agents share with herma.
pub const DATA: &str = "herma";

/// Returns the home: `flag`, else `HERMA_HOME`, else `HERMES_HOME`, else one of [`usual_homes`]. Empty values count as
/// absent. `is_folder` says whether a path is a folder. `None` if nothing names a home.
pub fn home(
    flag: Option<PathBuf>,
    env: impl Fn(&str) -> Option<OsString>,
    is_folder: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let named = flag.or_else(|| variable(&env, "HERMA_HOME")).or_else(|| variable(&env, "HERMES_HOME"));
    if let Some(named) = named {
        return Some(expanded(named, variable(&env, "HOME")));
    }
    let [own, hermes] = usual_homes(&env)?;
    let with_data = [&own, &hermes].into_iter().find(|home| is_folder(&home.join(DATA))).cloned();
    Some(with_data.unwrap_or_else(|| if is_folder(&hermes) { hermes } else { own }))
}

/// Returns the homes of a user whom nothing tells which to use, the one with herma's data first: herma's own folder, and
/// that of an agent of the Hermes family. If neither has data, the second one counts if it exists.
pub fn usual_homes(env: impl Fn(&str) -> Option<OsString>) -> Option<[PathBuf; 2]> {
    let user = variable(&env, "HOME")?;
    let data = variable(&env, "XDG_DATA_HOME").filter(|folder| folder.is_absolute());
    let data = data.unwrap_or_else(|| user.join(USER_DATA));
    Some([data.join("herma"), user.join(".hermes")])
}

/// The platform's folder for the data of a user's programs.
const USER_DATA: &str = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };

fn variable(env: impl Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    env(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Expands a leading `~` to the user's home directory, as a shell does. Settings of services and
/// clients pass through no shell, and a literal `~` would be a folder in their current directory.
fn expanded(path: PathBuf, user: Option<PathBuf>) -> PathBuf {
    match (path.strip_prefix("~"), user) {
        (Ok(rest), Some(user)) => user.join(rest),
        _ => path,
    }
}

/// Returns the socket: `flag`, else `HERMA_SOCKET`, else `herma/hermad.sock` in the home. If that
/// path is longer than [`SOCKET_PATH`], it is `herma-<hash>.sock` in `XDG_RUNTIME_DIR`, or without
/// one in `/tmp/herma-<uid>`. `home` must be absolute, because the hash is computed from it.
pub fn socket(flag: Option<PathBuf>, env: impl Fn(&str) -> Option<OsString>, home: &Path, uid: u32) -> PathBuf {
    if let Some(named) = flag.or_else(|| variable(&env, "HERMA_SOCKET")) {
        return expanded(named, variable(&env, "HOME"));
    }
    let usual = home.join(DATA).join("hermad.sock");
    if usual.as_os_str().len() <= SOCKET_PATH {
        return usual;
    }
    let folder = variable(&env, "XDG_RUNTIME_DIR").unwrap_or_else(|| PathBuf::from(format!("/tmp/herma-{uid}")));
    folder.join(format!("herma-{}.sock", hash(home)))
}

fn hash(home: &Path) -> String {
    let digest = Sha256::digest(home.as_os_str().as_encoded_bytes());
    let first = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
    format!("{first:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into())
    }

    /// Returns the home if these folders exist.
    fn home_with(folders: &[&str], flag: Option<PathBuf>, set: &[(&str, &str)]) -> Option<PathBuf> {
        super::home(flag, env(set), |path| folders.iter().any(|folder| path == Path::new(folder)))
    }

    fn home<'a>(flag: Option<PathBuf>, env: impl Fn(&str) -> Option<OsString> + 'a) -> Option<PathBuf> {
        super::home(flag, env, |_| false)
    }

    #[test]
    fn the_usual_home_is_the_one_with_data() {
        const DATA: &str = if cfg!(target_os = "macos") { "/h/Library/Application Support" } else { "/h/.local/share" };
        let own = format!("{DATA}/herma");
        let (own, own_data) = (own.as_str(), format!("{own}/herma"));
        for (folders, expected) in [
            (vec![], own),
            (vec![own], own),
            (vec!["/h/.hermes"], "/h/.hermes"),
            (vec!["/h/.hermes", own], "/h/.hermes"),
            (vec!["/h/.hermes", own, &own_data], own),
            (vec!["/h/.hermes", "/h/.hermes/herma"], "/h/.hermes"),
            (vec!["/h/.hermes", "/h/.hermes/herma", own, &own_data], own),
        ] {
            let found = home_with(&folders, None, &[("HOME", "/h")]);
            assert_eq!(found.as_deref(), Some(Path::new(expected)), "{folders:?}");
            let named = home_with(&folders, None, &[("HOME", "/h"), ("HERMES_HOME", "/b")]);
            assert_eq!(named, Some("/b".into()), "{folders:?}");
        }
        for (data, expected) in [("/d", "/d/herma"), ("", own), ("relative", own)] {
            let found = home_with(&[], None, &[("HOME", "/h"), ("XDG_DATA_HOME", data)]);
            assert_eq!(found.as_deref(), Some(Path::new(expected)), "{data}");
        }
    }

    #[test]
    fn flags_beat_environment_beats_default() {
        let all = [("HERMA_HOME", "/a"), ("HERMES_HOME", "/b"), ("HOME", "/h")];
        assert_eq!(home(Some("/f".into()), env(&all)), Some("/f".into()));
        assert_eq!(home(None, env(&all)), Some("/a".into()));
        assert_eq!(home(None, env(&[("HERMA_HOME", ""), ("HERMES_HOME", "/b")])), Some("/b".into()));
        for (said, expected) in [("~/x", "/h/x"), ("~", "/h/"), ("~other/x", "~other/x"), ("/a/~/x", "/a/~/x")] {
            let all = [("HERMA_HOME", said), ("HOME", "/h")];
            assert_eq!(home(None, env(&all)), Some(expected.into()), "{said}");
            assert_eq!(home(Some(said.into()), env(&[("HOME", "/h")])), Some(expected.into()), "{said}");
            assert_eq!(socket(Some(said.into()), env(&[("HOME", "/h")]), "/h".as_ref(), 1), PathBuf::from(expected));
        }
        assert_eq!(home(None, env(&[])), None);
    }

    #[test]
    fn long_homes_get_a_short_socket() {
        let at = |home: &str, set: &[(&str, &str)]| socket(None, env(set), Path::new(home), 1000);
        assert_eq!(at("/h", &[]), Path::new("/h/herma/hermad.sock"));
        assert_eq!(at("/h", &[("HERMA_SOCKET", "/s")]), Path::new("/s"));
        let long = format!("/{}", "d".repeat(100));
        let runtime = at(&long, &[("XDG_RUNTIME_DIR", "/run/user/1000")]);
        assert!(runtime.starts_with("/run/user/1000"), "{}", runtime.display());
        let tmp = at(&long, &[]);
        assert!(tmp.starts_with("/tmp/herma-1000"));
        assert!(tmp.as_os_str().len() <= SOCKET_PATH);
        assert_ne!(tmp, at(&format!("{long}e"), &[]));
    }
}
