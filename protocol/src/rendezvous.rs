//! Finds the home and its socket: the same rules for the daemon, the CLI and every client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The longest socket path in bytes. Linux allows 107 and macOS 103; the smaller limit lets both share a home.
pub const SOCKET_PATH: usize = 103;

/// Returns the home: `flag`, else `HERMA_HOME`, else `HERMES_HOME`, else `.hermes` in the user's
/// home directory. Empty values count as absent. `None` if none of them is set.
pub fn home(flag: Option<PathBuf>, env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let from_env = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = flag.or_else(|| from_env("HERMA_HOME")).or_else(|| from_env("HERMES_HOME"));
    named.map(|path| expanded(path, from_env("HOME"))).or_else(|| from_env("HOME").map(|folder| folder.join(".hermes")))
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
    let from_env = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = flag.or_else(|| from_env("HERMA_SOCKET")) {
        return expanded(named, from_env("HOME"));
    }
    let usual = home.join("herma").join("hermad.sock");
    if usual.as_os_str().len() <= SOCKET_PATH {
        return usual;
    }
    let folder = from_env("XDG_RUNTIME_DIR").unwrap_or_else(|| PathBuf::from(format!("/tmp/herma-{uid}")));
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
        assert_eq!(home(None, env(&all[2..])), Some("/h/.hermes".into()));
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
