//! Invisible characters, and joiners in correct places.

use herma_guard::{Scope, scan};

fn ids(text: &str) -> Vec<&'static str> {
    let findings = scan(text, Scope::All);
    findings.iter().map(|found| found.id.as_str()).collect()
}

#[test]
fn every_invisible_character_is_named() {
    for (c, id) in [
        ('\u{200B}', "invisible_unicode_U+200B"),
        ('\u{200C}', "invisible_unicode_U+200C"),
        ('\u{200D}', "invisible_unicode_U+200D"),
        ('\u{2060}', "invisible_unicode_U+2060"),
        ('\u{2062}', "invisible_unicode_U+2062"),
        ('\u{2063}', "invisible_unicode_U+2063"),
        ('\u{2064}', "invisible_unicode_U+2064"),
        ('\u{FEFF}', "invisible_unicode_U+FEFF"),
        ('\u{202A}', "invisible_unicode_U+202A"),
        ('\u{202B}', "invisible_unicode_U+202B"),
        ('\u{202C}', "invisible_unicode_U+202C"),
        ('\u{202D}', "invisible_unicode_U+202D"),
        ('\u{202E}', "invisible_unicode_U+202E"),
        ('\u{2066}', "invisible_unicode_U+2066"),
        ('\u{2067}', "invisible_unicode_U+2067"),
        ('\u{2068}', "invisible_unicode_U+2068"),
        ('\u{2069}', "invisible_unicode_U+2069"),
    ] {
        assert_eq!(ids(&format!("no{c}te {c}")), [id]);
        assert_eq!(ids(&c.to_string()), [id]);
    }
}

#[test]
fn visible_neighbours_of_the_invisible_pass() {
    for text in [
        "“quoted” – dashes — … €5 • ′ ″ ※",
        "\u{2010}\u{2011}\u{202F}\u{2061}\u{2065}\u{206A}\u{FEFE}",
        "，。！？（全角）",
        "soft\u{AD}hyphen",
    ] {
        assert_eq!(ids(text), [""; 0], "{text:?}");
    }
}

#[test]
fn joiners_pass_where_the_script_uses_them() {
    for text in [
        "می‌خواهم",                // Persian, non-joiner after a letter
        "می\u{64E}\u{200C}خواهم", // after a vowel mark
        "الله\u{200D} أكبر",      // Arabic
        "क्\u{200D}ष",             // Hindi, joiner after a virama
        "क्\u{200C}ष",             // non-joiner
        "कि\u{200D}",             // after a vowel sign
        "শ্রী\u{200C}",            // Bengali
        "ਕ੍\u{200D}ਹ",             // Gurmukhi
        "ક્\u{200C}ષ",             // Gujarati
        "କ୍\u{200C}ଷ",             // Oriya
        "க்\u{200C}ஷ",             // Tamil
        "క్\u{200C}ష",             // Telugu
        "ರ್\u{200D}ಕ",             // Kannada
        "ന്\u{200D}",              // Malayalam
        "ක්\u{200D}ෂ",             // Sinhala
        "ខ្\u{200C}",              // Khmer
        "မ္\u{200C}",              // Myanmar
        "བོ\u{200C}ད",             // Tibetan
        "ܫܠ\u{200D}ܡ",            // Syriac
        "ߒߞ\u{200C}ߏ",            // N'Ko
        "ᠮᠣᠩ\u{200D}ᠭᠣᠯ",         // Mongolian
    ] {
        assert_eq!(ids(text), [""; 0], "{text:?}");
    }
}

#[test]
fn joiners_pass_at_the_end_of_a_word_of_such_a_script() {
    for text in [
        "می\u{200C} خواهم",
        "می\u{200C}، نه",
        "کتاب\u{200C}PDF",
        "ه\u{200D}",
        "ه\u{200D}.",
        "ക്\u{200D}",
        "ශ්\u{200D}රී",
        "র‍্যাম",
        "𑄇𑄳\u{200D}", // Chakma, beyond the first plane
        "ـ\u{200D}",
    ] {
        assert_eq!(ids(text), [""; 0], "{text:?}");
    }
}

