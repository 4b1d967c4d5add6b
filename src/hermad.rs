//! The program `hermad`. The root package builds it, so that one package installs `herma` and its daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    herma_daemon::program::main(env!("HERMA_VERSION"))
}
