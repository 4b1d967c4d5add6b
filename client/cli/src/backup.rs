//! `herma backup` and `herma restore`: a home in one file, made while the daemon runs.

mod parts;
mod restore;
mod write;

use std::path::{Path, PathBuf};

use herma_base::user_file::{Created, Draft};
use herma_base::{CliContext, Failure, interrupt, out, owner};
use serde::{Deserialize, Serialize};

/// The name for standard input or output.
const STANDARD: &str = "-";

/// The first entry of a backup: what made it, and when.
const MANIFEST: &str = "herma-backup.json";

/// The last entry: the checksum of every other file. A backup without it was cut off.
const SUMS: &str = "herma-backup.sums";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file is a tar archive with the memories and their journals, the conversations, the outputs, the configuration, and what hooks and imports know. The daemon may run: what was answered before the backup began is in it. The file has everything that the home has, secrets in journals included, so only you may read it.\n\nIt has no compression of its own: herma backup - | zstd > herma.tar.zst\n\nExit codes: 0 done; 1 a file can't be read or written, and then no backup is left.\n\nExamples:\n  herma backup ~/backups/herma.tar\n  herma backup - | ssh attic 'cat > herma.tar'"
)]
pub(crate) struct Backup {
    /// The file to write; - for standard output
    file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every file is compared with its checksum, and the conversations are checked, before anything is put in place. If the home has data of herma, --replace moves them aside, into herma.before-DATE within the home; what is not herma's stays. No daemon may serve the home.\n\nExit codes: 0 done; 1 the backup is damaged or cut off, or the home is in use, and then nothing is changed.\n\nExamples:\n  herma restore ~/backups/herma.tar\n  herma restore ~/backups/herma.tar --check          # only look whether it is whole\n  herma --home /tmp/look restore ~/backups/herma.tar && herma --home /tmp/look recall socket"
)]
pub(crate) struct Restore {
    /// A file that `herma backup` wrote; - for standard input
    file: PathBuf,
    /// Move what herma has in the home aside
    #[arg(long)]
    replace: bool,
    /// Only check the file, and change nothing
    #[arg(long, conflicts_with = "replace")]
    check: bool,
}

/// What is in a backup.
#[derive(Debug, Default, PartialEq, Eq)]
struct Contents {
    files: u64,
    bytes: u64,
}

/// The first entry of a backup.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    /// The version of this form of backups.
    backup: u32,
    /// The program that made it.
    herma: String,
    /// When, in Unix seconds.
    time: i64,
    /// The home that it is of.
    home: String,
}

/// The newest form of backups that this program reads, and the one that it writes.
const FORM: u32 = 1;

pub(super) fn backup(context: &CliContext<'_>, arguments: &Backup) -> Result<(), Failure> {
    owner::check(&context.place.home)?;
    interrupt::say("stopped; no backup was made");
    if arguments.file == Path::new(STANDARD) {
        // The copy of the conversations needs a place, and standard output has no folder.
        let folder = std::env::temp_dir();
        let contents = write::all(context, &folder, &mut std::io::stdout().lock())?;
        out::note(context.common, &described(&contents));
        return Ok(());
    }
    let path = &arguments.file;
    let taken = || Failure::File(format!("{} exists; --force overwrites it", path.display()));
    if path.exists() && !arguments.force {
        return Err(taken());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::File(format!("there is no folder {}", folder.display())));
    }
    let mut draft = Draft::private(path)?;
    let contents = write::all(context, folder, draft.file())?;
    if draft.place(arguments.force)? == Created::Exists {
        return Err(taken());
    }
    let shown = serde_json::json!({ "file": path, "files": contents.files, "bytes": contents.bytes });
    out::show(context.common, &shown, |_| {
        let restore = context.common.command(&format!("restore {}", path.display()));
        format!("{}: {}\nback: {restore}\nis it whole: {restore} --check", path.display(), described(&contents))
    })
}

pub(super) fn restore(context: &CliContext<'_>, arguments: &Restore) -> Result<(), Failure> {
    interrupt::say("stopped; nothing was restored");
    restore::run(context, arguments)
}

fn described(contents: &Contents) -> String {
    format!("{}, {}", out::count_of(contents.files, "file"), out::size(contents.bytes))
}
