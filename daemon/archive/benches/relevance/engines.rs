//! The search engines that are compared.

use std::collections::HashMap;
use std::rc::Rc;

use herma_archive::Archive;
use herma_archive::handle::Source;
use herma_archive::search::{Hit, Search};
use herma_archive::session::SessionRow;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::sets::Set;

/// Newer messages of one session.
const SESSION: usize = 2_000;

/// A search engine.
pub(crate) trait Engine {
    fn name(&self) -> &'static str;

    /// Returns the best hits, the best first: the ids of the texts that each shows.
    fn search(&mut self, query: &str, limit: usize) -> Vec<Vec<String>>;
}

/// Returns the engines, each with the texts of a set and `filler` newer ones; with `is_herma_alone` only herma's.
pub(crate) fn all(set: &Set, filler: usize, is_herma_alone: bool) -> Vec<Box<dyn Engine>> {
    let stored = Rc::new(Stored::new(set, filler));
    let herma = |name, around| Herma { name, stored: Rc::clone(&stored), around };
    let mut engines: Vec<Box<dyn Engine>> = Vec::new();
    if !is_herma_alone {
        engines.push(Box::new(Plain::new("FTS5", "unicode61", set, filler)));
        engines.push(Box::new(Plain::new("FTS5 porter", "porter unicode61", set, filler)));
    }
    engines.push(Box::new(herma("herma", 0)));
    engines.push(Box::new(herma("places of 3", 1)));
    engines.push(Box::new(herma("places of 5", 2)));
    engines
}

/// Plain FTS5, in twenty lines.
struct Plain {
    name: &'static str,
    connection: Connection,
    ids: Vec<String>,
}

impl Plain {
    fn new(name: &'static str, tokenizer: &str, set: &Set, filler: usize) -> Self {
        let mut connection = Connection::open_in_memory().unwrap();
        let table = format!("CREATE VIRTUAL TABLE text USING fts5 (words, content = '', tokenize = '{tokenizer}')");
        connection.execute_batch(&table).unwrap();
        let transaction = connection.transaction().unwrap();
        let texts = set.texts.iter().map(|text| text.words.clone()).chain((0..filler).map(noise));
        for (number, words) in texts.enumerate() {
            let row = rusqlite::params![i64::try_from(number).unwrap(), words];
            transaction
                .prepare_cached("INSERT INTO text (rowid, words) VALUES (?1, ?2)")
                .unwrap()
                .execute(row)
                .unwrap();
        }
        transaction.commit().unwrap();
        Self { name, connection, ids: set.texts.iter().map(|text| text.id.clone()).collect() }
    }
}

impl Engine for Plain {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, query: &str, limit: usize) -> Vec<Vec<String>> {
        let words = query.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        let query = "SELECT rowid FROM text WHERE text MATCH ?1 ORDER BY rank LIMIT ?2";
        let mut query = self.connection.prepare_cached(query).unwrap();
        let limit = i64::try_from(limit).unwrap();
        let rows = query.query_map(rusqlite::params![words.join(" OR "), limit], |row| row.get(0)).unwrap();
        rows.map(|row| row.map(|number: usize| self.ids.get(number).cloned().into_iter().collect()).unwrap()).collect()
    }
}

/// herma's search. Each hit has `around` messages on each side.
struct Herma {
    name: &'static str,
    stored: Rc<Stored>,
    around: usize,
}

/// An archive with the texts of a set.
struct Stored {
    archive: Archive,
    ids: HashMap<u64, String>,
    _folder: TempDir,
}

impl Stored {
    fn new(set: &Set, filler: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(&folder.path().join("archive.db")).unwrap();
        let mut ids = HashMap::new();
        for (session, texts) in set.sessions() {
            archive.create_session(&row(session)).unwrap();
            let bodies: Vec<&str> = texts.iter().map(|text| text.body.as_str()).collect();
            let next = ids.len();
            archive.append(session, 0, 0, &bodies, 1.0).unwrap();
            for (number, text) in texts.iter().enumerate() {
                ids.insert(u64::try_from(next + number + 1).unwrap(), text.id.clone());
            }
        }
        let noise: Vec<String> = (0..filler).map(|number| body(&noise(number))).collect();
        for (number, messages) in noise.chunks(SESSION).enumerate() {
            let session = format!("filler {number}");
            archive.create_session(&row(&session)).unwrap();
            let bodies: Vec<&str> = messages.iter().map(String::as_str).collect();
            archive.append(&session, 0, 0, &bodies, 2.0).unwrap();
        }
        while archive.index_pending(2_000).unwrap() > 0 {}
        Self { archive, ids, _folder: folder }
    }
}

impl Engine for Herma {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, query: &str, limit: usize) -> Vec<Vec<String>> {
        let around = self.around;
        let hits =
            self.stored.archive.reader().search(&Search { around, ..Search::everywhere(query, limit) }).unwrap().hits;
        let shown = |hit: &Hit| {
            let around = hit.around.before.iter().chain(&hit.around.after).map(|message| message.id);
            let own = match hit.source {
                Source::Message { id } => Some(id),
                _ => None,
            };
            own.into_iter().chain(around).filter_map(|id| self.stored.ids.get(&id).cloned()).collect()
        };
        hits.iter().map(shown).collect()
    }
}

fn row(session: &str) -> SessionRow {
    SessionRow::new(session.to_owned(), "default".to_owned(), 1.0)
}

fn body(words: &str) -> String {
    serde_json::json!({ "role": "user", "content": words }).to_string()
}

/// Returns a message that no question is about, with words that others have too, and of the length that people write.
fn noise(number: usize) -> String {
    const WORDS: &str = "about above account after again agent airline airport always amount answer april assistance \
        available back bag because before benefit best between birthday book booking brother build buy call cancel card \
        car certificate change charge check child city class code coffee confirm cost could customer daily date daughter \
        day delay delete departure detail did different dinner direct does dog done door early economy email error \
        evening every family father feel file find fine first flight follow food free friend from full gift give go good \
        great group guitar happy have help here hike home hotel hour house how idea insurance job just keep kind know \
        last late learn leave letter like list little long look lot love make many may meet member message miss money \
        month more morning mother move much music name need new next nice night north now number offer office old one \
        only open option order other our paint paper part passenger pay people person phone photo place plan play please \
        point price problem project put question quick read ready really reason refund rent request reservation rest \
        return right road room run same say school seat see send server session set she should show sister sleep small \
        some son sorry sound south start stay still stop story street summer sure system take talk team tell test thank \
        thing think ticket time today together tomorrow town travel trip try turn two under until update upgrade use user \
        very visit wait walk want was water way week weekend well went what when where which white who why window winter \
        with without work world would write year yes yesterday you young";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut state = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    };
    let length = 8 + next() % 30;
    let mut said: Vec<String> = (0..length).map(|_| words[next() % words.len()].to_owned()).collect();
    said.push(format!("n{number}"));
    said.join(" ")
}
