//! `herma trajectory …`.

mod entry;
mod files;
mod line;
mod pipeline;
mod place;
mod report;
mod run;
mod tokens;
mod window;

#[cfg(feature = "fuzzing")]
pub use entry::recorded_holds;

use std::path::PathBuf;

use clap::Subcommand;
use herma_base::{CliContext, Failure};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Shorten recorded conversations of training data to a number of tokens
    #[command(
        after_help = "Each line of a file is an object with `conversations`: [{\"from\": \"system|human|gpt|tool\", \"value\": …}]. Of a folder all *.jsonl are taken. Lines that are left as they are keep their bytes.\n\nOUT appears when it is complete. A run that was stopped, in whatever way, goes on where it was when the same command is given again; its work is in OUT.partial and OUT.progress until then.\n\nTokens are estimated by script, or counted with a tokenizer.json. Summaries are written by the daemon's summarizers (docs/summarizers.md); --config takes the sections and keys of docs/trajectories.md.\n\nExit codes: 0 all done; 1 some lines could not be worked on (each is listed), or a file can't be used; 2 wrong arguments; 3 the daemon went away (give the command again to go on).\n\nExamples:\n  herma trajectory compress runs.jsonl shorter.jsonl\n  herma trajectory compress runs/ shorter/ --config compression.yaml --jobs 8\n  herma trajectory compress runs.jsonl --sample 0.1 --seed 7 --dry-run\n  herma trajectory compress runs.jsonl out.jsonl --tokenizer tokenizer.json --metrics metrics.json"
    )]
    Compress(Arguments),
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A file of JSON lines, or a folder of them
    input: PathBuf,
    /// The output; the input's name with the configured suffix (_compressed) when left out
    output: Option<PathBuf>,
    /// The configuration, in YAML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A tokenizer.json to count tokens with; without it they are estimated by script
    #[arg(long, value_name = "PATH")]
    tokenizer: Option<PathBuf>,
    /// The summarizer: a name allowed in summarizer.chain, like extractive; the configured ones when left out
    #[arg(long, value_name = "NAME")]
    summarizer: Option<String>,
    /// The number of trajectories compressed at the same time; processing.num_workers (4) when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    jobs: Option<u64>,
    /// Use only this part of the lines, 0 to 1
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    sample: Option<f64>,
    /// The seed of the sample; the same seed selects the same lines
    #[arg(long, value_name = "N", default_value_t = 42, requires = "sample")]
    seed: u64,
    /// The JSON file for the metrics; metrics.output_file (compression_metrics.json) next to the output when left out
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    metrics: Option<PathBuf>,
    /// Begin again, even if there is output already
    #[arg(long, conflicts_with = "dry_run")]
    force: bool,
    /// Show what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
}

fn fraction(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    if number > 0.0 && number <= 1.0 { Ok(number) } else { Err("must be over 0 and at most 1".to_owned()) }
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Compress(arguments) => run::compress(context, arguments),
    }
}
