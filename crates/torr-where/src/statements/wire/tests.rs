//! Tests of decoders with connections that are made up: in any segments, with bytes that are changed, with none of any sense.

use super::{Catalogue, Completed, Decoder, Fault, Sink};
use crate::statements::database::Database;
use proptest::prelude::*;

const DATABASES: [Database; 3] = [Database::Postgres, Database::MySql, Database::Redis];

/// Connections from their start, with who sends.
pub(in crate::statements) mod samples {
    use crate::statements::database::Database;

    /// A message of PostgreSQL.
    fn message(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 4).expect("a test's message is short");
        [&[kind][..], &length.to_be_bytes(), content].concat()
    }

    /// A packet of MySQL.
    fn packet(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).expect("a test's packet is short");
        [&length.to_le_bytes()[..3], &[number], content].concat()
    }

    /// What begins a connection: turns of the client and the server.
    pub(in crate::statements) fn start(database: Database) -> Vec<(bool, Vec<u8>)> {
        match database {
            Database::Postgres => {
                let startup = [&[0, 0, 0, 17, 0, 3, 0, 0][..], b"user\0me\0\0"].concat();
                let ready = [message(b'R', &[0; 4]), message(b'S', b"a\0b\0"), message(b'Z', b"I")].concat();
                vec![(true, startup), (false, ready)]
            }
            Database::MySql => {
                let greeting = [&b"\x0a8.0\0"[..], &[1; 13], &[0xff, 0xf7, 8, 2, 0, 0xff, 0xdf], &[0; 30]].concat();
                // Neither compressed nor encrypted.
                let login = [&[0x0d, 0xa2, 0x3a, 0][..], &[0; 40]].concat();
                vec![
                    (false, packet(0, &greeting)),
                    (true, packet(1, &login)),
                    (false, packet(2, &[0, 0, 0, 2, 0, 0, 0])),
                ]
            }
            Database::Redis => Vec::new(),
        }
    }

    /// A text of its own for each number below 26, whose result has as many rows.
    pub(in crate::statements) fn text(database: Database, number: u8) -> String {
        let letter = char::from(b'a' + number);
        match database {
            Database::Redis => format!("HGETALL {letter}:?"),
            _ => format!("SELECT x FROM table_{letter} WHERE y = ?"),
        }
    }

    /// The requests for these statements, sent at once, and the responses to them.
    pub(in crate::statements) fn turn(database: Database, numbers: &[u8], is_prepared: bool) -> (Vec<u8>, Vec<u8>) {
        let parts = numbers.iter().map(|&number| one(database, number, is_prepared));
        let (requests, responses): (Vec<_>, Vec<_>) = parts.unzip();
        (requests.concat(), responses.concat())
    }

    fn one(database: Database, number: u8, is_prepared: bool) -> (Vec<u8>, Vec<u8>) {
        let rows = usize::from(number);
        let sql = text(database, number).replace('?', "'secret'");
        match database {
            Database::Postgres => {
                let tag = format!("SELECT {rows}\0");
                let row = message(b'D', b"\0\x01\0\0\0\x06Z\0\0\0\x05I");
                let ready = message(b'Z', b"I");
                let result = [row.repeat(rows), message(b'C', tag.as_bytes()), ready].concat();
                if is_prepared {
                    let parse = message(b'P', format!("\0{sql}\0\0\0").as_bytes());
                    let execute = [message(b'B', &[0; 8]), message(b'D', b"P\0"), message(b'E', &[0; 5])].concat();
                    let description = [message(b'1', b""), message(b'2', b""), message(b'T', &[0; 9])].concat();
                    ([parse, execute, message(b'S', b"")].concat(), [description, result].concat())
                } else {
                    let query = message(b'Q', format!("{sql}\0").as_bytes());
                    (query, [message(b'T', &[0; 9]), result].concat())
                }
            }
            Database::MySql => {
                let request = packet(0, format!("\x03{sql}").as_bytes());
                let mut sequence = 0;
                let mut next = |content: &[u8]| {
                    sequence += 1;
                    packet(sequence, content)
                };
                let mut response = [next(&[1]), next(b"\x03def\x00\x01t\x01t\x01x\x01x\x0c!!")].concat();
                // With an end behind the columns, or in the newer form without.
                if is_prepared {
                    response.extend(next(&[0xfe, 0, 0, 2, 0]));
                }
                for _ in 0..rows {
                    response.extend(next(b"\x05hello"));
                }
                let end: &[u8] = if is_prepared { &[0xfe, 0, 0, 2, 0] } else { &[0xfe, 0, 0, 2, 0, 0, 0] };
                response.extend(next(end));
                (request, response)
            }
            Database::Redis => {
                let letter = char::from(b'a' + number);
                let request = format!("*2\r\n$7\r\nhgetall\r\n$8\r\n{letter}:secret\r\n");
                let element = if is_prepared { "$6\r\n*1\r\n+O\r\n" } else { ":5\r\n" };
                (request.into_bytes(), format!("*{rows}\r\n{}", element.repeat(rows)).into_bytes())
            }
        }
    }
}

