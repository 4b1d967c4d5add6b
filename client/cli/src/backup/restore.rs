//! Restores a home from a backup. Everything is unpacked within the home and checked; then it takes its place. What is
//! not herma's in the home stays: it may be the home of an agent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_base::own_file::{Lock, make};
use herma_base::user_file::{create, remove_tree, rename};
use herma_base::{CliContext, Failure, interrupt, out, owner};
use rusqlite::{Connection, OpenFlags};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use tar::{Archive, EntryType};

use super::parts::{ARCHIVE, OWNED, PROFILES};
use super::write::Summed;
use super::{Contents, FORM, MANIFEST, Manifest, Restore, STANDARD, SUMS, described};

/// The beginning of the name of the folder into which a backup is unpacked. The id of the process follows.
const UNPACKED: &str = ".herma-restore-";

/// The most bytes of the manifest, and of the checksums.
const LARGEST: u64 = 256 << 20;

pub(super) fn run(context: &CliContext<'_>, arguments: &Restore) -> Result<(), Failure> {
    let home = &context.place.home;
    let damaged = |words: String| Failure::File(format!("{}: {words}; nothing was restored", arguments.file.display()));
    if arguments.check {
        let folder = tempfile::tempdir().map_err(|error| damaged(error.to_string()))?;
        let (manifest, contents) = checked(arguments, folder.path()).map_err(damaged)?;
        let shown = serde_json::json!({
            "file": arguments.file, "files": contents.files, "bytes": contents.bytes,
            "home": manifest.home, "time": manifest.time, "herma": manifest.herma,
        });
        return out::show(context.common, &shown, |_| format!("whole: {}", about(&manifest, &contents)));
    }
    owner::check(home)?;
    // One that is there keeps its mode: it may be an agent's.
    make(home).map_err(|error| Failure::File(format!("{}: {error}", home.display())))?;
    // Held until all is in its place, so that no daemon begins to serve the home meanwhile.
    let _lock = lock(context)?;
    if !arguments.replace && !owned(home).is_empty() {
        let words = "has data of herma already; --replace moves them aside";
        return Err(Failure::File(format!("{} {words}", home.display())));
    }
    sweep(home);
    // Within the home, so that everything is on one file system.
    let folder = tempfile::Builder::new().prefix(&format!("{UNPACKED}{}-", std::process::id())).tempdir_in(home);
    let folder = folder.map_err(|error| Failure::File(format!("{}: {error}", home.display())))?;
    let (manifest, contents) = checked(arguments, folder.path()).map_err(damaged)?;
    interrupt::say("stopped while files were put in their places; what was there is in herma.before-… of the home");
    let aside = put_in_place(home, folder.path())?;
    let shown = serde_json::json!({ "home": home, "files": contents.files, "bytes": contents.bytes, "aside": aside });
    out::show(context.common, &shown, |_| {
        let mut text = format!("restored {}: {}", home.display(), about(&manifest, &contents));
        if let Some(aside) = &aside {
            text.push_str(&format!("\nwhat was there is in {}", aside.display()));
        }
        text
    })
}

fn about(manifest: &Manifest, contents: &Contents) -> String {
    format!("{}, made {} by herma {}", described(contents), out::local_time(manifest.time_f64()), manifest.herma)
}

/// Unpacks a backup, and checks all of it.
fn checked(arguments: &Restore, folder: &Path) -> Result<(Manifest, Contents), String> {
    let input: Box<dyn Read> = if arguments.file == Path::new(STANDARD) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(&arguments.file).map_err(|error| error.to_string())?)
    };
    let unpacked = unpack(input, folder)?;
    check_archive(&folder.join(ARCHIVE)).map_err(|words| format!("its conversations: {words}"))?;
    Ok(unpacked)
}

/// Takes the lock that a daemon has while it serves a home. A home without herma's folder has none.
fn lock(context: &CliContext<'_>) -> Result<Option<Lock>, Failure> {
    let home = &context.place.home;
    if !home.join("herma").is_dir() {
        return Ok(None);
    }
    let lock = Lock::try_now(&home.join("herma/hermad.lock"))?;
    if lock.is_none() || context.connect_only().is_ok() {
        let stop = context.common.command("daemon stop");
        let words = format!("first give: {stop} (or stop its service, if a service manager runs it)");
        return Err(Failure::File(format!("a daemon serves {}; {words}", home.display())));
    }
    Ok(lock)
}

