//! What is told of a list that stays over the threshold.

use super::exchange::Exchange;
use super::goal::Goal;
use crate::boundary;
use crate::message::{Message, Role};
use crate::request::Prompt;
use crate::settings::Settings;
use crate::text::thousands;
use crate::tokens::{Load, Measure};

/// A list that is over the threshold although nothing in it can be made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    /// Tokens from which compression is due.
    pub threshold: u64,
    /// Tokens of the list, by the larger of the two estimates, and of what the caller counts
    /// beside it.
    pub tokens: u64,
    /// What takes them and stays, in this order, none of them empty.
    pub parts: Vec<OverPart>,
}

/// A part of a list that no compression touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverPart {
    /// Which one.
    pub part: Part,
    /// Tokens that it takes.
    pub tokens: u64,
}

/// The parts that no compression touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The system message in front.
    System,
    /// The protected first messages behind it.
    Head,
    /// What the user said last, and the last message with the results of its calls.
    LastExchange,
    /// What the caller counts beyond the list: a system prompt of its own, tools.
    Request,
}

impl Part {
    /// As a person reads it.
    const fn words(self) -> &'static str {
        match self {
            Self::System => "the system message",
            Self::Head => "the protected first messages",
            Self::LastExchange => "the last exchange",
            Self::Request => "what is sent beside the list",
        }
    }
}

impl Over {
    /// What is to be said of a list that comes back as it is; nothing if it is below the
    /// threshold.
    pub fn of_input(messages: &[Message], settings: &Settings, prompt: Prompt) -> Option<Self> {
        let goal = Goal::of(messages, Measure::of_all(messages), settings, prompt);
        let head = boundary::head_end(messages, boundary::head_size(messages, settings));
        Self::of(&messages.iter().collect::<Vec<_>>(), head, &goal)
    }

    /// The same of a new list with so many messages in its head.
    pub(crate) fn of(messages: &[&Message], head: usize, goal: &Goal) -> Option<Self> {
        let load = |messages: &[&Message]| messages.iter().copied().collect::<Load>().tokens();
        let tokens = load(messages) + goal.said_beside;
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
            (Part::Request, goal.said_beside),
        ];
        let parts = parts.into_iter().filter(|(_, tokens)| *tokens > 0);
        let parts = parts.map(|(part, tokens)| OverPart { part, tokens }).collect();
        Some(Self { threshold: goal.threshold, tokens, parts })
    }

    /// The same as a sentence for a person.
    pub fn warning(&self) -> String {
        let count = |tokens: u64| thousands(usize::try_from(tokens).unwrap_or(usize::MAX));
        let parts: Vec<String> =
            self.parts.iter().map(|part| format!("{} takes {}", part.part.words(), count(part.tokens))).collect();
        format!(
            "the list is still over the threshold, with {} of {} tokens, and what is left can't be made smaller: {}",
            count(self.tokens),
            count(self.threshold),
            parts.join(", ")
        )
    }
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
        let over = Over::of_input(&messages, &settings, Prompt::of(Some(20_000))).unwrap();
        let parts: Vec<Part> = over.parts.iter().map(|part| part.part).collect();
        assert_eq!(parts, [Part::System, Part::Head, Part::LastExchange, Part::Request]);
        assert!(over.parts[0].tokens >= 9_000 && over.parts[1].tokens < 100, "{over:?}");
        assert_eq!((over.threshold, over.tokens), (8_500, 20_000));
        assert!(
            over.warning().contains("20,000 of 8,500 tokens") && over.warning().contains("the system message takes 9,")
        );
        assert_eq!(Over::of_input(&messages[1..], &settings, Prompt::default()), None);
    }
}
