//! The `tslp` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    tslp_io::memory::bound_heaps();
    let first_argument = std::env::args_os().nth(1);
    if let Some(end) = tslp_tools::sandbox::run_as_helper(first_argument.as_deref()) {
        return end;
    }
    tslp_io::command::run_command(std::env::args_os()).into()
}
