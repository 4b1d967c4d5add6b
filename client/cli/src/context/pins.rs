//! `herma context pin`, `pins` and `unpin`.

use std::path::PathBuf;

use clap::Args;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::Json;
use herma_client::protocol::context::pins::{Pin, PinParams, PinsParams, PinsResult, UnpinParams};

use super::super::moment;
use crate::names;

// A message to keep in the list.
#[derive(Debug, Args)]
#[command(
    after_help = "The message stays in the list with its pair: a call with its results. It is known by what it says, so it may be anywhere in the list that is compressed.\n\nExamples:\n  herma context pin my-session --position 12\n  herma context pin my-session --handle out_1f2e… --for 2h\n  herma context pin my-session --message plan.json"
)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    #[command(flatten)]
    which: Which,
    /// How long to keep it, like 30m, 2h or 7d; until it is unpinned when left out
    #[arg(long = "for", value_name = "SPAN", value_parser = moment::coming)]
    until: Option<f64>,
}

// The message to pin.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// The position of the message among those appended to the session, from 0
    #[arg(long, value_name = "N")]
    position: Option<u64>,
    /// The newest appended message that names this handle
    #[arg(long)]
    handle: Option<String>,
    /// A file with the message as JSON; - for standard input
    #[arg(long, value_name = "FILE")]
    message: Option<PathBuf>,
}

pub(super) fn pin(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let Which { position, handle, message } = &arguments.which;
    let message = message.as_deref().map(read).transpose()?;
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let handle = handle.as_deref().map(|named| names::output::resolve(&mut client, named)).transpose()?;
    let params = PinParams { session, position: *position, handle, message, until: arguments.until };
    let result = client.context_pin(params)?;
    out::show(context.common, &result, |pin| {
        format!("pinned as {}; it takes {} tokens\n", pin.id, out::thousands(pin.tokens))
    })
}

pub(super) fn pins(context: &CliContext<'_>, id: &str) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, id)?;
    let result = client.context_pins(PinsParams { session })?;
    out::show(context.common, &result, table)
}

pub(super) fn unpin(context: &CliContext<'_>, id: &str, pin: &str) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, id)?;
    let result = client.context_unpin(UnpinParams { session, id: pin.to_owned() })?;
    out::show(context.common, &result, |_| format!("{pin} leaves with the others again\n"))
}

fn read(file: &std::path::Path) -> Result<Json, Failure> {
    let text = out::read_input(file)?;
    Json::parse(text.trim().to_owned())
        .map_err(|error| Failure::Usage(format!("{} holds no JSON message: {error}", file.display())))
}

fn table(result: &PinsResult) -> String {
    if result.pins.is_empty() {
        return "No pins. Add one: herma context pin SESSION --position N\n".to_owned();
    }
    let row = |pin: &Pin| {
        let until = pin.until.map_or_else(|| "removed".to_owned(), out::local_time);
        [pin.id.clone(), pin.role.clone(), out::thousands(pin.tokens), until, pin.text.clone()]
    };
    let rows: Vec<[String; 5]> = result.pins.iter().map(row).collect();
    let mut text = out::table(["id", "role", "tokens", "until", "message"], &rows);
    if let Some(most) = result.most_tokens {
        let sum: u64 = result.pins.iter().map(|pin| pin.tokens).sum();
        text.push_str(&format!("\n{} of {} tokens\n", out::thousands(sum), out::thousands(most)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_listed_with_what_they_take() {
        let pin =
            Pin { id: "pin_1".into(), role: "tool".into(), text: "a\nplan".into(), tokens: 1_200, ..Pin::default() };
        let text = table(&PinsResult { pins: vec![pin], most_tokens: Some(20_000) });
        assert!(
            text.lines().nth(1).is_some_and(|row| row.starts_with("pin_1  tool  ") && row.ends_with("a plan")),
            "{text}"
        );
        assert!(text.ends_with("\n1,200 of 20,000 tokens\n"), "{text}");
        assert_eq!(table(&PinsResult::default()), "No pins. Add one: herma context pin SESSION --position N\n");
    }
}
