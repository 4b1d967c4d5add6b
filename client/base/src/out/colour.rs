//! Whether results have colours.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

// The help of every command would have a paragraph for each value if they were documented.
#[expect(missing_docs, reason = "the option explains the values")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

static CHOSEN: OnceLock<Colour> = OnceLock::new();

/// Chooses for the whole process. Only the first choice counts.
pub fn choose(colour: Colour) {
    CHOSEN.get_or_init(|| colour);
}

/// Returns whether standard output gets colours.
pub fn is_coloured() -> bool {
    CHOSEN.get() == Some(&Colour::Always) || (std::io::stdout().is_terminal() && wants_colours())
}

/// Returns whether the options and the environment allow colours on a terminal.
pub fn wants_colours() -> bool {
    wants(CHOSEN.get().copied().unwrap_or_default(), std::env::var_os("NO_COLOR"), std::env::var_os("TERM"))
}

fn wants(colour: Colour, no_color: Option<OsString>, term: Option<OsString>) -> bool {
    match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => no_color.is_none_or(|value| value.is_empty()) && term.is_none_or(|term| term != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_unless_an_option_does() {
        let value = |text: &str| Some(OsString::from(text));
        for (no_color, term, expected) in [
            (None, None, true),
            (None, value("xterm"), true),
            (None, value("dumb"), false),
            (value("1"), value("xterm"), false),
            (value(""), value("xterm"), true),
        ] {
            assert_eq!(wants(Colour::Auto, no_color.clone(), term.clone()), expected, "{no_color:?} {term:?}");
            assert!(wants(Colour::Always, no_color.clone(), term.clone()));
            assert!(!wants(Colour::Never, no_color, term));
        }
    }
}
