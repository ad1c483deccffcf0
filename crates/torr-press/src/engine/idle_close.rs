//! Requests that meet the close of an idle connection by the server: they differ from requests that the server refuses.

use super::Engine;
use super::connection::Stage;
use super::coordinator::Coordinator;
use crate::failures;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use std::time::Duration;
use torr_gauge::{Failure, FailureKind, FailureSide};
use torr_net::{TcpInfo, tcp_info};

/// The shortest time for which a connection is called idle. The kernel counts such times in ticks of up to 10 ms.
const LEAST_IDLE: Duration = Duration::from_millis(20);

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Returns the failure of the requests on a connection that the server has closed: `failure`, or the one that names the close
    /// of an idle connection.
    #[cold]
    pub(super) fn closed_under_requests(&mut self, index: usize, failure: Failure) -> Failure {
        let connection = &self.connections[index];
        let (written, oldest) = (connection.written() as u64, connection.requests.oldest().copied());
        let socket = connection.socket.as_ref().filter(|socket| socket.stage == Stage::Open && written > 0);
        let info = socket.filter(|_| failure.side == FailureSide::Server).and_then(tcp_info);
        match (info.and_then(|info| idle_before(&info, failure.kind)), oldest) {
            (Some(idle), Some(oldest)) => {
                self.recorder.closed_idle_under(&oldest, written, idle);
                failures::closed_idle(failure.kind)
            }
            _ => failure,
        }
    }
}

/// Returns for how long a connection had been idle when the request was sent that the server's close has failed. `None` if the
/// connection was not idle, or the server has received the request.
fn idle_before(info: &TcpInfo, kind: FailureKind) -> Option<Duration> {
    let idle = match kind {
        // Nothing of the request was sent.
        FailureKind::Write => info.since_received,
        _ => info.since_received.saturating_sub(info.since_sent),
    };
    // A server that has received the request acknowledges it, and ends the connection without a reset.
    let is_refused = info.is_closed || info.unacknowledged > 0;
    (is_refused && idle >= LEAST_IDLE).then_some(idle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_idle_between_a_response_and_the_next_request() {
        let ms = Duration::from_millis;
        let info = TcpInfo { since_received: ms(204), since_sent: ms(0), is_closed: true, ..TcpInfo::default() };
        assert_eq!(idle_before(&info, FailureKind::Read), Some(ms(204)));
        assert_eq!(idle_before(&TcpInfo { since_sent: ms(200), ..info }, FailureKind::Read), None, "it was in use");
        assert_eq!(idle_before(&TcpInfo { since_sent: ms(204), ..info }, FailureKind::Write), Some(ms(204)));
        let taken = TcpInfo { is_closed: false, ..info };
        assert_eq!(idle_before(&taken, FailureKind::Read), None, "the server has the request");
        assert_eq!(idle_before(&TcpInfo { unacknowledged: 1, ..taken }, FailureKind::Read), Some(ms(204)));
    }
}
