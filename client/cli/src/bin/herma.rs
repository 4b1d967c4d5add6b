//! The program `herma`.

use std::process::ExitCode;

fn main() -> ExitCode {
    herma_commands::main(env!("HERMA_VERSION"))
}
