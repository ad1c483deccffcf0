//! Whole requests, as HTTP/1.1 and in parts.

mod websocket;

use super::*;
use crate::request::outgoing::{RequestInfo, RequestParts};
use crate::request::sent_content::SentContent;
use http::Method;
use proptest::prelude::*;
use torr_wire::body::Framing;
use torr_wire::request::{Limits, header_buffer, parse};

fn feeder(csv: &str) -> Feeder {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), csv).unwrap();
    Feeder::read(file.path()).unwrap()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn requests(url: &str, options: &Options) -> Result<Requests, RequestError> {
    Requests::new(&[Target::parse(url)?.into()], options)
}

/// The next requests in HTTP/1.1, by one thread.
fn texts(requests: &Requests, times: usize) -> Vec<String> {
    let mut cursor = requests.cursor(0, 1);
    let mut text = || {
        let mut out = Vec::new();
        cursor.write(&mut out);
        assert!(out.len() <= requests.largest_bytes());
        String::from_utf8(out).unwrap().replace(concat!("torr/", env!("CARGO_PKG_VERSION")), "torr")
    };
    (0..times).map(|_| text()).collect()
}

fn text(url: &str, options: &Options) -> String {
    texts(&requests(url, options).unwrap_or_else(|error| panic!("{url}: {error}")), 1).remove(0)
}

/// The value of a field, which must be there.
fn field<'t>(text: &'t str, name: &str) -> &'t str {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[test]
fn a_plain_get() {
    let requests = requests("http://h:1/p?q=1", &Options::default()).unwrap();
    let expected = "GET /p?q=1 HTTP/1.1\r\nHost: h:1\r\nUser-Agent: torr\r\nAccept: */*\r\n\r\n";
    assert_eq!(texts(&requests, 2), [expected, expected]);
    assert!(requests.is_constant());
    assert_eq!(requests.largest_bytes(), expected.len() - 4 + concat!("torr/", env!("CARGO_PKG_VERSION")).len());
    assert_eq!(requests.method(), "GET");
}

#[test]
fn headers_replace_and_remove_what_is_sent_by_itself() {
    let headers = &["host: other", "accept:", "User-Agent: me", "X: 1", "X: 2", "Authorization: mine", "cookie:", "Y;"];
    let options = Options {
        headers: strings(headers),
        cookies: strings(&["a=b"]),
        auth: Some(Auth::Basic("u:p".into())),
        body: Some(Body::Data(vec![Data::Plain(b"hi".to_vec())])),
        ..Options::default()
    };
    assert_eq!(
        text("http://h:1/p", &options),
        "POST /p HTTP/1.1\r\nHost: other\r\nUser-Agent: me\r\nX: 1\r\nX: 2\r\nAuthorization: mine\r\nY: \r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\nhi"
    );
    for bad in ["nothing", "a b: c", "a b;", ": x", "X: a\r\nY: b", "Content-Length: 3", "transfer-encoding: chunked"] {
        let options = Options { headers: strings(&[bad]), ..Options::default() };
        assert!(requests("h", &options).is_err(), "{bad:?} was taken");
    }
    for bad in ["CONNECT", "GE T", ""] {
        let options = Options { method: Some(bad.into()), ..Options::default() };
        assert!(matches!(requests("h", &options), Err(RequestError::Method(_))), "{bad:?} was taken");
    }
}

#[test]
fn an_empty_host_is_left_out_as_with_curl() {
    let with =
        |line: &str| Options { headers: strings(&[line]), user_agent: Some(String::new()), ..Options::default() };
    assert_eq!(text("http://h:1/p", &with("Host:")), "GET /p HTTP/1.1\r\nAccept: */*\r\n\r\n");
    assert_eq!(text("http://h:1/p", &with("host: ")), "GET /p HTTP/1.1\r\nAccept: */*\r\n\r\n");
    assert_eq!(text("http://h:1/p", &with("Host;")), "GET /p HTTP/1.1\r\nHost: \r\nAccept: */*\r\n\r\n");
    let authority =
        requests("http://h:1/p", &with("Host:")).unwrap().cursor(0, 1).parts().head.uri().authority().cloned();
    assert_eq!(authority.unwrap(), "h:1", "HTTP/2 has the URL's");
}

