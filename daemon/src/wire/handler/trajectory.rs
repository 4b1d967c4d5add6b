//! `trajectory.compress`: shortens recorded conversations. Nothing is stored.

use herma_context::trajectory::{self, Calls, Config, Count, Plan, Row, Skip, Turn};
use herma_protocol::trajectory::metrics::{self, Region, Totals};
use herma_protocol::trajectory::{CompressParams, CompressResult, Count as WireCount, Plan as WirePlan};
use herma_protocol::{Json, limits};
use serde_json::Value;

use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::owners::blocking::blocking;
use crate::service::trajectories::{Trajectory, Work};
use crate::wire::services::Services;

const METHOD: &str = "trajectory.compress";

pub(super) async fn compress(services: &Services, params: CompressParams) -> Outcome<CompressResult> {
    let started = unix_now();
    let kinds = services.trajectories.kinds(params.summarizer.as_deref())?;
    let is_dry = params.dry_run == Some(true);
    let mut work = blocking(METHOD, move || read(params)).await?;
    if !is_dry {
        work = services.trajectories.write(&kinds, work).await?;
    }
    blocking(METHOD, move || answer(work, is_dry, started)).await
}

/// Reads the parameters and plans each conversation.
fn read(params: CompressParams) -> Outcome<Work> {
    let CompressParams { conversations, config, tokens, summaries, count, .. } = params;
    within("conversations", conversations.len(), limits::TRAJECTORIES)?;
    let config = config.map_or_else(|| Ok(Config::default()), |config| read_config(&config))?;
    let count = match count.unwrap_or_default() {
        WireCount::Chars => Count::Chars,
        WireCount::Script => Count::Script,
    };
    one_for_each("tokens", tokens.as_ref().map(Vec::len), conversations.len())?;
    one_for_each("summaries", summaries.as_ref().map(Vec::len), conversations.len())?;
    let mut given_tokens = tokens.into_iter().flatten();
    let mut given_summaries = summaries.into_iter().flatten();
    let trajectories = conversations.into_iter().enumerate().map(|(at, turns)| {
        let turns = read_turns(at, turns)?;
        let tokens: Vec<u64> = match given_tokens.next() {
            Some(tokens) => {
                one_for_each(&format!("tokens[{at}]"), Some(tokens.len()), turns.len())?;
                tokens.into_iter().map(|tokens| tokens.min(u64::from(u32::MAX))).collect()
            }
            None => turns.iter().map(|turn| count.tokens(turn.value())).collect(),
        };
        let summary = given_summaries.next();
        within(&format!("summaries[{at}]"), summary.as_ref().map_or(0, String::len), limits::TRAJECTORY_SUMMARY)?;
        let plan = trajectory::plan(&turns, &tokens, &config);
        Ok(Trajectory { turns, tokens, plan, summary, calls: Calls::default() })
    });
    Ok(Work { trajectories: trajectories.collect::<Outcome<_>>()?, config, count })
}

/// Reads the configuration. A string is YAML.
fn read_config(config: &Json) -> Outcome<Config> {
    within("config", config.get().len(), limits::TRAJECTORY_CONFIG)?;
    let value: Value = serde_json::from_str(config.get()).map_err(|error| Error::param("config", error))?;
    let config = match &value {
        Value::String(yaml) => Config::from_yaml(yaml),
        _ => Config::from_value(value),
    };
    config.map_err(|error| Error::param("config", error))
}

fn read_turns(at: usize, turns: Vec<Json>) -> Outcome<Vec<Turn>> {
    let turns = turns.into_iter().enumerate().map(|(index, turn)| {
        Turn::parse(turn.into_text()).map_err(|error| Error::param(&format!("conversations[{at}][{index}]"), error))
    });
    turns.collect()
}

fn within(param: &str, size: usize, most: usize) -> Outcome<()> {
    if size <= most { Ok(()) } else { Err(Error::param(param, format!("{size} are too many; at most {most}"))) }
}

fn one_for_each(param: &str, given: Option<usize>, wanted: usize) -> Outcome<()> {
    match given {
        Some(given) if given != wanted => Err(Error::param(param, format!("{given} items where {wanted} are needed"))),
        _ => Ok(()),
    }
}

/// Executes the plans, and returns the result.
fn answer(work: Work, is_dry: bool, started: f64) -> Outcome<CompressResult> {
    let Work { config, count, trajectories } = work;
    let (mut conversations, mut plans, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut totals = Totals::default();
    for Trajectory { turns, tokens, mut plan, summary, calls } in trajectories {
        let input =
            if plan.skip.is_some() { String::new() } else { trajectory::summary_input(&turns, plan.start, plan.until) };
        let (turns, row) = match summary {
            Some(summary) if !is_dry && plan.skip.is_none() => {
                let done = trajectory::apply(&turns, &tokens, &plan, &summary, calls, &config, count);
                plan.skip = done.skip;
                (done.turns, done.row)
            }
            _ => (turns, trajectory::unchanged(&tokens, &config, calls)),
        };
        let row = wire_row(&row);
        totals.add(&row);
        rows.push(row);
        plans.push(wire_plan(&plan, input));
        conversations.push(turns.into_iter().map(|turn| json(turn.into_raw())).collect::<Outcome<_>>()?);
    }
    let config = Json::from_value(&config).map_err(|_| Error::internal(METHOD))?;
    let aggregate = totals.aggregate(started, unix_now());
    Ok(CompressResult { conversations, plans, metrics: rows, aggregate, config })
}

fn json(text: String) -> Outcome<Json> {
    Json::parse(text).map_err(|error| {
        tracing::error!("a turn of a trajectory: {error}");
        Error::internal(METHOD)
    })
}

fn wire_plan(plan: &Plan, summary_input: String) -> WirePlan {
    WirePlan {
        protected: plan.protected.iter().map(|at| to_u64(*at)).collect(),
        start: to_u64(plan.start),
        end: to_u64(plan.end),
        until: to_u64(plan.until),
        summary_input,
        skip: plan.skip.map(Skip::name).map(str::to_owned),
    }
}

fn wire_row(row: &Row) -> metrics::Row {
    let position = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
    let compression_region = row.region.map_or(Region::NONE, |(start, end)| Region {
        start_idx: position(start),
        end_idx: position(end),
        turns_count: to_u64(end - start),
    });
    let was_compressed = row.region.is_some();
    let ratio = if was_compressed { metrics::fraction(row.compressed_tokens, row.original_tokens) } else { None };
    metrics::Row {
        original_tokens: row.original_tokens,
        compressed_tokens: row.compressed_tokens,
        tokens_saved: row.original_tokens.saturating_sub(row.compressed_tokens),
        compression_ratio: ratio.unwrap_or(1.0),
        original_turns: to_u64(row.original_turns),
        compressed_turns: to_u64(row.compressed_turns),
        turns_removed: to_u64(row.original_turns.saturating_sub(row.compressed_turns)),
        compression_region,
        was_compressed,
        still_over_limit: row.still_over_limit,
        skipped_under_target: row.skipped_under_target,
        summarization_api_calls: row.calls.made,
        summarization_errors: row.calls.failed,
    }
}