/// Removes what restores that were killed have unpacked.
fn sweep(home: &Path) {
    for entry in std::fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(UNPACKED)?.split_once('-')?.0.parse().ok());
        if pid.and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
            // One that can't be removed is in nobody's way.
            drop(remove_tree(&entry.path()));
        }
    }
}

/// Returns the parts of a home that are herma's, relative to it.
fn owned(home: &Path) -> Vec<PathBuf> {
    let profiles = std::fs::read_dir(home.join(PROFILES)).into_iter().flatten().flatten();
    let of_profiles = profiles.flat_map(|entry| {
        let profile = Path::new(PROFILES).join(entry.file_name());
        ["memories", "pending"].map(|folder| profile.join(folder))
    });
    let all = OWNED.iter().map(PathBuf::from).chain(of_profiles);
    all.filter(|part| home.join(part).symlink_metadata().is_ok()).collect()
}

/// Moves herma's parts of the home aside, and those of the folder into the home. Returns where the old ones are. If one
/// can't be moved, all go back.
fn put_in_place(home: &Path, folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let named = format!("herma.before-{}", out::now().replace([' ', ':'], "-"));
    let names = std::iter::once(named.clone()).chain((2..).map(|number| format!("{named}-{number}")));
    let aside = names.map(|name| home.join(name)).find(|path| path.symlink_metadata().is_err());
    let aside = aside.unwrap_or_else(|| home.join(&named));
    let old = owned(home).into_iter().map(|part| (home.join(&part), aside.join(&part)));
    let new = owned(folder).into_iter().map(|part| (folder.join(&part), home.join(&part)));
    let (old, new): (Vec<_>, Vec<_>) = (old.collect(), new.collect());
    let has_old = !old.is_empty();
    let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (from, to) in old.into_iter().chain(new) {
        let parent = to.parent().unwrap_or(home);
        let made = make(parent).map_err(|error| Failure::File(format!("{}: {error}", parent.display())));
        if let Err(error) = made.and_then(|()| Ok(rename(&from, &to)?)) {
            // What can't go back is named by the error, with both places.
            for (from, to) in moved.iter().rev() {
                rename(to, from)?;
            }
            return Err(error);
        }
        moved.push((from, to));
    }
    Ok(has_old.then_some(aside))
}

impl Manifest {
    #[expect(clippy::cast_precision_loss, reason = "to the second")]
    const fn time_f64(&self) -> f64 {
        self.time as f64
    }
}

/// Unpacks a backup into a folder, and compares every file with its checksum.
fn unpack(input: impl Read, folder: &Path) -> Result<(Manifest, Contents), String> {
    let failed = |error: io::Error| error.to_string();
    let mut archive = Archive::new(io::BufReader::with_capacity(1 << 20, input));
    let (mut manifest, mut sums): (Option<Manifest>, Option<String>) = (None, None);
    let mut found: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut contents = Contents::default();
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(|_| "it is cut off, or no backup".to_owned())?;
        let name = entry.path().map_err(failed)?.into_owned();
        if manifest.is_none() {
            if name != Path::new(MANIFEST) {
                return Err("it is no backup of herma".into());
            }
            manifest = Some(read_manifest(&mut entry)?);
            continue;
        }
        if name == Path::new(SUMS) {
            let mut text = String::new();
            entry.take(LARGEST).read_to_string(&mut text).map_err(failed)?;
            sums = Some(text);
            break;
        }
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(format!("it names a file outside of a home: {}", name.display()));
        }
        let path = folder.join(&name);
        make(path.parent().unwrap_or(folder)).map_err(failed)?;
        let sum = match entry.header().entry_type() {
            EntryType::Regular => {
                let mode = entry.header().mode().map_err(failed)? & 0o777;
                contents.files += 1;
                contents.bytes += entry.size();
                let modified = UNIX_EPOCH + Duration::from_secs(entry.header().mtime().map_err(failed)?);
                copy(&mut entry, &path, (mode, modified)).map_err(|error| format!("{}: {error}", name.display()))?
            }
            EntryType::Link => {
                let first = entry.link_name().map_err(failed)?.unwrap_or_default().into_owned();
                let sum = found.get(&first).ok_or_else(|| format!("{} is a link to nothing", name.display()))?;
                std::fs::hard_link(folder.join(&first), &path).map_err(failed)?;
                sum.clone()
            }
            _ => return Err(format!("{} is neither a file nor a link to one", name.display())),
        };
        if found.insert(name.clone(), sum).is_some() {
            return Err(format!("{} is in it twice", name.display()));
        }
    }
    let manifest = manifest.ok_or("it is empty")?;
    compare(found, &sums.ok_or("it is cut off: the checksums at its end are missing")?)?;
    Ok((manifest, contents))
}

