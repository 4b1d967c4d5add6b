//! Tool outputs that an agent has discarded: finding them, and removing them from the list.

mod calls;

use herma_archive::discard::DiscardRow;
use herma_context::fingerprint::Fingerprint;
use herma_context::{Message, Redaction, Role, tokens};

use super::{CompressionService, parse};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The longest reason, in chars.
const REASON: usize = 200;
/// The largest number of outputs in one call.
const MOST: usize = 500;

/// The outputs to discard, named in one or several ways.
#[derive(Debug, Default)]
pub(crate) struct Discarding {
    /// The positions in the transcript, of the outputs or of their calls.
    pub positions: Vec<u64>,
    /// Handles that occur in the outputs.
    pub handles: Vec<String>,
    /// Words that occur in their calls.
    pub calls: Vec<String>,
    /// The outputs themselves, as JSON texts.
    pub messages: Vec<String>,
    /// The reason.
    pub reason: Option<String>,
}

impl Discarding {
    /// Whether it names nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn count(&self) -> usize {
        self.positions.len() + self.handles.len() + self.calls.len() + self.messages.len()
    }
}

/// The discarded outputs.
#[derive(Debug, Default)]
pub(crate) struct Discarded {
    /// The number of outputs.
    pub outputs: usize,
    /// Their estimated tokens.
    pub tokens: u64,
}

impl CompressionService {
    /// Marks outputs, of which the next compression leaves only one line each.
    pub(crate) async fn discard(&self, session: &Session, wanted: Discarding) -> Outcome<Discarded> {
        let count = wanted.count();
        if count > MOST {
            return Err(Error::TooLarge(format!("{count} outputs were named; {MOST} may be named in one call")));
        }
        let texts = if count == wanted.messages.len() {
            Vec::new()
        } else {
            let found = self.archive.transcript(session.id.clone()).await?;
            found.map_or_else(Vec::new, |(_, texts)| texts)
        };
        let id = session.id.clone();
        let (rows, discarded) = blocking("context.discard", move || {
            let reason = wanted.reason.clone();
            let outputs = outputs(&id, parse(texts), wanted)?;
            let reason = reason.as_deref().map(|reason| in_one_line(reason, REASON));
            let reason = reason.filter(|reason| !reason.is_empty());
            let row = |output: &Message| {
                let id = Fingerprint::of(output).to_string();
                DiscardRow { id, reason: reason.clone(), at: unix_now() }
            };
            let mut rows: Vec<DiscardRow> = outputs.iter().map(row).collect();
            rows.sort_by(|one, other| one.id.cmp(&other.id));
            rows.dedup_by(|one, other| one.id == other.id);
            let discarded = Discarded { outputs: rows.len(), tokens: tokens::estimate_messages(&outputs) };
            Ok((rows, discarded))
        })
        .await?;
        self.archive.add_discards(session.id.clone(), rows).await?;
        self.forget(&session.id);
        Ok(discarded)
    }
}

