//! `context.compress`: prepare, write the summary, archive what leaves, answer.

use std::sync::Arc;
use std::time::Instant;

use herma_archive::removed::{After, Removal};
use herma_archive::{Archive, ArchiveError};
use herma_context::{
    ArchiveNote, CompressRequest, Declined, EngineState, Message, Removed, Settings, Slot, Summary, prepare, tokens,
};
use herma_protocol::context::{
    Archived, CompressParams, CompressResult, Compressed, Edits, Insert, Mode, Replace, ReplyForm, Report,
};
use herma_protocol::{ErrorKind, Json, RpcError};
use herma_spill::name;

use super::{SUMMARIZER, Shared, check_summarizer, parse, request, session_settings, wire_message};
use crate::caller::Caller;
use crate::fail::{self, Outcome};
use crate::handler::{blocking, session, wide};
use crate::session::Session;
use crate::state::unix_now;

pub(in crate::handler) async fn compress(
    state: &Shared,
    caller: &Caller,
    params: CompressParams,
) -> Outcome<CompressResult> {
    let started = Instant::now();
    check_summarizer(params.summarizer.as_deref())?;
    if params.mode == Some(Mode::Continue) {
        return Err(fail::invalid("mode", "\"continue\" is not served by this version; leave it out"));
    }
    let request = request(params.focus, params.today, params.current_tokens)?;
    let session = session::ensure(state, caller, &params.session).await?;
    let settings = session_settings(&session, &state.config)?;
    let running = Arc::clone(&session.compressing).try_lock_owned().map_err(|_| {
        RpcError::new(ErrorKind::Busy, format!("another compression of session {:?} is running", session.id))
    })?;
    let messages = match params.messages {
        Some(messages) => messages,
        None => transcript(state, &session).await?,
    };
    let form = params.reply.unwrap_or(ReplyForm::Messages);
    let work = Work { settings, state: session.engine().clone(), request, generation: session.generation() + 1 };
    let id = session.id.clone();
    let done = blocking("context.compress", move || work.run(&parse(messages), &id)).await?;
    let (compressed, input, handle, generation) = match done {
        Done::Declined { why, input } => return declined(&session, why, &input, form, started),
        Done::Compressed { compressed, input, handle, generation } => (compressed, input, handle, generation),
    };
    let mut engine = compressed.state.clone();
    engine.record_compression(compressed.numbers.tokens_after);
    let commit = {
        let (state, session, engine) = (Arc::clone(state), Arc::clone(&session), engine.clone());
        let (input, handle) = (Arc::clone(&input), handle.clone());
        let (removed, slots) = (compressed.removed.clone(), compressed.slots.clone());
        let summary = engine.previous_summary.clone().unwrap_or_default();
        // A task of its own: once the archive was asked, session and archive must
        // agree on the generation, whether the caller still waits or not.
        tokio::spawn(async move {
            archive(&state, &session, Leaving { removed, slots, summary, input, handle, generation }).await?;
            session.set_generation(generation);
            *session.engine() = engine;
            drop(running);
            Ok(())
        })
    };
    commit.await.unwrap_or_else(|_| Err(fail::internal("context.compress")))?;
    let (messages, edits) = blocking("context.compress", {
        let (slots, input) = (compressed.slots, Arc::clone(&input));
        move || answer(&slots, &input, form)
    })
    .await?;
    let numbers = compressed.numbers;
    let report = Report {
        compressed: true,
        messages_before: wide(numbers.messages_before),
        messages_after: wide(numbers.messages_after),
        chars_before: wide(numbers.chars_before),
        chars_after: wide(numbers.chars_after),
        tokens_before: numbers.tokens_before,
        tokens_after: numbers.tokens_after,
        head: wide(numbers.head),
        tail: wide(numbers.tail),
        pruned: wide(numbers.pruned),
        archived: Some(Archived { handle, messages: wide(compressed.removed.len()) }),
        dropped: wide(numbers.dropped),
        warnings: warnings(&engine),
        ..report(&session, &engine, started)
    };
    Ok(CompressResult::Done(Box::new(Compressed { messages, edits, report })))
}

