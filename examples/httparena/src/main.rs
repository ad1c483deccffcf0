//! The program: everything is in the library, so that the checks of the rules can build it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    torr_httparena::main()
}
