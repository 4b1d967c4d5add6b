use proptest::prelude::*;

use super::*;
use crate::terms::{DocumentTerms, hash};

#[test]
fn words_are_cut_folded_and_lowered() {
    for (text, expect) in [
        ("Hello, World!", "hello world"),
        ("café CAFÉ cafe\u{301} naïve", "cafe cafe cafe naive"),
        ("ΛΌΓΟΣ λόγος", "λογοσ λογοσ"),
        ("Straße ÅNGSTRÖM Łódź", "straße angstrom łodz"),
        ("İstanbul", "istanbul"),
        ("a \u{1b}[1;31mplatypus\u{1b}[0m", "a platypus"),
        (r#"{"a":"\u001b[1;31mplatypus\u001b[0m"}"#, "a platypus"),
        ("ｆｕｌｌ Ｗｉｄｔｈ １２", "full width 12"),
        ("snake_case a-b c.d/e\\f", "snake case a b c d e f"),
        ("don't", "don t"),
        ("Привет, Ёж", "привет еж"),
        ("Какой йод", "какой йод"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("हिन्दी में", "हिन्दी में"),
        ("co\u{ad}operate می\u{200c}خواهم", "cooperate میخواهم"),
        ("数据库", "数据 据库 库"),
        ("数", "数"),
        ("数据abc库", "数据 据 abc 库"),
        ("ガガ ｶﾞｶﾞ か゛", "ガガ ガ ガガ ガ か"),
        ("サーバー", "サー ーバ バー ー"),
        ("한국어", "한국 국어 어"),
        ("\u{1112}\u{1161}\u{11ab}", "한"),
        ("ภาษาไทย", "ภา าษ ษา าไ ไท ทย ย"),
        ("ខ្មែរ", "ខ្ ្ម មែ ែរ រ"),
        ("a\u{1f600}b 👩‍👩‍👧", "a b"),
        ("§12 \0 \u{1}", "12"),
        ("", ""),
    ] {
        assert_eq!(tokens(text).words, expect, "{text}");
    }
}

#[test]
fn words_with_another_form_have_stems() {
    for (text, expect) in [
        ("she cancelled two bookings", "cancel book"),
        ("die Buchungen der Kundin sind storniert", "buchung"),
        ("рейсы отменены", "рейс отмен"),
        ("handledRequests", "handledrequest handl request"),
        ("id 9f86d081s xs running2", ""),
        ("数据库", ""),
    ] {
        assert_eq!(tokens(text).stems, expect, "{text}");
    }
}

#[test]
fn what_is_counted_are_stems_and_pairs() {
    let tokens = tokens("Runs, running, 数据库 likeThis?");
    let terms = DocumentTerms::of(tokens.counting, tokens.marks);
    let counts = ["run", "数据", "库", "likethi", "this", "running"].map(|term| terms.count(hash(term)));
    assert_eq!((counts, terms.words, terms.marks.asks), ([2.0, 1.0, 1.0, 1.0, 0.5, 0.0], 6, true));
}

#[test]
fn words_written_like_this_have_pieces() {
    for (text, expect) in [
        ("camelCase", "camel case"),
        ("HTTPServerError", "http server error"),
        ("parseUTF8String", "parse utf8 string"),
        ("Hello WORLD snake_case", ""),
        ("ÜberGrößeÄndern", "uber große andern"),
        ("x aB y", "a b"),
    ] {
        assert_eq!(tokens(text).pieces, expect, "{text}");
    }
}

#[test]
fn data_is_no_words() {
    let base64 = "aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IGRhdGEgMTIzNDU2Nzg5MA0K".repeat(3);
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let path = "src/some/very/long/path/that/goes/down/and/down/into/many/folders/of/a/project/file";
    for (text, expect) in [
        (format!("data:image/png;base64,{base64} end"), "data image png base64 end".to_owned()),
        ("x".repeat(300), String::new()),
        ("ы".repeat(300), "ы".repeat(64)),
        ("é".repeat(300), String::new()),
        ("x".repeat(100), "x".repeat(64)),
        (hash.to_owned(), hash.to_owned()),
        (path.to_owned(), path.replace('/', " ")),
    ] {
        assert_eq!(tokens(&text).words, expect, "{text}");
    }
}

proptest! {
    /// No token has a char that ends a phrase or splits a token.
    #[test]
    fn tokens_are_whole(text in any::<String>()) {
        let Tokens { words, stems, pieces, .. } = tokens(&text);
        for token in words.split(' ').chain(stems.split(' ')).chain(pieces.split(' ')).filter(|token| !token.is_empty()) {
            prop_assert!(token.chars().all(|char| kind(char).is_some()), "{:?}", token);
        }
        prop_assert!(!words.contains("  ") && !words.starts_with(' ') && !words.ends_with(' '));
    }

    /// The tokens of tokens are the same, in scripts with spaces between words.
    #[test]
    fn spaced_tokens_stay(text in "[a-zA-ZäÖßéñÇøΣςλЖё0-9_ .ｆＷ-]{0,60}") {
        let words = tokens(&text).words;
        prop_assert_eq!(&tokens(&words).words, &words);
    }

    /// Runs are in order, and equal the text at their position.
    #[test]
    fn runs_are_parts_of_the_text(text in any::<String>()) {
        let normalised = normalise(&text);
        let mut end = 0;
        for run in runs(&normalised) {
            prop_assert!(run.start >= end && !run.text.is_empty());
            end = run.start + run.text.len();
            prop_assert_eq!(normalised.get(run.start..end), Some(run.text));
        }
    }
}

#[test]
fn the_letters_of_an_escape_sequence_are_in_no_word() {
    let coloured = "the \u{1b}[31mplatypus\u{1b}[0m, \u{1b}[1;32mé\u{1b}[m";
    assert_eq!(tokens(coloured).words, "the platypus e");
    let shown = crate::snippet::snippet(coloured, "platypus", &[]);
    assert!(shown.text.contains("platypus") && shown.text.contains('\u{1b}'), "{shown:?}");
}
