//! Requests of a slot or a lane on their way, and what becomes of them.

use crate::user::exchange::{Incoming, Outcome, Outgoing, Refusal, Timings};
use std::net::SocketAddr;
use std::rc::Rc;
use torr_gauge::{Failure, FailureKind};
use torr_net::Nanos;
use torr_press::users::{Phases, ReceivedBy};

/// A request on its way.
#[derive(Debug)]
pub(crate) struct Sending {
    pub outgoing: Outgoing,
    /// The number of the server, once it is known.
    pub server: usize,
    /// How often the server has been looked up.
    pub look_ups: u32,
    /// When the script requested it.
    pub requested: Nanos,
    /// When it was written.
    pub written: Nanos,
    /// The number of bytes of the request.
    pub length: usize,
    /// Whether it is in flight.
    pub is_sent: bool,
    /// Whether it was sent before on a connection that the server had closed.
    pub is_repeated: bool,
}

impl Sending {
    pub fn new(outgoing: Outgoing, now: Nanos) -> Self {
        let length = outgoing.bytes.len();
        Self {
            outgoing,
            server: 0,
            look_ups: 0,
            requested: now,
            written: 0,
            length,
            is_sent: false,
            is_repeated: false,
        }
    }

    /// Returns whether the request has failed only because its connection had been idle and was closed, so that it is sent once more.
    pub fn is_lost_when_idle(&self, failure: &Failure, phases: &Phases) -> bool {
        let was_idle = phases.opened < self.requested && failure.what.contains("idle connection");
        self.outgoing.repeats && was_idle && !self.is_repeated
    }

    /// Returns the outcome of a response.
    pub fn received(self, by: &ReceivedBy<'_>) -> Outcome {
        let response = by.response;
        let mut incoming = Incoming { status: response.status, version: response.version, ..Incoming::default() };
        let mut received = 19;
        for (name, value) in response.fields() {
            incoming.names_and_values.extend_from_slice(name.as_bytes());
            let name_end = incoming.names_and_values.len() as u32;
            incoming.names_and_values.extend_from_slice(value);
            incoming.ends.push((name_end, incoming.names_and_values.len() as u32));
            received += name.len() as u64 + value.len() as u64 + 4;
        }
        received += response.content().len() as u64;
        if self.outgoing.keeps_content {
            incoming.content = response.decoded().into_owned();
        }
        let remote = by.address.map(|address| SocketAddr::new(address, by.port));
        let tls = by.tls.map(|tls| (Rc::from(&*tls.version), Rc::from(&*tls.cipher)));
        self.outcome(timings(&by.phases, &self, true), remote, tls, received, Ok(incoming))
    }

    /// Returns the outcome of a failure.
    pub fn failed(self, failure: &Failure, phases: &Phases) -> Outcome {
        let timings = timings(phases, &self, false);
        self.outcome(timings, None, None, 0, Err(refusal(failure)))
    }

    /// Returns the outcome of a request that was not sent.
    pub fn refused(self, refusal: Refusal) -> Outcome {
        self.outcome(Timings::default(), None, None, 0, Err(refusal))
    }

    fn outcome(
        &self,
        timings: Timings,
        remote: Option<SocketAddr>,
        tls: Option<(Rc<str>, Rc<str>)>,
        received: u64,
        result: Result<Incoming, Refusal>,
    ) -> Outcome {
        let sent = if self.written > 0 { self.length as u64 } else { 0 };
        Outcome { id: self.outgoing.id, timings, remote, tls, sent, received, request: Vec::new(), result }
    }
}

/// Returns the times of a request. What happened before the script requested it is not part of it.
fn timings(phases: &Phases, sending: &Sending, is_answered: bool) -> Timings {
    let between = |from: Nanos, to: Nanos| to.saturating_sub(from.max(sending.requested)) as f64 / 1e6;
    let is_fresh = phases.opened >= sending.requested;
    let is_established = is_fresh && phases.established >= phases.opened;
    let is_ready = if is_fresh { is_established && phases.ready >= phases.established } else { sending.written > 0 };
    let end = if phases.end > 0 { phases.end } else { phases.sent };
    if !is_ready {
        return Timings { blocked: between(sending.requested, end), ..Timings::default() };
    }
    let begin = if is_fresh { phases.ready.max(sending.written.min(phases.sent)) } else { sending.written };
    let sent = phases.sent.max(begin);
    let first_byte = if is_answered { phases.first_byte.max(sent) } else { end.max(sent) };
    Timings {
        blocked: between(sending.requested, begin),
        connecting: if is_fresh { between(phases.opened, phases.established) } else { 0.0 },
        handshaking: if is_fresh { between(phases.established, phases.ready) } else { 0.0 },
        sending: between(begin, sent),
        waiting: between(sent, first_byte),
        receiving: if is_answered { between(first_byte, end) } else { 0.0 },
    }
}

/// Returns what a script learns of a failure.
fn refusal(failure: &Failure) -> Refusal {
    let what = failure.what.as_ref();
    let has = |part: &str| what.contains(part);
    match failure.kind {
        FailureKind::Timeout => Refusal::new(1050, "request timeout"),
        FailureKind::Connect if has("refused") => Refusal::new(1212, "dial: connection refused"),
        FailureKind::Connect if has("timed out") => Refusal::new(1211, "dial: i/o timeout"),
        FailureKind::Connect => Refusal::new(1210, format!("dial: {what}")),
        FailureKind::Ports => Refusal::new(1210, format!("dial: {what}")),
        FailureKind::Tls
            if has("UnknownIssuer") || has("unknown issuer") || has("self-signed") || has("self signed") =>
        {
            Refusal::new(1310, "x509: unknown authority")
        }
        FailureKind::Tls if has("not valid for") || has("NotValidForName") || has("name mismatch") => {
            Refusal::new(1311, "x509: certificate doesn't match hostname")
        }
        FailureKind::Tls => Refusal::new(1300, format!("tls: {what}")),
        FailureKind::Read if has("reset") => Refusal::new(1220, "read: connection reset by peer"),
        FailureKind::Write if has("reset") => Refusal::new(1220, "write: connection reset by peer"),
        FailureKind::Write if has("pipe") => Refusal::new(1201, "write: broken pipe"),
        FailureKind::Read if has("in the middle") => Refusal::new(1000, "unexpected EOF"),
        FailureKind::Read if has("closed") => Refusal::new(1000, "EOF"),
        _ => Refusal::new(1000, what.to_owned()),
    }
}
