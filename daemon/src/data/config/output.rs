//! `[output]`: tool outputs.

use std::collections::BTreeMap;
use std::time::Duration;

use herma_spill::retention::Retention;
use herma_spill::{Budgets, Size};
use toml::Value;

use super::format::{Named, bytes, switch, time, whole};
use super::key::{self, KeyError, section};

section! {
    /// Tool outputs.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct OutputConfig {
        /// The largest result that stays whole in the conversation.
        pub default_result_size: usize = 100_000, whole(1.., "chars");
        /// The largest size of all results of a turn there.
        pub turn_budget: usize = 200_000, whole(1.., "chars");
        /// The length of a preview's beginning.
        pub preview_size: usize = 1_500, whole(0.., "chars");
        /// The length of a preview's end.
        pub preview_tail_size: usize = 500, whole(0.., "chars");
        /// The largest result of an MCP tool that stays whole.
        pub mcp_result_size: usize = 50_000, whole(1.., "chars");
        /// Whether smaller windows get smaller budgets.
        pub scale_with_window: bool = true, switch();
        /// How long outputs of closed sessions are kept.
        pub ttl: Duration = Duration::from_hours(7 * 24), time(..);
        /// The largest size of all outputs together.
        pub quota: u64 = 2 << 30, bytes(..);
        /// The largest result of a single tool that stays whole: chars or "inf".
        pub tool_overrides: BTreeMap<String, Size> = BTreeMap::new(),
            Named { read: sizes, depth: 1, example: "web_search = 40_000" };
    }
}

impl OutputConfig {
    /// Returns the budgets, before a call or the size of the window changes them.
    #[must_use]
    pub fn budgets(&self) -> Budgets {
        Budgets {
            default_result_size: self.default_result_size,
            turn_budget: self.turn_budget,
            preview_size: self.preview_size,
            preview_tail_size: self.preview_tail_size,
            mcp_result_size: self.mcp_result_size,
            tool_overrides: self.tool_overrides.clone(),
            ..Budgets::default()
        }
    }

    /// Returns how long outputs are kept, and the quota for all of them.
    #[must_use]
    pub const fn retention(&self) -> Retention {
        Retention { ttl_seconds: self.ttl.as_secs_f64(), quota_bytes: self.quota }
    }
}

fn sizes(said: &Value) -> Result<BTreeMap<String, Size>, KeyError> {
    let size = |said: &Value| match said.as_str() {
        Some("inf") => Ok(Size::Infinite),
        Some(_) => Err(KeyError::new(format!("must be a whole number (chars) or \"inf\"; it is {said}"))),
        None => whole(0.., "chars").read(said).map(Size::Chars),
    };
    let sizes = key::table(said)?.iter();
    sizes.map(|(tool, said)| Ok((tool.clone(), size(said).map_err(|mistake| mistake.at(tool))?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_shelf() {
        assert_eq!(OutputConfig::default().budgets(), Budgets::default());
    }
}