/// Segments, each with whether the client sent it.
type Segments = Vec<(bool, Vec<u8>)>;

/// Feeds segments to a decoder, and returns what it completed, as texts with rows.
fn decode(database: Database, segments: &[(bool, Vec<u8>)]) -> Result<Vec<(String, u64)>, Fault> {
    let mut catalogue = Catalogue::default();
    let mut completed = Vec::new();
    let mut decoder = Decoder::new(database, true);
    for (at, (is_client, bytes)) in segments.iter().enumerate() {
        let sink = &mut Sink { catalogue: &mut catalogue, completed: &mut completed };
        let at = at as u64 * 1000;
        if *is_client { decoder.client(bytes, at, sink) } else { decoder.server(bytes, at, sink) }?;
    }
    let text = |done: &Completed| (catalogue.text(done.statement).as_str().to_owned(), done.rows);
    Ok(completed.iter().map(text).collect())
}

/// Returns a connection with turns of these statements, and the texts with rows that it has.
fn connection(database: Database, turns: &[(Vec<u8>, bool)]) -> (Segments, Vec<(String, u64)>) {
    let mut segments = samples::start(database);
    let mut texts = Vec::new();
    for (numbers, is_prepared) in turns {
        // A client of MySQL waits for each response.
        let sent = if database == Database::MySql { &numbers[..1] } else { &numbers[..] };
        let (request, response) = samples::turn(database, sent, *is_prepared);
        segments.extend([(true, request), (false, response)]);
        texts.extend(sent.iter().map(|&number| (samples::text(database, number), u64::from(number))));
    }
    (segments, texts)
}

fn turns() -> impl Strategy<Value = Vec<(Vec<u8>, bool)>> {
    proptest::collection::vec((proptest::collection::vec(0u8..26, 1..4), any::<bool>()), 1..6)
}

#[test]
fn encryption_and_compression_are_named() {
    let client = |bytes: &[u8]| (true, bytes.to_vec());
    let tls = [client(&[0, 0, 0, 8, 4, 210, 22, 47]), (false, b"S".to_vec())];
    assert_eq!(decode(Database::Postgres, &tls), Err(Fault::Encrypted));
    let refused = [client(&[0, 0, 0, 8, 4, 210, 22, 47]), (false, b"N".to_vec())];
    assert_eq!(decode(Database::Postgres, &refused), Ok(Vec::new()));
    let mut start = samples::start(Database::MySql);
    start[1].1[4] |= 1 << 5;
    assert_eq!(decode(Database::MySql, &start), Err(Fault::Compressed));
    let mut start = samples::start(Database::MySql);
    start[1].1.truncate(4 + 32);
    start[1].1[0] = 32;
    start[1].1[5] |= 1 << 3;
    assert_eq!(decode(Database::MySql, &start), Err(Fault::Encrypted));
    assert_eq!(decode(Database::Redis, &[client(&[0x16, 3, 1, 0, 5, 1])]), Err(Fault::Encrypted));
    assert_eq!(decode(Database::Redis, &[client(b"SUBSCRIBE x\r\n")]), Err(Fault::Foreign));
}

