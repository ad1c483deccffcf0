//! A request head is complete with its last byte and not before, and an error persists as more bytes arrive.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use torr_wire::WireError;
use torr_wire::request::{self, Limits, header_buffer};

const LIMITS: Limits = Limits { head: 4096, headers: 20 };

/// The result of a parse: the length of the head, and the head as text.
fn parsed(input: &[u8]) -> Result<Option<(usize, String)>, WireError> {
    let mut headers = header_buffer();
    Ok(request::parse(input, &mut headers, LIMITS)?.map(|head| (head.len, format!("{head:?}"))))
}

fn request_head() -> impl Strategy<Value = Vec<u8>> {
    let line = select(
        &[
            "GET / HTTP/1.1",
            "GET /a?b=c HTTP/1.0",
            "\r\nPOST http://x/a HTTP/1.1",
            "OPTIONS * HTTP/1.1",
            "CONNECT x:443 HTTP/1.1",
            "M-SEARCH /a/very/long/path/of/more/than/thirty-two/bytes HTTP/1.1",
        ][..],
    );
    let field = select(
        &[
            "Accept: */*",
            "A:",
            "A: \t b\t",
            "User-Agent: something that is longer than thirty-two bytes",
            "Connection: close",
            "Connection: keep-alive, upgrade",
            "Expect: 100-continue",
        ][..],
    );
    let framing = select(&["", "Content-Length: 5\r\n", "Content-Length: 0\r\n"][..]);
    (line, select(&["Host: x", "host:127.0.0.1:8080"][..]), vec(field, 0..5), framing).prop_map(
        |(line, host, fields, framing)| {
            let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
            format!("{line}\r\n{host}\r\n{fields}{framing}\r\n").into_bytes()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_request_is_seen_when_its_last_byte_has_come(head in request_head(), more in vec(any::<u8>(), 0..40)) {
        let text = head.escape_ascii();
        for len in 0..head.len() {
            prop_assert_eq!(parsed(&head[..len]), Ok(None), "the first {} bytes of {}", len, text);
        }
        let whole = parsed(&head);
        let len = whole.as_ref().map(|head| head.as_ref().map(|(len, _)| *len));
        prop_assert_eq!(len, Ok(Some(head.len())), "{}", text);
        prop_assert_eq!(parsed(&[head.clone(), more].concat()), whole, "with more behind {}", text);
    }

    /// An error persists with every further byte; before the error the head is only incomplete.
    #[test]
    fn a_fault_in_a_request_stays_the_same(
        mut head in request_head(),
        offset: Index,
        byte in prop_oneof![any::<u8>(), select(&b"\r\n :/,"[..])],
        insert: bool,
        more in vec(any::<u8>(), 0..20),
    ) {
        let offset = offset.index(head.len());
        head.splice(offset..if insert { offset } else { offset + 1 }, [byte]);
        head.extend(more);
        let mut last = Ok(None);
        for len in 0..=head.len() {
            let got = parsed(&head[..len]);
            let text = head[..len].escape_ascii();
            prop_assert!(last == Ok(None) || got == last, "{:?} became {:?} with the last byte of {}", last, got, text);
            last = got;
        }
    }
}

/// Bytes beyond the limit do not change the result, whether they have arrived or not.
#[test]
fn a_head_that_is_too_large_is_so_whatever_follows() {
    for (begin, error) in [
        ("GET /", WireError::TargetTooLong),
        ("\r\nGET /", WireError::TargetTooLong),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: ", WireError::HeadTooLarge),
    ] {
        let line = if error == WireError::HeadTooLarge { "GET / HTTP/1.1\r\n".len() } else { 0 };
        let head = format!("{begin:a<0$}", line + LIMITS.head);
        assert_eq!(parsed(&head.as_bytes()[..head.len() - 1]), Ok(None), "{begin:?}");
        for more in ["", "a", "\n", "\r\n", "\r\n\r\n", "\r\r", " \0", " HTTP/1.1\r\nHost: x\r\n\r\n"] {
            assert_eq!(parsed(format!("{head}{more}").as_bytes()), Err(error), "{begin:?} and {more:?}");
        }
    }
}
