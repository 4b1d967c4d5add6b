//! Measures how fast messages are stored, indexed and found, and how much space they take.
//!
//! `cargo bench -p herma-archive` prints one line for each figure. A number after `--` is how many messages to search
//! in; the default is 200,000.

#![expect(clippy::print_stdout, reason = "the figures are the purpose")]
#![expect(clippy::unwrap_used, reason = "a measurement may stop at the first surprise")]

use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

use herma_archive::search::Search;
use herma_archive::session::SessionRow;
use herma_archive::transcript::Appended;
use herma_archive::{Archive, Reader};
use rusqlite::Connection;

/// Messages in one append.
const BATCH: usize = 500;

/// Messages of one session.
const SESSION: usize = 2_000;

/// How often each search is repeated.
const ROUNDS: usize = 40;

/// Queries of one kind.
struct Queries {
    name: &'static str,
    words: &'static [&'static str],
}

const QUERIES: &[Queries] = &[
    Queries { name: "rare word", words: &["needle17", "needle3001", "needle9999", "needle150000"] },
    Queries { name: "word in a fifth", words: &["common", "quarterly"] },
    Queries { name: "two words in a fifth", words: &["common quarterly", "quarterly common"] },
    Queries { name: "word in all of a kind", words: &["function", "error"] },
    Queries { name: "phrase", words: &["\"connection refused\"", "\"the scheduler\"", "\"common marker\""] },
    Queries { name: "prefix of three", words: &["con", "ser", "fun", "que"] },
    Queries { name: "longer prefix", words: &["needle1500", "connec", "schedul"] },
    Queries { name: "prefix of every message's own", words: &["nee", "needle1"] },
    Queries { name: "three words", words: &["scheduler retries queue", "worker timeout request"] },
    Queries { name: "nothing, then any", words: &["scheduler zzzzzzz", "quarterly qqqqqqq"] },
    Queries { name: "two-char CJK word", words: &["数据", "配置", "設定", "接続"] },
    Queries { name: "longer CJK word", words: &["数据库", "サーバー", "重新启动"] },
    Queries { name: "single CJK char", words: &["数", "設"] },
    Queries { name: "code", words: &["retry_count", "handleRequest", "src/queue/worker.rs"] },
];

fn main() {
    let count = env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(200_000);
    let bodies: Vec<String> = (0..count).map(body).collect();
    let bytes: usize = bodies.iter().map(String::len).sum();
    println!("{count} messages of {} bytes on average, {BATCH} in a batch", bytes / count.max(1));
    let folder = tempfile::tempdir().unwrap();
    let floor = floor(&folder.path().join("floor.db"), &bodies);
    rate("insert of bare rows (floor)", count, floor);
    let path = folder.path().join("archive.db");
    let mut archive = Archive::open(&path).unwrap();
    rate("append", count, append(&mut archive, &bodies));
    let before = size(&path);
    println!("{:<34} {:>10.0} bytes a message", "file without index", before / count as f64);
    rate("index_pending", count, index(&mut archive));
    println!("{:<34} {:>10.0} bytes a message", "index", (size(&path) - before) / count as f64);
    let reader = Reader::open(&path).unwrap();
    for queries in QUERIES {
        search(&reader, queries, None, None);
    }
    for queries in QUERIES {
        search(&reader, queries, Some("session-3"), None);
    }
    search(&reader, &QUERIES[1], None, Some("default"));
    // No document passes this filter, so that every match is examined.
    search(&reader, &QUERIES[1], None, Some("another"));
    let start = Instant::now();
    archive.remove_session("session-1").unwrap();
    while archive.forget_step().unwrap() {}
    println!("{:<34} {:>10.0} ms", "remove_session", start.elapsed().as_secs_f64() * 1e3);
}

fn rate(name: &str, count: usize, time: Duration) {
    println!("{name:<34} {:>10.0} messages/s", count as f64 / time.as_secs_f64());
}

fn size(path: &Path) -> f64 {
    path.metadata().unwrap().len() as f64
}

/// Measures the lower limit for any archive: the same bytes in the same transactions.
fn floor(path: &Path, bodies: &[String]) -> Duration {
    let mut connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection.execute_batch("CREATE TABLE message (id INTEGER PRIMARY KEY, body TEXT NOT NULL)").unwrap();
    let start = Instant::now();
    for batch in bodies.chunks(BATCH) {
        let transaction = connection.transaction().unwrap();
        for body in batch {
            transaction.prepare_cached("INSERT INTO message (body) VALUES (?1)").unwrap().execute([body]).unwrap();
        }
        transaction.commit().unwrap();
    }
    start.elapsed()
}

