//! The programs that are measured, as child processes.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The `tslp` that is measured.
pub(crate) fn program() -> OsString {
    std::env::var_os("TSLP_BENCH_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_tslp").into())
}

/// A running `tslp`.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// Resident memory, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) peak: u64,
}

impl Proxy {
    pub(crate) fn start(
        workspace: &Path,
        data_dir: &Path,
        upstream: SocketAddr,
    ) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(program())
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "error"])
            .arg("--upstream")
            .arg(format!("http://{upstream}"))
            .arg("--workspace")
            .arg(workspace)
            .arg("--data-dir")
            .arg(data_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        let mut lines = BufReader::new(stdout).lines();
        let first = lines.next().ok_or("tslp ended at once")??;
        std::thread::spawn(move || lines.for_each(drop));
        let address = first
            .strip_prefix("listening on http://")
            .ok_or("tslp said something else")?
            .parse()?;
        Ok(Self { child, address })
    }

    pub(crate) fn memory(&self) -> io::Result<Memory> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse().ok());
        let kib: u64 = kib.ok_or_else(|| io::Error::other("the system tells no peak"))?;
        Ok(Memory { peak: kib * 1024 })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
