//! Tests of the format of lines, and that no client can forge one.

mod writing;

use super::*;
use crate::client::request_id::RequestId;
use proptest::prelude::*;
use std::time::Duration;

const LINE: RequestLine<'_> = RequestLine { method: "GET", target: "/a?b=c", protocol: "HTTP/1.1" };

fn entry() -> Entry<'static> {
    Entry {
        unix_ms: 971_186_136_007,
        client: Some([192, 0, 2, 1].into()),
        request: Some(LINE),
        status: 200,
        body_bytes: 2326,
        duration: Duration::from_nanos(1_234_567),
        host: Some(b"example.org"),
        referer: Some(b"http://example.org/start"),
        user_agent: Some(b"curl/8"),
        request_id: None,
        tls: None,
    }
}

fn line(format: LogFormat, entry: &Entry<'_>) -> String {
    let mut out = Vec::new();
    format::line(format, entry, &mut Dates::new(format), &mut out);
    String::from_utf8(out).expect("a line is UTF-8")
}

#[test]
fn common_and_combined_are_apache_s() {
    let common = "192.0.2.1 - - [10/Oct/2000:13:55:36 +0000] \"GET /a?b=c HTTP/1.1\" 200 2326";
    assert_eq!(line(LogFormat::Common, &entry()), format!("{common}\n"));
    let combined = format!("{common} \"http://example.org/start\" \"curl/8\"\n");
    assert_eq!(line(LogFormat::Combined, &entry()), combined);
    let bare = Entry {
        client: None,
        request: None,
        status: 400,
        body_bytes: 0,
        host: None,
        referer: None,
        user_agent: None,
        ..entry()
    };
    assert_eq!(line(LogFormat::Combined, &bare), "- - - [10/Oct/2000:13:55:36 +0000] \"-\" 400 - \"-\" \"-\"\n");
    assert_eq!(
        line(LogFormat::Json, &bare),
        "{\"time\":\"2000-10-10T13:55:36.007Z\",\"status\":400,\"bytes\":0,\"duration_us\":1234}\n"
    );
}

#[test]
fn json_has_all_that_is_known() {
    let id = RequestId::given(b"abc-1").expect("it is an id");
    let mapped = Some("::ffff:192.0.2.1".parse().expect("it is an address"));
    let full = Entry { client: mapped, request_id: Some(&id), tls: Some("TLSv1.3"), ..entry() };
    assert_eq!(
        line(LogFormat::Json, &full),
        "{\"time\":\"2000-10-10T13:55:36.007Z\",\"client\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/a?b=c\",\
         \"protocol\":\"HTTP/1.1\",\"status\":200,\"bytes\":2326,\"duration_us\":1234,\"host\":\"example.org\",\
         \"referer\":\"http://example.org/start\",\"user_agent\":\"curl/8\",\"request_id\":\"abc-1\",\"tls\":\"TLSv1.3\"}\n"
    );
}

#[test]
fn the_guide_shows_a_true_line() {
    let id = RequestId::given(b"4b2c9f0d1e6a48b7a3c5d7e9f1b20436").expect("it is an id");
    let shown = Entry {
        unix_ms: 1_791_640_536_007,
        referer: Some(b"http://example.org/"),
        request_id: Some(&id),
        tls: Some("TLSv1.3"),
        ..entry()
    };
    let line = line(LogFormat::Json, &shown);
    assert!(include_str!("../../../../../docs/serve/operations.md").contains(&format!("\n{line}")), "{line}");
}

#[test]
fn what_could_end_a_line_or_a_quotation_is_escaped() {
    let evil = b"a\" 200 1\n1.2.3.4 \\ \r\t\x08\x0b\x00\x1b[2J\x7f\xc2\x9b\xff\xe2\x80\xa8";
    let evil = Entry { user_agent: Some(evil), ..entry() };
    let combined = line(LogFormat::Combined, &evil);
    let shown = r#""a\" 200 1\n1.2.3.4 \\ \r\t\b\v\x00\x1b[2J\x7f\xc2\x9b\xff\xe2\x80\xa8""#;
    assert!(combined.ends_with(&format!(" {shown}\n")), "{combined}");
    let json = line(LogFormat::Json, &evil);
    let shown = r#""a\" 200 1\u000a1.2.3.4 \\ \u000d\u0009\u0008\u000b\u0000\u001b[2J\u007f\u009b"#;
    assert!(json.contains(shown) && json.contains("\u{fffd}\\u2028\""), "{json}");
}

