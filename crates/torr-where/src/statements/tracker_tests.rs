//! Tests of connections whose packets are lost, doubled, late, or seen from some time on: no statement is ever wrong.

use super::database::Database;
use super::packet::tests::packet;
use super::tracker::Tracker;
use super::wire::samples;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

/// The flags of a segment with bytes, and of the two that open a connection.
const DATA: u8 = 0x18;
const SYN: u8 = 0x02;
const SYN_ACK: u8 = 0x12;

/// Packets with their times in nanoseconds.
type Packets = Vec<(Vec<u8>, u64)>;

/// The packets of a connection, with the time of each, and the calls of each statement.
fn packets(database: Database, turns: &[(Vec<u8>, bool)], size: usize) -> (Packets, HashMap<String, u64>) {
    let client: SocketAddr = "10.0.0.1:40000".parse().expect("an address");
    let server: SocketAddr = server();
    let (mut sent, mut received) = (u32::MAX - 300, 5_000_u32);
    let mut at = 0;
    let mut packets = vec![
        (packet(client, server, sent.wrapping_sub(1), 0, SYN, b""), 0),
        (packet(server, client, received.wrapping_sub(1), sent, SYN_ACK, b""), 0),
    ];
    let mut calls = HashMap::new();
    let mut send = |is_client: bool, bytes: &[u8], at: &mut u64| {
        for piece in bytes.chunks(size) {
            *at += 30_000;
            let length = u32::try_from(piece.len()).expect("a piece is short");
            if is_client {
                packets.push((packet(client, server, sent, received, DATA, piece), *at));
                sent = sent.wrapping_add(length);
            } else {
                packets.push((packet(server, client, received, sent, DATA, piece), *at));
                received = received.wrapping_add(length);
            }
        }
    };
    for (is_client, bytes) in samples::start(database) {
        send(is_client, &bytes, &mut at);
    }
    for (numbers, is_prepared) in turns {
        let sent = if database == Database::MySql { &numbers[..1] } else { &numbers[..] };
        let (request, response) = samples::turn(database, sent, *is_prepared);
        send(true, &request, &mut at);
        send(false, &response, &mut at);
        for &number in sent {
            *calls.entry(samples::text(database, number)).or_default() += 1;
        }
    }
    (packets, calls)
}

fn server() -> SocketAddr {
    "10.0.0.2:5432".parse().expect("an address")
}

/// Returns the calls and rows of each statement that a tracker finds.
fn track(database: Database, packets: &[(Vec<u8>, u64)]) -> HashMap<String, (u64, u64)> {
    let mut tracker = Tracker::new(database, server());
    for (packet, at) in packets {
        tracker.packet(packet, *at);
    }
    let (totals, _) = tracker.totals(&HashSet::new(), &HashSet::new());
    let text = |id| tracker.catalogue.text(id).as_str().to_owned();
    totals.iter().map(|(id, tally)| (text(id), (tally.calls, tally.rows))).collect()
}

/// The rows of the statement with this text: its letter's number.
fn rows(database: Database, text: &str) -> u64 {
    (0..26).find(|&number| samples::text(database, number) == text).map_or(u64::MAX, u64::from)
}

fn turns() -> impl Strategy<Value = Vec<(Vec<u8>, bool)>> {
    proptest::collection::vec((proptest::collection::vec(1u8..26, 1..4), any::<bool>()), 20..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn all_is_found_in_whatever_order_segments_come(
        turns in turns(),
        size in 20usize..400,
        doubled in proptest::collection::vec(any::<usize>(), 0..10),
        late in proptest::collection::vec(any::<usize>(), 0..10),
    ) {
        for database in [Database::Postgres, Database::MySql, Database::Redis] {
            let (mut packets, calls) = packets(database, &turns, size);
            for at in &doubled {
                let at = 2 + at % (packets.len() - 2);
                packets.insert(at, packets[at].clone());
            }
            for at in &late {
                let at = 2 + at % (packets.len() - 3);
                // Only what goes in the same direction may change places: a response follows its request.
                if packets[at].0[12..20] == packets[at + 1].0[12..20] {
                    packets.swap(at, at + 1);
                }
            }
            let found = track(database, &packets);
            for (text, calls) in &calls {
                prop_assert_eq!(found.get(text), Some(&(*calls, calls * rows(database, text))), "{:?} {}", database, text);
            }
        }
    }

    #[test]
    fn what_is_found_despite_losses_is_right(
        turns in turns(),
        size in 20usize..400,
        from in 0usize..60,
        lost in proptest::collection::vec(any::<usize>(), 0..6),
    ) {
        for database in [Database::Postgres, Database::MySql, Database::Redis] {
            let (mut packets, calls) = packets(database, &turns, size);
            packets.drain(..from.min(packets.len() / 2));
            for at in &lost {
                let at = at % packets.len();
                packets.remove(at);
            }
            for (text, (number, sum)) in track(database, &packets) {
                if text != "?" {
                    let most = calls.get(&text).copied().unwrap_or(0);
                    prop_assert!(number <= most, "{:?} {} {} {}", database, text, number, most);
                    prop_assert_eq!(sum, number * rows(database, &text), "{:?} {}", database, text);
                }
            }
        }
    }
}

#[test]
fn connections_that_were_open_are_read() {
    for database in [Database::Postgres, Database::MySql, Database::Redis] {
        let turns: Vec<_> = (0..40).map(|_| (vec![3], false)).collect();
        let (packets, _) = packets(database, &turns, 4000);
        // Behind the start of the connection.
        let found = track(database, &packets[6..]);
        let text = samples::text(database, 3);
        let (calls, rows) = found.get(&text).copied().unwrap_or_default();
        assert!((30..=39).contains(&calls) && rows == 3 * calls, "{database:?} {found:?}");
    }
}
