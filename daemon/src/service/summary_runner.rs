//! Tries one summarizer after the other for a text, following a policy. Compressions and trajectories each have their
//! own policy.

use std::time::Duration;

use crate::data::error::Outcome;
use crate::data::summarizer_kind::Kind;
use crate::owners::summarizer::{Call, Failure, Main, Summarizers};

/// A question for a summarizer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    /// The whole prompt.
    pub prompt: String,
    /// The largest number of tokens of the answer.
    pub max_tokens: u64,
    /// The model to use: a name, `auto` or `main`.
    pub model: Option<String>,
    /// The model and endpoint of the session's agent.
    pub main: Main,
}

/// The action for a summarizer whose turn it is.
pub(crate) enum Turn<T> {
    /// It gets this question.
    Ask(Box<Question>),
    /// It is skipped. The policy has moved on to the next one.
    Skip,
    /// No summarizer is needed any more.
    End(T),
}

/// Decides which summarizer gets which question, and what follows from its answer or failure.
pub(crate) trait Policy: Send {
    /// The result of a run.
    type Text: Send;

    /// Returns the summarizer whose turn it is; `None` after the last one.
    fn current(&self) -> Option<Kind>;

    /// Returns the action for the summarizer.
    fn turn(&mut self, kind: Kind) -> impl Future<Output = Outcome<Turn<Self::Text>>> + Send;

    /// Checks an answer; returns `None` if it does not pass, and has then chosen the next summarizer.
    fn accept(&mut self, kind: Kind, text: String) -> impl Future<Output = Outcome<Option<Self::Text>>> + Send;

    /// Notes a failure and chooses the next summarizer. Returns the pause before it.
    fn failed(&mut self, kind: Kind, failure: Failure) -> Duration;
}

/// Runs until there is a text; returns `None` if all summarizers had their turn. Dropping the future ends the call.
pub(crate) async fn run<P: Policy>(summarizers: &Summarizers, policy: &mut P) -> Outcome<Option<P::Text>> {
    while let Some(kind) = policy.current() {
        let question = match policy.turn(kind).await? {
            Turn::End(text) => return Ok(Some(text)),
            Turn::Skip => continue,
            Turn::Ask(question) => question,
        };
        let Question { prompt, max_tokens, model, main } = &*question;
        let call = Call { prompt, max_tokens: *max_tokens, model: model.as_deref(), main };
        match summarizers.write(kind, call).await {
            Ok(written) => {
                if let Some(text) = policy.accept(kind, written.text).await? {
                    return Ok(Some(text));
                }
            }
            Err(failure) => {
                let pause = policy.failed(kind, failure);
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }
    Ok(None)
}