fn append(archive: &mut Archive, bodies: &[String]) -> Duration {
    let start = Instant::now();
    for (number, messages) in bodies.chunks(SESSION).enumerate() {
        let session = format!("session-{number}");
        archive.create_session(&row(&session)).unwrap();
        let mut position = 0;
        for batch in messages.chunks(BATCH) {
            let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
            let appended = archive.append(&session, 0, position, &batch, 1.8e9 + number as f64).unwrap();
            let Appended::Next(next) = appended else { panic!("{appended:?}") };
            position = next;
        }
    }
    start.elapsed()
}

fn index(archive: &mut Archive) -> Duration {
    let start = Instant::now();
    while archive.index_pending(BATCH).unwrap() > 0 {}
    start.elapsed()
}

fn search(reader: &Reader, queries: &Queries, session: Option<&str>, profile: Option<&str>) {
    let mut times = Vec::new();
    let mut hits = 0;
    for _ in 0..ROUNDS {
        for query in queries.words {
            let search = Search { session, profile, ..Search::everywhere(query, 20) };
            let start = Instant::now();
            hits += reader.search(&search).unwrap().hits.len();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let scope = session.or(profile).map(|scope| format!(", {scope}")).unwrap_or_default();
    let name = format!("{}{scope}", queries.name);
    println!("{name:<34} p50 {:>7.2} ms   p95 {:>7.2} ms   {:>3} hits", at(50), at(95), hits / times.len());
}

fn row(id: &str) -> SessionRow {
    SessionRow::new(id.into(), "default".into(), 1.8e9)
}

/// A generator of pseudo-random numbers, which are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const PROSE: &str = "the scheduler retries every request that a worker could not finish because its queue was full \
    when we looked at this last week it turned out that connection limits were lower than anybody thought so please \
    keep in mind that changing them needs a restart of all services which customers will notice unless it happens at \
    night consider writing tests first then measure again whether latency has really improved under production load";

const CHINESE: &[&str] = &[
    "数据库连接失败",
    "请检查配置文件",
    "服务器需要重新启动",
    "我们昨天修改了接口",
    "用户反馈速度很慢",
    "测试已经全部通过",
    "日志里没有错误",
    "缓存命中率太低",
    "下一步要优化查询",
    "这个问题和网络有关",
];

const JAPANESE: &[&str] = &[
    "サーバーの設定を変更しました",
    "接続がタイムアウトしています",
    "データベースを確認してください",
    "テストは成功しました",
    "ログにエラーが残っています",
    "次の作業を始めます",
    "再起動が必要です",
];

/// Returns the message of that number: prose, code, logs, Chinese or Japanese, of 100 to 600 chars. Every fifth has two
/// common words, and each has a rare one.
fn body(number: usize) -> String {
    let mut dice = Dice(number as u64 + 1);
    let words: Vec<&str> = PROSE.split_whitespace().collect();
    let length = 100 + dice.below(500);
    let mut text = format!("needle{number} ");
    if dice.below(5) == 0 {
        text.push_str("common marker ");
    }
    if dice.below(5) == 0 {
        text.push_str("quarterly ");
    }
    let kind = dice.below(10);
    while text.chars().count() < length {
        match kind {
            0..=4 => {
                text.push_str(dice.pick(&words));
                text.push(if dice.below(12) == 0 { '\n' } else { ' ' });
            }
            5 => {
                let (one, two, value) = (dice.pick(&words), dice.pick(&words), dice.below(1000));
                text.push_str(&format!(
                    "pub fn {one}_{two}(retry_count: u64) -> Result<handleRequest> {{ function({value}) }}\n"
                ));
            }
            6 | 7 => {
                let (level, word) = (dice.pick(&["INFO", "WARN", "error"]), dice.pick(&words));
                let (second, id) = (dice.below(60), dice.below(1_000_000));
                text.push_str(&format!("2026-11-21T12:34:{second:02}Z {level} src/queue/worker.rs:{id} {word} connection refused id={id:06x}\n"));
            }
            8 => text.push_str(&format!("{}，", dice.pick(CHINESE))),
            _ => text.push_str(&format!("{}。", dice.pick(JAPANESE))),
        }
    }
    let text: String = text.chars().take(length).collect();
    let role = if kind < 5 { "assistant" } else { "user" };
    serde_json::json!({ "role": role, "content": text }).to_string()
}
