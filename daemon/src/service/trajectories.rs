//! Compression of recorded conversations. Writes the summaries that the caller did not give. Nothing is stored.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use herma_context::outcome::FailureKind;
use herma_context::trajectory::config::DEFAULT_MODEL;
use herma_context::trajectory::{self, Calls, Config, Count, Plan, Turn as Said};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::summary_runner::{self, Policy, Question, Turn};
use crate::data::error::{Error, Outcome};
use crate::data::summarizer_kind::Kind;
use crate::owners::blocking::blocking;
use crate::owners::summarizer::{Failure, Main, Summarizers};

/// The name of the work in errors.
const METHOD: &str = "trajectory.compress";

/// The assumed number of chars per token, when a model's window limits the input.
const CHARS_PER_TOKEN: usize = 3;

/// Replaces the middle of a text that was cut for a small window.
const CUT: &str = "\n\n...[turns left out]...\n\n";

/// Writes the summaries of recorded conversations.
#[derive(Debug)]
pub(crate) struct TrajectoryService {
    pub summarizers: Arc<Summarizers>,
}

/// Conversations, with the plan for each.
#[derive(Debug)]
pub(crate) struct Work {
    pub config: Config,
    pub count: Count,
    pub trajectories: Vec<Trajectory>,
}

/// One conversation.
#[derive(Debug)]
pub(crate) struct Trajectory {
    pub turns: Vec<Said>,
    /// The tokens of each turn.
    pub tokens: Vec<u64>,
    pub plan: Plan,
    /// The summary as it goes into the list; `None` if it is missing or the plan replaces nothing.
    pub summary: Option<String>,
    pub calls: Calls,
}

impl TrajectoryService {
    /// Returns the requested summarizer, else those of the configuration that can write without the agent.
    pub(crate) fn kinds(&self, asked: Option<&str>) -> Outcome<Vec<Kind>> {
        let kinds = match self.summarizers.named(asked)? {
            Some(Kind::Client) => {
                return Err(Error::param("summarizer", "\"client\" writes none here; give `summaries`"));
            }
            Some(kind) => vec![kind],
            None => self.summarizers.chain().iter().copied().filter(|kind| *kind != Kind::Client).collect(),
        };
        Ok(if kinds.is_empty() { vec![Kind::Extractive] } else { kinds })
    }

    /// Writes all missing summaries. Dropping the future ends the calls.
    pub(crate) async fn write(&self, kinds: &[Kind], mut work: Work) -> Outcome<Work> {
        if kinds.first() != Some(&Kind::Extractive) {
            let (read, needs) = blocking(METHOD, move || Ok(needs(work))).await?;
            work = read;
            let slots = Arc::new(Semaphore::new(work.config.processing.max_concurrent_requests));
            let config = Arc::new(work.config.clone());
            let mut tasks = JoinSet::new();
            for Need { at, input } in needs {
                let summarizers = Arc::clone(&self.summarizers);
                let mut writing = Writing {
                    summarizers: Arc::clone(&self.summarizers),
                    kinds: kinds.to_vec(),
                    next: 0,
                    attempt: 0,
                    input,
                    config: Arc::clone(&config),
                    slots: Arc::clone(&slots),
                    slot: None,
                    calls: Calls::default(),
                };
                tasks.spawn(async move {
                    let text = summary_runner::run(&summarizers, &mut writing).await;
                    (at, text, writing.calls)
                });
            }
            while let Some(done) = tasks.join_next().await {
                let (at, text, calls) = done.map_err(|_| Error::internal(METHOD))?;
                if let Some(trajectory) = work.trajectories.get_mut(at) {
                    // If all summarizers failed, the summary is a fixed text.
                    trajectory.summary = text?.unwrap_or_else(|| Some(trajectory::FAILED.to_owned()));
                    trajectory.calls = calls;
                }
            }
        }
        blocking(METHOD, move || {
            let (target, count) = (work.config.compression.summary_target_tokens, work.count);
            work.trajectories.iter_mut().for_each(|trajectory| stand_in(trajectory, target, count));
            Ok(work)
        })
        .await
    }
}

/// The input that one conversation has for a summarizer.
struct Need {
    at: usize,
    input: String,
}

fn needs(work: Work) -> (Work, Vec<Need>) {
    let missing = work.trajectories.iter().enumerate();
    let missing = missing.filter(|(_, trajectory)| trajectory.summary.is_none() && trajectory.plan.skip.is_none());
    let needs = missing.map(|(at, trajectory)| {
        let input = trajectory::summary_input(&trajectory.turns, trajectory.plan.start, trajectory.plan.until);
        Need { at, input: masked(&input) }
    });
    let needs = needs.collect();
    (work, needs)
}

