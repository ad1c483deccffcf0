//! The load side's protocol: whatever a server sends and whenever it goes, the next connection begins anew.
//!
//! Option: the lowest bit makes the request a HEAD. A marked piece is the last of its connection.

use crate::input::{Input, Piece};
use torr_gauge::Failure;
use torr_press::request::Options;
use torr_press::{
    FailedResponseBuffer, Http1, InFlight, Protocol, ProtocolEvent, ReceivedResponse, Requests, Source, Target,
};
use torr_wire::response::HeadCache;

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let method = if input.option & 1 == 1 { "HEAD" } else { "GET" };
    let target = Target::parse("http://127.0.0.1/").expect("it is a URL");
    let options = Options { method: Some(method.into()), ..Options::default() };
    let request = Requests::new(&[target.into()], &options).expect("it is a method");
    let (mut used, mut memory) = (Http1::default(), HeadCache::default());
    for connection in input.pieces().split_inclusive(|piece| piece.marked) {
        let got = connect(&mut used, &mut memory, &request, connection);
        let fresh = connect(&mut Http1::default(), &mut HeadCache::default(), &request, connection);
        assert_eq!(got, fresh, "a connection depends on those before it");
    }
}

/// What became of one connection: its responses, and its end.
fn connect(
    session: &mut Http1,
    memory: &mut HeadCache,
    request: &Requests,
    pieces: &[Piece<'_>],
) -> (Vec<ReceivedResponse>, Result<Option<ProtocolEvent>, Failure>) {
    let (mut responses, mut out) = (Vec::new(), Vec::new());
    let mut cursor = Source::Requests(request.cursor(0, 1));
    session.open(&mut out);
    let to_head = session.start(memory, 0, &mut cursor, &mut out);
    let mut gathered = FailedResponseBuffer::default();
    for (at, &Piece { bytes, .. }) in (1..).zip(pieces) {
        let mut piece = bytes.to_vec();
        let mut rest = &mut piece[..];
        while !rest.is_empty() {
            // Always one more than is answered, so that nothing is too much.
            let state = InFlight { count: 2, oldest_is_head: to_head, failed_response: Some(&mut gathered) };
            match session.receive(memory, rest, at, state, &mut out) {
                Ok((used, Some(ProtocolEvent::Response(completed)))) => {
                    assert!(used > 0, "a response without bytes");
                    assert!(completed.response.body == 0 || !to_head, "the response to a HEAD has no body");
                    responses.push(completed);
                    session.start(memory, 0, &mut cursor, &mut out);
                    rest = &mut rest[used..];
                }
                Ok((_, Some(event))) => panic!("HTTP/1.1 has no other events: {event:?}"),
                Ok((used, None)) => {
                    assert_eq!(used, rest.len(), "left without a response");
                    break;
                }
                Err(failure) => return (responses, Err(failure)),
            }
        }
    }
    let mut one = Vec::new();
    request.cursor(0, 1).write(&mut one);
    assert_eq!(out, one.repeat(responses.len() + 1), "one request for each response, and the one in flight");
    let end = session.server_closed();
    (responses, end)
}
