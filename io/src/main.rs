//! The `tslp` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    tslp_io::memory::bound_heaps();
    tslp_io::command::run_command(std::env::args_os()).into()
}
