//! `herma trajectory compress`: files, folders, damaged input, and interruptions.

use std::fs;
use std::path::{Path, PathBuf};

use herma_tests::{Cli, Daemon, Home, eventually};
use serde_json::{Value, json};

use super::conversation;

const CONFIG: &str = "compression:\n  target_max_tokens: 900\n  summary_target_tokens: 100\n";

/// Creates a folder with a configuration.
fn place(home: &Home) -> PathBuf {
    let place = home.path().join("t");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("c.yaml"), CONFIG).unwrap();
    place
}

fn entry(id: usize, calls: usize) -> String {
    json!({ "id": id, "conversations": conversation(calls) }).to_string()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Returns the arguments of a run.
fn arguments<'a>(input: &'a str, output: &'a str, config: &'a str) -> Vec<&'a str> {
    vec!["trajectory", "compress", input, output, "--config", config]
}

#[test]
fn a_file_is_shortened_in_its_order_and_what_is_no_trajectory_stays() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let place = place(&home);
    let (input, output, config) = (place.join("in.jsonl"), place.join("out.jsonl"), place.join("c.yaml"));
    let under = format!("{{ \"conversations\" : {} , \"x\": 1.50 }}", conversation(1));
    let odd = "{\"conversations\": [7], \"note\": \"kept\"}";
    let lines = [&entry(1, 20), "", "{\"messages\":  []}", &under, "{\"conversations\": [", odd, &entry(2, 30)];
    fs::write(&input, lines.join("\n")).unwrap();
    let (input, config) = (input.to_str().unwrap(), config.to_str().unwrap());
    let ran = Cli::new(&home).run(&arguments(input, output.to_str().unwrap(), config));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains(&format!("{input}:5: EOF")) && ran.err.contains("kept as it is"), "{}", ran.err);
    assert!(ran.err.contains(&format!("{input}:6: ")), "{}", ran.err);
    let written = text(&output);
    let written: Vec<&str> = written.lines().collect();
    assert_eq!(written.len(), 6);
    assert_eq!(written[1..5], [lines[2], lines[3], lines[4], lines[5]]);
    for (line, id) in [(written[0], 1), (written[5], 2)] {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&entry["id"], &entry["compression_metrics"]["was_compressed"]), (&json!(id), &json!(true)));
        assert!(entry["conversations"][4]["value"].as_str().unwrap().starts_with("[CONTEXT SUMMARY]:"));
    }
    let metrics: Value = serde_json::from_str(&text(&place.join("compression_metrics.json"))).unwrap();
    let summary = &metrics["summary"];
    assert_eq!((&summary["total_trajectories"], &summary["trajectories_failed"]), (&json!(5), &json!(2)));
    assert_eq!((&summary["trajectories_compressed"], &summary["compression_rate"]), (&json!(2), &json!(0.4)));
    let mut left: Vec<_> = fs::read_dir(&place).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["c.yaml", "compression_metrics.json", "in.jsonl", "out.jsonl"]);
}

#[test]
fn lines_that_are_too_long_or_begin_with_a_mark_do_not_stop_a_file() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let place = place(&home);
    let (input, output, config) = (place.join("in.jsonl"), place.join("out.jsonl"), place.join("c.yaml"));
    let long = format!("{{\"conversations\":[],\"x\":\"{}\"}}", "a".repeat(65 << 20));
    fs::write(&input, format!("\u{feff}{}\n{long}\n{}\n{long}", entry(1, 20), entry(2, 20))).unwrap();
    let (input, output) = (input.to_str().unwrap(), output.to_str().unwrap());
    let ran = Cli::new(&home).run(&arguments(input, output, config.to_str().unwrap()));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains(&format!("{input}:2: longer than 64.0 MiB; kept as it is")), "{}", ran.err);
    let written = text(Path::new(output));
    let written: Vec<&str> = written.split('\n').collect();
    assert_eq!(written.len(), 5);
    assert!(written[1] == long && written[3] == long && written[4].is_empty());
    for (line, id) in [(written[0], 1), (written[2], 2)] {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&entry["id"], &entry["compression_metrics"]["was_compressed"]), (&json!(id), &json!(true)));
    }
    let metrics: Value = serde_json::from_str(&text(&place.join("compression_metrics.json"))).unwrap();
    assert_eq!(metrics["summary"]["trajectories_failed"], json!(2));
}

