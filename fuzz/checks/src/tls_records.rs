//! TLS records of both sides: whatever comes in between, in whatever pieces, only what was sent is received, and a connection that
//! has failed stays so.
//!
//! A client and a server of `torr-net` are connected by two pipes, which the input works on.
//!
//! Option: bit 0 allows TLS 1.2 only, bit 1 asks the client for a certificate, bit 2 offers protocols (ALPN). The bytes are steps:
//! see `Step`. In the end, all that is still in the pipes arrives.

use crate::input::Input;
use std::array;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;
use torr_net::tls::{Roots, ServerTlsSettings, TlsAcceptor, TlsClient, TlsConfig, TlsServer, TlsSettings, Versions};

/// Steps of one input, so that a run has an end.
const MOST_STEPS: usize = 200;
/// The content type of a handshake's records, and of the one after which a side's records may be encrypted.
const HANDSHAKE: u8 = 22;
const CHANGE_CIPHER_SPEC: u8 = 20;
/// The length of a record's header.
const HEADER: usize = 5;

/// The settings of all options.
static SETTINGS: LazyLock<[(TlsAcceptor, TlsConfig); 8]> = LazyLock::new(|| {
    let (_folder, certificate, key) = identity();
    array::from_fn(|option| {
        let mut server = ServerTlsSettings::new(&certificate, &key);
        let mut client = TlsSettings::new("localhost");
        client.roots = Roots::File(certificate.clone());
        if option & 1 == 1 {
            server.versions = Versions::Tls12;
        }
        if option & 2 == 2 {
            server.client_roots = Some(certificate.clone());
            client.identity = Some((certificate.clone(), key.clone()).into());
        }
        if option & 4 == 4 {
            server.alpn = vec!["h2".into(), "http/1.1".into()];
            client.alpn = vec!["http/1.1".into()];
        }
        (server.load().expect("the files are there"), client.load().expect("the files are there"))
    })
});

/// A certificate for `localhost` and its key, in files of a folder that goes with the first value. All signatures of Ed25519
/// have one length, so that records are as long in each run.
fn identity() -> (TempDir, PathBuf, PathBuf) {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("there is randomness");
    let parameters = rcgen::CertificateParams::new(vec!["localhost".into()]).expect("it is a name");
    let certificate = parameters.self_signed(&key).expect("it can be signed");
    let folder = TempDir::new().expect("there is room for files");
    let (pem, key_pem) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    std::fs::write(&pem, certificate.pem()).expect("there is room for files");
    std::fs::write(&key_pem, key.serialize_pem()).expect("there is room for files");
    (folder, pem, key_pem)
}

/// A step's first byte: the lowest bit chooses who is meant (0 the client, 1 the server), as sender of what is in a pipe; the next
/// three bits choose what is done; the upper four are a number.
enum Step {
    /// All that the side has sent arrives.
    Arrive,
    /// So many bytes of it arrive: the number and the byte behind it.
    ArriveInPart(usize),
    /// The records of a handshake that are not encrypted are cut into records of so many bytes and one.
    Cut(usize),
    /// A byte in the pipe is changed: at this offset, by these bits.
    Change(usize, u8),
    /// Bytes from elsewhere get into the pipe, behind what is there.
    Inject(usize),
    /// Bytes at the front of the pipe are lost.
    Lose(usize),
    /// The side sends so many bytes.
    Send(usize),
    /// The side ends its direction; with an odd number the client begins a new connection to a new server instead.
    End(bool),
}

impl Step {
    /// Takes a step off the front of these bytes.
    fn take(bytes: &mut &[u8]) -> Option<(bool, Self)> {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        let number = usize::from(first >> 4);
        let mut more = || {
            let byte = bytes.first().copied().unwrap_or_default();
            *bytes = bytes.get(1..).unwrap_or_default();
            byte
        };
        let step = match first >> 1 & 7 {
            0 => Self::Arrive,
            1 => Self::ArriveInPart(number << 8 | usize::from(more())),
            2 => Self::Cut(number),
            3 => Self::Change(number << 8 | usize::from(more()), more()),
            4 => Self::Inject(number),
            5 => Self::Lose(number + 1),
            6 => Self::Send(number << 8 | usize::from(more())),
            _ => Self::End(number & 1 == 1),
        };
        Some((first & 1 == 0, step))
    }
}

