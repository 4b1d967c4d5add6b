//! Sends a test event through the hooks as the agent's settings have them, and looks for its message in the archive.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use herma_base::{CliContext, Failure, own_file};
use herma_client::Client;
use herma_client::protocol::session::chain::{ListParams, ShowParams};
use herma_client::protocol::session::transcript::RemoveParams;
use serde_json::{Value, json};

use super::InstalledAgent;
use crate::event::EventName;
use crate::hook::TEST_SESSION;
use crate::settings::wanted::HermaEntries;

/// The newest sessions, among which those of tests are.
const SESSIONS: u64 = 1_000;

/// How often the event is sent, and the pause before it is sent again: a hook gives up early, and right after an import
/// the daemon has much to index.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// The message of the test event.
const MESSAGE: &str = "A test event of herma setup.";

impl InstalledAgent {
    /// Returns how long a test event took from the agent's hook to the archive. The session of the event is removed
    /// afterwards.
    ///
    /// # Errors
    /// The hook can't be started, or its message did not arrive. The error is for people.
    pub fn prove(&self, context: &CliContext<'_>) -> Result<Duration, Failure> {
        let mut client = context.connect()?;
        let id = format!("{TEST_SESSION}{}", std::process::id());
        let transcript = self.notes(context).join(format!("{id}.jsonl"));
        let proved = self.attempt(context, &mut client, (&id, &transcript));
        // Whatever happened, nothing of the test stays, also of one that was stopped before.
        self.forget_tests(context, &mut client);
        proved
    }

    /// Returns the folder of the hooks' notes.
    fn notes(&self, context: &CliContext<'_>) -> PathBuf {
        context.place.home.join("herma/clients").join(self.agent.name())
    }

    fn attempt(
        &self,
        context: &CliContext<'_>,
        client: &mut Client,
        (id, transcript): (&str, &Path),
    ) -> Result<Duration, Failure> {
        let text = self.agent.test_transcript(id, MESSAGE);
        own_file::put(transcript, text.as_bytes())
            .map_err(|error| Failure::File(format!("{}: {error}", transcript.display())))?;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            let began = Instant::now();
            self.send(context, id, transcript, &text)?;
            let session = format!("{}:{id}", self.agent.name());
            if client.session_show(ShowParams { session }).is_ok_and(|shown| shown.messages > 0) {
                return Ok(began.elapsed());
            }
        }
        Err(Failure::File(format!("a test event of {} did not arrive", self.agent.title())))
    }

    /// Removes the sessions and notes of all tests. What can't be removed now is removed by the next one.
    fn forget_tests(&self, context: &CliContext<'_>, client: &mut Client) {
        let newest = ListParams { limit: Some(SESSIONS), raw: Some(true), ..ListParams::default() };
        let listed = client.session_list(newest).map(|listed| listed.sessions).unwrap_or_default();
        let prefix = format!("{}:{TEST_SESSION}", self.agent.name());
        for row in listed.into_iter().filter(|row| row.session.starts_with(&prefix)) {
            drop(client.session_remove(RemoveParams { session: row.session }));
        }
        for entry in std::fs::read_dir(self.notes(context)).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(TEST_SESSION) {
                own_file::remove(&entry.path());
            }
        }
    }

    /// Calls the hook of the event after which the agent's transcript is read.
    fn send(&self, context: &CliContext<'_>, id: &str, transcript: &Path, text: &str) -> Result<(), Failure> {
        let words = HermaEntries::of(context, false)?.words(self.agent.name(), EventName::Stop);
        let failed = |error: std::io::Error| Failure::File(format!("the hook of {}: {error}", self.agent.title()));
        let Some((program, arguments)) = words.split_first() else { return Ok(()) };
        let mut event = json!({
            "session_id": id, "transcript_path": transcript, "hook_event_name": EventName::Stop.hook(),
            "cwd": transcript.parent(),
        });
        if self.agent.sends_records() {
            event["records"] = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect();
        }
        let mut hook = Command::new(program);
        hook.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = hook.spawn().map_err(failed)?;
        let written = child.stdin.take().map(|mut input| input.write_all(event.to_string().as_bytes()));
        child.wait().map_err(failed)?;
        written.transpose().map_err(failed)?;
        Ok(())
    }
}
