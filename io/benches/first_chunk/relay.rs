//! The simplest thing that can stand between: bytes in, bytes out, nothing understood. What any proxy costs here.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

const STACK_BYTES: usize = 128 * 1024;

/// Starts a relay to this server; it ends with the process.
pub(crate) fn start(upstream: SocketAddr) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let _ = join(&client, upstream);
        }
    });
    Ok(address)
}

fn join(client: &TcpStream, upstream: SocketAddr) -> io::Result<()> {
    let server = TcpStream::connect(upstream)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    copy(client.try_clone()?, server.try_clone()?)?;
    copy(server, client.try_clone()?)
}

fn copy(mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
    thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let mut bytes = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                if to.write_all(&bytes[..read]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Write);
        })
        .map(drop)
}
