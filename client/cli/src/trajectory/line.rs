//! Compresses one line: the daemon returns a shorter conversation.

use std::time::Duration;

use herma_base::{CliContext, Failure};
use herma_client::protocol::trajectory::metrics::{Region, Row};
use herma_client::protocol::trajectory::{CompressParams, CompressResult, Count, Plan};
use herma_client::protocol::{ErrorKind, Json};
use herma_client::{Client, ClientError};

use super::entry::{Entry, Members};
use super::tokens::Counter;

/// How often a request is sent to a busy daemon.
const TRIES: u32 = 20;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// The settings for all lines.
#[derive(Debug)]
pub(super) struct LineOptions {
    /// The configuration in force, from the daemon.
    pub(super) config: Json,
    pub(super) summarizer: Option<String>,
    pub(super) counter: Option<Counter>,
    pub(super) is_dry: bool,
    /// The timeout for one trajectory.
    pub(super) timeout: Duration,
    pub(super) target: u64,
    /// Whether compressed trajectories get their metrics.
    pub(super) tells_metrics: bool,
    /// Whether trajectories that are still over the target are written.
    pub(super) saves_over_limit: bool,
}

/// The result of a line.
#[derive(Debug)]
pub(super) enum LineOutcome {
    /// Nothing is written: the line is blank, or not in the sample.
    Nothing,
    /// The line contains no conversation, and is written unchanged.
    Passed,
    /// A conversation. `line` is the new line if it changed.
    Trajectory { row: Row, line: Option<String>, planned: u64 },
    /// A conversation that is still over the target, and is not written because of that.
    LeftOut { row: Row },
    /// The line took too long, and is not written.
    TimedOut { why: String },
    /// The line is longer than the longest request, and is written unchanged. It starts at `start` in its file.
    TooLong { start: u64 },
    /// The line could not be compressed, and is written unchanged.
    Failed { why: String },
}

/// Compresses lines on its own connection.
pub(super) struct Worker<'a> {
    context: &'a CliContext<'a>,
    manner: &'a LineOptions,
    client: Option<Client>,
}

impl<'a> Worker<'a> {
    pub(super) const fn new(context: &'a CliContext<'a>, manner: &'a LineOptions) -> Self {
        Self { context, manner, client: None }
    }

    /// Compresses a line.
    ///
    /// # Errors
    /// The daemon or the tokenizer is gone, which ends the whole run.
    pub(super) fn work(&mut self, line: &[u8]) -> Result<LineOutcome, Failure> {
        let failed = |why: String| Ok(LineOutcome::Failed { why });
        let Ok(text) = std::str::from_utf8(line) else { return failed("not UTF-8".to_owned()) };
        let (members, turns) = match Entry::read(text) {
            Ok(Entry::Blank) => return Ok(LineOutcome::Nothing),
            Ok(Entry::Other) => return Ok(LineOutcome::Passed),
            Ok(Entry::Trajectory(members, turns)) => (members, turns),
            Err(why) => return failed(why),
        };
        let tokens = self.manner.counter.as_ref().map(|counter| counter.turns(&turns)).transpose()?;
        match self.compress(turns, tokens) {
            Ok(result) => self.written(&members, result),
            Err(ClientError::Rpc(error)) => match error.kind {
                ErrorKind::DeadlineExceeded => Ok(LineOutcome::TimedOut { why: "it took too long".to_owned() }),
                ErrorKind::InvalidParams | ErrorKind::TooLarge | ErrorKind::ParseError | ErrorKind::Internal => {
                    // A frame that is too large ends its connection.
                    self.client = None;
                    failed(error.message)
                }
                _ => Err(ClientError::Rpc(error).into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    fn compress(&mut self, turns: Vec<Json>, tokens: Option<Vec<u64>>) -> Result<CompressResult, ClientError> {
        let manner = self.manner;
        let params = CompressParams {
            tokens: tokens.map(|tokens| vec![tokens]),
            conversations: vec![turns],
            config: Some(manner.config.clone()),
            summaries: None,
            summarizer: manner.summarizer.clone(),
            count: Some(Count::Script),
            dry_run: Some(manner.is_dry),
        };
        for _ in 1..TRIES {
            match self.client()?.trajectory_compress(params.clone()) {
                Err(ClientError::Rpc(error)) if error.kind == ErrorKind::Busy => std::thread::sleep(PAUSE),
                answer => return answer,
            }
        }
        self.client()?.trajectory_compress(params)
    }

    fn client(&mut self) -> Result<&mut Client, ClientError> {
        let client = match self.client.take() {
            Some(client) => client,
            None => {
                let mut client = self.context.connect()?;
                client.set_timeout(Some(self.manner.timeout))?;
                client
            }
        };
        Ok(self.client.insert(client))
    }

    fn written(&self, members: &Members<'_>, result: CompressResult) -> Result<LineOutcome, Failure> {
        let manner = self.manner;
        let taken = (result.conversations.into_iter().next(), result.metrics.into_iter().next(), result.plans.first());
        let (Some(turns), Some(row), Some(plan)) = taken else {
            return Ok(LineOutcome::Failed { why: "the daemon's answer lacks it".to_owned() });
        };
        let row = count_noun(row, &turns, manner)?;
        if row.still_over_limit && !manner.saves_over_limit && !manner.is_dry {
            return Ok(LineOutcome::LeftOut { row });
        }
        let line = row.was_compressed.then(|| {
            let metrics = manner.tells_metrics.then(|| serde_json::to_string(&row).unwrap_or_default());
            members.with(&turns, metrics.as_deref())
        });
        Ok(LineOutcome::Trajectory { row, line, planned: replaced(plan) })
    }
}

/// Returns the row with an exact count of the new turns, if there is a tokenizer.
fn count_noun(row: Row, turns: &[Json], manner: &LineOptions) -> Result<Row, Failure> {
    let Some(counter) = manner.counter.as_ref().filter(|_| row.was_compressed) else { return Ok(row) };
    let tokens = counter.turns(turns)?.iter().sum();
    if tokens <= row.original_tokens {
        return Ok(row.recounted(tokens, manner.target));
    }
    // The estimate of the summary was too low, so the conversation stays unchanged.
    let turns = row.original_turns;
    let original = row.original_tokens;
    let kept = Row { was_compressed: false, compressed_turns: turns, turns_removed: 0, ..row };
    Ok(Row { compression_ratio: 1.0, compression_region: Region::NONE, ..kept.recounted(original, manner.target) })
}

/// Returns the number of turns that a plan replaces.
const fn replaced(plan: &Plan) -> u64 {
    if plan.skip.is_some() { 0 } else { plan.until.saturating_sub(plan.start) }
}
