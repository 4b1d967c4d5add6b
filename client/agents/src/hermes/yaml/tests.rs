use proptest::prelude::*;

use super::*;

/// The edits of an install with all parts.
const ALL: [Edit<'_>; 6] = [
    Edit::Take("plugins", "disabled", "herma"),
    Edit::Add("plugins", "enabled", "herma"),
    ENGINE,
    Edit::Set("memory", "provider", Word::Text("herma")),
    Edit::Set("herma", "memory", Word::True),
    Edit::Set("herma", "results", Word::True),
];

/// The edits of an uninstall after an install with all parts.
const GONE: [Edit<'_>; 4] = [
    Edit::Take("plugins", "enabled", "herma"),
    Edit::Drop("context", "engine", "herma"),
    Edit::Drop("memory", "provider", "herma"),
    Edit::DropSection("herma"),
];

const ENGINE: Edit<'_> = Edit::Set("context", "engine", Word::Text("herma"));
const ENABLED: Edit<'_> = Edit::Add("plugins", "enabled", "herma");
const ALLOWED: Edit<'_> = Edit::Take("plugins", "disabled", "herma");

/// The default files of two hosts.
const HOSTS: [&str; 2] = [include_str!("host-0.16.yaml"), include_str!("host-0.19.yaml")];

#[track_caller]
fn check(edits: &[Edit<'_>], table: &[(&str, &str)]) {
    for (before, after) in table {
        let edited = edit(before, edits);
        assert_eq!(edited.as_deref(), Ok(*after), "of {before:?}");
        assert_eq!(edit(after, edits).as_deref(), Ok(*after), "again {after:?}");
    }
}

#[test]
fn the_engine_is_named_where_it_belongs() {
    check(
        &[ENGINE],
        &[
            ("", "context:\n  engine: herma\n"),
            ("# only words\n", "# only words\ncontext:\n  engine: herma\n"),
            ("{}\n", "{context: {engine: herma}}\n"),
            ("{model: x}\n", "{model: x, context: {engine: herma}}\n"),
            ("--- {model: x}\n", "--- {model: x, context: {engine: herma}}\n"),
            ("context:\n  engine: >\n    folded\n", "context:\n  engine: herma\n"),
            ("? context\n: engine: x\n", "? context\n: engine: herma\n"),
            ("model: x", "model: x\ncontext:\n  engine: herma"),
            ("model: x\r\n", "model: x\r\ncontext:\r\n  engine: herma\r\n"),
            ("context:\n  engine: compressor\n", "context:\n  engine: herma\n"),
            ("context:\n  engine: compressor # ours\nb: 1", "context:\n  engine: herma # ours\nb: 1"),
            ("context:\r\n  engine: 'a'\r\nb: 1\r\n", "context:\r\n  engine: herma\r\nb: 1\r\n"),
            ("context:\n  engine: \"a: # b\"   # c\n", "context:\n  engine: herma   # c\n"),
            ("\"context\":\n  'engine': x\n", "\"context\":\n  'engine': herma\n"),
            ("'context' :\n  engine : x\n", "'context' :\n  engine : herma\n"),
            ("context: {engine: compressor}\n", "context: {engine: herma}\n"),
            ("context: {engine: a, threshold: 0.5} # c\n", "context: {engine: herma, threshold: 0.5} # c\n"),
            ("context: {threshold: 0.5}\n", "context: {threshold: 0.5, engine: herma}\n"),
            ("context: {}\n", "context: {engine: herma}\n"),
            (
                "context: {\n  a: 1, # one\n  b: 2\n}\nc: 3\n",
                "context: {\n  a: 1, # one\n  b: 2, engine: herma\n}\nc: 3\n",
            ),
            ("context:\nb: 1\n", "context:\n  engine: herma\nb: 1\n"),
            ("context:", "context:\n  engine: herma"),
            ("context: # words\nb: 1\n", "context: # words\n  engine: herma\nb: 1\n"),
            ("context: null # words\nb: 1\n", "context: # words\n  engine: herma\nb: 1\n"),
            ("context: ~\nb: 1\n", "context:\n  engine: herma\nb: 1\n"),
            ("context:\n    a: 1\n", "context:\n    a: 1\n    engine: herma\n"),
            ("context:\n  # first\n  a: 1\n", "context:\n  # first\n  a: 1\n  engine: herma\n"),
            ("context:\n  engine:\n  a: 1\n", "context:\n  engine: herma\n  a: 1\n"),
            ("context:\n  engine: # none\n  a: 1\n", "context:\n  engine: herma # none\n  a: 1\n"),
            ("context:\n  deep:\n    engine: b\n", "context:\n  deep:\n    engine: b\n  engine: herma\n"),
            ("a:\n  context:\n    engine: b\n", "a:\n  context:\n    engine: b\ncontext:\n  engine: herma\n"),
            (
                "engine: b\na: |\n  context:\n    engine: c\n",
                "engine: b\na: |\n  context:\n    engine: c\ncontext:\n  engine: herma\n",
            ),
            ("context:\n  note: |\n    # no comment\n", "context:\n  note: |\n    # no comment\n  engine: herma\n"),
            ("---\na: 1\n", "---\na: 1\ncontext:\n  engine: herma\n"),
            ("%YAML 1.1\n--- # d\na: 1\n...\n", "%YAML 1.1\n--- # d\na: 1\ncontext:\n  engine: herma\n...\n"),
            ("  a: 1\n  context:\n    engine: b\n", "  a: 1\n  context:\n    engine: herma\n"),
            ("  a: 1\n", "  a: 1\n  context:\n    engine: herma\n"),
            ("base: &b\n  x: 1\ncontext:\n  <<: *b\n", "base: &b\n  x: 1\ncontext:\n  <<: *b\n  engine: herma\n"),
            ("e: &e x\ncontext:\n  engine: *e\n", "e: &e x\ncontext:\n  engine: herma\n"),
            ("context: &c\n  engine: x\n", "context: &c\n  engine: herma\n"),
            ("a: 'one\n\n  two'\ncontext: {}\n", "a: 'one\n\n  two'\ncontext: {engine: herma}\n"),
            ("1: a\ntrue: b\n", "1: a\ntrue: b\ncontext:\n  engine: herma\n"),
            ("a: 日本語 # é\ncontext: {b: 日}\n", "a: 日本語 # é\ncontext: {b: 日, engine: herma}\n"),
            ("a: [1,\n  2]\n", "a: [1,\n  2]\ncontext:\n  engine: herma\n"),
            ("\u{feff}context:\n  engine: x\n", "\u{feff}context:\n  engine: herma\n"),
            ("b: 2026-01-01\n", "b: 2026-01-01\ncontext:\n  engine: herma\n"),
        ],
    );
}

#[test]
fn a_name_joins_the_list_as_the_list_is_written() {
    check(
        &[ENABLED],
        &[
            ("", "plugins:\n  enabled:\n    - herma\n"),
            ("plugins:\n  enabled:\n  - a\nb: 1\n", "plugins:\n  enabled:\n  - a\n  - herma\nb: 1\n"),
            (
                "plugins:\n  enabled:\n    - a # one\n\nb: 1\n",
                "plugins:\n  enabled:\n    - a # one\n    - herma\n\nb: 1\n",
            ),
            ("plugins:\n  enabled:\n    - a", "plugins:\n  enabled:\n    - a\n    - herma"),
            ("plugins:\n  enabled: []\n  disabled: [x]\n", "plugins:\n  enabled: [herma]\n  disabled: [x]\n"),
            ("plugins:\n  enabled: [a, 'b'] # two\n", "plugins:\n  enabled: [a, 'b', herma] # two\n"),
            ("plugins:\n  enabled: [\n    a,\n  ]\n", "plugins:\n  enabled: [\n    a, herma,\n  ]\n"),
            ("plugins:\n  enabled:\n  disabled:\n  - x\n", "plugins:\n  enabled:\n    - herma\n  disabled:\n  - x\n"),
            ("plugins:\n  enabled: null\n", "plugins:\n  enabled:\n    - herma\n"),
            ("plugins:\n  disabled:\n  - x\n", "plugins:\n  disabled:\n  - x\n  enabled:\n    - herma\n"),
            ("plugins: {}\n", "plugins: {enabled: [herma]}\n"),
            ("plugins: {enabled: [a], x: 1}\n", "plugins: {enabled: [a, herma], x: 1}\n"),
            ("plugins: {enabled: }\n", "plugins: {enabled: [herma]}\n"),
            ("plugins: {enabled: null}\n", "plugins: {enabled: [herma]}\n"),
            ("plugins:\nmodel: x\n", "plugins:\n  enabled:\n    - herma\nmodel: x\n"),
            ("plugins:\n  enabled:\n  - herma\n", "plugins:\n  enabled:\n  - herma\n"),
            ("plugins:\n  enabled:\n  - \"herma\"\n", "plugins:\n  enabled:\n  - \"herma\"\n"),
        ],
    );
}

#[test]
fn a_ban_is_lifted() {
    check(
        &[ALLOWED],
        &[
            ("plugins:\n  disabled:\n  - herma\n", "plugins:\n  disabled: []\n"),
            ("plugins:\n  disabled: # c\n  # d\n  - herma\nb: 1\n", "plugins:\n  disabled: # c\n  # d\n    []\nb: 1\n"),
            ("plugins:\n  disabled:\n  - a\n  - 'herma' # no\n  - b\n", "plugins:\n  disabled:\n  - a\n  - b\n"),
            ("plugins: {disabled: [herma, a]}\n", "plugins: {disabled: [a]}\n"),
            ("plugins:\n  disabled: [a, herma, \"herma\"]\n", "plugins:\n  disabled: [a]\n"),
            ("plugins:\n  disabled: []\n", "plugins:\n  disabled: []\n"),
        ],
    );
}

#[test]
fn everything_is_taken_out_again() {
    check(
        &GONE,
        &[
            ("a: 1\ncontext:\n  engine: herma\nb: 2\n", "a: 1\nb: 2\n"),
            ("context:\n  engine: herma # c\n  threshold: 0.5\n", "context:\n  threshold: 0.5\n"),
            ("context: {engine: herma}\nb: 2\n", "b: 2\n"),
            ("context: {threshold: 0.5, engine: herma}\n", "context: {threshold: 0.5}\n"),
            ("context:\n  # words\n  engine: herma\n", "context:\n  # words\n  {}\n"),
            ("context: # words\n  engine: herma\nb: 2\n", "context: {} # words\nb: 2\n"),
            ("context:\n  engine: herma\n  # words\nb: 2\n", "  # words\nb: 2\n"),
            ("# words\ncontext:\n  engine: herma\n", "# words\n{}\n"),
            ("context:\n  engine: herma\n", "{}\n"),
            ("context:\n  engine: compressor\n", "context:\n  engine: compressor\n"),
            ("memory:\n  provider: herma\n  limit: 1\n", "memory:\n  limit: 1\n"),
            ("herma:\n  memory: true\n\n# next\nb: 1\n", "\n# next\nb: 1\n"),
            ("herma: {memory: true}\nb: 1\n", "b: 1\n"),
            ("plugins:\n  enabled:\n    - herma\n", "plugins:\n  enabled: []\n"),
            ("plugins:\n  enabled: [herma]\n", "plugins:\n  enabled: []\n"),
        ],
    );
}

#[test]
fn an_earlier_word_returns() {
    for (word, yaml) in [
        ("compressor", "compressor"),
        ("", "''"),
        ("a: # b", "'a: # b'"),
        ("true", "'true'"),
        ("12", "'12'"),
        ("日本", "日本"),
    ] {
        let back = [Edit::Swap("context", "engine", "herma", word)];
        let texts = [
            ("context:\n  engine: herma # ours\nb: 1\n", format!("context:\n  engine: {yaml} # ours\nb: 1\n")),
            ("context: {engine: herma, a: 1}\n", format!("context: {{engine: {yaml}, a: 1}}\n")),
            // What somebody wrote since then stays.
            ("context:\n  engine: other\n", "context:\n  engine: other\n".to_owned()),
            ("a: 1\n", "a: 1\n".to_owned()),
        ];
        for (before, after) in texts {
            let edited = edit(before, &back).unwrap();
            assert_eq!(parse(&edited), parse(&after), "{word:?} in {before:?}");
            assert!(edited == after || edited == after.replace('\'', "\""), "{word:?}: {edited:?}");
        }
    }
}

#[test]
fn what_is_not_understood_is_left_to_a_person() {
    for (text, words) in [
        ("context:\n\tengine: x\n", "tab"),
        ("a: 1\na: 2\n", "duplicate"),
        ("context: {engine: x}\ncontext: {engine: y}\n", "duplicate"),
        ("- a\n", "not a mapping"),
        ("a: 1\n---\nb: 2\n", ""),
        ("context: words\n", "not a mapping"),
        ("context:\n  engine: [x]\n", "not a word"),
        ("context:\n  engine:\n    # words\n    x: 1\n", "not a word"),
        ("context: [a]\n", "not a mapping"),
        ("base: &b {engine: x}\ncontext: *b\n", "not a mapping"),
        ("context: &c\n  engine: x\nother: *c\n", "not understood"),
        ("base: &b\n  context: {engine: x, a: 1}\n<<: *b\n", "not understood"),
        ("context:\n  engine: &e x\nother: *e\n", ""),
        ("a: [1\n", ""),
        ("a: .nan\n", "nan"),
    ] {
        let refused = edit(text, &[ENGINE]).unwrap_err();
        assert!(refused.to_lowercase().contains(words), "{text:?}: {refused}");
    }
    for text in ["plugins:\n  enabled: herma\n", "plugins: {enabled: x}\n", "plugins: {enabled: {a: 1}}\n"] {
        assert!(edit(text, &[ENABLED]).unwrap_err().contains("not a list"), "{text:?}");
    }
}

#[test]
fn deep_nesting_ends_no_process() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
        for depth in [100, 2_000, 100_000] {
            let text = format!("a: 1\nb:\n  {}x{}\n", open.repeat(depth), close.repeat(depth));
            drop(edit(&text, &[ENGINE]));
        }
    }
}

