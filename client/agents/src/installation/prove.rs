//! Sends a test event through the hooks as the agent's settings have them, and looks for its message in the archive.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use herma_base::{CliContext, Failure, own_file};
use herma_client::protocol::session::chain::ShowParams;
use herma_client::protocol::session::transcript::RemoveParams;
use serde_json::json;

use super::InstalledAgent;
use crate::event::EventName;
use crate::hook;
use crate::settings::wanted::HermaEntries;

/// The message of the test event.
pub(super) const MESSAGE: &str = "A test event of herma setup.";

impl InstalledAgent {
    /// Returns how long a test event took from the agent's hook to the archive. The session of the event is removed
    /// afterwards.
    ///
    /// # Errors
    /// The hook can't be started, or its message did not arrive. The error is for people.
    pub fn prove(&self, context: &CliContext<'_>) -> Result<Duration, Failure> {
        let agent = self.agent;
        let id = format!("herma-setup-{}", std::process::id());
        let folder = context.place.home.join("herma/clients").join(agent.name());
        let transcript = folder.join(format!("{id}.jsonl"));
        own_file::put(&transcript, agent.test_transcript(&id, MESSAGE).as_bytes())
            .map_err(|error| Failure::File(format!("{}: {error}", transcript.display())))?;
        let ran = hook::last_run(&context.place.home, agent, EventName::Stop);
        let began = Instant::now();
        let sent = self.send(context, &id, &transcript);
        let session = format!("{}:{id}", agent.name());
        let mut client = context.connect()?;
        let arrived = sent.and_then(|()| {
            let shown = client.session_show(ShowParams { session: session.clone() })?;
            Ok((shown.messages > 0).then(|| began.elapsed()))
        });
        // Whatever happened, nothing of the test stays.
        hook::put_back_run(&context.place.home, agent, EventName::Stop, ran);
        drop(client.session_remove(RemoveParams { session }));
        for ending in ["jsonl", "json", "lock"] {
            own_file::remove(&folder.join(format!("{id}.{ending}")));
        }
        let silent = || Failure::File(format!("a test event of {} did not arrive", agent.title()));
        arrived?.ok_or_else(silent)
    }

    /// Calls the hook of the event after which the agent's transcript is read.
    fn send(&self, context: &CliContext<'_>, id: &str, transcript: &Path) -> Result<(), Failure> {
        let words = HermaEntries::of(context, false)?.words(self.agent.name(), EventName::Stop);
        let failed = |error: std::io::Error| Failure::File(format!("the hook of {}: {error}", self.agent.title()));
        let Some((program, arguments)) = words.split_first() else { return Ok(()) };
        let event = json!({
            "session_id": id, "transcript_path": transcript, "hook_event_name": EventName::Stop.hook(),
            "cwd": transcript.parent(),
        });
        let mut hook = Command::new(program);
        hook.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = hook.spawn().map_err(failed)?;
        let written = child.stdin.take().map(|mut input| input.write_all(event.to_string().as_bytes()));
        child.wait().map_err(failed)?;
        written.transpose().map_err(failed)?;
        Ok(())
    }
}
