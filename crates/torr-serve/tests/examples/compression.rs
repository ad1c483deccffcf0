//! `examples/compression.rs`.

use crate::program::Example;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use std::io::{Read, repeat};

fn whole(mut reader: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("it is whole");
    bytes
}

#[test]
fn responses_have_the_requested_coding() {
    let compression = Example::start("compression", &[]);
    let plain = compression.ask("GET /text", &[("Accept-Encoding", "identity")]);
    assert_eq!((plain.field("Content-Encoding"), plain.body.len()), (None, 33_000));
    let cases = [("gzip", "gzip"), ("gzip;q=0.5, br", "br"), ("br;q=0, gzip, zstd", "gzip"), ("deflate, br", "br")];
    for (accepted, coding) in cases {
        let response = compression.ask("GET /text", &[("Accept-Encoding", accepted)]);
        assert_eq!((response.status, response.field("Content-Encoding")), (200, Some(coding)), "of {accepted}");
        assert_eq!(response.field("Vary").map(str::to_lowercase).as_deref(), Some("accept-encoding"));
        assert!(response.body.len() < 1_000, "{coding}: {} bytes", response.body.len());
        let text = match coding {
            "gzip" => whole(GzDecoder::new(&*response.body)),
            _ => whole(brotli_decompressor::Decompressor::new(&*response.body, 4096)),
        };
        assert!(text == plain.body, "{coding} gives {} other bytes", text.len());
    }
    for accepted in ["zstd", "*;q=0", ""] {
        let response = compression.ask("GET /text", &[("Accept-Encoding", accepted)]);
        assert_eq!((response.field("Content-Encoding"), &response.body), (None, &plain.body), "of {accepted:?}");
    }
    for (path, length) in [("/short", 11), ("/image", 10_000)] {
        let response = compression.ask(&format!("GET {path}"), &[("Accept-Encoding", "gzip, br")]);
        assert_eq!((response.field("Content-Encoding"), response.body.len()), (None, length), "{path}");
    }
    compression.leaves();
}

#[test]
fn compressed_requests_are_unpacked_up_to_a_limit() {
    let compression = Example::start("compression", &[]);
    let gzip = |length: u64| whole(GzEncoder::new(repeat(b'a').take(length), Compression::best()));
    let send = |coding: &str, body: &[u8]| compression.send("POST /count", &[("Content-Encoding", coding)], body);
    assert_eq!(send("gzip", &gzip(900_000)).status_and_text(), (200, "900000 bytes\n"));
    assert_eq!(send("identity", b"as it is").status_and_text(), (200, "8 bytes\n"));
    let bomb = gzip(100_000_000);
    assert!(bomb.len() < 200_000, "{}", bomb.len());
    assert_eq!(send("gzip", &bomb).status, 413);
    assert_eq!(send("gzip", b"no gzip at all").status, 400);
    let unknown = send("zstd", b"whatever");
    assert_eq!((unknown.status, unknown.field("Accept-Encoding").is_some()), (415, true));
    compression.leaves();
}
