//! The local user whose program is at the other end of a loopback connection, as the kernel knows it.

use std::io;
use std::net::SocketAddr;

/// The user id of the socket at `peer` that is connected to ours at `local`, both of this machine; `None` where the system doesn't
/// tell. Asks the kernel for this one connection and never waits.
///
/// # Errors
/// If the kernel refuses the question, or no program has that socket open any more: whose it was can't be known then.
#[cfg(target_os = "linux")]
pub(crate) fn user_of_peer(local: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

    let kernel = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(SOCK_DIAG),
    )?;
    let question = diag::question(peer, local);
    rustix::net::sendto(
        &kernel,
        &question,
        SendFlags::empty(),
        &SocketAddrNetlink::new(0, 0),
    )?;
    let mut answer = [0; 512];
    // The answer to a question about one socket is there when the call that asks returns.
    let (length, _) = rustix::net::recv(&kernel, &mut answer[..], RecvFlags::DONTWAIT)?;
    diag::user_in(&answer[..length], &question).map(Some)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
pub(crate) fn user_of_peer(_local: SocketAddr, _peer: SocketAddr) -> io::Result<Option<u32>> {
    Ok(None)
}

/// The messages of `sock_diag(7)` for one TCP socket.
#[cfg(target_os = "linux")]
mod diag {
    use std::io;
    use std::net::{IpAddr, SocketAddr};
    use std::ops::Range;

    /// `SOCK_DIAG_BY_FAMILY`, also the type of the answer.
    const BY_FAMILY: u16 = 20;
    const REQUEST: u16 = 1;
    const TCP: u8 = 6;
    /// The two ports, in the question and in the answer.
    const ASKED_PORTS: Range<usize> = 24..28;
    const FOUND_PORTS: Range<usize> = 20..24;

    /// Asks for the socket at `of` that is connected to `to`: `nlmsghdr`, then `inet_diag_req_v2`.
    pub(super) fn question(of: SocketAddr, to: SocketAddr) -> Vec<u8> {
        // A version 4 address may be written in version 6; the kernel looks it up as what it is.
        let (source, target) = (of.ip().to_canonical(), to.ip().to_canonical());
        let family = match source {
            IpAddr::V4(_) => libc::AF_INET,
            IpAddr::V6(_) => libc::AF_INET6,
        };
        let mut message = Vec::with_capacity(72);
        message.extend(72_u32.to_ne_bytes());
        message.extend(BY_FAMILY.to_ne_bytes());
        message.extend(REQUEST.to_ne_bytes());
        message.extend([0; 8]);
        message.extend([u8::try_from(family).expect("families are small"), TCP, 0, 0]);
        // Sockets in any state.
        message.extend([0xff; 4]);
        message.extend(of.port().to_be_bytes());
        message.extend(to.port().to_be_bytes());
        for address in [source, target] {
            match address {
                IpAddr::V4(ip) => {
                    message.extend(ip.octets());
                    message.extend([0; 12]);
                }
                IpAddr::V6(ip) => message.extend(ip.octets()),
            }
        }
        // Any interface, no cookie.
        message.extend([0; 4]);
        message.extend([0xff; 8]);
        message
    }

    /// The owner in the answer: `nlmsghdr`, then `inet_diag_msg`.
    pub(super) fn user_in(answer: &[u8], question: &[u8]) -> io::Result<u32> {
        let number = |at: usize| {
            let bytes = answer.get(at..at + 4).ok_or(io::ErrorKind::InvalidData)?;
            Ok::<_, io::Error>(u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
        };
        if answer.get(4..6) != Some(&BY_FAMILY.to_ne_bytes()) {
            return Err(io::Error::from_raw_os_error(-number(16)?.cast_signed()));
        }
        let (user, inode) = (number(80)?, number(84)?);
        // Of a connection that is gone a listener at the same port may be told, whosever it is; and what no program has open any
        // more is told as root's.
        let is_open = inode != 0 && answer[FOUND_PORTS] == question[ASKED_PORTS];
        is_open.then_some(user).ok_or_else(|| {
            let gone = "the caller has closed its end already";
            io::Error::new(io::ErrorKind::NotConnected, gone)
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{Shutdown, TcpListener, TcpStream};

    use super::*;

    /// The user at the other end is told as long as the connection is open.
    #[test]
    fn other_ends_user() {
        for (bind, ask) in [
            ("127.0.0.1:0", "127.0.0.1"),
            ("[::1]:0", "[::1]"),
            ("[::]:0", "127.0.0.1"),
            ("127.0.0.1:0", "[::ffff:127.0.0.1]"),
        ] {
            let Ok(listener) = TcpListener::bind(bind) else {
                assert!(bind.starts_with('['), "a machine without version 6");
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect(format!("{ask}:{port}")).unwrap();
            let (accepted, peer) = listener.accept().unwrap();
            let user = || user_of_peer(accepted.local_addr().unwrap(), peer);
            let own = rustix::process::geteuid().as_raw();
            assert_eq!(user().unwrap(), Some(own), "{bind} {ask}");
            client.shutdown(Shutdown::Write).unwrap();
            assert_eq!(user().unwrap(), Some(own), "it may still read");
            drop(client);
            user().unwrap_err();
            // Its port is somebody's who listens there now: that isn't who called.
            let taken = TcpListener::bind(peer);
            user().unwrap_err();
            drop(taken);
        }
    }
}