fn read_manifest(entry: &mut impl Read) -> Result<Manifest, String> {
    let manifest: Manifest = serde_json::from_reader(entry.take(LARGEST)).map_err(|_| "it is no backup of herma")?;
    if manifest.backup > FORM {
        return Err(format!("it was made by herma {}, which is newer; upgrade first", manifest.herma));
    }
    Ok(manifest)
}

/// Writes a file, and returns its checksum.
fn copy(from: &mut impl Read, path: &Path, (mode, modified): (u32, SystemTime)) -> io::Result<String> {
    let mut to = create(path, mode).map_err(io::Error::other)?;
    let mut summed = Summed::new(from);
    io::copy(&mut summed, &mut to)?;
    // Hooks know by these times when they ran last.
    to.set_modified(modified)?;
    to.sync_all()?;
    Ok(summed.sum())
}

/// Compares the checksums of files with the list.
fn compare(mut found: BTreeMap<PathBuf, String>, sums: &str) -> Result<(), String> {
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").ok_or("its checksums are damaged")?;
        match found.remove(Path::new(name)) {
            Some(own) if own == sum => {}
            Some(_) => return Err(format!("{name} is damaged")),
            None => return Err(format!("{name} is missing")),
        }
    }
    if found.is_empty() { Ok(()) } else { Err("it has files without a checksum".into()) }
}

/// Has SQLite check the conversations.
fn check_archive(path: &Path) -> Result<(), String> {
    if !path.exists() {
        return Ok(());
    }
    let check = || {
        let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        database.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    };
    match check() {
        Ok(answer) if answer == "ok" => Ok(()),
        Ok(answer) => Err(answer),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use tar::{Builder, Header};

    use super::*;

    /// Makes an archive of entries: name, type, content or target.
    fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut tar = Builder::new(Vec::new());
        for (name, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_mode(0o4755);
            // The library refuses such names, so they are written as bytes.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            let body = if *kind == EntryType::Regular { content.as_bytes() } else { b"" };
            if *kind != EntryType::Regular {
                header.as_old_mut().linkname[..content.len()].copy_from_slice(content.as_bytes());
            }
            header.set_size(body.len() as u64);
            header.set_cksum();
            tar.append(&header, body).unwrap();
        }
        tar.into_inner().unwrap()
    }

    #[test]
    fn nothing_leaves_the_folder_and_only_files_are_made() {
        let manifest = (MANIFEST, EntryType::Regular, r#"{"backup":1,"herma":"0.1.0","time":0,"home":"/h"}"#);
        let a = ("a", EntryType::Regular, "one");
        let sum = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
        let sums = format!("{sum}  a\n");
        let twice = sums.repeat(2);
        for (entries, expected) in [
            (vec![("../evil", EntryType::Regular, "x")], "outside of a home"),
            (vec![("/tmp/evil", EntryType::Regular, "x")], "outside of a home"),
            (vec![("link", EntryType::Symlink, "/etc/passwd")], "neither a file nor a link"),
            (vec![("pipe", EntryType::Fifo, "")], "neither a file nor a link"),
            (vec![("link", EntryType::Link, "/etc/passwd")], "a link to nothing"),
            (vec![a, a], "exists"),
            (vec![a, ("b", EntryType::Regular, "two"), (SUMS, EntryType::Regular, &sums)], "without a checksum"),
            (vec![(SUMS, EntryType::Regular, &sums)], "a is missing"),
            (vec![("a", EntryType::Regular, "two"), (SUMS, EntryType::Regular, &sums)], "a is damaged"),
            (vec![a, (SUMS, EntryType::Regular, "rubbish")], "checksums are damaged"),
            (vec![a, ("b", EntryType::Regular, "two"), (SUMS, EntryType::Regular, &twice)], "a is missing"),
            (vec![a], "checksums at its end are missing"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let home = folder.path().join("home");
            make(&home).unwrap();
            let entries: Vec<_> = std::iter::once(manifest).chain(entries).collect();
            let error = unpack(archive(&entries).as_slice(), &home).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{expected}");
        }
        let folder = tempfile::tempdir().unwrap();
        let whole = archive(&[manifest, a, (SUMS, EntryType::Regular, &sums)]);
        let (_, contents) = unpack(whole.as_slice(), folder.path()).unwrap();
        assert_eq!(contents, Contents { files: 1, bytes: 3 });
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(folder.path().join("a")).unwrap().permissions());
        assert_eq!(mode & 0o7000, 0, "no program of a backup runs as another user");
    }
}
