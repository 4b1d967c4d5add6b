use super::super::rank::EXACT;
use super::super::{Found, Search};
use super::*;
use crate::Archive;
use crate::outbox::{Words, words_of};
use crate::testing::{archive, said, session};

/// Returns the answer of a database with these messages, all of one session.
fn asked(texts: &[&str], query: &str) -> RemoteCandidates {
    let words: Vec<Words> = texts.iter().map(|text| words_of(&said("user", text)).unwrap_or_default()).collect();
    let parts = Lookup::of(query).parts;
    let has = |words: &Words, part: &Part| {
        let tokens: Vec<&str> = words.words.split(' ').collect();
        let any = |form: &String| tokens.contains(&form.as_str()) || words.others.split(' ').any(|other| other == form);
        match part {
            Part::Word { forms, longer } => {
                let begins = |longer: &String| tokens.iter().any(|token| token.starts_with(longer.as_str()));
                forms.iter().any(any) || longer.as_ref().is_some_and(begins)
            }
            Part::Beginning(token) => tokens.iter().any(|one| one.starts_with(token.as_str())),
            Part::Sequence { tokens: wanted, .. } => tokens.windows(wanted.len()).any(|some| some == *wanted),
        }
    };
    let counts = parts.iter().map(|part| words.iter().filter(|words| has(words, part)).count()).collect();
    // As a database does it: documents with all quoted parts that occur or, if no document has them all, documents with
    // any part.
    let occurs = |part: &&Part| words.iter().any(|words| has(words, part));
    let quoted: Vec<&Part> = parts.iter().filter(|part| part.is_quoted()).filter(occurs).collect();
    let has_all = |words: &&Words| quoted.iter().all(|part| has(words, part));
    let is_required = !quoted.is_empty() && words.iter().any(|words| has_all(&words));
    let is_found = |words: &&Words| {
        if is_required { has_all(words) } else { parts.iter().filter(|part| part.finds()).any(|part| has(words, part)) }
    };
    let terms = |words: &Words| Terms { count: words.count, marks: words.marks, terms: words.terms.clone() };
    let document = |(at, own): (usize, &Words)| Document {
        first: 1.0,
        has: parts.iter().map(|part| has(own, part)).collect(),
        terms: terms(own),
        before: words[..at].iter().rev().take(AROUND.0).map(terms).collect(),
        after: words[at + 1..].iter().take(AROUND.1).map(terms).collect(),
    };
    let found: Vec<(usize, &Words)> = words.iter().enumerate().filter(|(_, words)| is_found(words)).collect();
    RemoteCandidates { documents: texts.len(), counts, found: found.into_iter().map(document).collect() }
}

fn told(archive: &mut Archive, name: &str, texts: &[&str]) {
    archive.create_session(&session(name)).unwrap();
    let bodies: Vec<String> = texts.iter().map(|text| said("user", text)).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    archive.append(name, 0, 0, &bodies, 1.0).unwrap();
    while archive.index_pending(100).unwrap() > 0 {}
}

/// Returns the indexes of the hits in both lists, those of the local list first.
fn found(archive: &Archive, search: &Search<'_>, own: usize, theirs: &[&str], query: &str) -> Vec<usize> {
    let Found { hits, .. } = archive.reader().search(search).unwrap();
    let all = asked(theirs, query);
    // A hit of another archive is named by its index among the found documents.
    let parts = all.found.iter().map(|document| &document.terms).collect::<Vec<_>>();
    let place = |at: usize| {
        theirs.iter().position(|text| !asked(&[text], query).found.is_empty() && terms_of(text) == *parts[at])
    };
    hits.iter()
        .map(|hit| match hit.source {
            Source::Message { id } => usize::try_from(id).unwrap() - 1,
            Source::Remote { at } => own + place(at).unwrap(),
            _ => usize::MAX,
        })
        .collect()
}

fn terms_of(text: &str) -> Terms {
    let words = words_of(&said("user", text)).unwrap();
    Terms { count: words.count, marks: words.marks, terms: words.terms }
}

const OWN: &[&str] = &[
    "good morning, what is on the list today",
    "the queue of the worker was full again, it took 40 seconds",
    "we raised its limit to 4096",
    "the customer from Lisbon wants a window seat",
];
const THEIRS: &[&str] = &[
    "which port did we choose for the staging server",
    "7443, for the other one was taken by the proxy",
    "the worker's queues are read by three threads",
    "数据库连接失败, try again",
    "a socket timeout in src/queue/worker.rs",
];

#[test]
fn what_is_found_in_two_archives_is_what_is_found_in_one() {
    let (_one, mut own) = archive();
    told(&mut own, "own", OWN);
    let (_all, mut all) = archive();
    told(&mut all, "own", OWN);
    told(&mut all, "theirs", THEIRS);
    for query in [
        "queue full",
        "which port for staging",
        "port",
        "worker queues",
        "\"socket timeout\"",
        "\"the queue of\"",
        "\"the queue of\" port",
        "\"the queue of\" \"socket timeout\"",
        "\"window seat\" \"not anywhere\"",
        "\"try again\" \"not anywhere\" seat",
        "数据库",
        "据",
        "src/queue/worker.rs",
        "lisbo",
        "proxi",
        "nothing of this",
        "seconds window customer",
    ] {
        let one = Search::everywhere(query, 20);
        let whole: Vec<usize> = found(&all, &one, OWN.len(), &[], query);
        let remote = asked(THEIRS, query);
        let both = Search { remote: Some(&remote), ..one };
        let score = |archive: &Archive, search: &Search<'_>| {
            archive.reader().search(search).unwrap().hits.first().map_or(1.0, |hit| hit.score)
        };
        // Except for the first ranking, which each archive has on its own scale.
        let ratio = score(&own, &both) / score(&all, &one);
        assert!((ratio - 1.0).abs() < EXACT, "{query}: {ratio}");
        let both = found(&own, &both, OWN.len(), THEIRS, query);
        assert_eq!(both, whole, "{query}");
    }
}

#[test]
fn a_slip_is_none_where_others_have_the_word() {
    let (_one, mut own) = archive();
    told(&mut own, "own", &["the heron nests here"]);
    let search = Search::everywhere("herom", 5);
    assert_eq!(own.reader().search(&search).unwrap().hits.len(), 1);
    let remote = asked(&["herom is a name"], "herom");
    let both = Search { remote: Some(&remote), ..search };
    let hits = own.reader().search(&both).unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.source.clone()).collect::<Vec<_>>(), [Source::Remote { at: 0 }]);
}

#[test]
fn an_empty_query_asks_nothing() {
    assert_eq!(Lookup::of(" -- ?").parts, []);
}
