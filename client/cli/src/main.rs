//! The program `herma`.

use std::process::ExitCode;

fn main() -> ExitCode {
    herma_cli::main()
}