#[test]
fn nothing_is_written_through_a_link() {
    for ending in ["partial", "progress"] {
        let home = Home::new();
        let _daemon = Daemon::start(&home);
        let place = place(&home);
        fs::write(place.join("in.jsonl"), entry(1, 20)).unwrap();
        let precious = place.join("precious");
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, place.join(format!("out.jsonl.{ending}"))).unwrap();
        let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
        let ran = Cli::new(&home).run(&arguments(&path("in.jsonl"), &path("out.jsonl"), &path("c.yaml")));
        assert!(ran.code == 1 && ran.err.contains("it is a link"), "{ran:?}");
        assert_eq!(text(&precious), "precious");
    }
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_bytes() {
    let home = Home::configured(
        "[summarizer]\nchain = [\"command\"]\n[summarizer.command]\nargv = [\"sh\", \"-c\", \"sleep 0.05; grep -o -m1 'Turn [0-9]* - GPT'\"]\n",
    );
    let _daemon = Daemon::start(&home);
    let place = place(&home);
    let config = place.join("c.yaml");
    let folder = place.join("in");
    fs::create_dir(&folder).unwrap();
    for name in ["a", "b"] {
        let lines: Vec<String> = (0..40).map(|at| entry(at, 10 + at % 7 * 3)).collect();
        fs::write(folder.join(format!("{name}.jsonl")), format!("{}\n", lines.join("\n"))).unwrap();
    }
    let cli = Cli::new(&home);
    let (input, config) = (folder.to_str().unwrap(), config.to_str().unwrap());
    let whole = place.join("whole");
    drop(cli.run(&arguments(input, whole.to_str().unwrap(), config)).done());
    let output = place.join("out");
    let arguments = arguments(input, output.to_str().unwrap(), config);
    // The run is interrupted in the first file, and then in the second.
    for name in ["a", "b"] {
        let running = cli.start(&arguments);
        let partial = output.join(format!("{name}.jsonl.partial"));
        eventually("lines to be written", || fs::metadata(&partial).ok().filter(|about| about.len() > 4_000));
        // Dropping the run kills it.
        drop(running);
        assert!(!output.join(format!("{name}.jsonl")).exists(), "{name} is half done and there");
    }
    let records = text(&place.join("out.progress"));
    assert!(records.lines().count() > 2, "{records}");
    let other = cli.run(&[&arguments[..], &["--sample", "0.5"]].concat());
    assert!(other.code == 1 && other.err.contains("other inputs or settings"), "{other:?}");
    // A record and a line that are incomplete.
    fs::write(place.join("out.progress"), format!("{records}{{\"file\": 1")).unwrap();
    let partial = output.join("b.jsonl.partial");
    fs::write(&partial, format!("{}{{\"id\": ", text(&partial))).unwrap();
    drop(cli.run(&arguments).done());
    for name in ["a.jsonl", "b.jsonl"] {
        assert_eq!(text(&output.join(name)), text(&whole.join(name)), "{name}");
        let lines = text(&output.join(name));
        let ids = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap());
        assert!(ids.eq(0..40), "{name}");
    }
    let numbers = |folder: &Path| {
        let mut metrics: Value = serde_json::from_str(&text(&folder.join("compression_metrics.json"))).unwrap();
        metrics["processing"] = Value::Null;
        metrics
    };
    assert_eq!(numbers(&output), numbers(&whole));
    assert_eq!(numbers(&output)["summary"]["total_trajectories"], 80);
    assert!(!place.join("out.progress").exists() && !output.join("b.jsonl.partial").exists());
}

