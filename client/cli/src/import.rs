//! `herma import …`.

mod aider;
mod conversation;
mod cursor;
mod document;
mod export;
mod find;
mod follow;
mod goose;
mod hermes;
mod ids;
mod openclaw;
mod opencode;
mod record;
mod report;
mod sink;
mod source;
mod sqlite;
mod surrogates;
mod watch;
mod whole;
mod zed;
mod zstd;

use std::path::{Path, PathBuf};
use std::time::Instant;

use herma_base::progress::Progress;
use herma_base::{CliContext, Failure, interrupt, out};
use serde::Serialize;

use self::find::Files;
use self::follow::Follower;
use self::record::{Record, Stamp};
pub(super) use self::report::Report;
use self::sink::Sink;
use self::source::{Format, Source, Tables};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is read, where PATH is left out:\n  claude-code  the *.jsonl below $CLAUDE_CONFIG_DIR/projects, else ~/.claude/projects, and memory/*.md of projects\n  codex        the *.jsonl below sessions and archived_sessions of $CODEX_HOME, else ~/.codex, and memories/*.md\n  qwen-code    the *.jsonl below $QWEN_RUNTIME_DIR/projects, else $QWEN_HOME, else ~/.qwen\n  gemini-cli   the session*.jsonl below .gemini/tmp of $GEMINI_CLI_HOME, else of your folder\n  pi           the *.jsonl below $PI_CODING_AGENT_SESSION_DIR, else sessions of $PI_CODING_AGENT_DIR, else ~/.pi/agent\n  omp          the *.jsonl below ~/.omp/agent/sessions, and omp/sessions in $XDG_DATA_HOME\n  openclaw     openclaw-agent.sqlite, and the *.jsonl of older versions, below ~/.openclaw/agents\n  copilot      the events.jsonl below ~/.copilot/session-state\n  cursor       the *.jsonl below ~/.cursor/projects, and Cursor/User/globalStorage/state.vscdb in the folder of settings\n  opencode     opencode/opencode.db in $XDG_DATA_HOME, else ~/.local/share; also while OpenCode runs\n  goose        sessions.db, and the *.jsonl of before 1.10, in goose/sessions of $XDG_DATA_HOME, else ~/.local/share\n  cline        the files of ~/.cline/data/sessions\n  roo          PATH must be said: a folder with api_conversation_history.json\n  antigravity  the transcript.jsonl below ~/.gemini/antigravity and ~/.gemini/antigravity-cli\n  kimi         the wire.jsonl below ~/.kimi-code/sessions\n  grok         the updates.jsonl below ~/.grok/sessions\n  zed          zed/threads/threads.db in $XDG_DATA_HOME, else ~/.local/share\n  aider        .aider.chat.history.md in this folder or above it\n  hermes       state.db of the named home, else of ~/.hermes\n  chatgpt      PATH must be said: conversations.json of an export, a folder with it, or - for standard input\n\nEach conversation becomes a closed session PROGRAM:ID. The files are only\nread, with their times, titles, models and folders. Secrets are masked in what is kept, unless --no-redact is given. Giving the command again adds what is new\nand nothing twice, also after it was stopped in whatever way. A session that was removed from herma stays so,\nunless --again is given; a file that was rewritten becomes another session, ID~2.\n\nExit codes: 0 done; 1 something could not be read (each is listed; the rest was imported); 2 wrong arguments;\n3 the daemon went away (give the command again to go on).\n\nExamples:\n  herma import claude-code\n  herma import codex ~/.codex/sessions/2026\n  herma import claude-code --profile-for ~/work=work --watch\n  unzip -p export.zip conversations.json | herma import chatgpt -\n  herma recall \"which port did we choose\" --kind message"
)]
pub(super) struct Arguments {
    /// The program whose conversations are read
    #[arg(value_parser = Source::parser())]
    program: &'static Source,
    /// A file, or a folder to search
    path: Option<PathBuf>,
    /// Keep running, and import new messages as they are written
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    /// Mask secrets in the imported messages [default: as archive.redact says, which is true]
    #[arg(long)]
    redact: bool,
    /// Keep secrets as they are
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
    /// Import sessions of a folder, and of those below it, into another profile; the longest folder counts
    #[arg(long, value_name = "FOLDER=PROFILE", value_parser = rule)]
    profile_for: Vec<Rule>,
    /// Import again what was removed from herma, and read every file again
    #[arg(long)]
    again: bool,
    /// Show what would be imported, and import nothing
    #[arg(long)]
    dry_run: bool,
}

impl Arguments {
    /// Returns the arguments that import all sessions of a program from its usual folders.
    const fn of(program: &'static Source) -> Self {
        Self {
            program,
            path: None,
            watch: false,
            redact: false,
            no_redact: false,
            profile_for: Vec::new(),
            again: false,
            dry_run: false,
        }
    }

    /// Returns whether secrets are masked; `None` means as the configuration says.
    fn redacts(&self) -> Option<bool> {
        match (self.redact, self.no_redact) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// The files with a program's sessions.
#[derive(Debug, Serialize)]
pub(super) struct Stock {
    /// The number of files.
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// The number and the bytes of those that are new or changed since they were imported.
    pub(super) new_files: u64,
    pub(super) new_bytes: u64,
    /// The time of the oldest file's last change, in Unix seconds.
    pub(super) oldest: Option<f64>,
}

/// Counts the files in a program's usual folders, without reading them; `None` if there are none.
pub(super) fn stock(context: &CliContext<'_>, program: &str) -> Option<Stock> {
    let source = Source::named(program)?;
    let mut report = Report::new(source, true);
    let record = Record::open(&context.place.home, source, false, true);
    let files = Files::find(source, None, &context.hermes_home()).ok()?.all(&mut report).ok()?;
    let oldest = files.iter().map(|(_, stamp)| stamp.seconds()).min_by(f64::total_cmp);
    let bytes = files.iter().map(|(_, stamp)| stamp.bytes).sum();
    let new: Vec<u64> =
        files.iter().filter(|(path, stamp)| !record.has_seen(path, stamp)).map(|(_, stamp)| stamp.bytes).collect();
    let (new_files, new_bytes) = (new.len() as u64, new.iter().sum());
    Some(Stock { files: files.len() as u64, bytes, new_files, new_bytes, oldest })
}

/// Imports all sessions of a program from its usual folders.
pub(super) fn all_of(context: &CliContext<'_>, program: &str) -> Result<Report, Failure> {
    let Some(source) = Source::named(program) else { return Err(Failure::Usage(format!("there is no {program:?}"))) };
    let arguments = Arguments::of(source);
    let mut import = Import::begin(context, &arguments)?;
    import.all()?;
    Ok(import.sink.report)
}

/// A rule that puts the sessions of a folder into a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    folder: PathBuf,
    profile: String,
}

fn rule(text: &str) -> Result<Rule, String> {
    match text.rsplit_once('=') {
        Some((folder, profile)) if !folder.is_empty() && !profile.is_empty() => {
            // Agents resolve links in the names of folders, so this does too. If the folder is missing, that is
            // impossible.
            let folder = std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
            let folder = folder.map_err(|error| error.to_string())?;
            Ok(Rule { folder, profile: profile.to_owned() })
        }
        _ => Err("it must be FOLDER=PROFILE".to_owned()),
    }
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    interrupt::say("stopped. What was imported stays; give the command again to go on");
    let mut import = Import::begin(context, arguments)?;
    import.all()?;
    if let Some(path) = arguments.path.as_ref().filter(|_| import.sink.report.is_all_torn()) {
        let name = arguments.program.name;
        import.sink.report.problem(format!("{}: no line of it is JSON; is it a file of {name}?", path.display()));
    }
    if arguments.watch {
        interrupt::say("no longer watching");
        return watch::run(&mut import);
    }
    let failed = import.sink.report.has_problems();
    out::show(context.common, &import.sink.report, Report::text)?;
    if failed { Err(Failure::No) } else { Ok(()) }
}

/// A run of the command.
struct Import<'a> {
    arguments: &'a Arguments,
    files: Files,
    sink: Sink<'a>,
    follower: Follower,
}

impl<'a> Import<'a> {
    fn begin(context: &'a CliContext<'a>, arguments: &'a Arguments) -> Result<Self, Failure> {
        let files = Files::find(arguments.program, arguments.path.as_deref(), &context.hermes_home())?;
        if arguments.watch && files.is_input() {
            return Err(Failure::Usage("--watch needs files; standard input ends".into()));
        }
        let record = Record::open(&context.place.home, arguments.program, arguments.again, arguments.dry_run);
        let report = Report::new(arguments.program, arguments.dry_run);
        let sink = Sink::new(context, arguments, record, report)?;
        Ok(Self { arguments, files, sink, follower: Follower::default() })
    }

    /// Imports the new messages of all files.
    fn all(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        let files = self.files.all(&mut self.sink.report)?;
        let total = files.iter().map(|(_, stamp)| stamp.bytes).sum();
        let is_seen = self.sink.common().shows_progress() && !self.arguments.watch;
        let mut progress = Progress::new(is_seen, 0, total, "message");
        let mut done = 0;
        for (path, stamp) in files {
            self.file(&path, &stamp, &mut |within, messages| progress.draw(done + within, messages))?;
            done += stamp.bytes;
        }
        progress.clear();
        self.sink.report.took(began.elapsed());
        self.sink.record.save()
    }

    /// Imports the new messages of a file.
    fn file(&mut self, path: &Path, stamp: &Stamp, seen: &mut dyn FnMut(u64, u64)) -> Result<(), Failure> {
        // New rows of a database may stay in its log for long, and standard input differs each time.
        let has_looks = !matches!(self.arguments.program.format, Format::Database(_) | Format::DatabaseOrLines(..))
            && !self.files.is_input();
        let is_same = has_looks && self.sink.record.has_seen(path, stamp);
        self.sink.report.file(is_same);
        if is_same {
            return Ok(());
        }
        let id = (self.arguments.program.id)(path);
        let read = match self.arguments.program.format {
            _ if document::is_document(path) => document::read(path, stamp, &mut self.sink),
            Format::Lines(reader) => self.follower.read(path, &|| reader(&id), &mut self.sink, seen),
            Format::DatabaseOrLines(_, reader) if path.extension().is_some_and(|ending| ending == "jsonl") => {
                self.follower.read(path, &|| reader(&id), &mut self.sink, seen)
            }
            Format::Database(tables) | Format::DatabaseOrLines(tables, _) => {
                let read = match tables {
                    Tables::Cursor => cursor::read,
                    Tables::Goose => goose::read,
                    Tables::Hermes => hermes::read,
                    Tables::OpenClaw => openclaw::read,
                    Tables::OpenCode => opencode::read,
                    Tables::Zed => zed::read,
                };
                read(path, &mut self.sink, seen)
            }
            Format::Aider => aider::read(path, &mut self.sink, seen),
            Format::Conversation(reader) => conversation::read(path, &id, reader, &mut self.sink),
            Format::Export => export::read(path, &mut self.sink, seen),
        };
        match read {
            Ok(is_whole) => {
                if is_whole && has_looks {
                    self.sink.record.saw(path, stamp.clone());
                }
                self.sink.record.save_sometimes()
            }
            Err(Failure::File(words)) => {
                self.sink.report.problem(words);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_folder_and_a_profile() {
        assert_eq!(rule("/a=b=work"), Ok(Rule { folder: "/a=b".into(), profile: "work".into() }));
        assert!(rule("here=work").unwrap().folder.is_absolute());
        for text in ["", "work", "=work", "/a="] {
            assert!(rule(text).is_err(), "{text}");
        }
    }
}
