//! `herma session tip`, `resume-target`, `next-title`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::session::chain::{NextTitleParams, ResumeTargetParams, TipParams};

use super::life::Named;
use crate::names;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  herma session next-title \"Mend the socket\"     # Mend the socket #2")]
pub(crate) struct NextTitle {
    /// The title of the session that is continued
    title: String,
}

pub(super) fn tip(context: &CliContext<'_>, named: &Named) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect_new(context, &named.session)?;
    let result = client.session_tip(TipParams { session })?;
    out::show(context.common, &result, |result| result.session.clone())
}

pub(super) fn resume_target(context: &CliContext<'_>, named: &Named) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect_new(context, &named.session)?;
    let result = client.session_resume_target(ResumeTargetParams { session })?;
    out::show(context.common, &result, |result| result.session.clone())
}

pub(super) fn next_title(context: &CliContext<'_>, arguments: &NextTitle) -> Result<(), Failure> {
    let result = context.connect()?.session_next_title(NextTitleParams { title: arguments.title.clone() })?;
    out::show(context.common, &result, |result| result.title.clone())
}
