//! The profiles of a home: names that become folders.

use std::path::{Path, PathBuf};

use herma_disk::folder;

use super::error::{Error, Outcome};

/// The profile of a request that names none.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// The longest name of a profile, in chars.
const LONGEST: usize = 64;

/// The profiles of a home.
#[derive(Debug, Clone)]
pub(crate) struct Profiles {
    home: PathBuf,
}

impl Profiles {
    /// Returns the profiles of this home.
    pub(crate) fn of(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// Creates a profile's folder. Returns false if it existed before.
    pub(crate) fn create(&self, name: &str) -> Outcome<bool> {
        let folder = self.folder(name)?.join("memories");
        let is_new = name != DEFAULT_PROFILE && !folder.is_dir();
        folder::create(&folder)?;
        Ok(is_new)
    }

    /// Returns the existing profiles, `default` first.
    pub(crate) fn all(&self) -> Outcome<Vec<String>> {
        let named = folder::names(&self.home.join("profiles"))?;
        let named = named.into_iter().filter(|name| name != DEFAULT_PROFILE && self.existing(name).is_ok());
        Ok([DEFAULT_PROFILE.to_owned()].into_iter().chain(named).collect())
    }

    /// Returns the folder of an existing profile.
    pub(crate) fn existing(&self, name: &str) -> Outcome<PathBuf> {
        let folder = self.folder(name)?;
        if name != DEFAULT_PROFILE && !folder.join("memories").is_dir() {
            let words = format!("there is no profile {name:?}; create it with profile.create or session.open");
            return Err(Error::NotFound(words));
        }
        Ok(folder)
    }

    fn folder(&self, name: &str) -> Outcome<PathBuf> {
        if !is_name(name) {
            return Err(Error::param("profile", "a name of 1 to 64 letters, digits, `_` and `-` is needed"));
        }
        Ok(match name {
            DEFAULT_PROFILE => self.home.clone(),
            named => self.home.join("profiles").join(named),
        })
    }
}

/// Whether a profile can have this name, which becomes the name of a folder.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(plain)
}
