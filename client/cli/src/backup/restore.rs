//! Restores a home from a backup. Everything is unpacked next to the home and checked; then it takes its place.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use herma_base::user_file::{Created, create, create_private, rename};
use herma_base::{CliContext, Failure, out};
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest, Sha256};
use tar::{Archive, EntryType};
use tempfile::TempDir;

use super::parts::ARCHIVE;
use super::write::hex;
use super::{Contents, FORM, MANIFEST, Manifest, Restore, STANDARD, SUMS, described};

/// The most bytes of the manifest, and of the checksums.
const LARGEST: u64 = 256 << 20;

pub(super) fn run(context: &CliContext<'_>, arguments: &Restore) -> Result<(), Failure> {
    let home = &context.place.home;
    if !arguments.check {
        check_home(context, arguments.replace)?;
    }
    let parent = home.parent().filter(|parent| parent.is_dir() && !arguments.check);
    let beside = parent.map_or_else(std::env::temp_dir, Path::to_owned);
    let folder = tempfile::Builder::new().prefix(".herma-restore-").tempdir_in(&beside);
    let folder = folder.map_err(|error| Failure::File(format!("{}: {error}", beside.display())))?;
    let damaged = |words: String| Failure::File(format!("{}: {words}; nothing was restored", arguments.file.display()));
    let input: Box<dyn Read> = if arguments.file == Path::new(STANDARD) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(&arguments.file).map_err(|error| damaged(error.to_string()))?)
    };
    let (manifest, contents) = unpack(input, folder.path()).map_err(damaged)?;
    check_archive(&folder.path().join(ARCHIVE)).map_err(|words| damaged(format!("its conversations: {words}")))?;
    let about =
        format!("{}, made {} by herma {}", described(&contents), out::local_time(manifest.time_f64()), manifest.herma);
    if arguments.check {
        return out::show(context.common, &contents, |_| format!("whole: {about}"));
    }
    let aside = put_in_place(home, folder, arguments.replace)?;
    let shown = serde_json::json!({ "home": home, "files": contents.files, "bytes": contents.bytes, "aside": aside });
    out::show(context.common, &shown, |_| {
        let mut text = format!("restored {}: {about}", home.display());
        if let Some(aside) = &aside {
            text.push_str(&format!("\nthe home that was there is in {}", aside.display()));
        }
        text
    })
}

impl Manifest {
    #[expect(clippy::cast_precision_loss, reason = "to the second")]
    const fn time_f64(&self) -> f64 {
        self.time as f64
    }
}

/// Refuses a home that is served or that has something.
fn check_home(context: &CliContext<'_>, may_replace: bool) -> Result<(), Failure> {
    let home = &context.place.home;
    if context.connect_only().is_ok() {
        let stop = context.common.command("daemon stop");
        return Err(Failure::File(format!("a daemon serves {}; first give: {stop}", home.display())));
    }
    let is_empty = std::fs::read_dir(home).map_or(true, |mut entries| entries.next().is_none());
    if is_empty || may_replace {
        return Ok(());
    }
    Err(Failure::File(format!("{} is not empty; --replace moves it aside", home.display())))
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
        create_private(path.parent().unwrap_or(folder)).map_err(|error| error.to_string())?;
        let sum = match entry.header().entry_type() {
            EntryType::Regular => {
                let mode = entry.header().mode().map_err(failed)? & 0o777;
                contents.files += 1;
                contents.bytes += entry.size();
                copy(&mut entry, &path, mode).map_err(|error| format!("{}: {error}", name.display()))?
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
    compare(&found, &sums.ok_or("it is cut off: the checksums at its end are missing")?)?;
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
fn copy(from: &mut impl Read, path: &Path, mode: u32) -> io::Result<String> {
    let mut to = create(path, mode).map_err(io::Error::other)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match from.read(&mut buffer)? {
            0 => break,
            count => {
                hash.update(&buffer[..count]);
                io::Write::write_all(&mut to, &buffer[..count])?;
            }
        }
    }
    to.sync_all()?;
    Ok(hex(hash))
}

/// Compares the checksums of files with the list.
fn compare(found: &BTreeMap<PathBuf, String>, sums: &str) -> Result<(), String> {
    let mut missing = found.len();
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").ok_or("its checksums are damaged")?;
        match found.get(Path::new(name)) {
            Some(own) if own == sum => missing -= 1,
            Some(_) => return Err(format!("{name} is damaged")),
            None => return Err(format!("{name} is missing")),
        }
    }
    if missing > 0 { Err("it has files without a checksum".into()) } else { Ok(()) }
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

/// Gives the folder the home's name. Returns where the home is that was there.
fn put_in_place(home: &Path, folder: TempDir, may_replace: bool) -> Result<Option<PathBuf>, Failure> {
    let aside = may_replace.then(|| {
        let date = out::now().replace([' ', ':'], "-");
        PathBuf::from(format!("{}.before-{date}", home.display()))
    });
    let aside = aside.filter(|_| home.exists());
    if let Some(aside) = &aside {
        rename(home, aside)?;
    }
    let from = folder.keep();
    match rename_new(&from, home)? {
        Created::New => Ok(aside),
        Created::Exists => Err(Failure::File(format!(
            "{} was made meanwhile; what was restored is in {}",
            home.display(),
            from.display()
        ))),
    }
}

/// Renames a folder to a name that is free, or that an empty folder has.
fn rename_new(from: &Path, to: &Path) -> Result<Created, Failure> {
    let is_free = std::fs::read_dir(to).map_or(true, |mut entries| entries.next().is_none());
    if !is_free {
        return Ok(Created::Exists);
    }
    rename(from, to)?;
    Ok(Created::New)
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
            (vec![a], "checksums at its end are missing"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let home = folder.path().join("home");
            create_private(&home).unwrap();
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
