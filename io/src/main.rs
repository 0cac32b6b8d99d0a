//! The `tslp` binary.

use std::process::ExitCode;

#[expect(
    unsafe_code,
    reason = "the parsers' memory is for the process to decide"
)]
fn main() -> ExitCode {
    // SAFETY: nothing has happened yet.
    unsafe { tslp_io::memory::prepare() };
    tslp_io::command::run_command(std::env::args_os()).into()
}