#[test]
fn a_daemon_that_goes_away_stops_a_run_that_then_goes_on() {
    let home = Home::configured(
        "[summarizer]\nchain = [\"command\"]\n[summarizer.command]\nargv = [\"sh\", \"-c\", \"sleep 0.05; echo It ran.\"]\n",
    );
    let daemon = Daemon::start(&home);
    let place = place(&home);
    let (input, output, config) = (place.join("in.jsonl"), place.join("out.jsonl"), place.join("c.yaml"));
    let lines: Vec<String> = (0..60).map(|at| entry(at, 20)).collect();
    fs::write(&input, lines.join("\n")).unwrap();
    let cli = Cli::new(&home);
    let arguments = arguments(input.to_str().unwrap(), output.to_str().unwrap(), config.to_str().unwrap());
    let mut running = cli.start(&arguments);
    let partial = place.join("out.jsonl.partial");
    eventually("lines to be written", || fs::metadata(&partial).ok().filter(|about| about.len() > 1_000));
    daemon.kill();
    assert_eq!(running.ended(), Some(3));
    assert!(!output.exists());
    let _daemon = Daemon::start(&home);
    drop(cli.run(&arguments).done());
    assert_eq!(text(&output).lines().count(), 60);
    let again = cli.run(&arguments);
    assert!(again.code == 1 && again.err.contains("--force overwrites it"), "{again:?}");
    drop(cli.run(&[&arguments[..], &["--force"]].concat()).done());
    assert_eq!(text(&output).lines().count(), 60);
}

#[test]
fn a_dry_run_writes_nothing_and_a_sample_is_the_same_each_time() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let place = place(&home);
    let (input, config) = (place.join("in.jsonl"), place.join("c.yaml"));
    let lines: Vec<String> = (0..50).map(|at| entry(at, 20)).collect();
    fs::write(&input, lines.join("\n")).unwrap();
    let cli = Cli::new(&home);
    let (input, config) = (input.to_str().unwrap(), config.to_str().unwrap());
    let dry = cli.run(&["trajectory", "compress", input, "--config", config, "--dry-run", "--json"]);
    let told = dry.json();
    assert_eq!((&told["planned"]["trajectories"], &told["output"]), (&json!(50), &Value::Null));
    assert_eq!(fs::read_dir(&place).unwrap().count(), 2);
    let sampled = |name: &str, seed: &str| {
        let output = place.join(name);
        let metrics = place.join(format!("{name}.json"));
        let mut arguments = arguments(input, output.to_str().unwrap(), config);
        arguments.extend(["--sample", "0.4", "--seed", seed, "--metrics", metrics.to_str().unwrap()]);
        let told = cli.run(&[&arguments[..], &["--json", "--jobs", "2"]].concat()).json();
        let count = text(&output).lines().count();
        assert_eq!(told["aggregate"]["summary"]["total_trajectories"], count);
        assert!(metrics.is_file());
        text(&output)
    };
    let (one, same, other) = (sampled("one", "1"), sampled("same", "1"), sampled("other", "2"));
    assert!(one == same && one != other && (8..35).contains(&one.lines().count()), "{}", one.lines().count());
    for wrong in [&["--sample", "0"][..], &["--sample", "2"], &["--jobs", "0"], &["--seed", "1"]] {
        assert_eq!(cli.run(&[&["trajectory", "compress", input], wrong].concat()).code, 2, "{wrong:?}");
    }
    assert_eq!(cli.run(&["trajectory", "compress", input, input]).code, 2);
}

