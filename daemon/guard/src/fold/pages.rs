//! Properties of characters, in tables of 256 that are built on first use.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use unicode_normalization::char::is_combining_mark;

use super::chars;
use crate::view::{is_space, is_word};

/// Number of characters in a page.
const PAGE: u32 = 256;

/// The pages of all of Unicode.
static PAGES: [OnceLock<Page>; 0x1100] = [const { OnceLock::new() }; 0x1100];

/// Properties of a character in addition to its folded form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Traits(u8);

impl Traits {
    /// It is dropped and belongs to the preceding letter: a combining mark or variation selector.
    pub(crate) const MARK: Self = Self(1);
    /// A letter or sign of a script whose spelling uses joiners.
    pub(crate) const JOINING: Self = Self(2);
    /// A mark without a script of its own; it has the script of its base letter.
    pub(crate) const BORROWED: Self = Self(4);
    /// It may be part of an emoji sequence.
    pub(crate) const EMOJI: Self = Self(8);
    /// Its folded form is of a different kind than the character. A pattern may then match the raw
    /// text but not the folded text.
    pub(crate) const CHANGED: Self = Self(16);

    /// Returns the union of two sets of traits.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The properties of one character.
pub(super) struct Entry<'a> {
    /// Its byte in the raw view.
    pub(super) raw: u8,
    /// Its bytes in the folded view.
    pub(super) folded: &'a [u8],
    pub(super) traits: Traits,
}

/// The properties of 256 consecutive characters.
struct Page {
    rows: Box<[Row]>,
    /// The concatenated folded forms.
    folded: Vec<u8>,
}

/// One character of a page.
#[derive(Clone, Copy)]
struct Row {
    /// Offset of its folded form in the page's.
    start: u16,
    /// Length of its folded form in bytes; the longest one in Unicode has 18.
    length: u8,
    raw: u8,
    traits: Traits,
}

/// Looks up characters and remembers the last page.
#[derive(Default)]
pub(super) struct Reader {
    /// The number of the last page, and the page.
    last: Option<(u32, &'static Page)>,
}

impl Reader {
    pub(super) fn entry(&mut self, c: char) -> Entry<'static> {
        let number = u32::from(c) / PAGE;
        let page = match self.last {
            Some((last, page)) if last == number => page,
            _ => page(number),
        };
        self.last = Some((number, page));
        page.entry(c)
    }
}

/// Returns the traits of one character.
pub(crate) fn traits(c: char) -> Traits {
    page(u32::from(c) / PAGE).entry(c).traits
}

fn page(number: u32) -> &'static Page {
    PAGES[number as usize].get_or_init(|| Page::build(number))
}

impl Page {
    fn build(number: u32) -> Self {
        let codes = number * PAGE..(number + 1) * PAGE;
        let classes = Classes::of(&codes.clone().filter_map(char::from_u32).collect::<String>());
        let mut folded = Vec::new();
        let mut rows = Vec::with_capacity(PAGE as usize);
        for code in codes {
            let start = u16::try_from(folded.len()).unwrap_or(u16::MAX);
            let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            chars::fold(c, &mut folded);
            let length = u8::try_from(folded.len() - usize::from(start)).unwrap_or(u8::MAX);
            let raw = chars::raw(c);
            let changed =
                if keeps_kind(raw, &folded[usize::from(start)..]) { Traits::default() } else { Traits::CHANGED };
            rows.push(Row { start, length, raw, traits: classes.traits(c).and(changed) });
        }
        Self { rows: rows.into(), folded }
    }

    fn entry(&self, c: char) -> Entry<'_> {
        let row = self.rows[(u32::from(c) % PAGE) as usize];
        let start = usize::from(row.start);
        Entry { raw: row.raw, folded: &self.folded[start..start + usize::from(row.length)], traits: row.traits }
    }
}

/// Returns whether every pattern that matches the character also matches its folded form.
fn keeps_kind(raw: u8, folded: &[u8]) -> bool {
    let is_same = |byte: &u8| *byte != b'>' && is_word(*byte) == is_word(raw) && is_space(*byte) == is_space(raw);
    !folded.is_empty() && folded.iter().all(is_same)
}

/// The characters of a page in each class.
struct Classes([(Traits, String); 3]);

impl Classes {
    fn of(page: &str) -> Self {
        let members = |class: &Regex| class.find_iter(page).map(|found| found.as_str()).collect();
        Self([
            (Traits::JOINING, members(&JOINING)),
            (Traits::BORROWED, members(&BORROWED)),
            (Traits::EMOJI, members(&EMOJI)),
        ])
    }

    fn traits(&self, c: char) -> Traits {
        let classes = self.0.iter().filter(|(_, members)| members.contains(c));
        let is_mark = is_combining_mark(c) || matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}');
        let own = if is_mark { Traits::MARK } else { Traits::default() };
        classes.fold(own, |all, (one, _)| all.and(*one))
    }
}

/// Letters and signs of scripts whose letters join or stack, so that their spelling needs joiners.
/// U+0640 is the Arabic tatweel, which Unicode assigns to no single script.
static JOINING: LazyLock<Regex> = LazyLock::new(|| {
    class(
        r"[\p{L}\p{M}&&[\p{Arabic}\p{Syriac}\p{Nko}\p{Mongolian}\p{Mandaic}\p{Manichaean}
        \p{Adlam}\p{Hanifi_Rohingya}\p{Phags_Pa}\p{Sogdian}\p{Psalter_Pahlavi}\p{Old_Uyghur}\p{Chorasmian}
        \p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}
        \p{Malayalam}\p{Sinhala}\p{Tibetan}\p{Myanmar}\p{Khmer}\p{Balinese}\p{Javanese}
        \p{Sundanese}\p{Tai_Tham}\p{Meetei_Mayek}\p{Limbu}\p{Lepcha}\p{Saurashtra}\p{Syloti_Nagri}
        \p{Chakma}\p{Brahmi}\p{Kaithi}\p{Sharada}\p{Khojki}\p{Khudawadi}\p{Grantha}\p{Newa}
        \p{Tirhuta}\p{Siddham}\p{Modi}\p{Takri}\p{Dogra}\p{Nandinagari}\p{Multani}\p{Bhaiksuki}
        \p{Masaram_Gondi}\p{Gunjala_Gondi}\p{Dives_Akuru}\p{Marchen}\p{Kharoshthi}\x{0640}]]",
    )
});

/// Combining marks without a script.
static BORROWED: LazyLock<Regex> = LazyLock::new(|| class(r"[\p{M}&&\p{Inherited}]"));

/// The parts of emoji sequences, except the selectors. The copyright, registered and trade mark
/// signs are emoji by name only and part of no sequence.
static EMOJI: LazyLock<Regex> =
    LazyLock::new(|| class(r"[[\p{Extended_Pictographic}\x{1F3FB}-\x{1F3FF}]--[\u{A9}\u{AE}\u{2122}]]"));

#[expect(clippy::expect_used, reason = "the classes are constants, each built by a test")]
fn class(expression: &str) -> Regex {
    let expression: String = expression.split_whitespace().collect();
    Regex::new(&expression).expect("a constant class is well-formed")
}