fn masked(text: &str) -> String {
    herma_guard::redact(text, herma_guard::RedactOptions::default()).text.into_owned()
}

/// Writes the record as the summary, if there is none yet.
fn stand_in(trajectory: &mut Trajectory, target: u64, count: Count) {
    let Trajectory { turns, plan, summary, .. } = trajectory;
    if summary.is_none() && plan.skip.is_none() {
        *summary = Some(trajectory::record(plan.replaced(turns), plan.start, target, count));
    }
}

/// Writes the summary of one conversation. Each summarizer is tried several times.
struct Writing {
    summarizers: Arc<Summarizers>,
    kinds: Vec<Kind>,
    next: usize,
    /// The number of attempts with the current summarizer.
    attempt: u32,
    input: String,
    config: Arc<Config>,
    /// Limits the simultaneous calls, over all conversations.
    slots: Arc<Semaphore>,
    slot: Option<OwnedSemaphorePermit>,
    calls: Calls,
}

impl Policy for Writing {
    /// `None` if the record, which needs no model, has to replace the summary.
    type Text = Option<String>;

    fn current(&self) -> Option<Kind> {
        self.kinds.get(self.next).copied()
    }

    async fn turn(&mut self, kind: Kind) -> Outcome<Turn<Option<String>>> {
        if kind == Kind::Extractive {
            return Ok(Turn::End(None));
        }
        if self.config.summarization.max_retries == 0 {
            self.go_on();
            return Ok(Turn::Skip);
        }
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| Error::internal(METHOD))?;
        self.slot = Some(slot);
        self.calls.made += 1;
        let target = self.config.compression.summary_target_tokens;
        let max_tokens = target.saturating_mul(2);
        let input = fitted(&self.input, self.summarizers.context_length(kind), max_tokens);
        // The default model's name means nothing to a custom endpoint.
        let model = Some(self.config.summarization.model.as_str());
        let model = model.filter(|model| *model != DEFAULT_MODEL && !model.is_empty()).map(str::to_owned);
        let prompt = trajectory::prompt(&input, target);
        Ok(Turn::Ask(Box::new(Question { prompt, max_tokens, model, main: Main::default() })))
    }

    async fn accept(&mut self, _kind: Kind, text: String) -> Outcome<Option<Option<String>>> {
        self.slot = None;
        Ok(Some(Some(masked(&text))))
    }

    fn failed(&mut self, kind: Kind, failure: Failure) -> Duration {
        self.slot = None;
        self.calls.failed += 1;
        tracing::info!(model = failure.model, "{} failed: {}", kind.name(), failure.text);
        self.attempt += 1;
        if failure.kind == FailureKind::NoProvider || self.attempt >= self.config.summarization.max_retries {
            self.go_on();
            return Duration::ZERO;
        }
        let pause = trajectory::backoff_s(self.config.summarization.retry_delay, self.attempt - 1, jitter());
        Duration::from_secs_f64(pause)
    }
}

impl Writing {
    const fn go_on(&mut self) {
        (self.next, self.attempt) = (self.next + 1, 0);
    }
}

/// Returns a random number from 0 to 1.
fn jitter() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

/// Returns the beginning and the end of a text that is too long for this window.
fn fitted(input: &str, window: Option<u64>, max_tokens: u64) -> String {
    let Some(window) = window else { return input.to_owned() };
    let room = usize::try_from(window.saturating_sub(max_tokens + 500)).unwrap_or(usize::MAX);
    let chars = room.saturating_mul(CHARS_PER_TOKEN).max(1_000);
    let count = input.chars().count();
    if count <= chars {
        return input.to_owned();
    }
    let head: String = input.chars().take(chars / 2).collect();
    let tail: String = input.chars().skip(count - chars / 2).collect();
    format!("{head}{CUT}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_for_a_window_loses_its_middle() {
        let text = "a".repeat(5_000) + &"z".repeat(5_000);
        assert_eq!(fitted(&text, None, 1_500), text);
        assert_eq!(fitted(&text, Some(100_000), 1_500), text);
        let cut = fitted(&text, Some(4_000), 1_500);
        assert!(cut.len() < 6_100 && cut.starts_with("aaa") && cut.ends_with("zzz") && cut.contains(CUT));
        assert!(fitted(&text, Some(1), 1_500).len() < 1_100);
    }

    #[test]
    fn jitter_is_a_fraction() {
        assert!((0..100).all(|_| (0.0..=1.0).contains(&jitter())));
    }
}
