//! The cost and the savings of a compression where the provider keeps a prompt cache.
//!
//! Tokens are weighted by their price; a plain input token weighs 1. Without a compression the next call
//! would read the whole list from the cache. With it, the call reads the part before the first change and
//! writes the rest again. Each later call reads the shorter list.

/// The price of a token relative to plain input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// A token written into the cache.
    pub write: f64,
    /// A token read from the cache.
    pub read: f64,
}

/// Tokens of a list before and after a compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The list before.
    pub before: u64,
    /// The list after.
    pub after: u64,
    /// The part before the first change, the same in both lists.
    pub unchanged: u64,
}

impl Sizes {
    /// Returns the tokens of the old list that calls no longer read from the cache.
    pub fn invalidated(self) -> u64 {
        self.before.saturating_sub(self.unchanged)
    }

    /// Returns the number of calls after which a compression has paid for itself; `None` if it never does.
    pub fn pays_after(self, prices: Prices) -> Option<u64> {
        let saved = weighted(self.before.saturating_sub(self.after), prices.read);
        let cost = weighted(self.after.saturating_sub(self.unchanged), (prices.write - prices.read).max(0.0));
        let calls = (cost / saved).ceil();
        if !calls.is_finite() || saved <= 0.0 {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number of calls, 0 or more"
        )]
        Some((calls as u64).max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens of a prompt")]
fn weighted(tokens: u64, price: f64) -> f64 {
    tokens as f64 * price
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cost of so many calls with and without a compression, counted call by call.
    fn spent(sizes: Sizes, prices: Prices, calls: u64) -> (f64, f64) {
        let read = |tokens: u64| weighted(tokens, prices.read);
        let first = read(sizes.unchanged) + weighted(sizes.after - sizes.unchanged, prices.write);
        let with = first + weighted(calls - 1, read(sizes.after));
        (with, weighted(calls, read(sizes.before)))
    }

    #[test]
    fn it_has_paid_for_itself_with_the_first_call_that_makes_it_cheaper() {
        for (before, after, unchanged) in
            [(100_000, 40_000, 5_000), (100_000, 90_000, 0), (100_000, 20_000, 20_000), (7, 6, 1), (100_000, 0, 0)]
        {
            for (write, read) in [(1.25, 0.1), (1.0, 0.5), (1.0, 1.0), (2.0, 0.1)] {
                let (sizes, prices) = (Sizes { before, after, unchanged }, Prices { write, read });
                let calls = sizes.pays_after(prices).unwrap();
                let (with, without) = spent(sizes, prices, calls);
                assert!(with <= without * 1.000_001, "{sizes:?} {prices:?} {calls}");
                if calls > 1 {
                    let (with, without) = spent(sizes, prices, calls - 1);
                    assert!(with > without * 0.999_999, "{sizes:?} {prices:?} {calls}");
                }
            }
        }
    }

    #[test]
    fn a_list_that_is_no_shorter_never_pays() {
        let prices = Prices { write: 1.25, read: 0.1 };
        for sizes in [
            Sizes { before: 10, after: 10, unchanged: 0 },
            Sizes { before: 10, after: 20, unchanged: 0 },
            Sizes::default(),
        ] {
            assert_eq!(sizes.pays_after(prices), None, "{sizes:?}");
        }
        let free = Prices { write: 1.0, read: 0.0 };
        assert_eq!(Sizes { before: 10, after: 5, unchanged: 0 }.pays_after(free), None);
        assert_eq!(Sizes { before: 10, after: 5, unchanged: 4 }.invalidated(), 6);
    }
}
