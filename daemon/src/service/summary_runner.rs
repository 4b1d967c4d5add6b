//! Asks one summarizer after the other for a text, by the rules of a policy: compressions and
//! trajectories have each their own.

use std::time::Duration;

use crate::data::error::Outcome;
use crate::data::summarizer_kind::Kind;
use crate::owners::summarizer::{Call, Failure, Main, Summarizers};

/// What is asked of a summarizer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    /// The whole prompt.
    pub prompt: String,
    /// Most tokens of the answer.
    pub max_tokens: u64,
    /// The model to use: a name, `auto` or `main`.
    pub model: Option<String>,
    /// What the agent uses itself.
    pub main: Main,
}

/// What is done about a summarizer whose turn it is.
pub(crate) enum Turn<T> {
    /// It is asked.
    Ask(Box<Question>),
    /// It is left out; the policy has gone on to the next one.
    Skip,
    /// Nobody has to be asked any more.
    End(T),
}

/// Decides who is asked what, and what follows from an answer or a failure.
pub(crate) trait Policy: Send {
    /// What a run comes to.
    type Text: Send;

    /// The summarizer whose turn it is; `None` when all had theirs.
    fn current(&self) -> Option<Kind>;

    /// What is done about it.
    fn turn(&mut self, kind: Kind) -> impl Future<Output = Outcome<Turn<Self::Text>>> + Send;

    /// Takes what it wrote; `None` when that does not pass, and it is decided who is next.
    fn accept(&mut self, kind: Kind, text: String) -> impl Future<Output = Outcome<Option<Self::Text>>> + Send;

    /// Takes why it wrote nothing and decides who is next, and after how long a pause.
    fn failed(&mut self, kind: Kind, failure: Failure) -> Duration;
}

/// Goes on until there is a text; `None` when all summarizers had their turn. Dropping the
/// future ends the call.
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
