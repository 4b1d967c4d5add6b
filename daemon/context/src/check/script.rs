//! The script of a letter.

/// The scripts that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Greek,
    Hebrew,
    Arabic,
    Devanagari,
    Thai,
    Hangul,
    Han,
    Kana,
}

impl Script {
    /// The number of scripts.
    pub(super) const COUNT: usize = 10;

    /// Returns the script of a letter; `None` for signs, digits and letters of other scripts.
    pub(super) fn of(c: char) -> Option<Self> {
        match u32::from(c) {
            0x41..=0x5A | 0x61..=0x7A | 0xC0..=0x24F | 0x1E00..=0x1EFF if c.is_alphabetic() => Some(Self::Latin),
            0x370..=0x3FF | 0x1F00..=0x1FFF if c.is_alphabetic() => Some(Self::Greek),
            0x400..=0x52F => Some(Self::Cyrillic),
            0x5D0..=0x5EA => Some(Self::Hebrew),
            0x620..=0x6FF | 0x750..=0x77F | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC if c.is_alphabetic() => {
                Some(Self::Arabic)
            }
            0x900..=0x97F if c.is_alphabetic() => Some(Self::Devanagari),
            0xE01..=0xE4E => Some(Self::Thai),
            0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7A3 => Some(Self::Hangul),
            0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF => Some(Self::Han),
            0x3041..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9D => Some(Self::Kana),
            _ => None,
        }
    }

    /// Whether the script has spaces between words.
    pub(super) fn has_spaces(self) -> bool {
        !matches!(self, Self::Thai | Self::Han | Self::Kana | Self::Hangul)
    }

    /// Returns the language of a text in this script, as far as the script shows it.
    pub(super) fn language(self) -> &'static str {
        match self {
            Self::Latin => "the Latin script",
            Self::Cyrillic => "the Cyrillic script",
            Self::Greek => "Greek",
            Self::Hebrew => "Hebrew",
            Self::Arabic => "the Arabic script",
            Self::Devanagari => "Devanagari",
            Self::Thai => "Thai",
            Self::Hangul => "Korean",
            Self::Han => "Chinese",
            Self::Kana => "Japanese",
        }
    }
}
