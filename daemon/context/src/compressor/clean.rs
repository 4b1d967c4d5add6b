//! The turns without their secrets. This step comes before any cutting or quoting: a secret is recognised by
//! the text around it, and a part of a secret is not recognised at all.

use hashbrown::HashMap;

use rayon::prelude::*;

use super::layout::{Brief, Layout};
use crate::message::{Message, Role};
use crate::parallel::FEW_MESSAGES;
use crate::persisted::without_frame;
use crate::redaction::Redaction;
use crate::replaced::Replaced;
use crate::{pairs, prune};

/// Turns without their secrets.
pub(crate) struct CleanTurns {
    /// The pruned turns, like those of the brief.
    pub(crate) pruned: Vec<Message>,
    /// The same turns unpruned.
    pub(crate) originals: Vec<Message>,
    /// Their positions in the list.
    pub(crate) indexes: Vec<usize>,
}

impl CleanTurns {
    /// Removes messages that the user later replaced, and returns how many.
    pub(super) fn leave_out(&mut self, replaced: &Replaced) -> usize {
        let stays: Vec<bool> =
            self.originals.iter().map(|turn| !turn.is(Role::User) || !replaced.has(&turn.text())).collect();
        if stays.iter().all(|stays| *stays) {
            return 0;
        }
        retain(&mut self.pruned, &stays);
        retain(&mut self.originals, &stays);
        retain(&mut self.indexes, &stays);
        stays.into_iter().filter(|stays| !stays).count()
    }

    /// Returns the turns of a brief, without secrets.
    pub(super) fn of(input: &[Message], layout: &Layout, brief: &Brief, redaction: Redaction) -> Self {
        // Returns the turn as in the input, if pruning changed it.
        let original = |at: usize, turn: &Message| -> Option<&Message> {
            let (pruned, original) = (layout.pruned.get(at)?, input.get(at)?);
            (pruned.same(turn) && !original.same(turn)).then_some(original)
        };
        let turns: Vec<(usize, &Message)> = brief.indexes.iter().copied().zip(&brief.turns).collect();
        let clean =
            |&(at, turn): &(usize, &Message)| redaction.message(&without_frame(original(at, turn).unwrap_or(turn)));
        let originals: Vec<Message> = turns.par_iter().with_min_len(FEW_MESSAGES).map(clean).collect();
        let known: HashMap<usize, &Message> = brief.indexes.iter().copied().zip(&originals).collect();
        let callers = if turns.iter().any(|(at, turn)| original(*at, turn).is_some()) {
            pairs::callers(input)
        } else {
            Vec::new()
        };
        let has_clean_caller = |at: usize| {
            let caller = callers.get(at).copied().flatten();
            caller.is_none_or(|(caller, _)| match (known.get(&caller), input.get(caller)) {
                (Some(clean), Some(dirty)) => clean.same(dirty),
                (None, Some(dirty)) => redaction.message(dirty).same(dirty),
                (_, None) => false,
            })
        };
        let caller = |at: usize| {
            let (caller, call) = callers.get(at).copied().flatten()?;
            let message = known.get(&caller).map(|message| (*message).clone());
            Some((message.or_else(|| Some(redaction.message(input.get(caller)?)))?, call))
        };
        // If the original had secrets, pruning cut it with the secrets inside. So the clean turn is pruned
        // again.
        let pruned = turns.iter().zip(&originals).map(|(&(at, turn), clean)| {
            let pruned_from = original(at, turn);
            let is_pruned = pruned_from.is_some();
            let had_none = pruned_from.is_some_and(|original| clean.same(original));
            let shorter = match turn.role() {
                Role::Tool if had_none && has_clean_caller(at) => Some(turn.clone()),
                Role::Tool if is_pruned && turn.text() == prune::DUPLICATE => Some(turn.clone()),
                Role::Tool if is_pruned => {
                    let caller = caller(at);
                    prune::shorter_result(clean, caller.as_ref().map(|(message, call)| (message, *call)))
                }
                Role::Assistant if had_none => Some(turn.clone()),
                _ if is_pruned => prune::shorter_calls(clean, prune::SHORT_ARGUMENTS_CHARS),
                _ => None,
            };
            shorter.unwrap_or_else(|| clean.clone())
        });
        let pruned = pruned.collect();
        drop(known);
        Self { pruned, originals, indexes: brief.indexes.clone() }
    }
}

fn retain<T>(items: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    items.retain(|_| stays.next().copied().unwrap_or(true));
}
