//! What a user typed, of a text that Claude Code writes down for it.

use crate::elements;

/// What the program adds before and behind what was typed.
const ADDED: [&str; 4] = ["system-reminder", "local-command-caveat", "local-command-stdout", "local-command-stderr"];

/// How it writes a slash command down.
const COMMAND: [&str; 4] = ["command-name", "command-message", "command-args", "command-contents"];

/// What a text says of its user.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// Words, as they were typed; a command stands before its arguments.
    Words(String),
    /// A command without arguments. If it is one of the user's own, the program writes its prompt behind it.
    Command(String),
    /// Nothing; all of it is the program's.
    Nothing,
}

impl Typed {
    pub(super) fn read(text: &str) -> Self {
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
        // Arguments without a command are words about one.
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return if added > 0 && text.is_empty() { Self::Nothing } else { Self::Words(text.to_owned()) };
        };
        let name = format!("/{}", name.trim_start_matches('/'));
        let said: Vec<&str> = [arguments, rest.trim()].into_iter().filter(|said| !said.is_empty()).collect();
        match said.is_empty() {
            true => Self::Command(name),
            false => Self::Words(format!("{name} {}", said.join("\n"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_stays_and_what_was_added_goes() {
        let words = |words: &str| Typed::Words(words.to_owned());
        for (text, typed) in [
            ("mend it", words("mend it")),
            ("", words("")),
            (
                "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>the login</command-args>",
                words("/fix the login"),
            ),
            (
                "<command-name>/fix</command-name>\n   <command-message>fix</command-message>\n   <command-args>a\nb</command-args>",
                words("/fix a\nb"),
            ),
            ("<command-name>/fix</command-name>\nand then rest", words("/fix and then rest")),
            ("<command-name>/clear</command-name><command-args></command-args>", Typed::Command("/clear".into())),
            ("<command-message>deploy</command-message>", Typed::Command("/deploy".into())),
            ("<command-args> stands in my log", words("<command-args> stands in my log")),
            ("<command-args>x</command-args> is what I see", words("<command-args>x</command-args> is what I see")),
            (
                "<command-name> is a tag, see <command-name>/x</command-name>",
                words("<command-name> is a tag, see <command-name>/x</command-name>"),
            ),
            ("<local-command-stdout>Set model</local-command-stdout>", Typed::Nothing),
            ("<system-reminder>todo</system-reminder>", Typed::Nothing),
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
            assert_eq!(Typed::read(text), typed, "{text}");
        }
    }
}
