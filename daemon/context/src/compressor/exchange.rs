//! The last exchange of a list, which is never replaced.

use crate::boundary;
use crate::message::{Message, Role};
use crate::pairs;

/// The user's last message, and the last message with the results of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// The user's last message after the head, if it is before `from`.
    pub(crate) user: Option<usize>,
    /// The last message that is not a result; results may follow it. 0 if there is none.
    pub(crate) from: usize,
    /// Whether some of its calls still wait for results.
    pub(crate) is_in_flight: bool,
}

impl Exchange {
    /// Returns the last exchange of a list whose head ends at `start`.
    pub(crate) fn of(messages: &[Message], start: usize) -> Self {
        let from = messages.iter().rposition(|message| !message.is(Role::Tool)).unwrap_or(0);
        let user = boundary::last_user(messages, start).filter(|&user| user < from);
        Self { user, from, is_in_flight: pairs::in_flight(messages).is_some() }
    }

    /// Returns the positions of all its messages, in order.
    pub(crate) fn positions(&self, length: usize) -> impl Iterator<Item = usize> {
        self.user.into_iter().chain(self.from..length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call, list, result};

    #[test]
    fn it_is_the_users_last_words_and_the_last_message_with_its_results() {
        for (letters, user, from) in
            [("sua", Some(1), 2), ("suau", None, 3), ("suctct", Some(1), 4), ("suacttt", Some(1), 3), ("ct", None, 0)]
        {
            let exchange = Exchange::of(&list(letters), 0);
            assert_eq!((exchange.user, exchange.from, exchange.is_in_flight), (user, from, false), "{letters}");
        }
        assert_eq!(Exchange::of(&list("suact"), 3).user, None, "that of the head is kept with the head");
        let waiting = [list("su"), vec![call(&["x", "y"]), result("x", "1")]].concat();
        assert!(Exchange::of(&waiting, 0).is_in_flight);
        assert_eq!(Exchange::of(&[], 0), Exchange { user: None, from: 0, is_in_flight: false });
    }
}
