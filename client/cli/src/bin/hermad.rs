//! The program `hermad`. It is one of this package's, so that whoever installs `herma` has its daemon too.

use std::process::ExitCode;

fn main() -> ExitCode {
    herma_daemon::program::main(env!("HERMA_VERSION"))
}