#[test]
fn large_content_is_left_apart_where_the_writer_takes_it_apart() {
    let large = vec![b'x'; 100_000];
    let options =
        Options { body: Some(Body::Data(vec![Data::Plain(large.clone())])), templates: false, ..Options::default() };
    let made = requests("http://h/", &options).unwrap();
    let raw = Requests::raw(
        &Target::parse("http://h/").unwrap(),
        "POST",
        [b"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", &large[..]].concat(),
    )
    .unwrap();
    for requests in [made, raw] {
        assert!(requests.is_constant() && requests.has_shared_content());
        let (mut whole, mut head) = (Vec::new(), Vec::new());
        let mut cursor = requests.cursor(0, 1);
        cursor.write(&mut whole);
        assert!(cursor.take_content().is_none() && requests.largest_bytes() == whole.len());
        let mut apart = requests.cursor(0, 1).with_content_apart();
        for _ in 0..2 {
            head.clear();
            apart.write(&mut head);
            let mut content = apart.take_content().expect("it is large");
            content.move_to(content.len(), &mut head);
            assert_eq!(head, whole);
            assert!(apart.take_content().is_none(), "it is taken once");
        }
    }
}

#[test]
fn large_texts_between_placeholders_are_sent_from_the_same_memory() {
    let text = |drawn: &str| format!("{drawn}{}{drawn} {drawn}{}{drawn}", "a".repeat(40_000), "b".repeat(30_000));
    let body = Body::Data(vec![Data::Plain(text("{{rand 7 7}}").into_bytes())]);
    let requests = requests("http://h/{{seq}}", &Options { body: Some(body), ..Options::default() }).unwrap();
    assert!(!requests.is_constant() && requests.has_shared_content());
    let (mut cursor, mut apart) = (requests.cursor(0, 1), requests.cursor(0, 1).with_content_apart());
    let mut memory = Vec::new();
    for _ in 0..2 {
        let (mut whole, mut head) = (Vec::new(), Vec::new());
        cursor.write(&mut whole);
        assert!(cursor.take_content().is_none() && whole.len() <= requests.largest_bytes());
        assert!(whole.ends_with(format!("Content-Length: 70005\r\n\r\n{}", text("7")).as_bytes()));
        apart.write(&mut head);
        assert!(head.ends_with(b"Content-Length: 70005\r\n\r\n"), "{}", head.escape_ascii());
        let mut content = apart.take_content().expect("it is large");
        memory.push(content.pieces().filter(|piece| piece.len() > 10).map(|piece| piece.as_ptr()).collect::<Vec<_>>());
        let mut sent = Vec::new();
        content.move_to(content.len(), &mut sent);
        assert_eq!(sent, text("7").as_bytes());
        let parts = cursor.parts();
        assert_eq!(parts.head.headers()["content-length"], "70005");
        assert_eq!(parts.body.expect("it has content").len(), 70_005);
    }
    assert_eq!((memory[0].len(), &memory[0]), (2, &memory[1]), "the large texts are not copied");
}

#[test]
fn fields_that_options_ask_for() {
    let options = Options {
        user_agent: Some(String::new()),
        referer: Some("http://r/".into()),
        cookies: strings(&["a=b", "c=d; e=f"]),
        auth: Some(Auth::Bearer("t".into())),
        compressed: true,
        keep_alive: false,
        ..Options::default()
    };
    assert_eq!(
        text("http://user:pw@h/", &options),
        "GET / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nConnection: close\r\nReferer: http://r/\r\n\
         Cookie: a=b; c=d; e=f\r\nAccept-Encoding: gzip, br, zstd\r\nAuthorization: Bearer t\r\n\r\n"
    );
    // The example of RFC 7617, in the URL too.
    let aladdin = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";
    let options = Options { auth: Some(Auth::Basic("Aladdin:open sesame".into())), ..Options::default() };
    assert_eq!(field(&text("http://h/", &options), "Authorization"), aladdin);
    let in_url = text("http://Aladdin:open%20sesame@h/", &Options::default());
    assert_eq!((field(&in_url, "Authorization"), field(&in_url, "Host")), (aladdin, "h"));
    assert_eq!(field(&text("http://u@h/", &Options::default()), "Authorization"), "Basic dTo=");
}

