//! Classes of letters: Latin, and letters of any alphabet.

/// Returns whether the character is in a block of Latin letters, including small capitals and the phonetic alphabet.
pub(super) fn is_latin(c: char) -> bool {
    matches!(c, '\u{AA}'..='\u{2B8}' | '\u{1D00}'..='\u{1DBF}' | '\u{1E00}'..='\u{1EFF}' | '\u{2100}'..='\u{218F}'
        | '\u{2C60}'..='\u{2C7F}' | '\u{A720}'..='\u{A7FF}' | '\u{AB30}'..='\u{AB6F}' | '\u{10780}'..='\u{107BF}')
}

/// Returns whether the character is in a part of Unicode with alphabets, as opposed to ideographs
/// and syllables. Those have no Latin look-alikes and occur next to Latin words without a space.
pub(super) fn is_of_alphabet(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{2E7F}' | '\u{A4D0}'..='\u{ABFF}' | '\u{FB00}'..='\u{FEFF}' | '\u{10000}'..='\u{1FFFF}')
}
