//! The program `herma`. The root package builds it.

use std::process::ExitCode;

fn main() -> ExitCode {
    herma_cli::main(env!("HERMA_VERSION"))
}