#[test]
fn a_user_may_come_from_a_feeder() {
    let options = Options {
        auth: Some(Auth::Basic("{{name}}:{{seq}}".into())),
        feeder: Some(feeder("name\nada\nbob\n")),
        ..Options::default()
    };
    let got = texts(&requests("h", &options).unwrap(), 2);
    // ada:1 and bob:2.
    assert_eq!(
        [field(&got[0], "Authorization"), field(&got[1], "Authorization")],
        ["Basic YWRhOjE=", "Basic Ym9iOjI="]
    );
}

#[test]
fn a_body_that_varies_has_its_own_length() {
    let options = Options {
        body: Some(Body::Json(br#"{"n":"{{name}}","i":{{seq}}}"#.to_vec())),
        feeder: Some(feeder("name\n\"a \"\"b\"\"\"\nlonger than that\n")),
        headers: strings(&["X-Name: {{name}}"]),
        ..Options::default()
    };
    let requests = requests("http://h/{{name}}", &options).unwrap();
    assert!(!requests.is_constant());
    let got = texts(&requests, 2);
    assert_eq!(
        got[0],
        "POST /a%20%22b%22 HTTP/1.1\r\nHost: h\r\nUser-Agent: torr\r\nAccept: application/json\r\nX-Name: a \"b\"\r\n\
         Content-Type: application/json\r\nContent-Length: 21\r\n\r\n{\"n\":\"a \\\"b\\\"\",\"i\":1}"
    );
    assert!(got[1].ends_with("Content-Length: 30\r\n\r\n{\"n\":\"longer than that\",\"i\":2}"), "{}", got[1]);
}

#[test]
fn values_are_json_where_a_header_says_so() {
    let options = Options {
        body: Some(Body::Data(vec![Data::Plain(b"\"{{name}}\"".to_vec())])),
        headers: strings(&["content-type: application/vnd.x+json"]),
        feeder: Some(feeder("name\n\"a\"\"b\"\n")),
        ..Options::default()
    };
    assert!(text("h", &options).ends_with("\r\n\r\n\"a\\\"b\""));
}

#[test]
fn forms_and_queries_are_encoded_with_their_values() {
    let data = vec![
        Data::Plain(b"a=1".to_vec()),
        Data::Encoded { name: Some("q".into()), content: "x & {{name}}/".into() },
        Data::Encoded { name: None, content: "ö".into() },
    ];
    let feeder = Some(feeder("name\nb=c\n"));
    let form = Options { body: Some(Body::Data(data.clone())), feeder: feeder.clone(), ..Options::default() };
    assert!(text("h", &form).ends_with("\r\n\r\na=1&q=x%20%26%20b%3Dc%2F&%C3%B6"));
    let query = Options { query: data, feeder, ..Options::default() };
    for (url, path) in [("http://h/p", "/p?"), ("http://h/p?z#f", "/p?z&"), ("http://h?z", "/?z&")] {
        let got = text(url, &query);
        assert!(got.starts_with(&format!("GET {path}a=1&q=x%20%26%20b%3Dc%2F&%C3%B6 HTTP/1.1\r\n")), "{got}");
    }
}

#[test]
fn a_multipart_form_can_be_read_back() {
    let part = |name: &str, content, file_name: Option<&str>, media_type: Option<&str>| Part {
        name: name.into(),
        content,
        file_name: file_name.map(str::to_owned),
        media_type: media_type.map(str::to_owned),
    };
    let parts = vec![
        part("a", Content::Text("x{{seq}}".into()), None, None),
        part("b\"", Content::File(b"{{seq}}\0\xff".to_vec()), Some("f.bin"), Some("image/png")),
    ];
    let options = Options { body: Some(Body::Multipart(parts)), ..Options::default() };
    let requests = requests("h", &options).unwrap();
    let mut bytes = Vec::new();
    requests.cursor(0, 1).write(&mut bytes);
    let got = String::from_utf8_lossy(&bytes).into_owned();
    let boundary = field(&got, "Content-Type").strip_prefix("multipart/form-data; boundary=").unwrap().to_owned();
    let (_, body) = got.split_once("\r\n\r\n").unwrap();
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx1\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"b%22\"; filename=\"f.bin\"\r\nContent-Type: image/png\r\n\r\n\
         {{{{seq}}}}\0\u{fffd}\r\n--{boundary}--\r\n"
    );
    assert_eq!(body, expected);
    let typed = Options { headers: strings(&["Content-Type: multipart/form-data"]), ..options };
    assert!(matches!(self::requests("h", &typed), Err(RequestError::OwnHeader(_))));
}

#[test]
fn urls_have_methods_bodies_and_weights_of_their_own() {
    let urls = read_list("2 http://h/a\nPUT /b {{seq}}\nGET /c\n/d x\n", None).unwrap();
    let options = Options {
        body: Some(Body::Data(vec![Data::Plain(b"all".to_vec())])),
        url_order: Order::Sequence,
        ..Options::default()
    };
    let requests = Requests::new(&urls, &options).unwrap();
    assert_eq!(requests.method(), "POST,PUT,GET");
    let got = texts(&requests, 6);
    let ends = |text: &String| {
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().replace(" HTTP/1.1", ""), body.to_owned())
    };
    let got: Vec<_> = got.iter().map(ends).collect();
    let expected =
        [("POST /a", "all"), ("POST /a", "all"), ("PUT /b", "1"), ("GET /c", ""), ("POST /d", "x"), ("POST /a", "all")];
    assert_eq!(got, expected.map(|(line, body)| (line.to_owned(), body.to_owned())));
    let begun: Vec<_> = {
        let mut cursor = requests.cursor(0, 1);
        (0..3).map(|_| cursor.write(&mut Vec::new()).url).collect()
    };
    // The turns of all cursors are one sequence: six have gone.
    assert_eq!(begun, [0, 1, 2]);
}

