//! `herma context cache-control`.

use std::path::PathBuf;

use clap::ValueEnum;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::Json;
use herma_client::protocol::context::cache_control::{CacheControlParams, Ttl};

use crate::compress;

/// The lifetime of the cache.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Lifetime {
    /// Five minutes
    #[value(name = "5m")]
    FiveMinutes,
    /// An hour
    #[value(name = "1h")]
    OneHour,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Prints the list with at most four marks: the system message in front, and the last messages.\nEverything else is printed as it is in the file.\n\nExamples:\n  herma context cache-control conversation.json > marked.json\n  herma context cache-control - --ttl 1h --native < conversation.json"
)]
pub(crate) struct Arguments {
    /// The conversation; - for standard input
    file: PathBuf,
    /// The lifetime of the cache
    #[arg(long, value_enum, default_value = "5m")]
    ttl: Lifetime,
    /// The endpoint accepts marks on tool messages
    #[arg(long)]
    native: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let ttl = match arguments.ttl {
        Lifetime::FiveMinutes => Ttl::FiveMinutes,
        Lifetime::OneHour => Ttl::OneHour,
    };
    let messages = compress::read_messages(&arguments.file)?;
    let params = CacheControlParams { messages, ttl: Some(ttl), native: Some(arguments.native) };
    let result = context.connect()?.context_cache_control(params)?;
    if context.common.json {
        return out::json(&result);
    }
    let texts: Vec<&str> = result.messages.iter().map(Json::get).collect();
    out::line(&format!("[{}]", texts.join(",\n")))
}
