//! The maximum lengths of tool results before they are spilled.

use std::collections::BTreeMap;

/// The tool whose results are never spilled: a model reads spilled outputs with it.
const PINNED: &str = "read_file";

/// Tools that return spilled or archived content. Their results are never spilled again, not even to fit a turn's
/// budget.
const READING: [&str; 7] =
    ["output_read", "output_search", "recall_search", "recall_expand", "recall_describe", "recall_state", "recall_ask"];

/// Tools that have a limit of their own.
const REGISTERED: [&str; 7] =
    ["terminal", "search_files", "write_file", "patch", "web_search", "web_extract", "execute_code"];

/// The prefix of the names of tools of an MCP server.
const MCP_PREFIX: &str = "mcp_";

/// A size in chars, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// That many chars.
    Chars(usize),
    /// Without a limit.
    Infinite,
}

/// The budgets in force, all in chars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    /// For one result.
    pub default_result_size: usize,
    /// For all results of a turn together.
    pub turn_budget: usize,
    /// For the head of a preview.
    pub preview_size: usize,
    /// For the tail of a preview; 0 for none.
    pub preview_tail_size: usize,
    /// For one result of a tool of an MCP server.
    pub mcp_result_size: usize,
    /// For one result of a tool that has a limit of its own.
    pub registered_size: usize,
    /// For one result of a certain tool.
    pub tool_overrides: BTreeMap<String, Size>,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            default_result_size: 100_000,
            turn_budget: 200_000,
            preview_size: 1_500,
            preview_tail_size: 500,
            mcp_result_size: 50_000,
            registered_size: 100_000,
            tool_overrides: BTreeMap::new(),
        }
    }
}

/// The budgets that a call overrides, as in [`Budgets`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BudgetOverrides {
    /// For one result.
    pub default_result_size: Option<usize>,
    /// For all results of a turn together.
    pub turn_budget: Option<usize>,
    /// For the head of a preview.
    pub preview_size: Option<usize>,
    /// For the tail of a preview.
    pub preview_tail_size: Option<usize>,
    /// For one result of certain tools. Other tools keep their budgets.
    pub tool_overrides: BTreeMap<String, Size>,
}

impl Budgets {
    /// Returns the budgets with those that a call overrides.
    #[must_use]
    pub fn overridden(mut self, by: BudgetOverrides) -> Self {
        self.default_result_size = by.default_result_size.unwrap_or(self.default_result_size);
        self.turn_budget = by.turn_budget.unwrap_or(self.turn_budget);
        self.preview_size = by.preview_size.unwrap_or(self.preview_size);
        self.preview_tail_size = by.preview_tail_size.unwrap_or(self.preview_tail_size);
        self.tool_overrides.extend(by.tool_overrides);
        self
    }

    /// Returns the budgets for a model with a window of `window` tokens. One result may fill 15 % of it and a turn 30
    /// %, at four chars per token, but never less than 8,000 and 16,000 chars. A budget without a limit stays without
    /// one.
    #[must_use]
    pub fn scaled(mut self, window: u64) -> Self {
        let share = |percent: u64| {
            usize::try_from(window.saturating_mul(percent).saturating_mul(4) / 100).unwrap_or(usize::MAX)
        };
        let result = share(15).max(8_000);
        self.default_result_size = self.default_result_size.min(result);
        self.mcp_result_size = self.mcp_result_size.min(result);
        self.registered_size = self.registered_size.min(result);
        for size in self.tool_overrides.values_mut() {
            if let Size::Chars(chars) = size {
                *chars = (*chars).min(result);
            }
        }
        self.turn_budget = self.turn_budget.min(share(30).max(16_000));
        self
    }

    /// Returns the maximum length of a result of this tool.
    #[must_use]
    pub fn threshold(&self, tool: &str) -> Size {
        if tool == PINNED || is_reading(tool) {
            return Size::Infinite;
        }
        if let Some(size) = self.tool_overrides.get(tool) {
            return *size;
        }
        if tool.starts_with(MCP_PREFIX) {
            return Size::Chars(self.mcp_result_size.min(self.default_result_size));
        }
        if REGISTERED.contains(&tool) {
            return Size::Chars(self.registered_size);
        }
        Size::Chars(self.default_result_size)
    }
}

/// Whether a tool returns spilled or archived content.
#[must_use]
pub fn is_reading(tool: &str) -> bool {
    READING.contains(&tool)
}

impl Size {
    /// Whether a text of `chars` chars is too long.
    #[must_use]
    pub const fn is_exceeded_by(self, chars: usize) -> bool {
        match self {
            Self::Chars(limit) => chars > limit,
            Self::Infinite => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_beat_overrides_beat_defaults() {
        let overrides = [("grep".to_owned(), Size::Chars(10)), (PINNED.to_owned(), Size::Chars(1))];
        let budgets = Budgets { tool_overrides: overrides.into(), default_result_size: 70, ..Budgets::default() };
        for (tool, size) in [
            ("read_file", Size::Infinite),
            ("grep", Size::Chars(10)),
            ("output_read", Size::Infinite),
            ("output_search", Size::Infinite),
            ("recall_search", Size::Infinite),
            ("recall_expand", Size::Infinite),
            ("recall_describe", Size::Infinite),
            ("mcp_github_list", Size::Chars(70)),
            ("terminal", Size::Chars(100_000)),
            ("anything", Size::Chars(70)),
        ] {
            assert_eq!(budgets.threshold(tool), size, "{tool}");
        }
    }

    #[test]
    fn every_tool_has_its_limit() {
        let budgets = Budgets { tool_overrides: [("logs".to_owned(), Size::Infinite)].into(), ..Budgets::default() };
        for (tool, size) in [
            ("mcp_github_list", Size::Chars(50_000)),
            ("logs", Size::Infinite),
            ("terminal", Size::Chars(100_000)),
            ("search_files", Size::Chars(100_000)),
            ("execute_code", Size::Chars(100_000)),
            ("", Size::Chars(100_000)),
        ] {
            assert_eq!(budgets.threshold(tool), size, "{tool}");
        }
        let scaled = Budgets {
            tool_overrides: [("logs".to_owned(), Size::Infinite), ("big".to_owned(), Size::Chars(90_000))].into(),
            ..budgets
        }
        .scaled(50_000);
        for (tool, size) in [
            ("mcp_github_list", Size::Chars(30_000)),
            ("logs", Size::Infinite),
            ("big", Size::Chars(30_000)),
            ("terminal", Size::Chars(30_000)),
            ("read_file", Size::Infinite),
        ] {
            assert_eq!(scaled.threshold(tool), size, "{tool}");
        }
        assert!(Size::Chars(0).is_exceeded_by(1) && !Size::Chars(0).is_exceeded_by(0));
        assert!(!Size::Infinite.is_exceeded_by(usize::MAX));
    }

    #[test]
    fn budgets_follow_the_window_down_to_a_floor() {
        for (window, result, turn) in
            [(200_000, 100_000, 200_000), (100_000, 60_000, 120_000), (8_000, 8_000, 16_000), (1, 8_000, 16_000)]
        {
            let budgets = Budgets::default().scaled(window);
            assert_eq!((budgets.default_result_size, budgets.turn_budget), (result, turn), "{window}");
        }
    }
}
