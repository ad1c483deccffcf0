//! The UDP sockets of HTTP/3, beside the listeners of TCP.

use crate::conn::admission::ConnectionLimits;
use crate::conn::http3::{self, Http3Part};
use crate::error::ServeError;
use crate::settings::Settings;
use http::HeaderValue;
use std::fmt;
use std::os::fd::OwnedFd;
use torr_net::quic::QuicServer;
use torr_net::tls::TlsAcceptor;
use torr_net::{Address, datagrams};

/// The time for which a client may remember that the server supports HTTP/3, in seconds: a day, as RFC 7838 has it by default.
const REMEMBERED: u32 = 86_400;

/// One socket for each worker.
pub(crate) struct Http3Sockets {
    server: QuicServer,
    sockets: Vec<OwnedFd>,
    port: u16,
}

impl fmt::Debug for Http3Sockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http3Sockets").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Http3Sockets {
    /// Opens the sockets of so many workers at the address of the listeners, if the settings have HTTP/3.
    pub fn open(
        address: &Address,
        workers: usize,
        tls: Option<&TlsAcceptor>,
        settings: &Settings,
    ) -> Result<Option<Self>, ServeError> {
        let Some(tls) = tls.filter(|_| settings.http3) else { return Ok(None) };
        let Some(address) = address.tcp() else {
            return Err(ServeError::Settings(
                "http3 needs a TCP address: there is no UDP port beside a Unix socket".into(),
            ));
        };
        let server = http3::server(tls, settings)?;
        let bind = |_| datagrams::bind(address).map_err(|error| ServeError::ListenUdp { address, error });
        let sockets = (0..workers).map(bind).collect::<Result<_, _>>()?;
        Ok(Some(Self { server, sockets, port: address.port() }))
    }

    /// Returns the field by which responses of other versions announce HTTP/3.
    pub fn alt_svc(&self) -> HeaderValue {
        let value = format!("h3=\":{}\"; ma={REMEMBERED}", self.port);
        HeaderValue::from_str(&value).expect("a number and ASCII are a field value")
    }

    /// Returns the part of each worker.
    pub fn parts(self, limits: &ConnectionLimits) -> impl Iterator<Item = Http3Part> {
        let Self { server, sockets, .. } = self;
        let mailboxes = http3::mailboxes(sockets.len());
        let limits = limits.clone();
        let part =
            move |(socket, mailbox)| Http3Part { server: server.clone(), socket, mailbox, limits: limits.clone() };
        sockets.into_iter().zip(mailboxes).map(part)
    }
}