#[test]
fn a_complaint_shows_nothing_of_the_file() {
    let refused = edit("key: sk-very-secret\nkey: [\n", &[ENGINE]).unwrap_err();
    assert!(!refused.contains("sk-very-secret") && !refused.contains('\n'), "{refused}");
}

#[test]
fn the_hosts_own_files_are_edited_and_given_back() {
    for host in HOSTS {
        let edited = edit(host, &ALL).unwrap();
        let old: Vec<&str> = host.lines().collect();
        let changed = ["  engine: compressor", "  provider: ''"];
        let kept: Vec<&str> = old.iter().filter(|line| !changed.contains(line)).copied().collect();
        let mut rest = edited.lines();
        assert!(kept.iter().all(|line| rest.any(|other| other == *line)), "{edited}");
        assert_eq!(edit(&edited, &ALL).unwrap(), edited);
        assert!(edit(&edited, &GONE).is_ok());
    }
    let [_, newest] = HOSTS;
    let tail = "plugins:\n  enabled:\n    - herma\ncontext:\n  engine: herma\nmemory:\n  provider: herma\nherma:\n  memory: true\n  results: true\n";
    assert_eq!(edit(newest, &ALL).unwrap(), format!("{newest}{tail}"));
    let emptied = edit(&edit(newest, &ALL).unwrap(), &GONE).unwrap();
    assert_eq!(emptied, format!("{newest}plugins:\n  enabled: []\n"));
}

