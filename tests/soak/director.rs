//! Starts all processes, injects faults until the time is over, and checks the result.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use herma_tests::Home;
use herma_tests::random::Random;
use rustix::process::Signal;

use crate::daemon::{self, Daemon, Life};
use crate::faults::Fault;
use crate::measure::{self, Watched};
use crate::report::Report;
use crate::workers::{CAST, Workers};
use crate::{editor, ledger, plot, verify};

/// Size of the file system, small enough to be filled.
const ROOM: u64 = 1 << 30;
const CONFIG: &str =
    "[archive]\nquota = \"150MiB\"\n\n[log]\nsize = \"2MiB\"\n\n[output]\nquota = \"500MiB\"\nttl = \"0s\"\n";
/// Maximum number of inotify instances to create, more than one user may have.
const INSTANCES: usize = 70_000;
/// Pause between two checks of a condition.
const LOOK: Duration = Duration::from_millis(200);
/// How long a daemon may be unavailable before that counts as a loss.
const AWAY: Duration = Duration::from_secs(60);

/// Runs a soak of this many minutes, and writes its report.
pub(crate) fn run(minutes: f64, seed: u64, out: &Path) -> ExitCode {
    if let Err(words) = clear(out) {
        println!("{}: {words}", out.display());
        return ExitCode::FAILURE;
    }
    let out = fs::canonicalize(out).unwrap();
    let mut report = Report { seed, ..Report::default() };
    let small = Home::small(ROOM);
    if small.is_none() {
        report.left_out.push("disk full: nothing may be mounted here".into());
    }
    if daemon::faketime().is_none() {
        report.left_out.push("clock jumps: there is no libfaketime".into());
    }
    let has_room = small.is_some();
    let home = small.unwrap_or_default();
    fs::create_dir_all(home.path().join("herma")).unwrap();
    fs::write(home.path().join("herma/config.toml"), CONFIG).unwrap();
    fs::write(out.join("clock"), "+0").unwrap();

    let watched = Arc::new(Watched::default());
    let clock = out.join("clock");
    let mut stage = Stage { home, out, clock, watched, random: Random::seeded(seed), report, has_room, daemon: None };
    stage.start(Life::default());
    let mut workers = Workers::start(stage.home.path(), &stage.out);
    let (samples, (edits, unseen)) = std::thread::scope(|scope| {
        let (home, out, watched) = (stage.home.path().to_owned(), stage.out.clone(), Arc::clone(&stage.watched));
        let measured = scope.spawn({
            let (home, out) = (home.clone(), out.clone());
            move || measure::run(&home, &out, &watched)
        });
        let edited = scope.spawn(move || editor::run(&home, &out, Random::seeded(seed ^ 1)));
        stage.play(&mut workers, Duration::from_secs_f64(minutes * 60.0));
        stage.settle();
        fs::write(stage.out.join("stop"), "").unwrap();
        workers.finish();
        (measured.join().unwrap(), edited.join().unwrap())
    });
    let Stage { home, out, mut report, daemon, .. } = stage;
    report.ended.extend(std::mem::take(&mut workers.ended));
    report.edits_by_hand = edits;
    report.losses.extend(unseen);
    report.add_ledgers(&out);
    report.add_samples(&samples);
    let mut verified = verify::served(&home, &out);
    report.seconds = samples.last().map_or(0, |sample| sample.second);
    if let Some(daemon) = daemon
        && !daemon.terminate()
    {
        report.losses.push("the daemon did not end when it was asked to".into());
    }
    verify::archive(&home, &out, &mut verified);
    report.add_verified(verified);
    fs::write(out.join("samples.csv"), measure::csv(&samples)).unwrap();
    fs::write(out.join("plot.svg"), plot::svg(&samples)).unwrap();
    fs::write(out.join("report.json"), serde_json::to_string_pretty(&report).unwrap()).unwrap();
    drop(fs::copy(home.path().join("herma/hermad.log"), out.join("hermad.log")));
    println!("{}", report.words());
    if report.losses.is_empty() && report.ended.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Clears the output folder. Refuses a folder that is not from an earlier soak.
fn clear(out: &Path) -> Result<(), String> {
    let is_empty = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(error.to_string()),
    };
    if !is_empty && !out.join("ledgers").is_dir() {
        return Err("the folder is not empty, and not of an earlier soak; give another --out".into());
    }
    if !is_empty {
        fs::remove_dir_all(out).map_err(|error| error.to_string())?;
    }
    fs::create_dir_all(out.join("ledgers")).map_err(|error| error.to_string())
}

/// The target of the faults.
struct Stage {
    home: Home,
    out: std::path::PathBuf,
    /// The file with the offset of the daemon's clock.
    clock: std::path::PathBuf,
    watched: Arc<Watched>,
    random: Random,
    report: Report,
    has_room: bool,
    daemon: Option<Daemon>,
}

