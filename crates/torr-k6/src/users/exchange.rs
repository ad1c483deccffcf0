//! Requests of a slot or a lane on their way, and what becomes of them.

use super::refusal;
use crate::user::exchange::{Incoming, Outcome, Outgoing, Refusal, Timings, usual_reason};
use std::net::SocketAddr;
use std::rc::Rc;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_press::users::{Phases, ReceivedBy, Transferred};
use torr_press::{Keep, RequestInfo};

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
    /// Whether it still has to take its place in the rate of all requests.
    pub is_limited: bool,
    /// When it was written.
    pub written: Nanos,
    /// The bytes of an attempt to send it that failed.
    pub transferred: Transferred,
    /// Whether it is in flight.
    pub is_sent: bool,
    /// Whether it was sent before on a connection that the server had closed.
    pub is_repeated: bool,
}

impl Sending {
    pub fn new(outgoing: Outgoing, now: Nanos) -> Self {
        Self {
            is_limited: outgoing.is_first,
            outgoing,
            server: 0,
            look_ups: 0,
            requested: now,
            written: 0,
            transferred: Transferred::default(),
            is_sent: false,
            is_repeated: false,
        }
    }

    /// Returns whether the request has failed only because its connection had been idle and was closed, so that it is sent once more.
    pub fn is_lost_when_idle(&self, failure: &Failure, phases: &Phases) -> bool {
        let was_idle = phases.opened < self.requested && failure.what.contains("idle connection");
        self.outgoing.repeats && was_idle && !self.is_repeated
    }

    /// Returns the facts of the request that its response is read by.
    pub fn info(&self) -> RequestInfo {
        // The field lines have cookies and places that redirects lead to.
        let keep = if self.outgoing.keeps_content { Keep::Content } else { Keep::Fields };
        RequestInfo { is_head: self.outgoing.is_head, keep, ..RequestInfo::default() }
    }

    /// Returns an outcome with the bytes of the request, which the script may read.
    pub fn settled(mut self, outcome: impl FnOnce(Self) -> Outcome) -> Outcome {
        let request = std::mem::take(&mut self.outgoing.bytes);
        Outcome { request, ..outcome(self) }
    }

    /// Returns the outcome of a response.
    pub fn received(self, by: &ReceivedBy<'_>) -> Outcome {
        let response = by.response;
        let (status, version) = (response.status, response.version);
        let other_reason =
            (version != "2" && response.reason() != usual_reason(status)).then(|| response.reason().into());
        let mut incoming = Incoming { status, version, other_reason, ..Incoming::default() };
        for (name, value) in response.fields() {
            incoming.names_and_values.extend_from_slice(name.as_bytes());
            let name_end = incoming.names_and_values.len() as u32;
            incoming.names_and_values.extend_from_slice(value);
            incoming.ends.push((name_end, incoming.names_and_values.len() as u32));
        }
        let mut refusal = None;
        if self.outgoing.keeps_content {
            match response.well_formed() {
                Some(content) => incoming.content = content.into_owned(),
                // What was cut off here is not the server's mistake.
                None if response.is_cut => incoming.content = response.content().to_vec(),
                None => refusal = Some(refusal::of_content()),
            }
        }
        let remote = by.address.map(|address| SocketAddr::new(address, by.port));
        let tls = by.tls.map(|tls| (Rc::from(&*tls.version), Rc::from(&*tls.cipher)));
        let timings = timings(&by.phases, &self, true);
        Outcome { remote, tls, ..self.outcome(timings, by.transferred, refusal.map_or(Ok(incoming), Err)) }
    }

    /// Returns the outcome of a failure.
    pub fn failed(self, failure: &Failure, phases: &Phases, transferred: Transferred) -> Outcome {
        let timings = timings(phases, &self, false);
        self.outcome(timings, transferred, Err(refusal::of_failure(failure)))
    }

    /// Returns the outcome of a request that was not sent.
    pub fn refused(self, refusal: Refusal) -> Outcome {
        self.outcome(Timings::default(), Transferred::default(), Err(refusal))
    }

    fn outcome(&self, timings: Timings, transferred: Transferred, result: Result<Incoming, Refusal>) -> Outcome {
        let Transferred { sent, received } = transferred;
        // Bytes of an attempt before this one went over sockets as well.
        let (sent, received) = (self.transferred.sent + sent, self.transferred.received + received);
        let (id, request) = (self.outgoing.id, Vec::new());
        Outcome { id, timings, remote: None, tls: None, sent, received, request, result }
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