/// Generates a section of a file, with `{}` for its name.
fn body() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{}:\n",
        "{}: null # none\n",
        "{}: {}\n",
        "{}: {engine: a, provider: b, enabled: [c], memory: false}\n",
        "{}: {\n  x: 1,\n  y: [a, b] # two\n}\n",
        "{}:\n  # words\n  engine: a\n  provider: ''\n",
        "{}:\n  enabled:\n  - a\n  - b\n  disabled:\n  - herma\n",
        "{}:\n  enabled: []\n  disabled: [herma, x]\n",
        "{}:\n    enabled:\n        - a # one\n\n    memory: false\n",
        "'{}':\n  note: |\n    engine: x\n\n    # none\n  engine: herma\n",
        "\"{}\":\n  deep:\n    engine: a\n    enabled: [x]\n  text: 'a: # b'\n",
        "{}: &{}\n  engine: \"a\"   # c\n",
        "{}: words\n",
        "{}:\n  - a\n",
        "{}: >-\n  folded\n  words\n",
        "{}:\n  engine: herma\n  enabled: [herma]\n",
    ])
}

/// Generates a text, and its sections by name.
fn file() -> impl Strategy<Value = (String, Vec<(&'static str, String)>)> {
    let names = vec!["plugins", "context", "memory", "herma", "model", "other", "engine"];
    let sections = prop::sample::subsequence(names.clone(), 0..=names.len()).prop_shuffle();
    let joint = prop::sample::select(vec!["", "\n", "# between\n", "  # deeper\n"]);
    let parts = sections.prop_flat_map(move |names| {
        let count = names.len();
        (Just(names), prop::collection::vec((body(), joint.clone()), count))
    });
    (parts, prop::sample::select(vec!["", "---\n", "# head\n\n"]), any::<bool>(), any::<bool>()).prop_map(
        |((names, bodies), head, has_crlf, has_end)| {
            let ends = |text: &str| if has_crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
            let mut text = ends(head);
            let mut sections = Vec::new();
            for (name, (body, joint)) in names.into_iter().zip(bodies) {
                // `{}` is the name only in a key or an anchor.
                let own = ends(&body.replacen("{}", name, 1).replace("&{}", &format!("&{name}")));
                text += &(own.clone() + &ends(joint));
                sections.push((name, own));
            }
            if !has_end {
                text.truncate(text.trim_end().len());
            }
            (text, sections)
        },
    )
}

fn edits() -> impl Strategy<Value = Vec<Edit<'static>>> {
    let some = |all: &[Edit<'static>]| prop::sample::subsequence(all.to_vec(), 1..=all.len());
    prop_oneof![some(&ALL), some(&GONE)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn an_edit_changes_what_it_names_and_nothing_else((text, sections) in file(), edits in edits()) {
        let before = parse(&text).unwrap();
        let Ok(edited) = edit(&text, &edits) else { return Ok(()) };
        let after = parse(&edited).unwrap();
        for (section, own) in sections {
            let keys: Vec<&str> = edits.iter().filter_map(|edit| edit.key_in(section)).collect();
            let is_done = edits.iter().filter(|edit| edit.section() == section).all(|edit| is_done(&before, edit));
            if is_done {
                prop_assert_eq!(&after[section], &before[section]);
                prop_assert!(edited.contains(own.trim_end()), "{} of {:?} became {:?}", section, text, edited);
            }
            for (key, value) in before[section].as_object().into_iter().flatten() {
                if !keys.contains(&"") && !keys.contains(&key.as_str()) {
                    prop_assert_eq!(&after[section][key], value, "{}.{}", section, key);
                }
            }
        }
        let comments = |text: &str| text.matches("# between").count() + text.matches("# head").count();
        prop_assert_eq!(comments(&text), comments(&edited));
        prop_assert!(!text.contains("\r\n") || !edited.replace("\r\n", "").contains('\n'), "{:?}", edited);
        prop_assert_eq!(edit(&edited, &edits).unwrap(), edited);
    }
}

impl Edit<'_> {
    fn section(&self) -> &'static str {
        match *self {
            Self::Set(own, ..) | Self::Add(own, ..) | Self::Take(own, ..) | Self::Drop(own, ..) => own,
            Self::Swap(own, ..) => own,
            Self::DropSection(own) => own,
        }
    }

    /// Returns the key that the edit changes in a section. The empty key means all keys.
    fn key_in(&self, section: &str) -> Option<&'static str> {
        (self.section() == section).then_some(match *self {
            Self::Set(_, key, _) | Self::Add(_, key, _) | Self::Take(_, key, _) | Self::Drop(_, key, _) => key,
            Self::Swap(_, key, ..) => key,
            Self::DropSection(_) => "",
        })
    }
}