#[test]
fn errors_of_postgres_skip_what_follows() {
    let message = |kind: u8, content: &[u8]| {
        let length = u8::try_from(content.len() + 4).expect("short");
        [&[kind, 0, 0, 0, length][..], content].concat()
    };
    let execute = [message(b'B', b"\0s\0\0\0\0\0\0\0"), message(b'E', &[0; 5])].concat();
    let sent =
        [message(b'P', b"s\0SELECT 1 FROM a\0\0\0"), execute.clone(), execute.clone(), message(b'S', b"")].concat();
    let failed = [message(b'1', b""), message(b'2', b""), message(b'E', b"\0"), message(b'Z', b"E")].concat();
    let again = [execute, message(b'S', b"")].concat();
    let succeeded =
        [message(b'2', b""), message(b'D', b"\0\0"), message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
    let mut segments = samples::start(Database::Postgres);
    segments.extend([(true, sent), (false, failed), (true, again), (false, succeeded)]);
    let text = "SELECT ? FROM a".to_owned();
    assert_eq!(decode(Database::Postgres, &segments), Ok(vec![(text.clone(), 0), (text, 1)]));
    // A response of another kind of statement.
    let mut wrong = samples::start(Database::Postgres);
    wrong.extend([(true, message(b'Q', b"DELETE FROM a\0")), (false, message(b'C', b"SELECT 1\0"))]);
    assert_eq!(decode(Database::Postgres, &wrong), Err(Fault::Lost));
}

#[test]
fn results_of_mysql_are_read_to_their_end() {
    let packet = |number: u8, content: &[u8]| {
        [&[u8::try_from(content.len()).expect("short"), 0, 0, number][..], content].concat()
    };
    let mut segments = samples::start(Database::MySql);
    let mut turn = |request: &[u8], response: &[&[u8]]| {
        let packets = response.iter().zip(1..).map(|(content, number)| packet(number, content));
        segments.extend([(true, packet(0, request)), (false, packets.collect::<Vec<_>>().concat())]);
    };
    let column: &[u8] = b"\x03def column";
    let (eof, more, end): (&[u8], &[u8], &[u8]) =
        (&[0xfe, 0, 0, 2, 0], &[0xfe, 0, 0, 10, 0], &[0xfe, 0, 0, 2, 0, 0, 0]);
    // Two results of a procedure, then how it ended.
    turn(
        b"\x03CALL p(1)",
        &[&[1], column, eof, b"\x01a", more, &[2], column, column, eof, more, &[0, 3, 0, 2, 0, 0, 0]],
    );
    // A statement with parameters and columns, then its result in both forms.
    turn(b"\x16SELECT a FROM b WHERE c = ?", &[&[0, 7, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0], column, eof, column, eof]);
    turn(b"\x17\x07\0\0\0\0\x01\0\0\0", &[&[1], column, end]);
    turn(b"\x17\x07\0\0\0\0\x01\0\0\0", &[&[1, 0], b"\0row", b"\0row", end]);
    turn(b"\x03INSERT INTO b VALUES (1), (2)", &[&[0, 2, 0, 2, 0, 0, 0]]);
    turn(b"\x03\0\x01SELECT 'attributes'", &[&[0xff, 1, 4, b'#']]);
    let select = || "SELECT a FROM b WHERE c = ?".to_owned();
    let expected = vec![
        ("CALL p(?)".to_owned(), 1),
        ("CALL p(?)".to_owned(), 0),
        ("CALL p(?)".to_owned(), 3),
        (select(), 0),
        (select(), 2),
        ("INSERT INTO b VALUES (?)".to_owned(), 2),
        ("SELECT ?".to_owned(), 0),
    ];
    assert_eq!(decode(Database::MySql, &segments), Ok(expected));
}

proptest! {
    #[test]
    fn segments_may_have_any_size(turns in turns(), sizes in proptest::collection::vec(1usize..40, 1..20)) {
        for database in DATABASES {
            let (segments, texts) = connection(database, &turns);
            let mut sizes = sizes.iter().cycle();
            let mut pieces = Vec::new();
            for (is_client, bytes) in segments {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let size = sizes.next().map_or(1, |size| *size).min(rest.len());
                    pieces.push((is_client, rest[..size].to_vec()));
                    rest = &rest[size..];
                }
            }
            prop_assert_eq!(decode(database, &pieces), Ok(texts));
        }
    }

    #[test]
    fn changed_bytes_do_no_harm(turns in turns(), changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
        for database in DATABASES {
            let (mut segments, _) = connection(database, &turns);
            for &(at, byte) in &changes {
                let number = at % segments.len();
                let bytes = &mut segments[number].1;
                let place = at / 64 % bytes.len();
                bytes[place] = byte;
            }
            // What is found may be wrong: TCP's checksum prevents that in practice. No decoder panics.
            let _ = decode(database, &segments);
        }
    }

    #[test]
    fn any_bytes_are_taken(
        segments in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..20),
        lines in proptest::collection::vec((any::<bool>(), "[*$%>|_+:-]?[0-9]{0,10}\r?\n?"), 0..20),
        is_from_start in any::<bool>(),
    ) {
        let lines = lines.into_iter().map(|(is_client, line)| (is_client, line.into_bytes()));
        let all: Vec<_> = segments.into_iter().chain(lines).collect();
        for database in DATABASES {
            let (mut catalogue, mut completed) = (Catalogue::default(), Vec::new());
            let mut decoder = Decoder::new(database, is_from_start);
            for (is_client, bytes) in &all {
                let sink = &mut Sink { catalogue: &mut catalogue, completed: &mut completed };
                let result = if *is_client { decoder.client(bytes, 0, sink) } else { decoder.server(bytes, 0, sink) };
                if result.is_err() {
                    decoder.begin_again();
                }
            }
        }
    }
}
