//! Keeps a text. It is complete and durable before a caller gets its handle.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use herma_disk::file::{self, Created, NewFile};
use herma_disk::regular::Regular;
use herma_disk::{DiskError, folder};
use sha2::{Digest, Sha256};

use super::{Outputs, SUFFIX, TEMPORARY};
use crate::catalog::known::row_of;
use crate::catalog::row::{Begun, Row};
use crate::catalog::{Record, State};
use crate::facts::{Facts, to_u64};
use crate::handle::Handle;
use crate::index::{Builder, Index};
use crate::name;

/// Bytes from which a text is counted, hashed and indexed while it is written.
const BESIDE: usize = 256 << 10;

/// Bytes that are measured in one piece.
const PIECE: usize = 64 << 10;

/// The maximum number of outputs with the same content that are tried as the target of a hard link.
const CANDIDATES: usize = 3;

/// The maximum length of a name that is remembered, in chars.
const NAME: usize = 1_024;

/// The source of a result.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The session.
    pub session: &'a str,
    /// The session's profile.
    pub profile: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The call's id.
    pub id: &'a str,
}

/// A text that is on disk now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its handle.
    pub handle: Handle,
    /// The path of its file.
    pub path: PathBuf,
}

/// The measurements of a text from one pass.
#[derive(Debug, Clone)]
struct Measured {
    facts: Facts,
    /// Its index, if it was built.
    index: Option<Arc<Index>>,
}

impl Measured {
    /// Counts, hashes and indexes a text, one piece at a time while the piece is in the CPU cache.
    fn of(text: &str) -> Self {
        let (mut builder, mut hash) = (Builder::default(), Sha256::new());
        for piece in text.as_bytes().chunks(PIECE) {
            builder.add(piece);
            hash.update(piece);
        }
        let index = builder.finish();
        let facts = Facts { chars: index.chars(), lines: index.lines(), sha256: hash.finalize().into() };
        Self { facts, index: Some(Arc::new(index)) }
    }
}

impl Outputs {
    /// Keeps a text; it is complete and durable when this returns. The same text with the same id is kept once. Another
    /// text with the same id gets a different name. Identical texts with different ids take their space once. `now` is
    /// in Unix seconds.
    ///
    /// # Errors
    /// Any step failed; nothing is kept then.
    pub fn keep(&self, origin: &Origin<'_>, text: &str, facts: &Facts, now: f64) -> Result<Kept, DiskError> {
        self.hard_link_as(origin, text, now, &mut || Measured { facts: *facts, index: None })
    }

    /// Keeps a text that another host has under this handle, under the name that leads to the handle. Returns `None` if
    /// the handle does not belong to this origin and text. The name is derived from these alone.
    ///
    /// # Errors
    /// Any step failed; nothing is kept then.
    pub fn keep_as_remote(
        &self,
        handle: Handle,
        origin: &Origin<'_>,
        text: &str,
        now: f64,
    ) -> Result<Option<Kept>, DiskError> {
        let (session, id, hash) = (name::safe(origin.session), name::safe(origin.id), name::hex(text.as_bytes()));
        let names = [format!("{id}{SUFFIX}"), format!("{id}-{}{SUFFIX}", &hash[..8]), format!("{id}-{hash}{SUFFIX}")];
        let is_it = |name: &String| Handle::of(&format!("{session}/{name}")) == handle;
        let Some(attempt) = names.iter().position(is_it) else { return Ok(None) };
        let kept = self.keep_from(attempt, origin, text, now, &mut || Measured::of(text))?;
        Ok((kept.handle == handle).then_some(kept))
    }

    /// Whether exactly this text is kept with this session and id.
    pub(crate) fn is_kept_as(&self, origin: &Origin<'_>, text: &str) -> bool {
        let (session, id, hash) = (name::safe(origin.session), name::safe(origin.id), name::hex(text.as_bytes()));
        let names = [format!("{id}{SUFFIX}"), format!("{id}-{}{SUFFIX}", &hash[..8]), format!("{id}-{hash}{SUFFIX}")];
        let catalog = self.catalog();
        names.iter().any(|name| {
            let record = catalog.known.get(Handle::of(&format!("{session}/{name}")));
            record.is_some_and(|record| {
                record.state == State::Kept && base16ct::lower::encode_string(&record.sha256) == hash
            })
        })
    }

    /// Keeps a text as [`Outputs::keep`] does, and counts and hashes it meanwhile.
    pub(crate) fn keep_measuring(&self, origin: &Origin<'_>, text: &str, now: f64) -> (Facts, Result<Kept, DiskError>) {
        if text.len() < BESIDE {
            let facts = Facts::of(text);
            return (facts, self.keep(origin, text, &facts, now));
        }
        std::thread::scope(|scope| {
            let mut measuring = std::thread::Builder::new().spawn_scoped(scope, || Measured::of(text)).ok();
            let mut known: Option<Measured> = None;
            let mut measured = || {
                let join =
                    || measuring.take().and_then(|thread| thread.join().ok()).unwrap_or_else(|| Measured::of(text));
                known.get_or_insert_with(join).clone()
            };
            let kept = self.hard_link_as(origin, text, now, &mut measured);
            (measured().facts, kept)
        })
    }

    fn hard_link_as(
        &self,
        origin: &Origin<'_>,
        text: &str,
        now: f64,
        measured: &mut dyn FnMut() -> Measured,
    ) -> Result<Kept, DiskError> {
        self.keep_from(0, origin, text, now, measured)
    }

