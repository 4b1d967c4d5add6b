//! Summaries written by programs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;

/// The longest time that a test waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two checks.
const LOOK: Duration = Duration::from_millis(5);

/// A shell that runs this script.
fn shell(script: &str, more: &str) -> Summarizers {
    summarizers(&format!("[summarizer.command]\nargv = [\"/bin/sh\", \"-c\", '''{script}''']\n{more}"))
}

async fn run(script: &str, prompt: &str) -> Result<Written, Failure> {
    write(&shell(script, ""), Kind::Command, prompt).await
}

async fn until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "it never came");
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether a process exists, including a dead one that was not reaped.
fn exists(pid: &str) -> bool {
    PathBuf::from("/proc").join(pid).exists()
}

/// Whether a process exists and is not dead.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(PathBuf::from("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.split_whitespace().next().is_some_and(|state| state != "Z"))
}

fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test]
async fn the_prompt_goes_in_and_the_summary_comes_out() {
    let written = run("tr a-z A-Z; echo noise >&2", "a \"prompt\"\n$(false)\n").await.unwrap();
    assert_eq!(written, Written { text: "A \"PROMPT\"\n$(FALSE)".into(), model: "sh".into() });
    assert_eq!(shell("", "").model(Kind::Command, &Main::default()), "sh");
}

#[tokio::test]
async fn arguments_are_handed_over_without_a_shell() {
    let summarizers = summarizers("[summarizer.command]\nargv = [\"echo\", \"$HOME; a  b\"]");
    assert_eq!(write(&summarizers, Kind::Command, "p").await.unwrap().text, "$HOME; a  b");
}

#[tokio::test]
async fn a_prompt_of_any_size_neither_blocks_nor_fails() {
    let prompt = "x".repeat(10 << 20);
    assert_eq!(run("echo read nothing", &prompt).await.unwrap().text, "read nothing");
    assert_eq!(run("exec <&-; echo closed", &prompt).await.unwrap().text, "closed");
    assert_eq!(run("head -c 5", &prompt).await.unwrap().text, "xxxxx");
    assert_eq!(run("wc -c", &prompt).await.unwrap().text, (10 << 20).to_string());
    // Reads and writes at the same time, more than any pipe holds.
    let echoed = write(&shell("cat", "max_response = \"16MiB\""), Kind::Command, &prompt).await.unwrap();
    assert!(echoed.text == prompt);
}

#[tokio::test]
async fn a_failure_is_told_with_the_end_of_standard_error() {
    let noise = "i=0; while [ $i -lt 40000 ]; do echo noise >&2; i=$((i+1)); done";
    for (script, words) in [
        ("echo half a summary; echo 'no such model' >&2; exit 3", "sh ended with exit status: 3: no such model"),
        ("exit 7", "sh ended with exit status: 7"),
        ("kill -9 $$", "sh ended with signal: 9 (SIGKILL)"),
        ("echo why >&2", "the summary is empty: why"),
        ("printf ' \n'", "the summary is empty"),
        ("echo '<think>hm'", "the summary is empty"),
        ("echo 'key correct horse' battery >&2; exit 1", "sh ended with exit status: 1: key ***"),
        (&format!("{noise}; echo the end >&2; exit 1"), "noise the end"),
    ] {
        // The key is known because an endpoint uses it.
        let more = format!("[summarizer.openai]\nbase_url = \"http://h\"\napi_key_env = \"{VARIABLE}\"");
        let failure = write(&shell(script, &more), Kind::Command, "p").await.unwrap_err();
        assert_eq!((failure.kind, failure.status, failure.model.as_str()), (FailureKind::Other, None, "sh"));
        assert!(failure.text.ends_with(words), "{failure:?}");
    }
    let token = "sk-proj-abcdefghijklmnopqrstuvwx1234567890";
    let failure = run(&format!("echo 'OPENAI_API_KEY={token}' >&2; exit 3"), "p").await.unwrap_err();
    assert!(failure.text.contains("exit status: 3") && !failure.text.contains("klmnopqrst"), "{failure:?}");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(run("printf 'a\\377b'", "p").await.unwrap().text, "a\u{fffd}b");
}

#[tokio::test]
async fn a_program_that_can_not_be_run_is_no_provider() {
    for program in ["/nowhere/summarise", "no-such-program-anywhere", "/etc/passwd", "/"] {
        let summarizers = summarizers(&format!("[summarizer.command]\nargv = [\"{program}\"]"));
        let failure = write(&summarizers, Kind::Command, "p").await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoProvider, "{failure:?}");
    }
}

#[tokio::test]
async fn too_much_ends_the_program() {
    let began = Instant::now();
    let failure = write(&shell("yes", "max_response = \"64KiB\""), Kind::Command, "p").await.unwrap_err();
    assert_eq!(failure.text, "the answer has more than 65536 bytes");
    assert!(began.elapsed() < PATIENCE);
}

#[tokio::test]
async fn a_program_that_hangs_is_killed_with_those_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!("sleep 1000 & echo $! $$ > {}; wait", pids.display());
    let failure = write(&shell(&script, "timeout = \"300ms\""), Kind::Command, "p").await.unwrap_err();
    assert_eq!((failure.kind, failure.text.as_str()), (FailureKind::Timeout, "timeout: sh ran longer than 300ms"));
    let pids = read(&pids);
    let (started, program) = pids.trim().split_once(' ').unwrap();
    until(|| !exists(program) && !runs(started)).await;
}

#[tokio::test]
async fn whoever_gives_up_leaves_no_program_behind() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let summarizers = shell(&format!("echo $$ > {}; exec sleep 1000", pids.display()), "");
    let main = Main::default();
    tokio::select! {
        written = summarizers.write(Kind::Command, call("p", &main)) => panic!("{written:?}"),
        () = until(|| read(&pids).ends_with('\n')) => {}
    }
    let pid = read(&pids);
    until(|| !exists(pid.trim())).await;
}

#[tokio::test]
async fn what_a_program_leaves_behind_does_not_hold_its_summary_back() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let began = Instant::now();
    let script = format!("echo summary; sleep 1000 & echo $! > {}", pids.display());
    assert_eq!(run(&script, "p").await.unwrap().text, "summary");
    until(|| !runs(read(&pids).trim())).await;
    // A process that left the group holds the output open and lives on.
    let pids = folder.path().join("others");
    let others = pids.display();
    let script =
        format!("setsid sh -c 'echo $$ > {others}; exec sleep 1000' & until [ -s {others} ]; do :; done; echo summary");
    assert_eq!(run(&script, &"x".repeat(1 << 20)).await.unwrap().text, "summary");
    assert!(began.elapsed() < PATIENCE);
    let sleeper = read(&pids);
    assert!(runs(sleeper.trim()));
    let sleeper = rustix::process::Pid::from_raw(sleeper.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(sleeper, rustix::process::Signal::KILL).unwrap();
}
