//! Makes one call for each of several names, and collects the results.

use herma_base::{Common, Failure, out};
use herma_client::ClientError;
use herma_client::protocol::RpcError;
use serde::Serialize;

/// The results of the calls.
#[derive(Debug)]
pub(crate) struct BatchResults<T> {
    done: Vec<(String, T)>,
    failed: Vec<(String, RpcError)>,
}

/// The result of a call, for programs.
#[derive(Debug, Serialize)]
struct Done<'a, T> {
    name: &'a str,
    #[serde(flatten)]
    result: &'a T,
}

/// The refusal of a call, for programs.
#[derive(Debug, Serialize)]
struct Failed<'a> {
    name: &'a str,
    kind: &'static str,
    message: &'a str,
}

/// All results, for programs.
#[derive(Debug, Serialize)]
struct Told<'a, T> {
    removed: Vec<Done<'a, T>>,
    failed: Vec<Failed<'a>>,
}

impl<T: Serialize> BatchResults<T> {
    /// Makes a call for each name. If the daemon refuses one, the others still follow. A broken connection ends it.
    pub(crate) fn call(
        names: &[String],
        mut call: impl FnMut(&str) -> Result<T, ClientError>,
    ) -> Result<Self, ClientError> {
        let mut several = Self { done: Vec::new(), failed: Vec::new() };
        for name in names {
            match call(name) {
                Ok(result) => several.done.push((name.clone(), result)),
                Err(ClientError::Rpc(error)) => several.failed.push((name.clone(), error)),
                Err(error) => return Err(error),
            }
        }
        Ok(several)
    }

    /// Prints the removed names, a line each, and then the refused ones.
    ///
    /// # Errors
    /// [`Failure::No`] if a name was refused.
    pub(crate) fn print(&self, common: &Common, line: impl Fn(&str, &T) -> String) -> Result<(), Failure> {
        if common.json {
            out::json(&self.describe())?;
        } else if !self.done.is_empty() {
            let lines: Vec<String> = self.done.iter().map(|(name, result)| line(name, result)).collect();
            out::line(&lines.join("\n"))?;
        }
        for (name, error) in self.failed.iter().filter(|_| !common.json) {
            out::problem(common, &refusal(name, error));
        }
        self.outcome()
    }

    fn outcome(&self) -> Result<(), Failure> {
        if self.failed.is_empty() { Ok(()) } else { Err(Failure::No) }
    }

    fn describe(&self) -> Told<'_, T> {
        let done = self.done.iter().map(|(name, result)| Done { name, result });
        let failed = self.failed.iter();
        let failed =
            failed.map(|(name, error)| Failed { name, kind: error.kind.name(), message: error.message.as_str() });
        Told { removed: done.collect(), failed: failed.collect() }
    }
}

/// Says which name was refused, and why.
fn refusal(name: &str, error: &RpcError) -> String {
    let words = Failure::Client(error.clone().into()).words().unwrap_or_default();
    if words.contains(&format!("{name:?}")) { words } else { format!("{name}: {words}") }
}

#[cfg(test)]
mod tests {
    use std::io;

    use herma_client::protocol::ErrorKind;
    use herma_client::protocol::output::shelf::RemoveResult;
    use serde_json::json;

    use super::*;

    fn names() -> Vec<String> {
        ["a", "b", "c"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_refusal_does_not_stop_the_others() {
        let several = BatchResults::call(&names(), |name| match name {
            "b" => Err(RpcError::new(ErrorKind::NotFound, "there is no such output").into()),
            _ => Ok(RemoveResult { bytes: 7 }),
        })
        .unwrap();
        let expected = json!({
            "removed": [{ "name": "a", "bytes": 7 }, { "name": "c", "bytes": 7 }],
            "failed": [{ "name": "b", "kind": "not_found", "message": "there is no such output" }],
        });
        assert_eq!(serde_json::to_value(several.describe()).unwrap(), expected);
        assert!(matches!(several.outcome(), Err(Failure::No)));
    }

    #[test]
    fn a_refusal_has_the_name_once() {
        let refused = |message: &str| refusal("out_1", &RpcError::new(ErrorKind::NotFound, message));
        assert_eq!(refused("there is no output \"out_1\""), "there is no output \"out_1\"");
        assert_eq!(refused("the disk is full"), "out_1: the disk is full");
    }

    #[test]
    fn a_broken_connection_stops_all() {
        let mut calls = 0;
        let several = BatchResults::<RemoveResult>::call(&names(), |_| {
            calls += 1;
            Err(ClientError::Lost(io::ErrorKind::BrokenPipe.into()))
        });
        assert!(matches!(several, Err(ClientError::Lost(_))), "{several:?}");
        assert_eq!(calls, 1);
    }
}
