//! Malformed and smuggling requests: each case of `tests/serve/corpus` is put to Torr, whole and in pieces, and to nginx and
//! hyper, and every deviation from the case is reported.

mod case;
mod exchange;
mod subjects;

use case::{Case, End, SMUGGLED, Subject, corpus, decode};
use exchange::{Before, Observed, exchange};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use subjects::{Torr, hyper, nginx};

/// Cases in flight at a time: most of a case is waiting for the other side.
const AT_A_TIME: usize = 8;
/// From how many bytes on the middle of a case is not taken apart.
const LONG: usize = 600;

#[test]
fn the_corpus_is_as_large_as_it_should_be() {
    let cases = corpus();
    assert!(cases.len() >= 220, "{} cases", cases.len());
}

#[test]
fn the_notation_means_what_it_says() {
    for (text, writes) in [
        ("", &[&b""[..]][..]),
        ("a b", &[b"a b"]),
        (r"\r\n\t\0\\", &[b"\r\n\t\0\\"]),
        (r"\x7f\xff0", &[b"\x7f\xff0"]),
        (r"a\(b\n*3)c", &[b"ab\nb\nb\nc"]),
        (r"\(**2)", &[b"**"]),
        (r"a\|\|b", &[b"a", b"", b"b"]),
    ] {
        assert_eq!(decode(text), Ok(writes.iter().map(|write| write.to_vec()).collect()), "{text}");
    }
    for text in ["a\n", "\u{e9}", r"\", r"\y", r"\x", r"\x1", r"\xgg", r"\(a*3", r"\(a)", r"\(a*b)"] {
        assert!(decode(text).is_err(), "{text}");
    }
}

#[test]
fn controllers_do_as_the_rfcs_say() {
    let torr = Torr::with_controllers();
    check("torr, controllers", Subject::Torr, torr.address, as_written);
    check("torr, controllers, byte by byte", Subject::Torr, torr.address, |case| vec![bytewise(&case.send)]);
}

#[test]
fn routers_do_as_the_rfcs_say() {
    let torr = Torr::with_router();
    check("torr, router", Subject::Torr, torr.address, as_written);
    check("torr, router, byte by byte", Subject::Torr, torr.address, |case| vec![bytewise(&case.send)]);
}

/// A router's connection goes to hyper for a request that offers another protocol. Whatever follows such an offer that came
/// to nothing is read as strictly as on any other connection.
#[test]
fn an_offer_of_another_protocol_opens_no_door() {
    let torr = Torr::with_router();
    for before in [Before::AnsweredOffer, Before::PipelinedOffer] {
        check_behind(before, "torr, behind an offer", Subject::Torr, torr.address, as_written);
    }
    check_behind(Before::AnsweredOffer, "torr, behind an offer, byte by byte", Subject::Torr, torr.address, |case| {
        vec![bytewise(&case.send)]
    });
}

#[test]
fn cuts_anywhere_change_nothing() {
    let torr = Torr::with_controllers();
    check("torr, controllers, cut in two", Subject::Torr, torr.address, cut_in_two);
}

#[test]
fn hyper_does_as_the_cases_say() {
    let hyper = hyper();
    check("hyper", Subject::Hyper, hyper.address, as_written);
}

#[test]
fn nginx_does_as_the_cases_say() {
    let (_nginx, address) = nginx();
    check("nginx", Subject::Nginx, address, as_written);
}

fn as_written(case: &Case) -> Vec<Vec<Vec<u8>>> {
    vec![case.send.clone()]
}

/// A write per byte, but for the middle of long cases. What waits for an interim response goes on waiting.
fn bytewise(writes: &[Vec<u8>]) -> Vec<Vec<u8>> {
    if writes.len() > 1 {
        return writes.to_vec();
    }
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for (at, byte) in writes.concat().into_iter().enumerate() {
        match pieces.last_mut() {
            Some(last) if !is_cut(at, writes[0].len()) => last.push(byte),
            _ => pieces.push(vec![byte]),
        }
    }
    pieces
}

/// The case in two pieces, once for each position.
fn cut_in_two(case: &Case) -> Vec<Vec<Vec<u8>>> {
    let [whole] = &case.send[..] else { return Vec::new() };
    let cuts = (1..whole.len()).filter(|at| is_cut(*at, whole.len()));
    cuts.map(|at| vec![whole[..at].to_vec(), whole[at..].to_vec()]).collect()
}

/// Whether so many bytes may be taken apart here.
fn is_cut(at: usize, len: usize) -> bool {
    len < LONG || at < LONG / 4 || at > len - LONG / 4
}

/// Puts all cases to a server, each in these ways.
///
/// # Panics
/// If there is any deviation, with all of them.
fn check(what: &str, subject: Subject, address: SocketAddr, ways: impl Fn(&Case) -> Vec<Vec<Vec<u8>>> + Sync) {
    check_behind(Before::Nothing, what, subject, address, ways);
}

/// Puts all cases to a server as [`check`] does, on connections that have brought something before.
///
/// # Panics
/// If there is any deviation, with all of them.
fn check_behind(
    before: Before,
    what: &str,
    subject: Subject,
    address: SocketAddr,
    ways: impl Fn(&Case) -> Vec<Vec<Vec<u8>>> + Sync,
) {
    let (cases, next) = (corpus(), AtomicUsize::new(0));
    let work = || {
        let mut deviations = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = ways(case).into_iter().find_map(|writes| deviation(case, before, subject, address, &writes));
            deviations.extend(found);
        }
        deviations
    };
    let mut deviations: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it does not panic")).collect()
    });
    deviations.sort();
    let count = deviations.len();
    assert!(count == 0, "{what}, {before:?}: {count} of {} cases deviate\n{}", cases.len(), deviations.join("\n"));
}

/// How the outcome differs from the expected one, if it does.
fn deviation(case: &Case, before: Before, subject: Subject, address: SocketAddr, writes: &[Vec<u8>]) -> Option<String> {
    let expected = case.expected(subject);
    let observed = exchange(address, before, writes, expected);
    let why = match subject {
        _ if !expected.fits(&observed.words) => "another outcome",
        Subject::Torr if observed.words.iter().any(|word| word.contains(SMUGGLED)) => "a smuggled request is answered",
        // RFC 9112, section 2.3: it tells the server's version, not the request's.
        Subject::Torr if !observed.http_1_1 => "an answer in another version than HTTP/1.1",
        Subject::Torr if !announces_the_end(&observed, expected.end) => "Connection: close in the wrong place",
        _ => return None,
    };
    let sent: Vec<_> = writes.iter().map(|write| write.escape_ascii().to_string()).collect();
    let sent: String = sent.join("\\|").chars().take(1000).collect();
    Some(format!(
        "- {} (RFC {}): {why}\n  sent     {sent}\n  expected {expected:?}\n  observed {:?}",
        case.name, case.rfc, observed.words
    ))
}

/// RFC 9112, section 9.6: a server that will close says so in its last response, and in no other.
fn announces_the_end(observed: &Observed, end: End) -> bool {
    let closes = observed.closes.iter().filter(|closes| **closes).count();
    match end {
        End::Open => closes == 0,
        End::Close => observed.closes.is_empty() || closes == 1 && observed.closes.ends_with(&[true]),
        End::Cut => true,
    }
}
