//! `herma recall --ask QUESTION --session ID` or `--node NODE`.

use std::fmt::Write;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::recall::{AskParams, AskResult};

use super::Arguments;
use crate::names;

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect_any(context, arguments.session.as_deref())?;
    let params = AskParams {
        question: arguments.query.join(" "),
        session,
        node: arguments.node.clone(),
        ..AskParams::default()
    };
    let result = client.recall_ask(params)?;
    if context.common.json {
        out::json(&result)?;
    } else {
        if let Some(notice) = &result.notice {
            out::note(context.common, notice);
        }
        out::text(&describe(&result))?;
    }
    if result.answer.is_none() && result.evidence.is_empty() { Err(Failure::No) } else { Ok(()) }
}

/// Returns the answer, followed by its evidence.
fn describe(result: &AskResult) -> String {
    let mut text = String::new();
    if let Some(answer) = &result.answer {
        text.push_str(&format!("{answer}\n\n"));
    }
    for found in &result.evidence {
        let role = found.role.as_deref().unwrap_or("-");
        let written = writeln!(text, "{}  {role}: {:?}", found.handle, found.quote);
        debug_assert!(written.is_ok(), "a string takes everything");
    }
    if result.unverified > 0 {
        text.push_str(&format!(
            "({} quotations of {} were not found in the archive and are omitted)\n",
            result.unverified, result.by
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::recall::Evidence;

    use super::*;

    #[test]
    fn an_answer_stands_above_what_shows_it() {
        let evidence = Evidence { quote: "closes after 30 s".into(), handle: "msg_7".into(), role: None, time: 0.0 };
        let found = AskResult { evidence: vec![evidence], by: "openai".into(), ..AskResult::default() };
        assert_eq!(describe(&found), "msg_7  -: \"closes after 30 s\"\n");
        let answered = AskResult { answer: Some("After 30 s.".into()), unverified: 2, ..found };
        assert_eq!(
            describe(&answered),
            "After 30 s.\n\nmsg_7  -: \"closes after 30 s\"\n(2 quotations of openai were not found in the archive and are omitted)\n"
        );
    }
}