    /// Keeps a text under the first name from `first` on that no other text has.
    fn keep_from(
        &self,
        first: usize,
        origin: &Origin<'_>,
        text: &str,
        now: f64,
        measured: &mut dyn FnMut() -> Measured,
    ) -> Result<Kept, DiskError> {
        let (session, id) = (name::safe(origin.session), name::safe(origin.id));
        let mut hash = None;
        for attempt in first..3 {
            let mut hash =
                || hash.get_or_insert_with(|| base16ct::lower::encode_string(&measured().facts.sha256)).clone();
            let name = match attempt {
                0 => format!("{id}{SUFFIX}"),
                1 => format!("{id}-{}{SUFFIX}", &hash()[..8]),
                _ => format!("{id}-{}{SUFFIX}", hash()),
            };
            let file = format!("{session}/{name}");
            let (handle, path) = (Handle::of(&file), self.root.join(&file));
            let _lock = self.path_locks.wait(handle, &session);
            // Inside the lock, because a folder without locks may be removed at any time.
            self.make_folder(&session)?;
            let is_there = match Regular::open(&path)? {
                Some(there) => {
                    if !there.holds(text.as_bytes())? {
                        continue;
                    }
                    true
                }
                None => false,
            };
            let short = |name: &str| name.chars().take(NAME).collect::<String>();
            let begun = Begun {
                handle: handle.to_string(),
                session: short(origin.session),
                profile: short(origin.profile),
                tool: short(origin.tool),
                id: short(origin.id),
                file,
            };
            if is_there {
                if self.catalog().known.is_kept(handle) {
                    return Ok(Kept { handle, path });
                }
                folder::sync(&self.root.join(&session))?;
            } else {
                self.catalog().begin(&begun);
                let made = self.make_file(&path, &session, text, measured);
                if !matches!(made, Ok(Created::New)) {
                    self.catalog().end(handle);
                }
                if made? == Created::Exists {
                    continue;
                }
            }
            let Measured { facts, index } = measured();
            self.put_record(&begun, facts, to_u64(text.len()), now);
            self.make_index(&path, text, index);
            return Ok(Kept { handle, path });
        }
        let source = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        Err(DiskError { operation: "create", path: self.root.join(session), source })
    }

    /// Creates the session's folder. Its name is durable when this returns.
    fn make_folder(&self, session: &str) -> Result<(), DiskError> {
        if self.durable.lock().unwrap_or_else(PoisonError::into_inner).contains(session) {
            return Ok(());
        }
        folder::create_private(&self.root)?;
        folder::create_private(&self.root.join(session))?;
        folder::sync(&self.root)?;
        self.durable.lock().unwrap_or_else(PoisonError::into_inner).insert(session.to_owned());
        Ok(())
    }

    /// Creates the file, as a hard link to a file with the same content if there is one.
    fn make_file(
        &self,
        path: &Path,
        session: &str,
        text: &str,
        measured: &mut dyn FnMut() -> Measured,
    ) -> Result<Created, DiskError> {
        let has_length = self.catalog().known.has_length(to_u64(text.len()));
        // A long text is written while it is measured, because another text of its length seldom equals it.
        let early = (has_length && text.len() >= BESIDE).then(|| self.write_new(path, session, text));
        if has_length {
            let sha256 = measured().facts.sha256;
            let same: Vec<PathBuf> =
                self.catalog().known.with_content(&sha256).take(CANDIDATES).map(|record| self.path(record)).collect();
            for candidate in same {
                // A candidate that can't be read or linked does not keep the text from being written.
                if let Ok(Some(file)) = Regular::open(&candidate)
                    && file.holds(text.as_bytes()).unwrap_or(false)
                    && let Ok(created) = file.link_as(path)
                {
                    return Ok(created);
                }
            }
        }
        early.unwrap_or_else(|| self.write_new(path, session, text))?.commit()
    }

    fn write_new<'a>(&self, path: &'a Path, session: &str, text: &str) -> Result<NewFile<'a>, DiskError> {
        match file::write_new(path, text.as_bytes(), TEMPORARY) {
            Err(error) if error.cause() == herma_disk::Cause::Missing => {
                // The folder was removed with its session meanwhile.
                self.durable.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
                self.make_folder(session)?;
                file::write_new(path, text.as_bytes(), TEMPORARY)
            }
            written => written,
        }
    }

    /// Adds an output to the catalog.
    pub(super) fn put_record(&self, begun: &Begun, facts: Facts, bytes: u64, created_at: f64) {
        let mut catalog = self.catalog();
        let [session, profile, tool] =
            [&begun.session, &begun.profile, &begun.tool].map(|name| catalog.known.shared(name));
        let record = Record {
            handle: Handle::of(&begun.file),
            session,
            profile,
            tool,
            id: begun.id.as_str().into(),
            file: begun.file.as_str().into(),
            chars: facts.chars,
            lines: facts.lines,
            bytes,
            sha256: facts.sha256,
            created_at,
            state: State::Kept,
        };
        let row = Row::Kept(row_of(&record));
        catalog.known.put(record);
        catalog.append(&row);
        catalog.end(Handle::of(&begun.file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_in_one_pass_is_what_each_pass_for_itself_finds() {
        for text in [String::new(), "a".to_owned(), "é漢\r\n😀".repeat(40_000), "line\n".repeat(60_000)] {
            let Measured { facts, index } = Measured::of(&text);
            assert_eq!((facts, index.as_deref()), (Facts::of(&text), Some(&Index::of(&text))));
        }
    }
}