#[test]
fn what_takes_too_long_is_left_out_and_so_is_what_stays_over_the_target() {
    let home = Home::configured(
        "[summarizer]\nchain = [\"command\"]\n[summarizer.command]\nargv = [\"sh\", \"-c\", \"grep -q slow && sleep 30; echo It ran.\"]\n",
    );
    let _daemon = Daemon::start(&home);
    let place = place(&home);
    let (input, output, config) = (place.join("in.jsonl"), place.join("out.jsonl"), place.join("c.yaml"));
    let yaml = format!("{CONFIG}processing:\n  per_trajectory_timeout: 1\n  save_over_limit: false\n");
    fs::write(&config, yaml).unwrap();
    // Its last turns alone exceed the target.
    let mut over = conversation(6);
    over[13]["value"] = json!("a word and another one ".repeat(400));
    let over = json!({ "conversations": over }).to_string();
    let lines = [entry(1, 20), entry(2, 20).replacen("terminal", "slow", 60), over, entry(3, 20)];
    fs::write(&input, lines.join("\n")).unwrap();
    let arguments = arguments(input.to_str().unwrap(), output.to_str().unwrap(), config.to_str().unwrap());
    let ran = Cli::new(&home).run(&[&arguments[..], &["--json"]].concat());
    let told = ran.json();
    assert_eq!((ran.code, &told["timed_out"], &told["over_limit_left_out"]), (1, &json!(1), &json!(1)), "{told}");
    assert_eq!(
        (&told["problems"][0]["line"], &told["aggregate"]["summary"]["trajectories_failed"]),
        (&json!(2), &json!(1))
    );
    let ids: Vec<Value> =
        text(&output).lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [1, 3]);
}

/// Replaces the package tokenizers, which not every machine has. Each run of letters or of signs is a token.
const TOKENIZERS: &str = r#"
import json, re

class Encoding:
    def __init__(self, text):
        self.ids = re.findall(r"\w+|[^\w\s]+", text)

class Tokenizer:
    @staticmethod
    def from_file(path):
        json.load(open(path))["model"]
        return Tokenizer()

    def encode_batch_fast(self, texts, add_special_tokens):
        return [Encoding(text) for text in texts]
"#;

#[test]
fn a_tokenizer_of_the_users_counts_exactly() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let place = place(&home);
    let (input, output) = (place.join("in.jsonl"), place.join("out.jsonl"));
    fs::write(place.join("tokenizers.py"), TOKENIZERS).unwrap();
    fs::write(place.join("tokenizer.json"), "{\"model\":{}}").unwrap();
    // Modules in the current folder are not the user's.
    let current = place.join("current");
    fs::create_dir(&current).unwrap();
    fs::write(current.join("json.py"), "raise SystemExit(9)").unwrap();
    let cli = Cli::new(&home).with("PYTHONPATH", place.to_str().unwrap()).within(&current);
    fs::write(place.join("c.yaml"), "compression:\n  target_max_tokens: 300\n  summary_target_tokens: 50\n").unwrap();
    let turn = |from: &str, words: usize| json!({ "from": from, "value": vec!["word"; words].join(" ") });
    let turns: Vec<Value> = [turn("system", 5), turn("human", 5)]
        .into_iter()
        .chain((0..20).flat_map(|_| [turn("gpt", 10), turn("tool", 30)]))
        .collect();
    fs::write(&input, json!({ "conversations": turns }).to_string()).unwrap();
    let tokenizer = place.join("tokenizer.json");
    let config = place.join("c.yaml");
    let mut arguments = arguments(input.to_str().unwrap(), output.to_str().unwrap(), config.to_str().unwrap());
    arguments.extend(["--tokenizer", tokenizer.to_str().unwrap()]);
    drop(cli.run(&arguments).done());
    let entry: Value = serde_json::from_str(&text(&output)).unwrap();
    let row = &entry["compression_metrics"];
    assert_eq!(row["original_tokens"], 810);
    // Words and signs: each run of one kind is a token.
    let count = |text: &str| {
        let kinds = text.chars().map(|char| match char {
            char if char.is_whitespace() => 0,
            char if char.is_alphanumeric() || char == '_' => 1,
            _ => 2,
        });
        let mut before = 0;
        kinds
            .filter(|kind| {
                let is_new = *kind != 0 && *kind != before;
                before = *kind;
                is_new
            })
            .count()
    };
    let turns = entry["conversations"].as_array().unwrap();
    let exact: usize = turns.iter().map(|turn| count(turn["value"].as_str().unwrap())).sum();
    assert_eq!(row["compressed_tokens"], exact);
    fs::write(&tokenizer, "{}").unwrap();
    let wrong = cli.run(&[&arguments[..], &["--force"]].concat());
    assert!(wrong.code == 1 && wrong.err.contains("no tokenizer"), "{wrong:?}");
}