/// Returns the named outputs.
fn outputs(session: &str, transcript: Vec<Message>, wanted: Discarding) -> Outcome<Vec<Message>> {
    let Discarding { positions, handles, calls, messages, .. } = wanted;
    let mut found = parse(messages);
    if let Some(at) = found.iter().position(|message| *message.role() != Role::Tool) {
        return Err(Error::param("messages", format!("message {at} is no output of a tool")));
    }
    let mut places: Vec<usize> = Vec::new();
    for position in positions {
        let own = usize::try_from(position).ok().and_then(|at| Some((at, transcript.get(at)?)));
        let (at, message) = own.ok_or_else(|| {
            let length = transcript.len();
            Error::param("positions", format!("{position} is none of the {length} that were appended to {session:?}"))
        })?;
        let before = places.len();
        match message.role() {
            Role::Tool => places.push(at),
            // The results of a call follow it.
            _ if !message.tool_calls().is_empty() => {
                let results = transcript.iter().enumerate().skip(at + 1);
                places.extend(results.take_while(|(_, next)| *next.role() == Role::Tool).map(|(at, _)| at));
            }
            _ => {}
        }
        if places.len() == before {
            let words = format!("{position} is neither an output of a tool nor a call that has one");
            return Err(Error::param("positions", words));
        }
    }
    let mut is_found = vec![false; handles.len()];
    for (at, message) in transcript.iter().enumerate().filter(|(_, message)| *message.role() == Role::Tool) {
        if handles.is_empty() {
            break;
        }
        let text = message.text();
        for (handle, is_found) in handles.iter().zip(&mut is_found) {
            if !handle.is_empty() && text.contains(handle.as_str()) {
                *is_found = true;
                places.push(at);
            }
        }
    }
    if let Some((handle, _)) = handles.iter().zip(is_found).find(|(_, is_found)| !is_found) {
        let shown: String = handle.chars().take(64).collect();
        return Err(Error::NotFound(format!("no output that was appended to {session:?} names {shown:?}")));
    }
    for (words, outputs) in calls.iter().zip(calls::outputs_of(&transcript, &calls)) {
        if outputs.is_empty() {
            let shown: String = words.chars().take(64).collect();
            return Err(Error::NotFound(format!(
                "no call that was appended to {session:?} names {shown:?} and has an output"
            )));
        }
        places.extend(outputs);
    }
    places.sort_unstable();
    places.dedup();
    found.extend(places.into_iter().filter_map(|at| transcript.get(at).cloned()));
    Ok(found)
}

/// Returns an agent's words without secrets and line breaks, cut to a number of chars.
pub(super) fn in_one_line(words: &str, chars: usize) -> String {
    let clean = Redaction::On.apply(words);
    clean.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    fn transcript() -> Vec<Message> {
        parse(
            [
                r#"{"role":"user","content":"go"}"#,
                r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"path\": \"src/a.rs\"}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"1","content":"see out_1"}"#,
                r#"{"role":"assistant","content":"out_1 is done"}"#,
            ]
            .map(str::to_owned)
            .into(),
        )
    }

    fn found(positions: &[u64], handles: &[&str], messages: &[&str]) -> Result<usize, String> {
        let own = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect();
        count(Discarding {
            positions: positions.to_vec(),
            handles: own(handles),
            messages: own(messages),
            ..Discarding::default()
        })
    }

    fn count(wanted: Discarding) -> Result<usize, String> {
        outputs("s", transcript(), wanted).map(|all| all.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn outputs_are_named_by_what_their_calls_were_given() {
        let calls = |words: &str| count(Discarding { calls: vec![words.to_owned()], ..Discarding::default() });
        assert_eq!((calls("src/a.rs"), calls("a")), (Ok(1), Ok(1)));
        for words in ["", "src/b.rs", "out_1", "see"] {
            assert!(calls(words).unwrap_err().contains("no call"), "{words}");
        }
    }

    #[test]
    fn outputs_are_named_by_position_call_handle_or_themselves() {
        assert_eq!(found(&[2], &[], &[]), Ok(1));
        assert_eq!(found(&[1, 2], &["out_1"], &[]), Ok(1));
        assert_eq!(found(&[], &["out_1"], &[r#"{"role":"tool","content":"x"}"#]), Ok(2));
        for (positions, handles, messages, words) in [
            (vec![4], vec![], vec![], "none of the 4"),
            (vec![0], vec![], vec![], "neither an output"),
            (vec![3], vec![], vec![], "neither an output"),
            (vec![], vec!["out_2"], vec![], "names \"out_2\""),
            (vec![], vec![], vec![r#"{"role":"user","content":"x"}"#], "no output"),
        ] {
            let error = found(&positions, &handles, &messages).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_reason_is_one_line_without_secrets() {
        let secret = format!("sk-{}", "a1B2c3D4".repeat(6));
        let reason = in_one_line(&format!("done\n with {secret} {}", "x".repeat(500)), REASON);
        assert!(reason.starts_with("done with ") && reason.chars().count() == REASON, "{reason}");
        assert!(!reason.contains(&secret), "{reason}");
    }
}
