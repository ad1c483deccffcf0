//! The load side's protocol: whatever a server sends and whenever it goes, the next connection begins anew.
//!
//! Option: the lowest bit makes the request a HEAD. A marked piece is the last of its connection.

use crate::input::{Input, Piece};
use torr_press::request::Options;
use torr_press::{Answer, Http1, Requests, Session, Target};
use torr_wire::WireError;

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let method = if input.option & 1 == 1 { "HEAD" } else { "GET" };
    let target = Target::parse("http://127.0.0.1/").expect("it is a URL");
    let options = Options { method: Some(method.into()), ..Options::default() };
    let requests = Requests::new(&[target.into()], &options).expect("it is a method");
    let mut used = Http1::new(requests.cursor(0, 1));
    for connection in input.pieces().split_inclusive(|piece| piece.marked) {
        let got = connect(&mut used, &requests, connection);
        let fresh = connect(&mut Http1::new(requests.cursor(0, 1)), &requests, connection);
        assert_eq!(got, fresh, "a connection depends on those before it");
    }
}

/// What became of one connection: its answers, and its end.
fn connect(
    session: &mut Http1<'_>,
    requests: &Requests,
    pieces: &[Piece<'_>],
) -> (Vec<Answer>, Result<Option<Answer>, WireError>) {
    let (mut answers, mut out, mut request) = (Vec::new(), Vec::new(), Vec::new());
    let is_head = requests.cursor(0, 1).write(&mut request).is_head;
    session.open();
    session.start(&mut out);
    for &Piece { bytes: mut rest, .. } in pieces {
        while !rest.is_empty() {
            match session.receive(rest) {
                Ok((used, Some(answer))) => {
                    assert!(used > 0, "an answer of nothing");
                    assert!(answer.body == 0 || !is_head, "a HEAD's answer has no body");
                    answers.push(answer);
                    session.start(&mut out);
                    rest = &rest[used..];
                }
                Ok((used, None)) => {
                    assert_eq!(used, rest.len(), "left without an answer");
                    break;
                }
                Err(error) => return (answers, Err(error)),
            }
        }
    }
    assert_eq!(out, request.repeat(answers.len() + 1), "one request for each answer, and the one under way");
    let end = session.end();
    (answers, end)
}
