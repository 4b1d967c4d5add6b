//! Builds herma's texts for a model: at the beginning of a window, and for a summary. No I/O.

use herma_client::protocol::recall::Entity;

/// The chars that agents pass on. Of a longer text they show only the beginning.
const LIMIT: usize = 9_800;

/// The chars of one rule. A longer rule is cut.
const RULE: usize = 1_000;

/// The most values shown for a name.
const VALUES: usize = 6;

/// The instructions for recalling messages that left the window.
const RECALL: &str = "What was said in this session, and in others before it, is kept word for word, also what is no more in this conversation. \
Look for it with the tool `recall_search` of the MCP server `herma` before you guess or ask again, and read on around a hit with `recall_expand`. \
A tool's output that was too large is read with `output_read`, by the handle in its preview.";

/// The headings of the rules and of the state.
const RULES: &str = "The user's standing rules, in the user's words. They hold still:";
const STATE: &str = "The state of this session's work, by exact names and their newest values:";

/// The explanation of the memory if it has entries.
const MEMORY: &str = " The memory above is as it was when this window began; add, replace or remove entries with the tool `memory`, and later sessions have them.";

/// The same for an empty memory.
const NO_MEMORY: &str =
    " Nothing is in the memory yet; add entries with the tool `memory`, and later sessions have them.";

/// The data for the texts.
#[derive(Debug, Default)]
pub(super) struct WindowContext<'a> {
    /// Rules of the user, oldest first.
    pub(super) rules: Vec<&'a str>,
    /// The blocks of the stores.
    pub(super) blocks: Vec<&'a str>,
    /// The entities of the session, the most needed first.
    pub(super) entities: &'a [Entity],
}

/// Returns the text for a new window: rules, memory, state and recall, the most important first, within the limit.
pub(super) fn for_window(known: &WindowContext<'_>) -> String {
    let memory = if known.blocks.is_empty() { NO_MEMORY } else { MEMORY };
    let mut text = Text::new(LIMIT - RECALL.chars().count() - memory.chars().count() - 2);
    text.list(RULES, known.rules.iter().map(|rule| line(rule)));
    for block in &known.blocks {
        text.block(block);
    }
    text.list(STATE, known.entities.iter().map(entity));
    let mut text = text.0;
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text + RECALL + memory
}

/// Returns the instructions for writing a summary, with the parts it must repeat word for word. Empty if there are
/// none.
pub(super) fn for_summary(known: &WindowContext<'_>) -> String {
    let mut text = Text::new(LIMIT);
    text.list(
        "The summary must repeat these rules of the user word for word, for they hold on:",
        known.rules.iter().map(|rule| line(rule)),
    );
    text.list(
        "It must keep these names and values exactly, where the work still needs them:",
        known.entities.iter().map(entity),
    );
    text.0
}

/// Returns the rules and the state of a session within a limit of chars. Empty if there are none.
pub(crate) fn standing(rules: &[&str], entities: &[Entity], limit: usize) -> String {
    let mut text = Text::new(limit);
    text.list(RULES, rules.iter().map(|rule| line(rule)));
    text.list(STATE, entities.iter().map(entity));
    text.0
}

/// Returns a rule as one line.
fn line(rule: &str) -> String {
    let mut chars = rule.chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut line: String = chars.by_ref().take(RULE).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

fn entity(entity: &Entity) -> String {
    let values = entity.attributes.iter().take(VALUES).map(|value| format!("{}: {}", value.name, line(&value.value)));
    let values = values.collect::<Vec<_>>().join(", ");
    let name = format!("{} {}", entity.kind, line(&entity.id));
    if values.is_empty() { name } else { format!("{name} ({values})") }
}

/// A text with a limit, and the chars that are left.
struct Text(String, usize);

impl Text {
    const fn new(limit: usize) -> Self {
        Self(String::new(), limit)
    }

    /// Adds a part if it fits, and returns whether it did.
    fn push(&mut self, part: &str) -> bool {
        let chars = part.chars().count();
        let fits = chars <= self.1;
        if fits {
            self.0.push_str(part);
            self.1 -= chars;
        }
        fits
    }

    fn list(&mut self, heading: &str, items: impl Iterator<Item = String>) {
        let between = if self.0.is_empty() { "" } else { "\n\n" };
        let mut items = items.map(|item| format!("\n- {item}")).peekable();
        let Some(first) = items.next() else { return };
        if !self.push(&format!("{between}{heading}{first}")) {
            return;
        }
        // If an item doesn't fit, a shorter one after it still may.
        for item in items {
            self.push(&item);
        }
    }

    /// Adds a whole block, or as many of its first lines as fit.
    fn block(&mut self, block: &str) {
        let between = if self.0.is_empty() { "" } else { "\n\n" };
        if !self.push(&format!("{between}{block}")) && self.push(between) {
            for line in block.split_inclusive('\n') {
                if !self.push(line) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::recall::Attribute;

    use super::*;

    fn port() -> Entity {
        let value = Attribute { name: "port".into(), value: "8443".into(), ..Attribute::default() };
        Entity { kind: "host".into(), id: "db-3".into(), attributes: vec![value], ..Entity::default() }
    }

    #[test]
    fn what_matters_most_comes_first_and_the_way_back_is_always_told() {
        let entities = [port()];
        let known =
            WindowContext { rules: vec!["never push\nto main"], blocks: vec!["MEMORY\nx"], entities: &entities };
        let text = for_window(&known);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
        assert!(at("- never push to main") < at("MEMORY\nx"));
        assert!(at("MEMORY\nx") < at("- host db-3 (port: 8443)"));
        assert!(at("(port: 8443)") < at("recall_search"));
        assert_eq!(for_window(&WindowContext::default()), format!("{RECALL}{NO_MEMORY}"));
        assert_eq!(for_summary(&WindowContext::default()), "");
        assert!(!for_summary(&known).contains("MEMORY"));
    }

    #[test]
    fn it_never_gets_longer_than_clients_pass_on() {
        let rule = "é".repeat(3_000);
        let entities = vec![port(); 2_000];
        let known = WindowContext { rules: vec![&rule; 5], blocks: vec![&rule, "MEMORY\nshort"], entities: &entities };
        for text in [for_window(&known), for_summary(&known)] {
            let chars = text.chars().count();
            assert!((9_000..=LIMIT).contains(&chars), "{chars}");
        }
        assert!(for_window(&known).ends_with(MEMORY));
        assert!(for_window(&known).contains("MEMORY\nshort"));
    }
}
