//! The texts behind the options of a command's help. Their paragraphs are single lines for clap, which wraps them at the
//! width of the terminal.

use clap::builder::StyledStr;
use herma_base::out;

/// The commands by what people need them for. A command is in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Everyday", &["recall", "session", "continue", "memory", "setup", "usage", "view", "top", "watch"]),
    ("Agents", &["hooks", "hermes", "mcp", "proxy", "import", "profile", "shared"]),
    ("Operation", &["status", "doctor", "log", "backup", "restore", "scrub", "config", "daemon", "service", "upgrade"]),
    ("Conversations and outputs", &["output", "files", "compress", "constraint", "context", "guard", "trajectory"]),
    ("Plumbing", &["ping", "hook", "completions", "man", "version", "help"]),
];

/// The columns of the help if no terminal is known, and the most.
const WIDTH: usize = 100;

/// The columns of the names.
const NAMES: usize = 13;

/// The help of a command in which the examples come first. clap calls them the text before the help.
const EXAMPLES_FIRST: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// Returns a command whose help begins with its examples, and so does that of all commands in it. The help of the
/// program has the commands in groups.
pub(super) fn for_people(command: clap::Command) -> clap::Command {
    let command = with_whole_paragraphs(command);
    let list = grouped(&command, width());
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{before-help}}{}\nOptions:\n{{options}}{{after-help}}",
        list.trim_start()
    );
    with_examples_first(command).help_template(template)
}

/// Returns a command whose help, and that of all commands in it, has each paragraph in one line.
pub(super) fn with_whole_paragraphs(mut command: clap::Command) -> clap::Command {
    // Deferred commands have no texts before that.
    command.build();
    changed(command)
}

fn with_examples_first(command: clap::Command) -> clap::Command {
    let text = command.get_after_help().map(StyledStr::to_string).unwrap_or_default();
    let command = match split(&text) {
        (examples, _) if examples.is_empty() => command,
        (examples, rest) => command.help_template(EXAMPLES_FIRST).before_help(examples).after_help(rest),
    };
    command.mut_subcommands(with_examples_first)
}

/// Splits a text into its examples and the rest.
fn split(text: &str) -> (String, String) {
    let begins = |part: &str| part.starts_with("Example:\n") || part.starts_with("Examples:\n");
    let (examples, rest): (Vec<&str>, Vec<&str>) = text.split("\n\n").partition(|part| begins(part));
    (examples.join("\n\n"), rest.join("\n\n"))
}

fn width() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    out::width().or(named).unwrap_or(WIDTH).clamp(40, WIDTH)
}

/// Returns the list of commands, group by group.
fn grouped(program: &clap::Command, width: usize) -> String {
    let mut list = String::new();
    for (group, names) in GROUPS {
        list.push_str(&format!("\n{group}:\n"));
        for command in names.iter().filter_map(|name| program.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let about = wrapped(&about, width.saturating_sub(NAMES + 2));
            let about = about.join(&format!("\n{:1$}", "", NAMES + 2));
            list.push_str(&format!("  {:NAMES$}{about}\n", command.get_name()));
        }
    }
    // Braces are placeholders in a template.
    list.replace(['{', '}'], "")
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().filter(|line| line.is_empty() || line.len() + word.len() < width);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.push_str(&format!(" {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn changed(command: clap::Command) -> clap::Command {
    let command = match command.get_after_help().map(StyledStr::to_string) {
        Some(text) => command.after_help(whole_paragraphs(&text)),
        None => command,
    };
    command.mut_subcommands(changed)
}

/// Joins the lines of each paragraph. An indented line stays a line of its own, as in lists and examples.
fn whole_paragraphs(text: &str) -> String {
    let mut whole = String::new();
    let mut is_open = false;
    for line in text.lines() {
        let is_own = line.is_empty() || line.starts_with(' ');
        if !whole.is_empty() {
            whole.push(if is_open && !is_own { ' ' } else { '\n' });
        }
        whole.push_str(line);
        is_open = !is_own && !line.ends_with(':');
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_lists_are_not() {
        let text =
            "One sentence that\ngoes on.\nAnother.\n\nExit codes: 0 done;\n1 not.\n\nExamples:\n  herma a\n  herma b";
        let expected =
            "One sentence that goes on. Another.\n\nExit codes: 0 done; 1 not.\n\nExamples:\n  herma a\n  herma b";
        assert_eq!(whole_paragraphs(text), expected);
        assert_eq!(whole_paragraphs(expected), expected);
    }

    #[test]
    fn examples_are_told_from_the_rest() {
        let text = "One.\n\nExamples:\n  herma a\n  herma b\n\nExit codes: 0.";
        assert_eq!(split(text), ("Examples:\n  herma a\n  herma b".into(), "One.\n\nExit codes: 0.".into()));
        assert_eq!(split("Examples of it."), (String::new(), "Examples of it.".into()));
        assert_eq!(split(""), (String::new(), String::new()));
    }

    #[test]
    fn examples_come_before_the_arguments() {
        fn look(command: &mut clap::Command) {
            let help = command.clone().term_width(100).render_help().to_string();
            let (examples, options) = (help.find("\nExample"), help.find("\nOptions:"));
            assert!(examples.is_none_or(|at| options.is_none_or(|other| at < other)), "{help}");
            command.get_subcommands_mut().filter(|inner| inner.get_name() != "help").for_each(look);
        }
        let mut all = for_people(<super::super::Arguments as clap::CommandFactory>::command());
        look(&mut all);
    }

    #[test]
    fn each_command_is_in_one_group() {
        let program = with_whole_paragraphs(<super::super::Arguments as clap::CommandFactory>::command());
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
        for width in [60, 80, 100] {
            let list = super::grouped(&program, width);
            assert!(list.lines().all(|line| line.chars().count() <= width), "{list}");
        }
    }

    #[test]
    fn the_help_of_every_command_fits_any_width() {
        fn look(command: &mut clap::Command, width: usize) {
            let name = command.get_name().to_owned();
            let help = command.clone().term_width(width).render_long_help().to_string();
            let lines = help.lines().filter(|line| !line.starts_with(' ') && !line.starts_with("Usage"));
            let short = lines.clone().zip(lines.skip(1)).find(|(line, next)| {
                let word = next.split(' ').next().unwrap_or_default();
                // A line that is broken although the next word would fit was broken twice.
                !line.is_empty() && !next.is_empty() && !line.ends_with(':') && line.len() + word.len() + 1 < width - 1
            });
            assert_eq!(short, None, "herma … {name} --help at {width}");
            command
                .get_subcommands_mut()
                .filter(|inner| inner.get_name() != "help")
                .for_each(|inner| look(inner, width));
        }
        let all = for_people(<super::super::Arguments as clap::CommandFactory>::command());
        for width in [60, 80, 120] {
            look(&mut all.clone(), width);
        }
    }
}
