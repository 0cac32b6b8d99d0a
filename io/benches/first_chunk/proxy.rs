//! The real `tslp` as a child process, and what the system says of its memory.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::client::Client;
use crate::corpus;

/// Folders of one proxy.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

/// A running `tslp`.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) startup: Duration,
}

/// Resident memory, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) now: u64,
    pub(crate) peak: u64,
}

impl Place {
    pub(crate) fn new() -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        std::fs::create_dir(dir.path().join("workspace"))?;
        Ok(Self { dir })
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Starts `tslp` here.
    pub(crate) fn start(&self, upstream: SocketAddr) -> Result<Proxy, Box<dyn Error>> {
        let program = std::env::var_os("TSLP_BENCH_PROGRAM");
        self.start_program(
            program.unwrap_or_else(|| env!("CARGO_BIN_EXE_tslp").into()),
            upstream,
        )
    }

    /// Starts a build of `tslp` here.
    pub(crate) fn start_program(
        &self,
        program: OsString,
        upstream: SocketAddr,
    ) -> Result<Proxy, Box<dyn Error>> {
        let workspace = self.dir.path().join("workspace");
        Proxy::start(program, &workspace, &self.data_dir(), upstream)
    }

    /// Bytes of the ledger and what lies beside it.
    pub(crate) fn ledger_bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for entry in std::fs::read_dir(self.data_dir())? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("ledger.db") {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(bytes)
    }

    /// One number out of the ledger's database.
    pub(crate) fn query(&self, sql: &str) -> Result<u64, Box<dyn Error>> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database =
            rusqlite::Connection::open_with_flags(self.data_dir().join("ledger.db"), flags)?;
        Ok(database.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
    }
}

impl Proxy {
    fn start(
        program: OsString,
        workspace: &Path,
        data_dir: &Path,
        upstream: SocketAddr,
    ) -> Result<Self, Box<dyn Error>> {
        let begun = Instant::now();
        let mut child = Command::new(program)
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--budget-tokens",
                "8192",
            ])
            .args(["--log-level", "warn", "--upstream"])
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
        let startup = begun.elapsed();
        std::thread::spawn(move || lines.for_each(drop));
        let address = first
            .strip_prefix("listening on http://")
            .ok_or("tslp said something else")?
            .parse()?;
        Ok(Self {
            child,
            address,
            startup,
        })
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn client(&self) -> io::Result<Client> {
        Client::connect(self.address)
    }

    /// Pastes the files with these numbers, each as a prompt of its own.
    pub(crate) fn populate(&self, files: std::ops::Range<usize>) -> io::Result<()> {
        let mut client = self.client()?;
        for file in files {
            client.chat(&corpus::body(&[corpus::message(
                "user",
                &corpus::paste(file),
            )]))?;
        }
        Ok(())
    }

    /// Resident memory now and at its peak.
    pub(crate) fn memory(&self) -> io::Result<Memory> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| {
                    rest.trim()
                        .trim_end_matches(" kB")
                        .trim()
                        .parse::<u64>()
                        .ok()
                })
                .map_or(0, |kib| kib * 1024)
        };
        Ok(Memory {
            now: field("VmRSS:"),
            peak: field("VmHWM:"),
        })
    }

    /// Asks it to end, and waits.
    pub(crate) fn stop(mut self) -> Result<(), Box<dyn Error>> {
        self.terminate()?;
        Ok(())
    }

    fn terminate(&mut self) -> io::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, Signal::TERM)?;
        }
        self.child.wait().map(drop)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The processor time that the threads of a process have taken.
pub(crate) fn processor_time(process: u32) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        // A thread may end meanwhile.
        let Ok(figures) = std::fs::read_to_string(thread?.path().join("schedstat")) else {
            continue;
        };
        let first = figures.split(' ').next();
        nanoseconds += first.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanoseconds))
}
