//! Using a run made in advance.

use std::sync::Arc;

use herma_context::engine::{CompressRequest, EngineState, Prepared};

use super::Ready;
use crate::service::compression::list;
use crate::service::compression::run::{RunReport, WrittenSummary};

/// The list for which a run is to be used.
pub(in crate::service::compression) enum More {
    /// The whole list, which may be a different one.
    Whole(Vec<String>),
    /// The messages that the run's transcript got after the run.
    Beyond(Vec<String>),
}

/// Whether a run made in advance can be used for a list.
pub(in crate::service::compression) enum Continued {
    /// It can, because the list only grew.
    Fits { prepared: Box<Prepared>, text: WrittenSummary, report: RunReport },
    /// It can't. This is the list.
    Differs(Vec<String>),
}

/// Uses a run made in advance for a list, if the list only grew since and the result is small enough.
pub(in crate::service::compression) fn continued(
    ready: Ready,
    more: More,
    state: &EngineState,
    request: &CompressRequest,
) -> Continued {
    let Ready { run, text } = ready;
    let input = run.prepared.input();
    let more = match more {
        More::Beyond(more) => more,
        More::Whole(mut texts) => {
            let only_grew =
                input.len() <= texts.len() && input.iter().zip(&texts).all(|(one, other)| one.raw() == other);
            if !only_grew {
                return Continued::Differs(texts);
            }
            texts.split_off(input.len())
        }
    };
    let prepared = match Arc::try_unwrap(run.prepared) {
        Ok(prepared) => prepared.continued(list::parse(more), state, request),
        Err(shared) => {
            return Continued::Differs(raw(&shared).chain(more).collect());
        }
    };
    if prepared.fits() {
        Continued::Fits { prepared: Box::new(prepared), text, report: run.report }
    } else {
        Continued::Differs(raw(&prepared).collect())
    }
}

fn raw(prepared: &Prepared) -> impl Iterator<Item = String> {
    prepared.input().iter().map(|message| message.raw().to_owned())
}
