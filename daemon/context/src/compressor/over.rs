//! Reports what keeps a list over the threshold.

use super::exchange::Exchange;
use super::goal::Goal;
use crate::boundary;
use crate::message::{Message, Role};
use crate::request::Prompt;
use crate::run::{Over, OverPart, Part};
use crate::settings::Settings;
use crate::tokens::Load;

/// Reports why an unchanged list is over the threshold; `None` if it is below.
pub fn over(messages: &[Message], settings: &Settings, prompt: Prompt) -> Option<Over> {
    let goal = Goal::of(Load::of_list(messages).tokens(), settings, prompt);
    let head = boundary::head_end(messages, boundary::head_size(messages, settings));
    of(&messages.iter().collect::<Vec<_>>(), head, &goal)
}

/// Reports the same for a new list with so many messages in its head.
pub(super) fn of(messages: &[&Message], head: usize, goal: &Goal) -> Option<Over> {
    let load = |messages: &[&Message]| messages.iter().copied().collect::<Load>().tokens();
    let tokens = load(messages) + goal.reported_extra_tokens;
    if tokens < goal.threshold {
        return None;
    }
    let owned: Vec<Message> = messages.iter().copied().cloned().collect();
    let exchange = Exchange::of(&owned, head.min(owned.len()));
    let system = usize::from(messages.first().is_some_and(|first| first.is(Role::System)));
    let head = head.clamp(system, exchange.from.max(system));
    let last: Vec<&Message> = exchange
        .positions(messages.len())
        .filter(|at| *at >= head)
        .filter_map(|at| messages.get(at).copied())
        .collect();
    let of = |range: std::ops::Range<usize>| load(messages.get(range).unwrap_or_default());
    let parts = [
        (Part::System, of(0..system)),
        (Part::Head, of(system..head)),
        (Part::LastExchange, load(&last)),
        (Part::Request, goal.reported_extra_tokens),
    ];
    let parts = parts.into_iter().filter(|(_, tokens)| *tokens > 0);
    let parts = parts.map(|(part, tokens)| OverPart { part, tokens }).collect();
    Some(Over { threshold: goal.threshold, tokens, parts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{list, say, settings};

    #[test]
    fn each_part_is_named_with_what_it_takes() {
        let settings = settings(10_000, 2, 20);
        let mut messages = vec![say("system", &"rules ".repeat(6_000))];
        messages.extend(list("uaucta"));
        let found = over(&messages, &settings, Prompt::of(Some(20_000))).unwrap();
        let parts: Vec<Part> = found.parts.iter().map(|part| part.part).collect();
        assert_eq!(parts, [Part::System, Part::Head, Part::LastExchange, Part::Request]);
        assert!(found.parts[0].tokens >= 9_000 && found.parts[1].tokens < 100, "{found:?}");
        assert_eq!((found.threshold, found.tokens), (8_500, 20_000));
        assert!(
            found.warning().contains("20,000 of 8,500 tokens")
                && found.warning().contains("the system message takes 9,")
        );
        assert_eq!(over(&messages[1..], &settings, Prompt::default()), None);
    }
}
