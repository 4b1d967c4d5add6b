//! The embedder, which makes vectors of texts: an endpoint for embeddings, or a program.
//!
//! One call is for a few texts and has a time limit. The answer is checked: it must have a vector for each text, all of
//! the same size, of real numbers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use herma_archive::vector::DIMENSIONS;
use herma_context::outcome::FailureKind;
use reqwest::header::AUTHORIZATION;
use serde::Serialize;
use serde_json::Value;

use super::summarizer::Failure;
use super::summarizer::command::Command;
use super::summarizer::endpoint::Endpoint;
use super::summarizer::masker::{Secret, SecretMasker};
use crate::data::config::{
    CommandConfig, EmbedderKind, EmbeddingCommandConfig, EmbeddingEndpointConfig, EndpointConfig, ModelChoice,
    RecallConfig,
};

/// The largest answer, in bytes: 32 vectors of 8,192 numbers with 20 chars each.
const LARGEST: usize = 8 << 20;

/// The time limit for connecting.
const CONNECT: Duration = Duration::from_secs(5);

/// A configured embedder.
#[derive(Debug)]
pub(crate) struct Embedder {
    way: Way,
    /// The name of its vectors. Only vectors with the same name can be compared.
    name: String,
}

#[derive(Debug)]
enum Way {
    Endpoint { endpoint: Box<Endpoint>, model: String },
    Command(Command),
}

#[derive(Serialize)]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    input: &'a [String],
}

impl Embedder {
    /// Returns the configured embedder, with its key from the environment; `None` if the embedder is off.
    pub(crate) fn configured(config: &RecallConfig) -> Option<Self> {
        match config.embedder {
            EmbedderKind::Off => None,
            EmbedderKind::OpenAi => config.openai.as_ref().map(Self::endpoint),
            EmbedderKind::Command => config.command.as_ref().map(Self::command),
        }
    }

    fn endpoint(config: &EmbeddingEndpointConfig) -> Self {
        let EmbeddingEndpointConfig { base_url, model, api_key_env, timeout } = config.clone();
        let variable = api_key_env.as_deref().and_then(|name| std::env::var(name).ok());
        let key = variable.and_then(|text| Secret::new(text.trim()));
        let masker = Arc::new(SecretMasker::over(key.iter().cloned().collect()));
        let name = format!("openai {base_url} {model}");
        let config = EndpointConfig {
            base_url,
            model: ModelChoice::Named(model.clone()),
            api_key_env,
            connect_timeout: timeout.min(CONNECT),
            read_timeout: timeout,
            total_timeout: timeout,
            max_response: LARGEST,
            ..EndpointConfig::default()
        };
        Self { way: Way::Endpoint { endpoint: Box::new(Endpoint::new(config, key, masker)), model }, name }
    }

    fn command(config: &EmbeddingCommandConfig) -> Self {
        let EmbeddingCommandConfig { argv, timeout } = config.clone();
        // Arguments may be keys. So only the program's name identifies it; a change of the model shows in the number of
        // dimensions.
        let program = argv.first().map_or("", String::as_str);
        let program = Path::new(program).file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        let config = CommandConfig { argv, timeout, max_response: LARGEST, ..CommandConfig::default() };
        let masker = Arc::new(SecretMasker::over(Vec::new()));
        Self { way: Way::Command(Command::new(config, masker)), name: format!("command {program}") }
    }

    /// Returns the name of its vectors. Only vectors with the same name can be compared.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns a vector for each text, all of the same size.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let answer = match &self.way {
            Way::Endpoint { endpoint, model } => {
                let headers = endpoint.key_header(AUTHORIZATION, "Bearer ")?;
                let request = Request { model: Some(model), input: texts };
                endpoint.within_total(endpoint.post(&["embeddings"], headers, &request)).await?
            }
            Way::Command(command) => {
                let request = Request { model: None, input: texts };
                let request = serde_json::to_string(&request).map_err(|error| wrong(&error.to_string()))?;
                let (out, hint) = command.run(&request).await?;
                serde_json::from_slice(&out).map_err(|error| wrong(&format!("{error}{hint}")))?
            }
        };
        vectors(&answer, texts.len()).map_err(|words| wrong(&words))
    }
}

fn wrong(words: &str) -> Failure {
    Failure::new(FailureKind::Json, format!("bad answer: {words}"))
}

/// Returns the vectors of an answer, in the order of their texts.
fn vectors(answer: &Value, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let rows = answer.get("data").and_then(Value::as_array).ok_or("it has no `data`")?;
    if rows.len() != texts {
        return Err(format!("{} vectors for {texts} texts", rows.len()));
    }
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts];
    for (at, row) in rows.iter().enumerate() {
        let place = row.get("index").and_then(Value::as_u64).map_or(Ok(at), usize::try_from);
        let place = place.ok().and_then(|place| vectors.get_mut(place)).filter(|vector| vector.is_empty());
        let place = place.ok_or_else(|| format!("data[{at}] has an index that is taken or too large"))?;
        *place = numbers(row).ok_or_else(|| format!("data[{at}] has no `embedding` of 1 to {DIMENSIONS} numbers"))?;
    }
    let mut sizes = vectors.iter().map(Vec::len);
    let first = sizes.next().unwrap_or(0);
    match sizes.find(|size| *size != first) {
        Some(other) => Err(format!("vectors of {first} and of {other} numbers")),
        None => Ok(vectors),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "what is compared needs no more")]
fn numbers(row: &Value) -> Option<Vec<f32>> {
    let numbers = row.get("embedding")?.as_array()?;
    let number = |number: &Value| number.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    let numbers: Vec<f32> = numbers.iter().map(number).collect::<Option<_>>()?;
    (1..=DIMENSIONS).contains(&numbers.len()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_looked_at_before_it_is_believed() {
        for (answer, expect) in [
            (
                json!({ "data": [{ "embedding": [1, 2.5] }, { "embedding": [3, 4] }] }),
                Ok(vec![vec![1.0, 2.5], vec![3.0, 4.0]]),
            ),
            (
                json!({ "data": [{ "index": 1, "embedding": [1] }, { "index": 0, "embedding": [2] }] }),
                Ok(vec![vec![2.0], vec![1.0]]),
            ),
            (json!({ "data": [{ "embedding": [1] }] }), Err("1 vectors for 2 texts")),
            (json!({ "error": "no" }), Err("it has no `data`")),
            (json!({ "data": [{ "embedding": [1] }, { "embedding": [1, 2] }] }), Err("vectors of 1 and of 2 numbers")),
            (
                json!({ "data": [{ "embedding": [1] }, { "embedding": ["NaN"] }] }),
                Err("data[1] has no `embedding` of 1 to 8192 numbers"),
            ),
            (
                json!({ "data": [{ "embedding": [] }, { "embedding": [1] }] }),
                Err("data[0] has no `embedding` of 1 to 8192 numbers"),
            ),
            (
                json!({ "data": [{ "embedding": [1e300] }, { "embedding": [1] }] }),
                Err("data[0] has no `embedding` of 1 to 8192 numbers"),
            ),
            (
                json!({ "data": [{ "index": 0, "embedding": [1] }, { "index": 0, "embedding": [2] }] }),
                Err("data[1] has an index that is taken or too large"),
            ),
            (
                json!({ "data": [{ "index": 9, "embedding": [1] }, { "embedding": [2] }] }),
                Err("data[0] has an index that is taken or too large"),
            ),
        ] {
            assert_eq!(vectors(&answer, 2), expect.map_err(str::to_owned), "{answer}");
        }
    }
}
