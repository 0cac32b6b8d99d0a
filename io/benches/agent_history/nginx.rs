//! nginx, where it is installed, as a peer: a proxy that understands and keeps nothing.

use std::error::Error;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running nginx that only passes on.
pub(crate) struct Nginx {
    pub(crate) child: Child,
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
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_buffer_size 16m; client_max_body_size 64m; client_body_temp_path body;
  proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream model {{ server {upstream}; keepalive 64; }}
  server {{
    listen {address};
    location / {{ proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off; }}
  }}
}}
"
    )
}
