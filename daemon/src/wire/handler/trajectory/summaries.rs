//! Who writes the summaries that the caller did not give.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use herma_context::trajectory::config::DEFAULT_MODEL;
use herma_context::trajectory::{self, Calls, Config, Count};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{METHOD, Trajectory, Work};
use crate::data::error::{Error, Outcome};
use crate::data::summarizer_kind::Kind;
use crate::owners::summarizer::{Call, FailureKind, Main};
use crate::wire::handler::{blocking, context};
use crate::wire::state::State;

/// Chars that are counted on for a token where a model's window bounds what it reads.
const CHARS_PER_TOKEN: usize = 3;

/// What stands where a text for a small window was cut.
const CUT: &str = "\n\n...[turns left out]...\n\n";

/// The summarizer that is asked for, else those of the configuration that can write without the
/// agent.
pub(super) fn kinds(state: &State, asked: Option<&str>) -> Outcome<Vec<Kind>> {
    let kinds = match context::summarizer(state, asked)? {
        Some(Kind::Client) => return Err(Error::param("summarizer", "\"client\" writes none here; give `summaries`")),
        Some(kind) => vec![kind],
        None => state.summarizers.chain().iter().copied().filter(|kind| *kind != Kind::Client).collect(),
    };
    Ok(if kinds.is_empty() { vec![Kind::Extractive] } else { kinds })
}

/// What one conversation needs of a summarizer.
struct Need {
    at: usize,
    input: String,
}

/// What came of it.
struct Written {
    at: usize,
    /// `None` where the record is to stand in, that needs no model.
    text: Option<String>,
    calls: Calls,
}

/// Has all summaries written that are missing. Dropping the future ends the calls.
pub(super) async fn write(state: &Arc<State>, kinds: &[Kind], mut work: Work) -> Outcome<Work> {
    if kinds.first() != Some(&Kind::Extractive) {
        let (read, needs) = blocking(METHOD, move || Ok(needs(work))).await?;
        work = read;
        let turn = Arc::new(Semaphore::new(work.config.processing.max_concurrent_requests));
        let config = Arc::new(work.config.clone());
        let mut tasks = JoinSet::new();
        for need in needs {
            let (state, kinds, config, turn) =
                (Arc::clone(state), kinds.to_vec(), Arc::clone(&config), Arc::clone(&turn));
            tasks.spawn(async move { one(&state, &kinds, need, &config, &turn).await });
        }
        while let Some(done) = tasks.join_next().await {
            let Written { at, text, calls } = done.map_err(|_| Error::internal(METHOD))?;
            if let Some(trajectory) = work.trajectories.get_mut(at) {
                (trajectory.summary, trajectory.calls) = (text, calls);
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

/// The record, where nothing is written yet.
fn stand_in(trajectory: &mut Trajectory, target: u64, count: Count) {
    let Trajectory { turns, plan, summary, .. } = trajectory;
    if summary.is_none() && plan.skip.is_none() {
        *summary = Some(trajectory::record(plan.replaced(turns), plan.start, target, count));
    }
}

/// Asks one summarizer after the other; the fixed text where all failed.
async fn one(state: &State, kinds: &[Kind], need: Need, config: &Config, turn: &Semaphore) -> Written {
    let mut calls = Calls::default();
    for kind in kinds {
        if *kind == Kind::Extractive {
            return Written { at: need.at, text: None, calls };
        }
        if let Some(text) = asked(state, *kind, &need.input, config, turn, &mut calls).await {
            return Written { at: need.at, text: Some(masked(&text)), calls };
        }
    }
    Written { at: need.at, text: Some(trajectory::FAILED.to_owned()), calls }
}

/// Asks one summarizer, several times where it fails.
async fn asked(
    state: &State,
    kind: Kind,
    input: &str,
    config: &Config,
    turn: &Semaphore,
    calls: &mut Calls,
) -> Option<String> {
    let target = config.compression.summary_target_tokens;
    let max_tokens = target.saturating_mul(2);
    let prompt = trajectory::prompt(&fitted(input, state.summarizers.context_length(kind), max_tokens), target);
    // The default's name means nothing to an endpoint of one's own.
    let model = Some(config.summarization.model.as_str()).filter(|model| *model != DEFAULT_MODEL && !model.is_empty());
    let main = Main::default();
    for attempt in 0..config.summarization.max_retries {
        if attempt > 0 {
            let pause = trajectory::backoff_s(config.summarization.retry_delay, attempt - 1, jitter());
            tokio::time::sleep(Duration::from_secs_f64(pause)).await;
        }
        let allowed = turn.acquire().await.ok()?;
        calls.made += 1;
        let written = state.summarizers.write(kind, Call { prompt: &prompt, max_tokens, model, main: &main }).await;
        drop(allowed);
        match written {
            Ok(written) => return Some(written.text),
            Err(failure) => {
                calls.failed += 1;
                tracing::info!(model = failure.model, "{} failed: {}", kind.name(), failure.text);
                if failure.kind == FailureKind::NoProvider {
                    return None;
                }
            }
        }
    }
    None
}

/// A number from 0 to 1 that is another one each time.
fn jitter() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

/// The beginning and the end of a text that is too long for a window of so many tokens.
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