/// Everything that the engine needs, so that it can run on another thread.
struct Work {
    settings: Settings,
    state: EngineState,
    request: CompressRequest,
    generation: u64,
}

/// What the engine came to.
enum Done {
    Declined { why: Declined, input: Arc<[Message]> },
    Compressed { compressed: Box<herma_context::Compressed>, input: Arc<[Message]>, handle: String, generation: u64 },
}

impl Work {
    fn run(self, messages: &[Message], session: &str) -> Outcome<Done> {
        let input: Arc<[Message]> = messages.into();
        let prepared = match prepare(messages, &self.settings, &self.state, &self.request) {
            Ok(prepared) => prepared,
            Err(why) => return Ok(Done::Declined { why, input }),
        };
        let handle = format!("cmp_{}_{}", &name::hex(session.as_bytes())[..12], self.generation);
        let summary = Summary { body: prepared.extractive_summary(None), sections: Vec::new() };
        let note = ArchiveNote { handle: handle.clone(), messages: prepared.dropped() };
        let compressed = Box::new(prepared.finish(summary, note));
        Ok(Done::Compressed { compressed, input, handle, generation: self.generation })
    }
}

/// The input comes back, and the report says why.
fn declined(
    session: &Session,
    why: Declined,
    input: &[Message],
    form: ReplyForm,
    started: Instant,
) -> Outcome<CompressResult> {
    let (count, estimate) = (wide(input.len()), tokens::Measure::of_all(input));
    let mut engine = session.engine();
    why.note(&mut engine);
    let report = Report {
        compressed: false,
        reason: Some(why.to_string()),
        messages_before: count,
        messages_after: count,
        chars_before: wide(estimate.chars),
        chars_after: wide(estimate.chars),
        tokens_before: estimate.tokens(),
        tokens_after: estimate.tokens(),
        ..report(session, &engine, started)
    };
    drop(engine);
    let kept: Vec<Slot> = (0..input.len()).map(Slot::Kept).collect();
    let (messages, edits) = answer(&kept, input, form)?;
    Ok(CompressResult::Done(Box::new(Compressed { messages, edits, report })))
}

fn report(session: &Session, engine: &EngineState, started: Instant) -> Report {
    Report {
        generation: session.generation(),
        session: session.id.clone(),
        summarizer: SUMMARIZER.into(),
        fallback: engine.fallback,
        aborted: engine.aborted,
        error: engine.last_error.clone(),
        savings_pct: engine.savings_pct,
        ineffective_count: u64::from(engine.ineffective_count),
        compression_count: engine.compression_count,
        elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
        ..Report::default()
    }
}

fn warnings(engine: &EngineState) -> Vec<String> {
    if engine.compression_count < 2 {
        return Vec::new();
    }
    vec![format!(
        "this conversation was compressed {} times; accuracy may fall, and a new session with the open points would help",
        engine.compression_count
    )]
}

/// What was appended to the session so far.
async fn transcript(state: &Shared, session: &Session) -> Outcome<Vec<Json>> {
    let id = session.id.clone();
    let bodies = state.archive.read(move |reader| reader.transcript(&id)).await?;
    if bodies.is_empty() {
        let words = "the list is needed, for nothing was appended to this session with session.append";
        return Err(fail::invalid("messages", words));
    }
    bodies.into_iter().map(|body| Json::parse(body).map_err(|_| fail::internal("a transcript"))).collect()
}

/// What a compression takes out of a list, and what the list is then.
struct Leaving {
    removed: Vec<Removed>,
    slots: Vec<Slot>,
    summary: String,
    input: Arc<[Message]>,
    handle: String,
    generation: u64,
}

