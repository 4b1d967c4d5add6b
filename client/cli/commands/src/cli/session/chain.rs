//! `herma session tip`, `resume-target`, `next-title`.

use herma_client::protocol::session::chain::{NextTitleParams, ResumeTargetParams, TipParams};

use super::life::Named;
use crate::cli::exit::Failure;
use crate::cli::{Session, out};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  herma session next-title \"Mend the socket\"     # Mend the socket #2")]
pub(in crate::cli) struct NextTitle {
    /// The title of the session that is continued
    title: String,
}

pub(super) fn tip(session: &Session<'_>, named: &Named) -> Result<(), Failure> {
    let result = session.connect()?.session_tip(TipParams { session: named.session.clone() })?;
    out::show(session.common, &result, |result| result.session.clone())
}

pub(super) fn resume_target(session: &Session<'_>, named: &Named) -> Result<(), Failure> {
    let params = ResumeTargetParams { session: named.session.clone() };
    let result = session.connect()?.session_resume_target(params)?;
    out::show(session.common, &result, |result| result.session.clone())
}

pub(super) fn next_title(session: &Session<'_>, arguments: &NextTitle) -> Result<(), Failure> {
    let result = session.connect()?.session_next_title(NextTitleParams { title: arguments.title.clone() })?;
    out::show(session.common, &result, |result| result.title.clone())
}