/// What is on its way from one side, and what the other side has made of it.
#[derive(Default)]
struct Pipe {
    /// Ciphertext that has not arrived.
    bytes: Vec<u8>,
    /// What arrives is what was sent.
    is_true: bool,
    /// What has not arrived begins within a record.
    is_within: bool,
    /// A record has been sent after which encrypted ones may follow.
    may_be_encrypted: bool,
    sent: Vec<u8>,
    received: Vec<u8>,
    /// The receiver has failed.
    has_failed: bool,
    /// The sender has said that nothing more will come.
    has_ended: bool,
}

impl Pipe {
    fn new() -> Self {
        Self { is_true: true, ..Self::default() }
    }

    /// Counts the records behind `from`, which is where what is new begins.
    fn look_at_new(&mut self, from: usize) {
        let mut rest = &self.bytes[from..];
        while let Some((kind, _, after)) = record(rest) {
            self.may_be_encrypted |= kind == CHANGE_CIPHER_SPEC;
            rest = after;
        }
        assert!(rest.is_empty(), "whole records are sent");
    }

    /// Cuts records of a handshake into records of `length` bytes.
    fn cut(&mut self, length: usize) {
        if self.may_be_encrypted || self.is_within || !self.is_true {
            return;
        }
        let (mut cut, mut rest) = (Vec::new(), self.bytes.as_slice());
        while let Some((kind, payload, after)) = record(rest) {
            if kind == HANDSHAKE {
                for piece in payload.chunks(length) {
                    cut.extend_from_slice(&rest[..3]);
                    cut.extend_from_slice(&(piece.len() as u16).to_be_bytes());
                    cut.extend_from_slice(piece);
                }
            } else {
                cut.extend_from_slice(&rest[..HEADER + payload.len()]);
            }
            rest = after;
        }
        cut.extend_from_slice(rest);
        self.bytes = cut;
    }
}

/// The record at the front: its kind, its payload, and what follows it.
fn record(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[kind, _, _, high, low], rest) = bytes.split_first_chunk::<HEADER>()?;
    let (payload, after) = rest.split_at_checked(usize::from(u16::from_be_bytes([high, low])))?;
    Some((kind, payload, after))
}

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::binary(bytes);
    let (acceptor, config) = &SETTINGS[usize::from(input.option & 7)];
    let mut pair = Pair::new(config.client(), acceptor);
    let mut rest = input.wire.as_slice();
    for _ in 0..MOST_STEPS {
        let Some((is_clients, step)) = Step::take(&mut rest) else { break };
        if let Step::End(true) = step {
            pair.finish();
            pair = Pair::new(pair.client, acceptor);
        } else {
            pair.work(is_clients, step, &mut rest);
        }
    }
    pair.finish();
}

/// A client, a server, and what is between them.
struct Pair {
    client: TlsClient,
    server: TlsServer,
    /// From the client, and from the server.
    pipes: [Pipe; 2],
}

impl Pair {
    fn new(mut client: TlsClient, acceptor: &TlsAcceptor) -> Self {
        let mut pipes = [Pipe::new(), Pipe::new()];
        client.open(&mut pipes[0].bytes).expect("nothing has come yet");
        pipes[0].look_at_new(0);
        Self { client, server: acceptor.accept().expect("nothing has come yet"), pipes }
    }