/// Keeps what leaves the list before anybody gets the new one.
async fn archive(state: &Shared, session: &Session, leaving: Leaving) -> Outcome<()> {
    let id = session.id.clone();
    let keep = move |archive: &mut Archive| {
        let Leaving { removed, slots, summary, input, handle, generation } = leaving;
        let indexes = removed.into_iter().map(Removed::index);
        let messages: Vec<(u64, &str)> =
            indexes.filter_map(|at| input.get(at).map(|message| (wide(at), message.raw()))).collect();
        let after: Vec<After<'_>> = slots
            .iter()
            .map(|slot| match slot {
                Slot::Kept(at) => After::Kept(wide(*at)),
                Slot::Replaced { message, .. } | Slot::Inserted(message) => After::New(message.raw()),
            })
            .collect();
        let transcript = keep_up(archive, &id, generation.saturating_sub(1), &input)?;
        // What was appended while it was being compressed goes on behind the new list.
        let rest = wide(input.len())..transcript.unwrap_or_default();
        let after: Vec<After<'_>> = after.into_iter().chain(rest.map(After::Kept)).collect();
        archive.keep_removed(&Removal {
            handle: &handle,
            session: &id,
            generation,
            time: unix_now(),
            summary: &summary,
            messages: &messages,
            after: transcript.is_some().then_some(&after),
        })
    };
    state.archive.call(keep).await
}

/// Appends to a session's transcript what the list has beyond it, and answers how long it
/// is then; `None` when the list is another one.
fn keep_up(archive: &mut Archive, id: &str, generation: u64, input: &[Message]) -> Result<Option<u64>, ArchiveError> {
    let kept = archive.reader().transcript(id)?;
    if !kept.iter().zip(input).all(|(kept, message)| kept == message.raw()) {
        return Ok(None);
    }
    if !kept.is_empty() && kept.len() < input.len() {
        let rest: Vec<&str> = input[kept.len()..].iter().map(Message::raw).collect();
        archive.append(id, generation, wide(kept.len()), &rest, unix_now())?;
    }
    Ok(Some(wide(kept.len().max(input.len()))))
}

type Answer = (Option<Vec<Json>>, Option<Edits>);

fn answer(slots: &[Slot], input: &[Message], form: ReplyForm) -> Outcome<Answer> {
    match form {
        ReplyForm::Messages => {
            let messages = slots.iter().map(|slot| match slot {
                Slot::Kept(index) => {
                    input.get(*index).ok_or_else(|| fail::internal("context.compress")).and_then(wire_message)
                }
                Slot::Replaced { message, .. } | Slot::Inserted(message) => wire_message(message),
            });
            Ok((Some(messages.collect::<Outcome<_>>()?), None))
        }
        ReplyForm::Edits => edits(slots, input.len()).map(|edits| (None, Some(edits))),
    }
}

/// The same list as differences. An inserted message comes before the next one
/// that stays.
fn edits(slots: &[Slot], length: usize) -> Outcome<Edits> {
    let mut edits = Edits::default();
    let mut next = 0;
    let mut waiting = Vec::new();
    for slot in slots {
        let index = match slot {
            Slot::Inserted(message) => {
                waiting.push(wire_message(message)?);
                continue;
            }
            Slot::Kept(index) => *index,
            Slot::Replaced { index, message } => {
                edits.replace.push(Replace { index: wide(*index), message: wire_message(message)? });
                *index
            }
        };
        let at = wide(index);
        edits.insert.extend(waiting.drain(..).map(|message| Insert { at, message }));
        match edits.keep.last_mut() {
            Some(range) if range.1 == at => range.1 = at + 1,
            _ => edits.keep.push((at, at + 1)),
        }
        next = index + 1;
    }
    let at = wide(next.max(length));
    edits.insert.extend(waiting.into_iter().map(|message| Insert { at, message }));
    Ok(edits)
}