#[test]
fn head_requests_are_recognised() {
    let urls = read_list("http://h/a\nHEAD /b\n", None).unwrap();
    let requests = Requests::new(&urls, &Options { url_order: Order::Sequence, ..Options::default() }).unwrap();
    let mut cursor = requests.cursor(0, 1);
    let begun: Vec<_> = (0..3).map(|_| cursor.write(&mut Vec::new())).collect();
    let get = RequestInfo::default();
    assert_eq!(begun, [get, RequestInfo { is_head: true, url: 1, ..RequestInfo::default() }, get]);
}

#[test]
fn one_run_has_one_origin() {
    let other = |first: &str, url: &str| {
        let urls = [Target::parse(first).unwrap().into(), Target::parse(url).unwrap().into()];
        matches!(Requests::new(&urls, &Options::default()), Err(RequestError::OtherOrigin { .. }))
    };
    assert!(other("http://h/", "http://g/") && other("http://h/", "http://h:81/"));
    assert!(!other("http://h:80/a", "http://u@H/b"));
}

#[test]
fn paths_are_checked_and_what_is_not_ascii_is_encoded() {
    for (url, path) in [("http://h/ö?ä={{rand 1 1}}", "/%C3%B6?%C3%A4=1"), ("http://h/%7b%zz", "/%7b%zz")] {
        let got = text(url, &Options::default());
        assert!(got.starts_with(&format!("GET {path} HTTP/1.1\r\n")), "{url}: {got}");
    }
    let off = Options { templates: false, ..Options::default() };
    assert!(text("http://h/{{a#b}}", &off).starts_with("GET /{{a HTTP/1.1\r\n"));
    for bad in ["http://h/a b", "http://h/a\nb", "http://h/{{seq}}/ ", "http://h/\u{7f}"] {
        let error = requests(bad, &Options::default()).unwrap_err().to_string();
        assert!(error.contains("invalid URL"), "{bad:?}: {error}");
    }
    let long = format!("http://h/{}{{{{randstr 100}}}}", "x".repeat(64_950));
    assert!(requests(&long, &Options::default()).unwrap_err().to_string().contains("65,000"));
}

#[test]
fn a_line_break_in_a_record_cannot_reach_a_header() {
    let options = Options {
        headers: strings(&["X: {{name}}"]),
        feeder: Some(feeder("name\nada\n\"b\nc\"\n")),
        ..Options::default()
    };
    let error = requests("h", &options).unwrap_err().to_string();
    assert!(error.contains("record 2") && error.contains("header"), "{error}");
    // In a path it can be written.
    let options = Options { headers: vec![], ..options };
    assert!(texts(&requests("http://h/{{name}}", &options).unwrap(), 2)[1].starts_with("GET /b%0Ac HTTP/1.1"));
}