impl Stage {
    /// Injects faults until the time is over: two fifths of storm, two of calm, one of storm.
    fn play(&mut self, workers: &mut Workers, time: Duration) {
        let start = Instant::now();
        let mut told = 0;
        while start.elapsed() < time && !self.out.join("stop").exists() {
            let part = start.elapsed().as_secs_f64() / time.as_secs_f64();
            let calm = (0.4..0.8).contains(&part);
            if calm && self.watched.calm.load(Ordering::Relaxed) == 0 {
                // A restart ends the faults of the storm that last, such as few files.
                self.kill();
                self.start(Life::default());
            }
            self.watched.calm.store(u64::from(calm), Ordering::Relaxed);
            let fault = Fault::next(&mut self.random, calm);
            self.happen(fault, workers);
            *self.report.faults.entry(fault.name()).or_default() += 1;
            self.pause(500, 4_000);
            workers.look();
            if let Some(status) = self.daemon.as_mut().and_then(Daemon::ended) {
                self.report.ended.push(format!("the daemon ended by itself: {status}"));
                self.daemon = None;
            }
            if self.daemon.is_none() {
                self.start(Life::default());
            }
            let minute = start.elapsed().as_secs() / 60;
            if minute > told {
                told = minute;
                let faults: u64 = self.report.faults.values().sum();
                println!("{minute} min, {faults} faults, {} processes", workers.count());
            }
        }
    }

    fn happen(&mut self, fault: Fault, workers: &mut Workers) {
        match fault {
            Fault::KillDaemon => {
                self.kill();
                self.pause(0, 500);
                self.start(Life::default());
            }
            Fault::StopDaemon => {
                if self.daemon.take().is_some_and(|daemon| !daemon.terminate()) {
                    self.report.losses.push("the daemon did not end when it was asked to".into());
                }
                self.start(Life::default());
            }
            Fault::FewFiles => {
                self.kill();
                self.start(Life { few_files: true });
                self.pause(1_000, 5_000);
            }
            Fault::NoWatches => {
                let held = instances();
                self.kill();
                self.start(Life::default());
                self.pause(1_000, 5_000);
                drop(held);
            }
            Fault::PauseDaemon => {
                let pid = self.daemon.as_ref().map_or(0, Daemon::pid);
                daemon::signal(pid, Signal::STOP);
                self.pause(200, 3_000);
                daemon::signal(pid, Signal::CONT);
            }
            Fault::KillWorker => {
                let at = self.below(workers.count());
                workers.kill(at);
            }
            Fault::PauseWorker => {
                let at = self.below(workers.count());
                workers.signal(at, Signal::STOP);
                self.pause(200, 5_000);
                workers.signal(at, Signal::CONT);
            }
            Fault::FullDisk if self.has_room => {
                let full = self.home.fill();
                self.pause(500, 3_000);
                drop(full);
            }
            Fault::FullDisk => {}
            Fault::ClockJump => {
                let hours = self.random.below(72);
                let sign = if self.random.below(2) == 0 { '+' } else { '-' };
                fs::write(&self.clock, format!("{sign}{}", hours * 3_600)).unwrap();
            }
        }
    }

    fn kill(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.kill();
        }
    }

    /// Starts a daemon, with retries, because the disk may be full.
    fn start(&mut self, life: Life) {
        let until = Instant::now() + AWAY;
        loop {
            match Daemon::start(&self.home, life, &self.clock) {
                Ok(daemon) => {
                    self.watched.pid.store(daemon.pid(), Ordering::Relaxed);
                    self.daemon = Some(daemon);
                    return;
                }
                Err(words) if Instant::now() > until => {
                    self.report.losses.push(format!("no daemon would serve: {words}"));
                    return;
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    /// Ends all faults. Every process must then resume its work.
    fn settle(&mut self) {
        fs::write(&self.clock, "+0").unwrap();
        self.watched.calm.store(0, Ordering::Relaxed);
        self.kill();
        self.start(Life::default());
        let sizes = |out: &Path| CAST.map(|(_, _, name)| ledger::length(out, name));
        let before = sizes(&self.out);
        let until = Instant::now() + AWAY;
        loop {
            let now = sizes(&self.out);
            let idle: Vec<&str> = CAST
                .iter()
                .enumerate()
                .filter(|(at, _)| now[*at] == before[*at])
                .map(|(_, (_, _, name))| *name)
                .collect();
            if idle.is_empty() {
                return;
            }
            if Instant::now() > until {
                self.report.losses.push(format!("{idle:?} did nothing any more after the last fault"));
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    fn pause(&mut self, least_ms: u64, most_ms: u64) {
        std::thread::sleep(Duration::from_millis(least_ms + self.random.below(most_ms - least_ms)));
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random.below(u64::try_from(end).unwrap())).unwrap()
    }
}

/// Creates all inotify instances that this user may have, or as many as this process may open files.
fn instances() -> Vec<rustix::fd::OwnedFd> {
    (0..INSTANCES).map_while(|_| rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC).ok()).collect()
}
