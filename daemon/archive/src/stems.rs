//! A cache of stems: most words of a text were in the text before it.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::hash::Words;
use crate::language::Language;

/// The maximum number of cached stems per thread and language. A full cache is cleared.
const REMEMBERED: usize = 8_000;

/// The stems of words.
type Stems = HashMap<Box<str>, Box<str>, Words>;

thread_local! {
    /// The index is that of a language.
    static STEMS: RefCell<[Stems; Language::COUNT]> = RefCell::default();
}

/// Forgets the stems of this thread. Their small pieces would keep many pages of memory in use.
pub(crate) fn clear() {
    STEMS.take();
}

/// Calls `then` with the stem of a lowercase word.
pub(crate) fn with<T>(language: Language, word: &str, then: impl FnOnce(&str) -> T) -> T {
    STEMS.with_borrow_mut(|languages| {
        let Some(known) = languages.get_mut(language as usize) else { return then(&language.stem(word)) };
        if let Some(stem) = known.get(word) {
            return then(stem);
        }
        let stem = language.stem(word);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(word.into(), stem.as_ref().into());
        then(&stem)
    })
}
