use proptest::prelude::*;

use super::*;

/// Exchanges as recorded: a call turn is followed by one response for each of its calls.
fn recorded() -> impl Strategy<Value = Vec<Turn>> {
    let exchange = prop_oneof![
        (1_usize..4, 0_usize..400).prop_map(|(calls, chars)| {
            let text = |tag: &str| format!("<{tag}>{}</{tag}>", "x".repeat(chars));
            let mut turns = vec![("gpt", text("tool_call").repeat(calls))];
            turns.extend((0..calls).map(|_| ("tool", text("tool_response"))));
            turns
        }),
        (0_usize..400).prop_map(|chars| vec![("gpt", "g".repeat(chars))]),
        (0_usize..400).prop_map(|chars| vec![("human", "h".repeat(chars))]),
    ];
    (any::<bool>(), prop::collection::vec(exchange, 0..30)).prop_map(|(has_system, exchanges)| {
        let system = has_system.then(|| ("system", "Use <tool_call> and <tool_response>.".to_owned()));
        let turns = system.into_iter().chain(exchanges.into_iter().flatten());
        turns
            .map(|(from, value)| Turn::parse(serde_json::json!({ "from": from, "value": value }).to_string()).unwrap())
            .collect()
    })
}

fn settings() -> impl Strategy<Value = Config> {
    (1_u64..4_000, 1_u64..300, 0_usize..9, any::<[bool; 6]>()).prop_map(|(target, summary, last, flags)| {
        let mut made = config(target, summary);
        let protected = &mut made.protected_turns;
        protected.last_n_turns = last;
        [protected.first_system, protected.first_human, protected.first_gpt, protected.first_tool] =
            [flags[0], flags[1], flags[2], flags[3]];
        made.output.add_summary_notice = flags[4];
        made.processing.skip_under_target = flags[5];
        made
    })
}

fn tags(turns: &[Turn], tag: &str) -> usize {
    turns.iter().filter(|turn| turn.from() != From::System).map(|turn| turn.value().matches(tag).count()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_promised_holds(turns in recorded(), config in settings(), written in "[ -~]{0,80}|<tool_call>", own in any::<bool>()) {
        let tokens = tokens(&turns);
        let plan = plan(&turns, &tokens, &config);
        let written = if own { record(plan.replaced(&turns), plan.start, config.compression.summary_target_tokens, Count::Chars) } else { written };
        let done = apply(&turns, &tokens, &plan, &written, Calls::default(), &config, Count::Chars);

        prop_assert!(done.row.compressed_tokens <= done.row.original_tokens);
        prop_assert_eq!(done.row.compressed_turns, done.turns.len());
        let Some((start, until)) = done.row.region else {
            prop_assert_eq!(&done.turns, &turns);
            prop_assert!(done.skip.is_some());
            return Ok(());
        };
        // Protected turns are outside, and turns outside stay in their order; only the notice is added.
        prop_assert!(plan.protected.iter().all(|at| !(start..until).contains(at)));
        prop_assert!(start < until && until <= plan.end);
        let kept = turns[..start].iter().chain(&turns[until..]);
        let stays = done.turns[..start].iter().chain(&done.turns[start + 1..]);
        for (before, after) in kept.zip(stays) {
            if before.from() == From::System && config.output.add_summary_notice {
                prop_assert!(after.value().starts_with(before.value()));
            } else {
                prop_assert_eq!(before, after);
            }
        }
        prop_assert_eq!(done.turns.len(), turns.len() - (until - start) + 1);
        prop_assert!(done.turns[start].value().starts_with(PREFIX));
        // No response without its call.
        let is_answered = |pair: &[Turn]| pair[1].from() != From::Tool || matches!(pair[0].from(), From::Tool | From::Gpt);
        prop_assert!(done.turns.windows(2).all(is_answered), "a response stands alone");
        prop_assert_eq!(tags(&done.turns, "<tool_call>"), tags(&done.turns, "<tool_response>"));
    }
}
