//! Vectors of the indexed texts, made in the background if an embedder is configured.
//!
//! Texts without a vector are searched for again and again, so that no notification is needed. Texts indexed while the
//! embedder was unreachable get their vectors as soon as it answers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use herma_archive::handle::Source;
use herma_archive::search::Hit;
use herma_archive::vector::{QuantizedVector, SaveVectorsResult, Waiting};
use herma_context::outcome::FailureKind;
use herma_guard::{Policy, RedactOptions, Scope, redact};
use herma_spill::Outputs;
use herma_spill::page::Part;

use super::RecallIndexer;
use crate::data::config::RecallConfig;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_usize;
use crate::owners::blocking::blocking;
use crate::owners::embedder::Embedder;
use crate::owners::summarizer::Failure;

/// The number of texts in one call.
const TEXTS: usize = 32;

/// The number of chars of a text that the embedder gets: more than most models read.
const CHARS: usize = 6_000;

/// How often texts without a vector are searched for.
const LOOK: Duration = Duration::from_secs(2);

/// The first and the longest pause after a failure.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// An embedder, and whether texts are masked before it gets them.
#[derive(Debug)]
pub(crate) struct Embedding {
    pub embedder: Embedder,
    pub redact: bool,
    /// The error of the last call, if it failed.
    pub failed: Mutex<Option<String>>,
}

impl Embedding {
    /// Returns the configured embedder; `None` if it is off.
    pub(crate) fn configured(config: &RecallConfig, redact: bool) -> Option<Self> {
        Embedder::configured(config).map(|embedder| Self { embedder, redact, failed: Mutex::default() })
    }

    /// Returns the vector of a query within a time limit; the error says why there is none.
    pub(crate) async fn of_query(&self, words: &str, wait: Duration) -> Result<Vec<f32>, String> {
        let text = [self.shown(words)];
        match tokio::time::timeout(wait, self.embedder.embed(&text)).await {
            Ok(Ok(vectors)) => vectors.into_iter().next().ok_or_else(|| "it gave no vector".to_owned()),
            Ok(Err(failure)) => Err(failure.text),
            Err(_) => Err(format!("timeout: no answer within {wait:?}")),
        }
    }

    /// Returns the vectors of texts. A text has none if the embedder fails only for that text.
    async fn of_texts(&self, texts: &[String]) -> Result<Vec<Option<Vec<f32>>>, String> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let first = match self.embedder.embed(texts).await {
            Ok(vectors) => return Ok(vectors.into_iter().map(Some).collect()),
            Err(failure) if is_away(&failure) || texts.len() == 1 => return Err(failure.text),
            Err(failure) => failure,
        };
        // One of the texts may make the call fail for the others.
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            match self.embedder.embed(std::slice::from_ref(text)).await {
                Ok(vector) => vectors.push(vector.into_iter().next()),
                Err(failure) if is_away(&failure) => return Err(failure.text),
                Err(_) => vectors.push(None),
            }
        }
        // If each text fails alone too, the cause is not the texts.
        if vectors.iter().all(Option::is_none) { Err(first.text) } else { Ok(vectors) }
    }

    /// Returns a text in the form for the embedder.
    fn shown(&self, text: &str) -> String {
        let text = &text[..text.char_indices().nth(CHARS).map_or(text.len(), |(at, _)| at)];
        if self.redact { redact(text, RedactOptions::default()).text.into_owned() } else { text.to_owned() }
    }

    fn note(&self, failed: Option<String>) -> bool {
        let before = std::mem::replace(&mut *self.failed.lock().unwrap_or_else(PoisonError::into_inner), failed);
        before.is_none()
    }
}

/// Whether a failure is independent of the texts.
fn is_away(failure: &Failure) -> bool {
    let is_gone = matches!(failure.kind, FailureKind::Connection | FailureKind::Timeout | FailureKind::NoProvider);
    is_gone || matches!(failure.status, Some(401 | 403 | 404 | 408 | 429 | 502 | 503 | 504))
}

/// Makes vectors for as long as it is polled.
pub(super) async fn embed_new(indexer: &RecallIndexer) {
    let Some(embedding) = &indexer.embedding else { return };
    let mut behind = None;
    let mut pause = FIRST_PAUSE;
    loop {
        match embed_some(indexer, embedding, &mut behind).await {
            Ok(true) => {
                embedding.note(None);
                pause = FIRST_PAUSE;
            }
            Ok(false) => tokio::time::sleep(LOOK).await,
            Err(words) => {
                if embedding.note(Some(words.clone())) {
                    tracing::warn!("the embedder failed; searches go by words until it answers: {words}");
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Makes vectors of the oldest texts after an id. Returns whether there were any. `behind` is `None` until the archive
/// knows the embedder.
async fn embed_some(indexer: &RecallIndexer, embedding: &Embedding, behind: &mut Option<i64>) -> Result<bool, String> {
    if !indexer.archive.is_in_use() {
        *behind = None;
        return Ok(false);
    }
    let failed = |error: Error| error.to_string();
    let from = match *behind {
        Some(from) => from,
        None => {
            indexer.archive.use_embedder(embedding.embedder.name().to_owned()).await.map_err(failed)?;
            0
        }
    };
    let Waiting { documents, newest } = indexer.archive.without_vector(from, TEXTS).await.map_err(failed)?;
    let Some(first) = documents.first().map(|(id, _)| *id) else {
        *behind = Some(newest);
        return Ok(false);
    };
    let texts = texts(indexer, documents).await.map_err(failed)?;
    let said: Vec<String> =
        texts.iter().filter(|(_, text)| !text.is_empty()).map(|(_, text)| embedding.shown(text)).collect();
    let mut vectors = embedding.of_texts(&said).await?.into_iter();
    let mut dimensions = None;
    let packed = texts.into_iter().map(|(id, text)| {
        let vector = if text.is_empty() { None } else { vectors.next().flatten() };
        dimensions = dimensions.or(vector.as_ref().map(Vec::len));
        (id, vector.map_or_else(QuantizedVector::none, |vector| QuantizedVector::of(&vector)))
    });
    let packed: Vec<(i64, QuantizedVector)> = packed.collect();
    let kept = indexer.archive.keep_vectors(dimensions, packed).await.map_err(failed)?;
    *behind = match kept {
        SaveVectorsResult::Saved => Some(first - 1),
        SaveVectorsResult::Replaced => Some(0),
        SaveVectorsResult::NoEmbedder => None,
    };
    // An embedder whose vectors keep changing must not keep the machine busy.
    Ok(kept == SaveVectorsResult::Saved)
}

/// Returns the texts of documents. A text is empty if a model must not see it, or if its file is gone.
async fn texts(indexer: &RecallIndexer, documents: Vec<(i64, Hit)>) -> Outcome<Vec<(i64, String)>> {
    let (outputs, policy) = (indexer.outputs.clone(), indexer.policy.clone());
    blocking("an embedder's texts", move || {
        Ok(documents.into_iter().map(|(id, hit)| (id, text(&outputs, &policy, hit))).collect())
    })
    .await
}

fn text(outputs: &Outputs, policy: &Policy, hit: Hit) -> String {
    match (hit.source, hit.text) {
        (Source::Output { handle, start, chars, .. }, _) => {
            let part = Part::Chars { offset: to_usize(start), limit: to_usize(chars).clamp(1, CHARS) };
            outputs.peek(&handle, part).map(|page| page.text).unwrap_or_default()
        }
        (Source::Memory { .. }, Some(text)) if !policy.blocks(&text, Scope::Strict).is_empty() => String::new(),
        (_, text) => text.unwrap_or_default(),
    }
}
