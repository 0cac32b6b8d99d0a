//! The programs that are measured, as child processes.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

/// A running nginx that only passes on.
pub(crate) struct Nginx {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Nginx {
    /// `None` if it isn't installed.
    pub(crate) fn start(dir: &Path, upstream: SocketAddr) -> Result<Option<Self>, Box<dyn Error>> {
        // nginx can't say which port it was given, so one is found for it.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let prefix = dir.join("nginx");
        std::fs::create_dir(&prefix)?;
        let config = prefix.join("nginx.conf");
        std::fs::write(&config, configuration(address, upstream))?;
        let spawned = Command::new("nginx")
            .arg("-p")
            .arg(&prefix)
            .arg("-e")
            .arg(prefix.join("error.log"))
            .arg("-c")
            .arg(&config)
            .stdin(Stdio::null())
            .spawn();
        let child = match spawned {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let nginx = Self { child, address };
        let deadline = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect(address).is_err() {
            if Instant::now() > deadline {
                return Err("nginx doesn't listen".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Some(nginx))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn configuration(address: SocketAddr, upstream: SocketAddr) -> String {
    format!(
        "daemon off; master_process off; pid nginx.pid;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_buffer_size 16m; client_max_body_size 64m; client_body_temp_path body;
  proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream model {{ server {upstream}; keepalive 8; }}
  server {{
    listen {address};
    location / {{ proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off; }}
  }}
}}
"
    )
}