#[test]
fn threads_share_numbers_and_records() {
    let options = Options { feeder: Some(feeder("id\n10\n11\n12\n")), ..Options::default() };
    let requests = requests("http://h/{{seq}}/{{id}}", &options).unwrap();
    let mut seen: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let press = |thread| {
            let mut cursor = requests.cursor(thread, 3);
            let mut path = move |_| {
                let mut out = Vec::new();
                cursor.write(&mut out);
                let line = String::from_utf8(out).unwrap();
                let (number, id) = line.split(' ').nth(1).unwrap()[1..].split_once('/').unwrap();
                (number.parse().unwrap(), id.parse().unwrap())
            };
            (0..480).map(&mut path).collect::<Vec<(u64, u64)>>()
        };
        let threads: Vec<_> = (0..3).map(|thread| scope.spawn(move || press(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    seen.sort_unstable();
    assert_eq!(seen.iter().map(|&(number, _)| number).collect::<Vec<_>>(), (1..=1440).collect::<Vec<_>>());
    for id in 10..13 {
        assert_eq!(seen.iter().filter(|&&(_, seen)| seen == id).count(), 480, "{id}");
    }
}

#[test]
fn random_records_are_all_used() {
    let options = Options { feeder: Some(feeder("id\n1\n2\n3\n")), feeder_order: Order::Random, ..Options::default() };
    let mut got = texts(&requests("http://h/{{id}}", &options).unwrap(), 200);
    let lasts: Vec<_> = got.iter().map(|text| text.as_bytes()[5]).collect();
    assert!(lasts.windows(3).any(|three| three[0] == three[1] || three[1] == three[2]), "it is a sequence");
    got.sort_unstable();
    got.dedup();
    assert_eq!(got.len(), 3);
}

#[test]
fn threads_do_not_draw_the_same() {
    let requests = requests("http://h/{{randstr 20}}", &Options::default()).unwrap();
    let draw = |thread| {
        let mut out = Vec::new();
        requests.cursor(thread, 8).write(&mut out);
        out
    };
    let mut drawn: Vec<_> = (0..8).map(draw).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn.len(), 8);
}

#[test]
fn parts_are_the_same_request() {
    let options = Options {
        method: Some("PUT".into()),
        headers: strings(&["X-A: {{seq}}", "x-a: 2", "Connection: keep-alive", "Upgrade: x", "Host: o:5"]),
        body: Some(Body::Data(vec![Data::Plain(b"b{{seq}}".to_vec())])),
        ..Options::default()
    };
    let requests = requests("http://h:1/p{{seq}}?q", &options).unwrap();
    let mut cursor = requests.cursor(0, 1);
    cursor.parts();
    let RequestParts { head, body, begun } = cursor.parts();
    assert_eq!((head.method(), head.uri().to_string()), (&Method::PUT, "http://o:5/p2?q".into()));
    let fields: Vec<_> = head.headers().iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    let torr = concat!("torr/", env!("CARGO_PKG_VERSION"));
    let mut expected = vec![
        ("user-agent", torr),
        ("accept", "*/*"),
        ("x-a", "2"),
        ("x-a", "2"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("content-length", "2"),
    ];
    expected.sort_unstable();
    let mut sorted = fields;
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    let pieces = |body: Option<SentContent>| body.map(|body| body.pieces().flat_map(|piece| piece.to_vec()).collect());
    assert_eq!((pieces(body), begun), (Some(b"b2".to_vec()), RequestInfo::default()));
    let plain = Requests::get(&Target::parse("http://[::1]:8/").unwrap(), false).unwrap();
    let RequestParts { head, body, .. } = plain.cursor(0, 1).parts();
    assert_eq!((head.uri().to_string(), head.headers().len(), pieces(body)), ("http://[::1]:8/".into(), 2, None));
}

/// Anything that a user might write, of which much is no request.
fn anything() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -~]{0,12}",
        1 => "\\PC{0,6}",
        1 => any::<String>(),
        2 => prop::sample::select(vec!["{{seq}}", "{{rand -5 5}}", "{{randstr 3}}", "{{a}}", "{{b}}", "{{{{", "?", "#"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_can_be_read(
        path in anything(),
        header in anything(),
        body in prop::option::of(anything()),
        query in anything(),
        values in prop::collection::vec(any::<String>(), 2),
    ) {
        let mut writer = csv::Writer::from_writer(vec![]);
        writer.write_record(["a", "b"]).unwrap();
        writer.write_record(&values).unwrap();
        let feeder = feeder(std::str::from_utf8(&writer.into_inner().unwrap()).unwrap());
        let options = Options {
            headers: vec![format!("X: {header}")],
            body: body.clone().map(|body| Body::Data(vec![Data::Plain(body.into_bytes())])),
            query: vec![Data::Encoded { name: None, content: query }],
            feeder: Some(feeder),
            ..Options::default()
        };
        // What cannot be a request must say so, and whatever is taken must be one.
        let Ok(requests) = requests(&format!("http://h/{path}"), &options) else { return Ok(()) };
        let mut cursor = requests.cursor(0, 1);
        for _ in 0..2 {
            let mut bytes = Vec::new();
            cursor.write(&mut bytes);
            prop_assert!(bytes.len() <= requests.largest_bytes());
            let mut headers = header_buffer();
            let head = parse(&bytes, &mut headers, Limits { head: 1 << 20, headers: 20 });
            let head = head.map_err(|error| TestCaseError::fail(format!("{error}: {}", bytes.escape_ascii())))?;
            let head = head.ok_or_else(|| TestCaseError::fail("it is not whole"))?;
            match head.framing {
                Framing::None => prop_assert!(body.is_none() && head.len == bytes.len()),
                Framing::Length(length) => prop_assert_eq!(head.len as u64 + length, bytes.len() as u64),
                other => prop_assert!(false, "{other:?}"),
            }
            let parts = cursor.parts();
            prop_assert_eq!(parts.body.is_some(), body.is_some());
        }
    }
}

/// A body whose content is its text in upper case, and which refuses the letter x.
fn shouted(text: &str) -> Options {
    let encoder = Encoder::new(|text| match text.contains(&b'x') {
        true => Err("no x".to_owned()),
        false => Ok(text.to_ascii_uppercase()),
    });
    let body = Body::Encoded { text: text.into(), encoder, media_type: "application/grpc".into() };
    Options { body: Some(body), headers: strings(&["accept:", "te: trailers"]), ..Options::default() }
}

#[test]
fn an_encoded_body_is_made_of_its_text_with_each_request() {
    let constant = requests("http://h/", &shouted("{\"a\": \"b\", \"token\": \"s3cret\"}")).unwrap();
    assert!(constant.is_constant());
    let parts = constant.cursor(0, 1).parts();
    assert_eq!(parts.body.unwrap().pieces().next().unwrap(), &b"{\"A\": \"B\", \"TOKEN\": \"S3CRET\"}"[..]);
    let fields: Vec<_> =
        parts.head.headers().iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    let agent = concat!("torr/", env!("CARGO_PKG_VERSION"));
    assert_eq!(fields, [("user-agent", agent), ("te", "trailers"), ("content-type", "application/grpc")]);
    assert_eq!(parts.head.method(), Method::POST);
    assert_eq!(
        constant.secrets(&Haystack::default()),
        ["s3cret"],
        "names tell secrets in the text, not in the content"
    );
    let options = Options { feeder: Some(feeder("name\na\nb\n")), ..shouted("{{name}}{{seq}}") };
    let varying = requests("http://h/", &options).unwrap();
    assert!(!varying.is_constant());
    let mut cursor = varying.cursor(0, 1);
    let bodies = (0..3).map(|_| cursor.parts().body.unwrap().pieces().next().unwrap().clone());
    assert_eq!(bodies.collect::<Vec<_>>(), ["A1", "B2", "A3"]);
}

#[test]
fn a_text_of_which_no_content_can_be_made_is_refused_before_the_run() {
    let error = |options: &Options| requests("http://h/", options).unwrap_err().to_string();
    assert_eq!(error(&shouted("x")), "no x");
    assert_eq!(error(&Options { feeder: Some(feeder("name\na\nx\n")), ..shouted("{{name}}") }), "record 2: no x");
    let encoder = Encoder::new(|text| if text == b"9" { Err("9 is too large".to_owned()) } else { Ok(vec![]) });
    let body = Body::Encoded { text: "{{rand 1 9}}".into(), encoder, media_type: "a/b".into() };
    assert_eq!(error(&Options { body: Some(body), ..Options::default() }), "9 is too large");
    let typed = Options { headers: strings(&["Content-Type: text/plain"]), ..shouted("a") };
    assert_eq!(error(&typed), "header 'Content-Type' follows from the body: drop it");
}
