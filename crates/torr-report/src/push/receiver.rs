//! The programs that take figures.

use super::endpoint::{Endpoint, EndpointError, SendError};
use super::{influx, remote_write};
use crate::otlp;
use std::time::SystemTime;
use torr_gauge::collector::Measurement;

/// The protocol of a program that takes figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiverKind {
    /// A collector of OpenTelemetry (OTLP over HTTP).
    Otlp,
    /// Prometheus, or another receiver of its remote-write protocol.
    RemoteWrite,
    /// InfluxDB, or another receiver of its line protocol.
    Influx,
}

/// A program that takes figures.
#[derive(Debug, Clone)]
pub struct Receiver {
    kind: ReceiverKind,
    endpoint: Endpoint,
    /// Whether times are exponential histograms for a collector of OpenTelemetry, which not all that is behind it takes.
    is_exponential: bool,
}

impl ReceiverKind {
    /// Returns the path of URLs that have none, and a URL.
    const fn usual(self) -> (&'static str, &'static str) {
        match self {
            Self::Otlp => ("/v1/metrics", "http://localhost:4318"),
            Self::RemoteWrite => ("/api/v1/write", "http://localhost:9090"),
            Self::Influx => ("/write?db=torr", "http://localhost:8086/write?db=torr"),
        }
    }
}

impl Receiver {
    /// Returns the receiver at a URL; of one without a path at the usual path of its kind.
    ///
    /// # Errors
    /// If the text is not a URL of HTTP.
    pub fn parse(kind: ReceiverKind, url: &str) -> Result<Self, EndpointError> {
        let (path, example) = kind.usual();
        Ok(Self { kind, endpoint: Endpoint::parse(url, path, example)?, is_exponential: false })
    }

    /// Returns the protocol.
    pub const fn kind(&self) -> ReceiverKind {
        self.kind
    }

    /// Returns the URL without secrets.
    pub fn url(&self) -> String {
        self.endpoint.url()
    }

    /// Adds header fields to each request, as [`Endpoint::with_headers`] does.
    ///
    /// # Errors
    /// If a field is malformed.
    pub fn with_headers(self, text: &str) -> Result<Self, EndpointError> {
        Ok(Self { endpoint: self.endpoint.with_headers(text)?, ..self })
    }

    /// Sends times to a collector of OpenTelemetry as exponential histograms.
    #[must_use]
    pub fn with_exponential_histograms(self) -> Self {
        Self { is_exponential: true, ..self }
    }

    /// Sends the figures of a run as they are now.
    ///
    /// # Errors
    /// If the receiver did not accept all of them.
    pub fn send(&self, run: &Measurement) -> Result<(), SendError> {
        let now = SystemTime::now();
        match self.kind {
            ReceiverKind::Otlp => {
                let headers = [("Content-Type", "application/x-protobuf")];
                let content = otlp::content(run, self.is_exponential);
                match otlp::refused(&self.endpoint.post(&headers, &content)?) {
                    Some((points, why)) => Err(SendError::Refused(points, self.endpoint.shown(&why))),
                    None => Ok(()),
                }
            }
            ReceiverKind::RemoteWrite => {
                self.endpoint.post(&remote_write::HEADERS, &remote_write::content(run, now)).map(drop)
            }
            ReceiverKind::Influx => {
                let headers = [("Content-Type", "text/plain; charset=utf-8")];
                self.endpoint.post(&headers, influx::lines(run, now).as_bytes()).map(drop)
            }
        }
    }
}