    fn work(&mut self, is_clients: bool, step: Step, rest: &mut &[u8]) {
        let at = usize::from(!is_clients);
        let pipe = &mut self.pipes[at];
        match step {
            Step::Arrive => self.arrive(at, usize::MAX),
            Step::ArriveInPart(length) => self.arrive(at, length),
            Step::Cut(length) => pipe.cut(length + 1),
            Step::Change(offset, bits) => {
                if let Some(offset) = offset.checked_rem(pipe.bytes.len()) {
                    pipe.bytes[offset] ^= bits;
                    pipe.is_true &= bits == 0;
                }
            }
            Step::Inject(length) => {
                let (bytes, after) = rest.split_at(length.min(rest.len()));
                pipe.bytes.extend_from_slice(bytes);
                pipe.is_true &= bytes.is_empty();
                *rest = after;
            }
            Step::Lose(length) => {
                let lost = pipe.bytes.drain(..length.min(pipe.bytes.len())).count();
                pipe.is_true &= lost == 0;
            }
            Step::Send(length) => self.send(at, length),
            Step::End(_) => self.close_notify(at),
        }
    }

    /// Lets the other side have what is in a pipe.
    fn arrive(&mut self, at: usize, length: usize) {
        let [ours, other] = &mut self.pipes;
        let (from, back) = if at == 0 { (ours, other) } else { (other, ours) };
        let mut bytes: Vec<u8> = from.bytes.drain(..length.min(from.bytes.len())).collect();
        // Perhaps: where a piece ends is not looked at.
        from.is_within = !from.bytes.is_empty();
        // In a debug build the library panics where it finds a mistake after it has ended its own side.
        if at == 1 && back.has_ended && !from.is_true {
            return;
        }
        let (before, back_before) = (from.received.len(), back.bytes.len());
        let received = match at {
            0 => self.server.receive(&mut bytes, &mut back.bytes, &mut from.received),
            _ => self.client.receive(&mut bytes, &mut back.bytes, &mut from.received),
        };
        if from.has_failed {
            // A side that has ended itself does not look at what comes.
            assert!(received.is_err() || back.has_ended, "what has failed has come back to life");
            assert_eq!(
                (from.received.len(), back.bytes.len()),
                (before, back_before),
                "something comes of a failed connection"
            );
        }
        from.has_failed |= received.is_err();
        back.look_at_new(back_before);
        assert!(from.sent.starts_with(&from.received), "what was received was never sent");
    }

    fn send(&mut self, at: usize, length: usize) {
        let pipe = &mut self.pipes[at];
        let plain: Vec<u8> = (pipe.sent.len()..).map(|n| (n % 251) as u8).take(length).collect();
        let before = pipe.bytes.len();
        let sent = match at {
            0 => self.client.send(&plain, &mut pipe.bytes),
            _ => self.server.send(&plain, &mut pipe.bytes),
        };
        let is_securing = if at == 0 { self.client.is_handshaking() } else { self.server.is_handshaking() };
        pipe.look_at_new(before);
        if sent.is_ok() {
            pipe.sent.extend_from_slice(&plain);
        }
        // What a side hears is in the other pipe.
        let has_failed = self.pipes[1 - at].has_failed;
        if length > 0 && (is_securing || has_failed) {
            assert!(sent.is_err(), "sent without keys");
        }
    }

    fn close_notify(&mut self, at: usize) {
        let pipe = &mut self.pipes[at];
        let before = pipe.bytes.len();
        match at {
            0 => self.client.close_notify(&mut pipe.bytes),
            _ => self.server.close_notify(&mut pipe.bytes),
        }
        pipe.has_ended = true;
        self.pipes[at].look_at_new(before);
    }

    /// All arrives. Where no byte was changed and no side ended, that is all that was sent.
    fn finish(&mut self) {
        while self.pipes.iter().any(|pipe| !pipe.bytes.is_empty()) {
            self.arrive(0, usize::MAX);
            self.arrive(1, usize::MAX);
        }
        if self.pipes.iter().any(|pipe| !pipe.is_true || pipe.has_ended) {
            return;
        }
        for pipe in &self.pipes {
            assert!(!pipe.has_failed, "a connection has failed by itself");
            assert_eq!(pipe.received.len(), pipe.sent.len(), "not all has arrived");
        }
        assert!(!self.client.is_handshaking() && !self.server.is_handshaking(), "the handshake is not complete");
    }
}
