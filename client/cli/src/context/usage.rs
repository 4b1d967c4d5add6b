//! `herma context usage`.

use std::path::PathBuf;

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::Json;
use herma_client::protocol::context::usage::{RecordUsageParams, RecordUsageResult};

use crate::names;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file holds the usage object of the provider's answer, as it came. `herma usage` sums the calls up.\n\nExample:\n  jq .usage answer.json | herma context usage my-session - --provider anthropic"
)]
pub(crate) struct Arguments {
    /// The session that called the model
    session: String,
    /// The usage as JSON; - for standard input
    file: PathBuf,
    /// The provider
    #[arg(long)]
    provider: Option<String>,
    /// The API of the endpoint: anthropic_messages, codex_responses, …
    #[arg(long, value_name = "MODE")]
    api_mode: Option<String>,
    /// The model; the session's when left out
    #[arg(long)]
    model: Option<String>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let text = out::read_input(&arguments.file)?;
    let usage = Json::parse(text).map_err(|error| Failure::File(format!("{}: {error}", arguments.file.display())))?;
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let params = RecordUsageParams {
        session: Some(session),
        usage: Some(usage),
        provider: arguments.provider.clone(),
        api_mode: arguments.api_mode.clone(),
        model: arguments.model.clone(),
    };
    let result = client.context_record_usage(params)?;
    out::show(context.common, &result, recorded)
}

fn recorded(result: &RecordUsageResult) -> String {
    let usage = &result.usage;
    let (input, output) = (out::thousands(usage.input), out::thousands(usage.output));
    let (read, written) = (out::thousands(usage.cache_read), out::thousands(usage.cache_write));
    let mut rows = vec![
        ("prompt", format!("{}: {input} new, {read} cached, {written} to the cache", out::thousands(usage.prompt))),
        ("output", format!("{output}, {} of reasoning", out::thousands(usage.reasoning))),
        ("total", out::thousands(usage.total)),
    ];
    rows.extend(result.pressure.map(|pressure| ("window", format!("{:.0} % full", 100.0 * pressure))));
    rows.extend(result.should_compress.map(|yes| ("compress now", if yes { "yes" } else { "no" }.to_owned())));
    rows.extend(result.warning.clone().map(|warning| ("warning", warning)));
    out::columns(&rows)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::context::usage::Buckets;

    use super::*;

    #[test]
    fn a_call_is_told_with_what_it_does_to_the_window() {
        let usage = Buckets {
            input: 1000,
            output: 500,
            cache_read: 2000,
            cache_write: 400,
            reasoning: 64,
            request_count: 1,
            prompt: 3400,
            total: 3900,
        };
        let known = RecordUsageResult {
            usage: usage.clone(),
            should_compress: Some(true),
            pressure: Some(0.755),
            warning: Some("nearly full".into()),
        };
        let rows = "prompt        3,400: 1,000 new, 2,000 cached, 400 to the cache\noutput        500, 64 of reasoning\ntotal         3,900\n";
        let window = "window        76 % full\ncompress now  yes\nwarning       nearly full\n";
        assert_eq!(recorded(&known), format!("{rows}{window}"));
        let plain = recorded(&RecordUsageResult { usage, ..RecordUsageResult::default() });
        assert_eq!(plain.lines().count(), 3, "{plain}");
    }
}