#[test]
fn joiners_pass_in_every_kind_of_emoji_sequence() {
    for text in [
        "🏃🏽\u{200D}♀\u{FE0F}",
        "🏃\u{200D}♂",
        "👩🏽\u{200D}⚕\u{FE0F}",
        "👩\u{200D}⚕\u{FE0E}",
        "👩🏻\u{200D}🤝\u{200D}👨🏿",
        "👩\u{200D}❤\u{FE0F}\u{200D}💋\u{200D}👨",
        "🏴\u{200D}☠\u{FE0F}",
        "🏳\u{FE0F}\u{200D}⚧\u{FE0F}",
        "🏳\u{FE0E}\u{200D}🌈",
        "👁\u{FE0F}\u{200D}🗨\u{FE0F}",
        "🧑\u{200D}🧑\u{200D}🧒\u{200D}🧒",
        "🐻\u{200D}❄\u{FE0F}",
        "🏃\u{200D}➡\u{FE0F}",
        "1\u{FE0F}\u{20E3} 🇩🇪 ❤\u{FE0E}",
    ] {
        assert_eq!(ids(text), [""; 0], "{text:?}");
    }
}

#[test]
fn joiners_pass_inside_an_emoji_sequence() {
    for text in ["👨‍👩‍👧‍👦", "a family: 👩🏽‍🚒!", "❤️\u{200D}🔥 🏳️\u{200D}🌈", "🐦\u{200D}⬛", "🙂\u{200D}↔️"]
    {
        assert_eq!(ids(text), [""; 0], "{text:?}");
    }
}

#[test]
fn joiners_are_findings_everywhere_else() {
    const ZWNJ: &str = "invisible_unicode_U+200C";
    const ZWJ: &str = "invisible_unicode_U+200D";
    for (text, expect) in [
        ("ig\u{200D}nore", ZWJ),
        ("ig\u{200C}nore", ZWNJ),
        ("при\u{200D}вет", ZWJ),
        ("中\u{200C}文", ZWNJ),
        ("かな\u{200D}", ZWJ),
        ("12\u{200D}34", ZWJ),
        ("٣\u{200C}٤", ZWNJ),
        ("\u{200D}می", ZWJ),
        (" \u{200C}می", ZWNJ),
        ("می \u{200C}خواهم", ZWNJ),
        ("می\u{200C}\u{200C}خواهم", ZWNJ),
        ("e\u{301}\u{200C}", ZWNJ),
        ("a\u{307}\u{200D}b", ZWJ),
        ("🙂\u{200D}x", ZWJ),
        ("x\u{200D}🙂", ZWJ),
        ("x\u{FE0F}\u{200D}🙂", ZWJ),
        ("🙂\u{200C}🙂", ZWNJ),
        ("🙂\u{200D}", ZWJ),
        ("،\u{200C}م", ZWNJ),
        ("1\u{200D}2", ZWJ),
        ("1\u{FE0F}\u{20E3}\u{200D}2", ZWJ),
        ("۱\u{200C}۲", ZWNJ),
        ("#\u{200D}*", ZWJ),
        ("a©\u{200D}b", ZWJ),
        ("©\u{200D}®", ZWJ),
        ("™\u{FE0F}\u{200D}🙂", ZWJ),
        ("🇩\u{200D}🇪", ZWJ),
        ("שלום\u{200D}", ZWJ),
        ("한\u{200C}글", ZWNJ),
        ("ไทย\u{200D}", ZWJ),
        ("ελ\u{200C}λ", ZWNJ),
        ("🙂 \u{200D}🙂", ZWJ),
    ] {
        assert_eq!(ids(text), [expect], "{text:?}");
    }
}

#[test]
fn the_place_is_that_of_the_first_joiner_that_does_not_belong() {
    let found = scan("می\u{200C}خواهم 👨‍👩‍👧 o\u{200C}k", Scope::All);
    let places: Vec<_> = found.iter().map(|found| (found.start, found.end)).collect();
    assert_eq!(places, [(16, 17)]);
}
