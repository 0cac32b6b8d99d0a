//! An upstream connection's transport: a plain socket, or TLS over one.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::socket::{Socket, SocketReadiness, TransferResult};

/// An error while TLS is set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The extra certificate file.
    #[error("the extra CA file can't be read: {0}")]
    ExtraCa(rustls::pki_types::pem::Error),
    /// The library refuses.
    #[error("{0}")]
    Rustls(#[from] rustls::Error),
    /// The upstream's host can't be a certificate's name.
    #[error("the upstream's host isn't a valid name for a certificate")]
    Name,
}

/// Reads the trusted roots (blocking: not for the loop). The system's roots; the bundled ones where it has none; and
/// the extra file's. Certificates are always verified.
pub fn load_config(extra_ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    let (native, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if native == 0 {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    if let Some(path) = extra_ca_file {
        for certificate in CertificateDer::pem_file_iter(path).map_err(TlsError::ExtraCa)? {
            roots.add(certificate.map_err(TlsError::ExtraCa)?)?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// A connection to the upstream.
#[derive(Debug)]
pub enum Transport {
    /// Plain TCP.
    Plain(Socket),
    /// TLS.
    Tls(Box<TlsStream>),
}

/// A TLS session on its socket.
#[derive(Debug)]
pub struct TlsStream {
    socket: Socket,
    session: ClientConnection,
    fault: Option<rustls::Error>,
}

impl Transport {
    /// TLS to this host, over a socket that may still be connecting.
    pub fn tls(socket: Socket, config: &Arc<ClientConfig>, host: &str) -> Result<Self, TlsError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| TlsError::Name)?;
        let session = ClientConnection::new(Arc::clone(config), name)?;
        Ok(Self::Tls(Box::new(TlsStream {
            socket,
            session,
            fault: None,
        })))
    }

    /// The socket below.
    pub fn socket(&mut self) -> &mut Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &mut stream.socket,
        }
    }

    /// Records that the socket is ready to be read or written.
    pub fn note_readiness(&mut self, ready: SocketReadiness) {
        self.socket().update_readiness(ready);
    }

    /// Reads once.
    pub fn read(&mut self, buffer: &mut [u8]) -> TransferResult {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }

    /// Writes once, from two pieces in order.
    pub fn write(&mut self, first: &[u8], second: &[u8]) -> TransferResult {
        match self {
            Self::Plain(socket) => socket.write(first, second),
            Self::Tls(stream) => stream.write(first, second),
        }
    }

    /// Moves what TLS has buffered, handshake included.
    pub fn flush(&mut self) {
        if let Self::Tls(stream) = self {
            stream.flush();
        }
    }

    /// A description of the TLS failure, if there was one.
    #[must_use]
    pub fn failure_text(&self) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => stream.fault.as_ref().map(|fault| format!("TLS: {fault}")),
        }
    }
}

impl TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> TransferResult {
        loop {
            match self.session.reader().read(buffer) {
                Ok(0) => return TransferResult::Ended,
                Ok(count) => return TransferResult::Bytes(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The peer closed without saying so in TLS: the message may have been cut by anyone.
                Err(_) => return TransferResult::Failed,
            }
            match self.session.read_tls(&mut SocketBytes(&mut self.socket)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return TransferResult::Blocked;
                }
                Err(_) => return TransferResult::Failed,
            }
            if let Err(fault) = self.session.process_new_packets() {
                self.fault = Some(fault);
                // The alert that tells the server why.
                self.flush();
                return TransferResult::Failed;
            }
            // What came may have asked for an answer, as each step of the handshake does.
            self.flush();
        }
    }

    fn write(&mut self, first: &[u8], second: &[u8]) -> TransferResult {
        // The session takes up to its own buffer's size and says how much; what it took it keeps until the socket has room.
        let taken = self
            .take(first)
            .and_then(|count| match count == first.len() {
                true => Ok(count + self.take(second)?),
                false => Ok(count),
            });
        self.flush();
        match taken {
            Ok(0) => TransferResult::Blocked,
            Ok(count) => TransferResult::Bytes(count),
            Err(_) => TransferResult::Failed,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes {
            [] => Ok(0),
            _ => self.session.writer().write(bytes),
        }
    }

    fn flush(&mut self) {
        while self.session.wants_write() {
            // A broken socket shows at the next read.
            if self
                .session
                .write_tls(&mut SocketBytes(&mut self.socket))
                .is_err()
            {
                return;
            }
        }
    }
}

/// The socket as rustls wants it.
struct SocketBytes<'a>(&'a mut Socket);

fn as_io(transfer: TransferResult) -> io::Result<usize> {
    match transfer {
        TransferResult::Bytes(count) => Ok(count),
        TransferResult::Blocked => Err(io::ErrorKind::WouldBlock.into()),
        TransferResult::Ended => Ok(0),
        TransferResult::Failed => Err(io::ErrorKind::ConnectionReset.into()),
    }
}

impl Read for SocketBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        as_io(self.0.read(buffer))
    }
}

impl Write for SocketBytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        as_io(self.0.write(bytes, &[]))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
