//! Readings from another machine: of a `torr watch` there or, with less in them, of a node_exporter.

mod error;
mod exchange;
mod node_exporter;

pub use error::RemoteError;

use exchange::{Exchange, Reply};
use serde_json::Value;
use std::time::{Duration, Instant};
use torr_gauge::verdict::Located;
use torr_gauge::{Factor, redact};
use torr_signals::Reading;

/// The time in which the other machine opens processes and names what it has sampled: debug information may have hundreds of megabytes.
const NAMING: Duration = Duration::from_secs(50);

/// A program on the server's machine that reports its signals.
#[derive(Debug)]
pub struct RemoteWatch {
    exchange: Exchange,
    source: Source,
    /// The signals' path, with the service in its query.
    signals: String,
    connected: Instant,
}

/// The kind of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `torr watch`, with all signals.
    TorrWatch,
    /// A node_exporter, with the signals of the machine and the kernel's TCP, but none of the service.
    NodeExporter,
}

impl RemoteWatch {
    /// Connects to the program at an address, such as `10.0.0.5:9300`, for signals of the service that listens on a port there. Makes a
    /// first request.
    ///
    /// # Errors
    /// [`RemoteError`].
    pub fn connect(address: &str, token: Option<&str>, service_port: u16) -> Result<Self, RemoteError> {
        let exchange = Exchange::new(address, token)?;
        let signals = format!("/signals?port={service_port}");
        let first = exchange.get(&signals)?;
        let source = if reading(&first).is_some() {
            Source::TorrWatch
        } else if first.status == 401 {
            return Err(RemoteError::Token(exchange.address));
        } else if exchange.get("/metrics").is_ok_and(|reply| node_exporter::reading(&reply.text, 0).is_some()) {
            Source::NodeExporter
        } else {
            return Err(exchange.refused(&first));
        };
        Ok(Self { exchange, source, signals, connected: Instant::now() })
    }

    /// Returns the kind of the program.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Returns the place of a factor, which the program on the server's machine looks for under a load of so many responses per second
    /// and requests in flight.
    ///
    /// # Errors
    /// [`RemoteError`].
    pub fn located(
        &self,
        factor: Factor,
        (rps, in_flight): (f64, Option<usize>),
        time: Duration,
    ) -> Result<Located, RemoteError> {
        let service = self.signals.trim_start_matches("/signals?");
        let seconds = time.as_secs_f64();
        let in_flight = in_flight.map(|requests| format!("&in-flight={requests}")).unwrap_or_default();
        let query = format!("{service}&factor={factor}&rps={rps:.3}{in_flight}&seconds={seconds:.3}");
        let reply = self.exchange.get_after(&format!("/where?{query}"), time + NAMING)?;
        let found = serde_json::from_str(&reply.text).ok().filter(|_| reply.status == 200);
        let located = found.and_then(|mut found| {
            make_printable(&mut found);
            serde_json::from_value(found).ok()
        });
        located.ok_or_else(|| self.exchange.refused(&reply))
    }

    /// Returns a reading of all counters.
    ///
    /// # Errors
    /// [`RemoteError`].
    pub fn reading(&self) -> Result<Reading, RemoteError> {
        let (reply, reading) = match self.source {
            Source::TorrWatch => {
                let reply = self.exchange.get(&self.signals)?;
                let reading = reading(&reply);
                (reply, reading)
            }
            Source::NodeExporter => {
                let reply = self.exchange.get("/metrics")?;
                let reading = node_exporter::reading(&reply.text, self.connected.elapsed().as_micros() as u64);
                (reply, reading)
            }
        };
        reading.ok_or_else(|| self.exchange.refused(&reply))
    }
}

fn reading(reply: &Reply) -> Option<Reading> {
    let mut reading: Value = serde_json::from_str(&reply.text).ok().filter(|_| reply.status == 200)?;
    make_printable(&mut reading);
    let reading: Reading = serde_json::from_value(reading).ok()?;
    // Later versions may have more fields; those read here keep their meaning within a version.
    (reading.schema == torr_signals::SCHEMA).then_some(reading)
}

/// Escapes control characters in all texts, since the other machine is not trusted.
fn make_printable(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact::printable(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(make_printable),
        Value::Object(fields) => {
            for (name, mut value) in std::mem::take(fields) {
                make_printable(&mut value);
                fields.insert(redact::printable(&name).into_owned(), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
