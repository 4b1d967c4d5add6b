//! Input: recorded conversations, as a line of a file and as turns to compress. Compression loses no protected turn.

use herma_context::trajectory::{Calls, Config, Count, Turn, apply, plan, summary_input};

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    text.lines().for_each(herma_cli::recorded_holds);
    let turns: Vec<Turn> = text.lines().filter_map(|line| Turn::parse(line.to_owned()).ok()).collect();
    let tokens: Vec<u64> = turns.iter().map(|turn| Count::Chars.tokens(turn.value())).collect();
    let mut config = Config::default();
    config.compression.target_max_tokens = text.len() as u64 % 50;
    config.compression.summary_target_tokens = 5;
    config.protected_turns.last_n_turns = text.len() % 4;
    let planned = plan(&turns, &tokens, &config);
    assert!(planned.until <= turns.len() && planned.start <= planned.until);
    drop(summary_input(&turns, planned.start, planned.until));
    let compressed = apply(&turns, &tokens, &planned, "what was", Calls::default(), &config, Count::Chars);
    if compressed.skip.is_some() {
        assert_eq!(compressed.turns, turns);
        return;
    }
    for at in planned.protected.iter().filter(|at| !(planned.start..planned.until).contains(at)) {
        assert!(compressed.turns.iter().any(|turn| turn.value().starts_with(turns[*at].value())));
    }
}
