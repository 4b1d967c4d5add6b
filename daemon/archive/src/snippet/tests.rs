use proptest::prelude::*;

use super::*;

fn hit(snippet: &Snippet) -> String {
    snippet.text.chars().skip(snippet.start).take(snippet.end - snippet.start).collect()
}

#[test]
fn the_hit_is_marked_where_it_is() {
    for (text, query, expect) in [
        ("we met at the Café yesterday", "cafe", "Café"),
        ("we met at the Cafe\u{301} yesterday", "café", "Cafe\u{301}"),
        ("👩‍👩‍👧 🎉 then the Needle", "needle", "Needle"),
        ("前面的数据库连接失败", "数据库", "数据库"),
        ("前面的数据库连接失败", "库", "库"),
        ("前面的数据库连接失败", "数据", "数据"),
        ("数据abc", "数据abc", "数据abc"),
        ("ｶﾞｽ管", "ガス", "ｶﾞｽ"),
        ("a snake_case name", "snake_case", "snake_case"),
        ("in HttpServerConfig::of", "config", "Config"),
        ("the connection was refused: connect", "connect", "connect"),
        ("the connection was refused", "connect", "connection"),
        ("one two\nthree", "\"two three\"", "two\nthree"),
        ("they had it cancelled", "cancelling", "cancelled"),
        ("昨天数据库连接失败了", "数据库为什么连接失败", "数据库"),
        ("nothing here", "absent", ""),
        ("nothing here", "", ""),
        ("", "x", ""),
    ] {
        assert_eq!(hit(&snippet(text, query, &[])), expect.replace('\n', " "), "{text} / {query}");
    }
}

#[test]
fn a_word_that_was_looked_for_instead_is_marked() {
    assert_eq!(hit(&snippet("about the reservation", "resevation", &["reservation".into()])), "reservation");
}

#[test]
fn where_most_words_are_together_counts() {
    let text = format!("alpha {} beta {} alpha beta gamma", "x ".repeat(200), "y ".repeat(200));
    let found = snippet(&text, "alpha beta gamma", &[]);
    assert!(found.text.ends_with("alpha beta gamma"), "{found:?}");
    assert_eq!(hit(&found), "alpha");
}

#[test]
fn a_long_text_is_cut_on_both_sides() {
    let text = format!("{}NEEDLE{}", "a ".repeat(500), " b".repeat(500));
    let found = snippet(&text, "needle", &[]);
    assert_eq!(hit(&found), "NEEDLE");
    assert!(found.text.starts_with('…') && found.text.ends_with('…'));
    assert_eq!(found.text.chars().count(), LENGTH + 2);
    let at_end = snippet(&format!("{}end", "a ".repeat(500)), "end", &[]);
    assert!(at_end.text.starts_with('…') && at_end.text.ends_with(" end"));
    assert_eq!(at_end.text.chars().count(), LENGTH + 1);
    let long_word = "n".repeat(250);
    let found = snippet(&long_word.replace('n', "ń"), &long_word, &[]);
    assert_eq!((found.start, found.end), (0, LENGTH));
}

#[test]
fn clusters_are_not_cut() {
    let family = "👩‍👩‍👧‍👦";
    let found = snippet(&format!("{}needle{}", family.repeat(100), family.repeat(100)), "needle", &[]);
    assert_eq!(hit(&found), "needle");
    assert_eq!(found.text.trim_matches('…').replace(family, ""), "needle");
}

proptest! {
    #[test]
    fn any_text_and_query_do(text in any::<String>(), query in any::<String>(), long in 0..40_usize) {
        let text = text.repeat(long);
        let found = snippet(&text, &query, &[]);
        let length = found.text.chars().count();
        prop_assert!(found.start <= found.end && found.end <= length && length <= LENGTH + 2);
    }

    #[test]
    fn a_word_that_is_there_is_marked(before in "[a-y \n数é👩]{0,300}", after in "[a-y \n数é👩]{0,300}") {
        let found = snippet(&format!("{before} zebra {after}"), "ZEBRA", &[]);
        prop_assert_eq!(hit(&found), "zebra");
    }
}
