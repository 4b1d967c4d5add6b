//! Makes room for the handoff of a list that is nearly full: outputs of the tail are shortened before the
//! handoff loses content.

use hashbrown::HashSet;

use super::exchange::Exchange;
use super::layout::Layout;
use crate::importance::Importance;
use crate::message::{Message, Role};
use crate::prune::DUPLICATE;
use crate::redaction::Redaction;
use crate::tokens::Load;
use crate::{pairs, prune};

/// Shortens outputs of the tail until so many tokens are free or no more are left. Outputs of the newest
/// messages and of the last exchange stay, because the model may not have read them yet. Outputs of at most
/// mean importance come first, then the others, each in the order of the list. Returns the shortened
/// positions.
pub(super) fn shorten_tail_outputs(
    layout: &mut Layout,
    messages: &[Message],
    tokens: u64,
    scores: &[Importance],
    redaction: Redaction,
) -> Vec<usize> {
    let newest = messages.len().saturating_sub(layout.min_tail).min(Exchange::of(messages, layout.start).from);
    // Outputs to which an earlier duplicate refers stay. Images stay because their importance is unknown.
    let duplicates = layout.pruned.iter().zip(messages).filter(|(pruned, _)| pruned.text() == DUPLICATE);
    let named: HashSet<&str> =
        duplicates.filter_map(|(_, message)| Some(message.slice(message.content_span()?))).collect();
    let is_whole = |at: &usize| {
        let Some((old, new)) = messages.get(*at).zip(layout.pruned.get(*at)) else { return false };
        let is_named = old.content_span().is_some_and(|span| named.contains(old.slice(span)));
        let is_pinned = layout.pinned.binary_search(at).is_ok();
        !is_pinned && old.is(Role::Tool) && old.same(new) && !old.has_image() && !is_named
    };
    let mut order: Vec<usize> = (layout.tail..newest).filter(is_whole).collect();
    let score = |at: &usize| scores.get(*at).map_or(0, |importance| importance.score);
    let mean = order.iter().map(score).sum::<u32>() / u32::try_from(order.len()).unwrap_or(u32::MAX).max(1);
    order.sort_by_key(|at| (score(at) > mean, *at));
    let callers = pairs::callers(messages);
    let mut freed = 0;
    let mut shortened = Vec::new();
    for at in order {
        if freed >= tokens {
            break;
        }
        let call = callers.get(at).copied().flatten().and_then(|(by, index)| Some((messages.get(by)?, index)));
        let Some(message) = messages.get(at) else { continue };
        let Some(stub) = prune::stub(message, call, redaction) else { continue };
        let (Some(place), Some(load)) = (layout.pruned.get_mut(at), layout.loads.get_mut(at)) else { continue };
        let of_stub = Load::of(&stub);
        let saved = load.tokens().saturating_sub(of_stub.tokens());
        if saved > 0 {
            freed += saved;
            *load = of_stub;
            *place = stub;
            layout.pruned_count += 1;
            shortened.push(at);
        }
    }
    shortened.sort_unstable();
    shortened
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::importance::importance;
    use crate::testing::{call, call_of, result, say, settings};

    #[test]
    fn the_oldest_outputs_that_nothing_refers_to_give_way_first() {
        let long = |name: &str| format!("see {name} {}", "and many words besides ".repeat(60));
        let mut list = vec![say("system", "you help"), say("user", "go on")];
        for at in 0..12 {
            let id = at.to_string();
            // The last call refers to the first output.
            let given = if at == 11 { r#"{"path": "name_0_x"}"# } else { "{}" };
            list.extend([call_of(&id, "look", given), result(&id, &long(&format!("name_{at}_x")))]);
        }
        let layout = Layout { tail: 2, ..Layout::of(&list, &settings(200_000, 1, 20)) };
        let scores = importance(&list);
        let short = |tokens: u64| {
            let mut layout = layout.clone();
            let short = shorten_tail_outputs(&mut layout, &list, tokens, &scores, Redaction::On);
            let changed: Vec<usize> = (0..list.len()).filter(|at| !layout.pruned[*at].same(&list[*at])).collect();
            assert_eq!((layout.pruned_count, &changed), (short.len(), &short));
            short
        };
        assert_eq!(short(0), [0_usize; 0]);
        assert_eq!(short(1), [5]);
        assert_eq!(short(600), [5, 7]);
        // The outputs of the newest eight messages stay.
        assert_eq!(short(u64::MAX), [3, 5, 7, 9, 11, 13, 15, 17]);
    }

    #[test]
    fn what_the_model_may_not_have_read_and_what_is_short_already_stays() {
        let long = |name: &str| format!("see {name}\n{}", "and many words besides ".repeat(60));
        let ids: Vec<String> = (0..12).map(|at| at.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut list = vec![say("system", "you help"), say("user", "go on"), call(&ids)];
        list.extend(ids.iter().map(|id| result(id, &long(&format!("name_{id}_x")))));
        let lent = |list: &[Message]| {
            let mut layout = Layout { tail: 1, ..Layout::of(list, &settings(200_000, 0, 20)) };
            shorten_tail_outputs(&mut layout, list, u64::MAX, &importance(list), Redaction::On);
            layout.pruned
        };
        assert!(lent(&list).iter().zip(&list).all(|(new, old)| new.same(old)));
        list.extend((0..9).map(|at| say("assistant", &at.to_string())));
        let once = lent(&list);
        assert!(once[3].text().contains("Kept of it"), "{}", once[3].text());
        let twice = lent(&once);
        assert!(twice.iter().zip(&once).all(|(new, old)| new.same(old)));
    }

    #[test]
    fn a_secret_is_no_part_of_what_an_output_keeps() {
        let secret = r#"{"user": "bob", "password": "hunter2hunter2hunter2", "log": ""#.to_owned()
            + &"words ".repeat(90)
            + "\"}";
        let mut list = vec![say("user", "go on"), call_of("1", "get_login", "{}"), result("1", &secret)];
        list.extend((0..9).map(|at| say("assistant", &at.to_string())));
        let mut layout = Layout { tail: 1, ..Layout::of(&list, &settings(200_000, 0, 20)) };
        shorten_tail_outputs(&mut layout, &list, u64::MAX, &importance(&list), Redaction::On);
        let kept = layout.pruned[2].text();
        assert!(kept.contains("user bob") && !kept.contains("hunter2hunter2"), "{kept}");
    }
}
