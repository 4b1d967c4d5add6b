//! The user's own words in a text that Claude Code recorded.

use crate::elements;

/// Elements that Claude Code adds before and after the user's words.
const ADDED: [&str; 4] = ["system-reminder", "local-command-caveat", "local-command-stdout", "local-command-stderr"];

/// Elements in which Claude Code records a slash command.
const COMMAND: [&str; 4] = ["command-name", "command-message", "command-args", "command-contents"];

/// The user's words in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UserText {
    /// Plain words.
    Words(String),
    /// A slash command.
    Command {
        /// Its name, with the slash.
        name: String,
        /// Its arguments and the text after them, if there are any.
        arguments: Option<String>,
    },
    /// No words: Claude Code generated the whole text.
    Generated,
}

impl UserText {
    /// Parses a text of a record.
    pub(super) fn parse(text: &str) -> Self {
        let (text, added) = elements::without(text, &ADDED);
        let (mut rest, mut name, mut arguments) = (text, None, "");
        while let Some(element) = elements::first(rest, &COMMAND) {
            match element.name {
                "command-name" => name = Some(element.inner),
                "command-message" => name = name.or(Some(element.inner)),
                "command-args" => arguments = element.inner,
                _ => {}
            }
            rest = element.rest;
        }
        // Arguments without a name are the user's words about a command.
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return if added > 0 && text.is_empty() { Self::Generated } else { Self::Words(text.to_owned()) };
        };
        let said: Vec<&str> = [arguments, rest.trim()].into_iter().filter(|said| !said.is_empty()).collect();
        let arguments = (!said.is_empty()).then(|| said.join("\n"));
        Self::Command { name: format!("/{}", name.trim_start_matches('/')), arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_generated_elements_are_removed() {
        let words = |words: &str| UserText::Words(words.to_owned());
        let command = |name: &str, arguments: &str| UserText::Command {
            name: name.to_owned(),
            arguments: (!arguments.is_empty()).then(|| arguments.to_owned()),
        };
        for (text, expected) in [
            ("fix it", words("fix it")),
            ("", words("")),
            (
                "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>the login</command-args>",
                command("/fix", "the login"),
            ),
            (
                "<command-name>/fix</command-name>\n   <command-message>fix</command-message>\n   <command-args>a\nb</command-args>",
                command("/fix", "a\nb"),
            ),
            ("<command-name>/fix</command-name>\nand then rest", command("/fix", "and then rest")),
            ("<command-name>/clear</command-name><command-args></command-args>", command("/clear", "")),
            ("<command-message>deploy</command-message>", command("/deploy", "")),
            ("<command-args> is in my log", words("<command-args> is in my log")),
            ("<command-args>x</command-args> is what I see", words("<command-args>x</command-args> is what I see")),
            (
                "<command-name> is a tag, see <command-name>/x</command-name>",
                words("<command-name> is a tag, see <command-name>/x</command-name>"),
            ),
            ("<local-command-stdout>Set model</local-command-stdout>", UserText::Generated),
            ("<system-reminder>todo</system-reminder>", UserText::Generated),
            (
                "<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\nnever push",
                words("never push"),
            ),
            ("never push\n\n<system-reminder>a</system-reminder>", words("never push")),
            ("<system-reminder> what is that tag for?", words("<system-reminder> what is that tag for?")),
            (
                "why <system-reminder>a</system-reminder> there?",
                words("why <system-reminder>a</system-reminder> there?"),
            ),
        ] {
            assert_eq!(UserText::parse(text), expected, "{text}");
        }
    }
}
