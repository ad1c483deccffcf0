//! Readings from another machine: of a `torr watch` there or, with less in them, of a node_exporter.

mod error;
mod exchange;
mod node_exporter;

pub use error::RemoteError;

use exchange::{Answer, Exchange};
use serde_json::Value;
use std::time::Instant;
use torr_gauge::redact;
use torr_gauge::signals::Reading;

/// Somebody on the server's machine who tells what can be seen there.
#[derive(Debug)]
pub struct RemoteWatch {
    exchange: Exchange,
    source: Source,
    /// The signals' path, with the service in its query.
    signals: String,
    connected: Instant,
}

/// Who tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `torr watch`: everything.
    TorrWatch,
    /// A node_exporter: the machine and the kernel's TCP, nothing of the service.
    NodeExporter,
}

impl RemoteWatch {
    /// Asks at an address, such as `10.0.0.5:9300`, what can be seen of the service that listens on a port there.
    ///
    /// # Errors
    /// Each [`RemoteError`]; the answer to a first question has been looked at.
    pub fn connect(address: &str, token: Option<&str>, service_port: u16) -> Result<Self, RemoteError> {
        let exchange = Exchange::new(address, token)?;
        let signals = format!("/signals?port={service_port}");
        let first = exchange.get(&signals)?;
        let source = if reading(&first).is_some() {
            Source::TorrWatch
        } else if first.status == 401 {
            return Err(RemoteError::Token(exchange.address));
        } else if exchange.get("/metrics").is_ok_and(|answer| node_exporter::reading(&answer.text, 0).is_some()) {
            Source::NodeExporter
        } else {
            return Err(exchange.refused(&first));
        };
        Ok(Self { exchange, source, signals, connected: Instant::now() })
    }

    /// Who it is that tells.
    pub fn source(&self) -> Source {
        self.source
    }

    /// What has been counted up to now.
    ///
    /// # Errors
    /// Each [`RemoteError`].
    pub fn reading(&self) -> Result<Reading, RemoteError> {
        let (answer, reading) = match self.source {
            Source::TorrWatch => {
                let answer = self.exchange.get(&self.signals)?;
                let reading = reading(&answer);
                (answer, reading)
            }
            Source::NodeExporter => {
                let answer = self.exchange.get("/metrics")?;
                let reading = node_exporter::reading(&answer.text, self.connected.elapsed().as_micros() as u64);
                (answer, reading)
            }
        };
        reading.ok_or_else(|| self.exchange.refused(&answer))
    }
}

fn reading(answer: &Answer) -> Option<Reading> {
    let mut reading: Value = serde_json::from_str(&answer.text).ok().filter(|_| answer.status == 200)?;
    make_printable(&mut reading);
    let reading: Reading = serde_json::from_value(reading).ok()?;
    // Later versions may have more in them; what is told here keeps its meaning within a version.
    (reading.schema == torr_gauge::signals::READING_SCHEMA).then_some(reading)
}

/// Writes out what a terminal would act on in all texts: names of processes and addresses are what another machine says.
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