#[test]
fn long_fields_are_cut_so_that_a_pipe_takes_the_line_as_a_whole() {
    let id = RequestId::given(&[b'i'; 128]).expect("it is an id");
    let longest = Some("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff".parse().expect("it is an address"));
    for bytes in [&b"x"[..], b"\n", b"\"", b"\xff", "\u{e4}".as_bytes(), b"xx\nx", "\u{2028}y\u{1f600}".as_bytes()] {
        let field = bytes.repeat(8192);
        let text = String::from_utf8_lossy(&field).into_owned();
        let evil = Entry {
            client: longest,
            request: Some(RequestLine { method: &text, target: &text, protocol: "HTTP/1.1" }),
            body_bytes: u64::MAX,
            duration: Duration::MAX,
            host: Some(&field),
            referer: Some(&field),
            user_agent: Some(&field),
            request_id: Some(&id),
            tls: Some("TLSv1.3"),
            ..entry()
        };
        for format in LogFormat::ALL {
            let line = line(format, &evil);
            assert!(line.len() <= 4096, "{format}: {} bytes", line.len());
            assert!(line.contains("... HTTP/1.1\"") || line.contains("...\",\"protocol\""), "{line}");
        }
        let json: serde_json::Value = serde_json::from_str(&line(LogFormat::Json, &evil)).expect("it is JSON");
        let agent = json["user_agent"].as_str().and_then(|text| text.strip_suffix("...")).expect("it is cut");
        assert!(!agent.is_empty() && String::from_utf8_lossy(&field).starts_with(agent), "{agent}");
    }
    // What fits is not.
    let target = "x".repeat(890);
    let whole = Entry { request: Some(RequestLine { target: &target, ..LINE }), ..entry() };
    assert!(line(LogFormat::Common, &whole).contains(&format!("{target} HTTP/1.1")));
}

#[test]
fn formats_and_targets_have_names() {
    for format in LogFormat::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    assert_eq!("Common".parse::<LogFormat>(), Err(()));
    for good in ["-", "a b", "/var/log/torr.log"] {
        assert_eq!(good.parse::<LogTarget>().map(|target| target.to_string()), Ok(good.into()));
    }
    assert_eq!("-".parse(), Ok(LogTarget::Stdout));
    for bad in ["", "a\nb", "a\0"] {
        assert_eq!(bad.parse::<LogTarget>(), Err(()));
    }
}

proptest! {
    #[test]
    fn no_client_can_forge_a_line(target: String, agent: Vec<u8>, referer: Option<Vec<u8>>, host: Vec<u8>) {
        let request = Some(RequestLine { target: &target, ..LINE });
        let entry = Entry { request, referer: referer.as_deref(), user_agent: Some(&agent), host: Some(&host), ..entry() };
        let text = line(LogFormat::Combined, &entry);
        let (content, end) = text.split_at(text.len() - 1);
        prop_assert!(end == "\n" && content.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{}", text);
        // Without what is escaped there are the quotation marks of the format, and no more.
        let plain = content.replace("\\\\", "").replace("\\\"", "");
        prop_assert_eq!(plain.matches('"').count(), 6, "{}", text);

        let text = line(LogFormat::Json, &entry);
        let (content, end) = text.split_at(text.len() - 1);
        prop_assert!(end == "\n" && !content.contains(|c: char| c.is_control()), "{}", text);
        let json: serde_json::Value = serde_json::from_str(content).expect("it is JSON");
        prop_assert_eq!(&json["target"], &*target);
        prop_assert_eq!(&json["user_agent"], &*String::from_utf8_lossy(&agent));
        prop_assert_eq!(&json["host"], &*String::from_utf8_lossy(&host));
        let referer = referer.map(|referer| String::from_utf8_lossy(&referer).into_owned());
        prop_assert_eq!(json["referer"].as_str(), referer.as_deref());
    }
}
