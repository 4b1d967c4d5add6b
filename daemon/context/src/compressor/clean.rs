//! The turns as a record without a model sees them: nothing of a secret is in them, so none can
//! come into the handoff, however the turns are cut and quoted.

use std::collections::HashMap;

use rayon::prelude::*;

use super::layout::{Brief, Layout};
use crate::message::{Message, Role};
use crate::parallel::FEW_MESSAGES;
use crate::redaction::Redaction;
use crate::{pairs, prune};

/// Messages without their secrets.
pub(super) fn messages(all: &[&Message], redaction: Redaction) -> Vec<Message> {
    all.par_iter().with_min_len(FEW_MESSAGES).map(|message| redaction.message(message)).collect()
}

/// Turns without their secrets.
pub(super) struct Clean {
    /// Pruned, as those of the brief.
    pub(super) turns: Vec<Message>,
    /// The same turns unpruned.
    pub(super) originals: Vec<Message>,
}

impl Clean {
    /// Of the turns of a brief; `originals` are these turns as they stood in the input.
    pub(super) fn of(
        input: &[Message],
        layout: &Layout,
        brief: &Brief,
        originals: &[&Message],
        redaction: Redaction,
    ) -> Self {
        let clean = messages(originals, redaction);
        let known: HashMap<usize, &Message> = brief.indexes.iter().copied().zip(&clean).collect();
        let is_pruned = |(at, turn): (&usize, &Message)| {
            layout.pruned.get(*at).is_some_and(|pruned| pruned.same(turn))
                && input.get(*at).is_some_and(|original| !original.same(turn))
        };
        let callers = match brief.indexes.iter().zip(&brief.turns).any(is_pruned) {
            true => pairs::callers(input),
            false => Vec::new(),
        };
        // What was pruned has been cut with its secrets in it, so it is pruned anew.
        let pruned = |at: usize, original: &Message| {
            let call = callers.get(at).copied().flatten();
            let caller = call.and_then(|(caller, _)| match known.get(&caller) {
                Some(clean) => Some((*clean).clone()),
                None => input.get(caller).map(|message| redaction.message(message)),
            });
            let call = caller.as_ref().zip(call).map(|(caller, (_, index))| (caller, index));
            prune::shorter_result(original, call).unwrap_or_else(|| original.clone())
        };
        let turns = brief.turns.iter().zip(&brief.indexes).zip(&clean).map(|((turn, &at), original)| {
            match is_pruned((&at, turn)) && turn.is(Role::Tool) {
                true if turn.text() == prune::DUPLICATE => turn.clone(),
                true => pruned(at, original),
                false => original.clone(),
            }
        });
        Self { turns: turns.collect(), originals: clean }
    }
}
