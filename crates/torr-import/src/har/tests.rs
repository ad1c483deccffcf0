//! Recordings in the dialects of browsers, and the hurl files that become of them.

use super::{Options, import};
use crate::made::checked;
use serde_json::{Value, json};

fn header(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value})
}

/// A record as Chromium writes it: start in milliseconds, method, URL, content, response.
fn record(start: u64, method: &str, url: &str, post: Value, status: u16, mime: &str, text: &str) -> Value {
    let mut request = json!({"method": method, "url": url, "httpVersion": "http/2.0", "queryString": [], "cookies": [], "headersSize": -1,
        "headers": [header(":authority", "shop"), header("accept", "*/*"), header("accept-encoding", "gzip, deflate, br, zstd"),
            header("sec-fetch-mode", "cors"), header("cookie", "a=b")]});
    if !post.is_null() {
        request["postData"] = post;
    }
    json!({"startedDateTime": format!("2026-11-22T10:00:{:02}.{:03}Z", start / 1000, start % 1000), "time": 50.0, "request": request,
        "response": {"status": status, "statusText": "", "headers": [header("content-type", mime)],
            "content": {"size": text.len(), "mimeType": mime, "text": text}}, "_resourceType": "xhr"})
}

fn archive(entries: &[Value]) -> String {
    json!({"log": {"version": "1.2", "creator": {"name": "a browser"}, "pages": [], "entries": entries}}).to_string()
}

fn imported(entries: &[Value]) -> (String, String) {
    checked(&import(&archive(entries), &Options::default()).expect("it is a recording"))
}

#[test]
fn what_a_response_gave_is_captured_and_sent_back() {
    let login = json!({"mimeType": "application/json", "text": "{\"user\":\"ann\",\"password\":\"geheim\"}"});
    let order = json!({"mimeType": "application/json;charset=utf-8", "text": "{\"cart\":4711,\"note\":\"cart 4711\",\"other\":14711}"});
    let form = json!({"mimeType": "application/x-www-form-urlencoded", "text": "csrf_token=ab%2Bcd&a=1",
        "params": [{"name": "csrf_token", "value": "ab+cd"}]});
    let mut entries = [
        record(
            0,
            "POST",
            "https://shop/login",
            login,
            200,
            "application/json",
            r#"{"cart":{"cart_id":4711},"token":"eyJ0.secret.x"}"#,
        ),
        record(
            2000,
            "GET",
            "https://shop/cart/4711?full=1",
            Value::Null,
            200,
            "text/html",
            "<form><input type=\"hidden\" name=\"csrf_token\" value=\"ab+cd\"></form>",
        ),
        record(2060, "POST", "https://shop/order", order, 201, "application/json", "{}"),
        record(2200, "POST", "https://shop/form", form, 302, "text/html", ""),
    ];
    let headers = entries[1]["request"]["headers"].as_array_mut().expect("there are some");
    headers.push(header("Authorization", "Bearer eyJ0.secret.x"));
    let (text, summary) = imported(&entries);
    let expected = "POST https://shop/login\naccept: */*\n[Options]\ncompressed: true\n{\"user\":\"ann\",\"password\":\"{{password}}\"}\nHTTP 200\n[Captures]\n\
        cart_id: jsonpath \"$.cart.cart_id\"\ntoken: jsonpath \"$.token\"\n\n\
        GET https://shop/cart/{{cart_id}}?full=1\naccept: */*\nAuthorization: Bearer {{token}}\n[Options]\ncompressed: true\ndelay: 1950ms\nHTTP 200\n\
        [Captures]\ncsrf_token: regex /<input[^>]*name=\"csrf_token\"[^>]*value=\"([^\"]*)\"/\n\n\
        POST https://shop/order\naccept: */*\nContent-Type: application/json;charset=utf-8\n[Options]\ncompressed: true\n{\"cart\":{{cart_id}},\"note\":\"cart {{cart_id}}\",\"other\":14711}\nHTTP 201\n\n\
        POST https://shop/form\naccept: */*\n[Options]\ncompressed: true\n[Form]\ncsrf_token: {{csrf_token}}\na: 1\nHTTP 302\n";
    assert_eq!(text.replace("[Options]\ncompressed: true\ndelay: 100ms", "[Options]\ncompressed: true"), expected);
    assert!(
        summary.contains("captured: 'cart_id' from $.cart.cart_id of response 1, sent again by request 2, 3"),
        "{summary}"
    );
    assert!(
        summary
            .contains("captured: 'csrf_token' from the hidden field csrf_token of response 2, sent again by request 4"),
        "{summary}"
    );
    assert!(summary.contains("secret: member password is the variable 'password'"), "{summary}");
    assert!(!text.contains("geheim") && !summary.contains("geheim") && !text.contains("eyJ0"), "{text}{summary}");
}

#[test]
fn values_that_the_client_sent_first_or_that_say_little_are_no_captures() {
    let post = json!({"mimeType": "application/json", "text": "{\"id\":\"client-made-id-1\"}"});
    let (text, summary) = imported(&[
        record(
            0,
            "POST",
            "https://shop/a",
            post,
            200,
            "application/json",
            r#"{"id":"client-made-id-1","page":2,"kind":"xhr"}"#,
        ),
        record(1000, "GET", "https://shop/b/client-made-id-1?page=2&kind=xhr", Value::Null, 200, "text/plain", ""),
    ]);
    assert!(!text.contains("[Captures]") && !summary.contains("captured"), "{text}{summary}");
}

#[test]
fn what_is_not_the_services_work_is_left_out_and_counted() {
    let mut socket = record(5, "GET", "wss://shop/live", Value::Null, 101, "", "");
    socket["_webSocketMessages"] = json!([]);
    let entries = [
        record(0, "GET", "https://shop/", Value::Null, 304, "text/html", ""),
        record(1, "GET", "https://shop/logo.png", Value::Null, 200, "image/png", ""),
        record(2, "GET", "https://shop/a.woff2", Value::Null, 200, "font/woff2", ""),
        record(3, "GET", "https://ads.example/x", Value::Null, 200, "text/html", ""),
        record(4, "GET", "https://ads.example/y", Value::Null, 200, "text/html", ""),
        socket,
        record(6, "GET", "data:text/plain,x", Value::Null, 200, "", ""),
    ];
    let (text, summary) = imported(&entries);
    assert!(text.contains("GET https://shop/\n") && text.contains("HTTP 200\n") && !text.contains("logo"), "{text}");
    for line in [
        "1 request",
        "left out: files of the type image, 1 time",
        "left out: files of the type font, 1 time",
        "left out: requests to ads.example, 2 times (another host: use --host to import it, or --all)",
        "left out: WebSocket connections, 1 time (not HTTP requests)",
        "left out: requests of the scheme data, 1 time",
    ] {
        assert!(summary.lines().any(|said| said.starts_with(line)), "{line}: {summary}");
    }
    let all = import(&archive(&entries), &Options { all: true, ..Options::default() }).expect("it is a recording");
    assert_eq!(all.entries.len(), 5);
}

#[test]
fn firefox_writes_forms_with_files_as_parameters() {
    let post = json!({"mimeType": "multipart/form-data; boundary=x", "params": [
        {"name": "note", "value": "hello"}, {"name": "file", "fileName": "C:\\a\\b.png", "contentType": "image/png"}], "text": ""});
    let mut upload = record(0, "POST", "https://shop/upload", post, 200, "text/plain", "");
    upload["request"]["headers"] =
        json!([header("Content-Type", "multipart/form-data; boundary=x"), header("Host", "shop")]);
    upload.as_object_mut().expect("it is one").remove("_resourceType");
    let (text, _) = imported(&[upload]);
    let expected = "# left out: content of the file 'b.png' (HAR files do not contain it: put the file next to the \
                    hurl file)\nPOST https://shop/upload\n[Multipart]\nnote: hello\nfile: file,b.png; image/png\n\
                    HTTP 200\n";
    assert_eq!(text, expected);
}

#[test]
fn what_is_no_recording_is_refused() {
    for (text, message) in [
        ("", "not a HAR file"),
        ("{}", "missing field `log`"),
        (r#"{"log":{"entries":[]}}"#, "has no request"),
        (r#"{"log":{"entries":[{"request":{"method":"GET","url":"ftp://a/"}}]}}"#, "has no request"),
    ] {
        let error = import(text, &Options::default()).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn credentials_in_a_url_become_variables() {
    for (url, file, variable) in [
        (
            "http://shop/a?x=1&access_token=s3cret",
            "GET http://shop/a?x=1&access_token={{access_token}}\nHTTP 200\n",
            "access_token",
        ),
        // What is said about a URL quotes it.
        (
            "http://shop/a?x='1'&access_token=s3cret",
            "# left out: characters of the URL ' (the target is sent as /a?x=%271%27&access_token=x)\n\
             GET http://shop/a?x='1'&access_token={{access_token}}\nHTTP 200\n",
            "access_token",
        ),
        ("http://ann:s3cret@shop/a?x=1", "GET http://ann:{{password}}@shop/a?x=1\nHTTP 200\n", "password"),
    ] {
        let (text, summary) = imported(&[json!({"request": {"method": "GET", "url": url},
            "response": {"status": 200, "content": {"mimeType": "text/html"}}})]);
        assert_eq!(text, file);
        assert!(summary.contains(&format!("HURL_VARIABLE_{variable}")) && !summary.contains("s3cret"), "{summary}");
    }
}

#[test]
fn credentials_in_a_url_that_is_left_out_are_not_said() {
    let wrong = record(1, "GET", "http://ann:s3cret@sh op/?token=t0ken", Value::Null, 200, "text/html", "");
    let (_, summary) = imported(&[record(0, "GET", "http://shop/", Value::Null, 200, "text/html", ""), wrong]);
    let line = "left out: requests to 'http://***@sh op/?token=***', 1 time (invalid URL)";
    assert!(summary.lines().any(|said| said == line), "{summary}");
}

#[test]
fn a_secret_and_a_capture_of_one_name_are_two_variables() {
    let own = json!({"mimeType": "application/json", "text": "{\"token\":\"the recorder's own\"}"});
    let (text, summary) = imported(&[
        record(0, "GET", "https://shop/a", Value::Null, 200, "application/json", r#"{"token":"0123456789abcdef"}"#),
        record(1000, "POST", "https://shop/0123456789abcdef", own, 200, "text/plain", ""),
    ]);
    assert!(text.contains("POST https://shop/{{token}}\n") && text.contains("{\"token\":\"{{token_2}}\"}"), "{text}");
    assert!(summary.contains("secret: member token is the variable 'token_2'"), "{summary}");
}

#[test]
fn what_is_no_exchange_with_the_service_is_left_out_and_counted() {
    let get = |url: &str, status: u16, mime: &str| record(0, "GET", url, Value::Null, status, mime, "");
    let mut over_http3 = get("https://www.shop/h3", 200, "text/html");
    over_http3["request"]["httpVersion"] = json!("h3");
    let mut socket = get("https://www.shop/socket", 200, "");
    socket["_webSocketMessages"] = json!([{"type": "send", "data": "hello"}]);
    let mut first = get("http://shop/", 301, "");
    first["response"]["redirectURL"] = json!("https://shop/");
    let mut second = get("https://shop/", 302, "");
    second["response"]["headers"] = json!([header("Location", "https://www.shop/start?a=1")]);
    let (text, summary) = imported(&[
        get("data:image/png;base64,AAAA", 200, "image/png"),
        get("blob:https://shop/1-2-3", 200, "text/plain"),
        first,
        get("https://elsewhere/", 200, "text/html"),
        second,
        get("https://www.shop/start?a=1", 200, "text/html"),
        over_http3,
        socket,
        get("https://www.shop/given-up", 0, ""),
        get("https://www.shop/events", 200, "text/event-stream; charset=utf-8"),
        record(0, "CONNECT", "https://shop:443/", Value::Null, 200, "", ""),
    ]);
    let requests: Vec<_> = text.lines().filter(|line| line.starts_with("GET")).collect();
    let expected =
        ["GET http://shop/", "GET https://shop/", "GET https://www.shop/start?a=1", "GET https://www.shop/h3"];
    assert_eq!(requests, expected);
    for line in [
        "left out: HTTP/3, 1 time (HTTP/2 or HTTP/1.1 is used instead)",
        "left out: WebSocket connections, 1 time (not HTTP requests)",
        "left out: event streams, 1 time (their responses do not end: use --all to import them)",
        "left out: requests of the scheme blob, 1 time (not HTTP requests)",
        "left out: requests of the scheme data, 1 time (not HTTP requests)",
        "left out: requests to elsewhere, 1 time (another host: use --host to import it, or --all)",
        "left out: requests without a response, 1 time (blocked or aborted: use --all to import them)",
        "left out: tunnels (CONNECT), 1 time (requests to a proxy)",
    ] {
        assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
    }
}

#[test]
fn the_first_page_says_which_host_is_the_service() {
    let get = |url: &str, kind: &str| {
        let mut record = record(0, "GET", url, Value::Null, 200, "text/html", "");
        record["_resourceType"] = json!(kind);
        record
    };
    let entries =
        [get("https://tracker/", "xhr"), get("https://shop/", "document"), get("https://api.shop/a", "fetch")];
    let requests = |text: &str| {
        let draft =
            import(text, &Options { hosts: vec!["API.shop".to_owned()], all: false }).expect("it is a recording");
        draft.text().lines().filter(|line| line.starts_with("GET")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(requests(&archive(&entries)), ["GET https://shop/", "GET https://api.shop/a"]);
    let pages = "\"pages\":[{\"title\":\"https://shop/\",\"startedDateTime\":\"2026-11-22T10:00:09Z\"},{\"title\":\"a shop\"},\
        {\"title\":\"https://gone/\"},{\"title\":\"https://tracker/x\",\"startedDateTime\":\"2026-11-22T10:00:00Z\"}]";
    let titled = archive(&entries).replace("\"pages\":[]", pages);
    assert_eq!(requests(&titled), ["GET https://tracker/", "GET https://api.shop/a"]);
}

#[test]
fn a_redirect_gives_its_parameters_and_not_all_of_its_url() {
    let mut login = record(0, "GET", "https://shop/login", Value::Null, 302, "text/html", "");
    login["response"]["headers"] = json!([header("Location", "/back?state=a%20b&code=0123456789")]);
    let mut created = record(100, "POST", "https://shop/orders", Value::Null, 201, "text/html", "");
    created["response"]["headers"] = json!([header("Location", "https://shop/orders/8f3c")]);
    let (text, _) = imported(&[
        login,
        record(60, "GET", "https://shop/back?state=a%20b&code=0123456789", Value::Null, 200, "text/html", ""),
        created,
        record(300, "GET", "https://shop/orders/8f3c", Value::Null, 200, "text/html", ""),
    ]);
    for expected in [
        "code: header \"Location\" urlQueryParam \"code\"",
        "GET https://shop/back?state=a%20b&code={{code}}",
        "location: header \"Location\"",
        "GET {{location}}",
    ] {
        assert!(text.lines().any(|line| line == expected), "{expected}: {text}");
    }
    assert!(!text.contains("location_2"), "{text}");
}

#[test]
fn content_is_read_as_writers_encode_it() {
    let part = "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--b\r\n\
        Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\u{fffd}\r\n--b--\r\n";
    // {"token":"0123456789abcdef"} and the bytes 0, 255.
    let mut login = record(
        0,
        "POST",
        "https://shop/a",
        Value::Null,
        200,
        "application/json",
        "eyJ0b2tlbiI6IjAxMjM0NTY3ODlhYmNkZWYifQ==",
    );
    login["response"]["content"]["encoding"] = json!("base64");
    let (text, summary) = imported(&[
        login,
        record(
            100,
            "POST",
            "https://shop/b?t=0123456789abcdef",
            json!({"mimeType": "multipart/form-data; boundary=b", "text": part}),
            200,
            "",
            "",
        ),
        record(
            200,
            "POST",
            "https://shop/c",
            json!({"mimeType": "application/x-protobuf", "text": "AP8=", "encoding": "base64"}),
            200,
            "",
            "",
        ),
        record(
            300,
            "POST",
            "https://shop/d",
            json!({"mimeType": "text/plain", "text": "a\u{1}b", "params": null}),
            200,
            "",
            "",
        ),
    ]);
    for expected in [
        "token: jsonpath \"$.token\"",
        "POST https://shop/b?t={{token}}",
        "note: hi",
        "f: file,a.png; image/png",
        "base64,AP8=;",
        "# left out: bytes of the content of type text/plain (the recording has them as text, which may have lost \
         some)",
    ] {
        assert!(text.lines().any(|line| line == expected), "{expected}: {text}");
    }
    assert!(summary.contains("left out: content of the file 'a.png', 1 time"), "{summary}");
}

#[test]
fn what_writers_leave_open_has_a_default() {
    let entries = json!({"log": {"entries": [
        {"startedDateTime": null, "time": null, "request": {"method": "GET", "url": "http://a/", "headers": [{"name": "A", "value": null}], "postData": null},
            "response": {"status": "204", "content": null, "headers": null}},
        {"time": "1.5", "request": {"method": "GET", "url": "http://a/b", "httpVersion": null}, "response": {"status": 200.0}, "cache": null},
    ]}});
    let text = import(&entries.to_string(), &Options::default()).expect("it is a recording").text();
    assert_eq!(text, "GET http://a/\nA:\nHTTP 204\n\nGET http://a/b\nHTTP 200\n");
}

#[test]
fn what_stands_beside_url_and_fields_is_sent_too() {
    let (text, summary) = imported(&[
        json!({"request": {"method": "GET", "url": "http://shop/a", "queryString": [{"name": "color", "value": "a b"}]},
            "response": {"status": 200, "content": {"mimeType": "text/html"}}}),
        json!({"request": {"method": "GET", "url": "http://shop/b?x%20y=1", "queryString": [
            {"name": "x y", "value": "1"}, {"name": "z", "value": "2"}]}, "response": {"status": 200}}),
        json!({"request": {"method": "POST", "url": "http://shop/c", "headers": [header("DNT", "1"), header("If-None-Match", "x")],
            "postData": {"mimeType": "text/csv", "text": "a,b"}}, "response": {"status": 200}}),
        json!({"request": {"method": "POST", "url": "http://shop/d", "headers": [header("Host", "other:81"), header("Accept-Encoding", "br"),
            header("Content-Type", "application/x-www-form-urlencoded; charset=ISO-8859-1")],
            "postData": {"mimeType": "application/x-www-form-urlencoded; charset=ISO-8859-1", "text": "name=Ren%E9&password=x+y"}},
            "response": {"status": 200}}),
        json!({"request": {"method": "GET", "url": "http://shop/d.woff"},
            "response": {"status": 200, "content": {"mimeType": "application/font-woff"}}}),
    ]);
    let expected = "GET http://shop/a?color=a%20b\nHTTP 200\n\nGET http://shop/b?x%20y=1&z=2\nHTTP 200\n\n\
        POST http://shop/c\nContent-Type: text/csv\n```a,b```\nHTTP 200\n\n\
        POST http://shop/d\nHost: other:81\nAccept-Encoding: br\nContent-Type: application/x-www-form-urlencoded; charset=ISO-8859-1\n\
        ```name=Ren%E9&password={{password}}```\nHTTP 200\n";
    assert_eq!(text, expected);
    for line in [
        "left out: files of the type font, 1 time (static files: use --all to import them)",
        "left out: header fields that browsers add (dnt), 1 time (they come from the browser, not from the page)",
        "left out: conditional header fields (if-none-match), 1 time (the browser's cache is not simulated)",
    ] {
        assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
    }
}

#[test]
fn requests_without_responses_are_imported_without_a_status() {
    let bare = |url: &str| json!({"request": {"method": "GET", "url": url, "cookies": [{"name": "a", "value": "1"}]}});
    let mut refused = bare("http://shop/refused");
    refused["response"] = json!({"status": 0});
    let mut blocked = bare("http://shop/blocked");
    blocked["_error"] = json!("net::ERR_BLOCKED_BY_CLIENT");
    let mut open = bare("http://shop/open");
    open["response"] = json!({"status": null});
    let (text, summary) = imported(&[bare("http://shop/a"), refused, blocked, open]);
    assert_eq!(text, "GET http://shop/a\nCookie: {{cookie}}\n\nGET http://shop/open\n");
    let line = "left out: requests without a response, 2 times (blocked or aborted: use --all to import them)";
    assert!(summary.lines().any(|said| said == line), "{summary}");
}

#[test]
fn multipart_content_that_a_form_cannot_say_stays_as_it_was_recorded() {
    let part = "--b\r\nContent-Disposition: form-data; name=\"note\"\r\nContent-Type: text/x\r\n\r\nhi\r\n--b--\r\n";
    let data = json!({"mimeType": "multipart/form-data; boundary=b", "text": part});
    let (text, _) = imported(&[record(0, "POST", "https://shop/b", data, 200, "", "")]);
    assert!(text.contains("Content-Type: multipart/form-data; boundary=b\n"), "{text}");
    assert!(text.contains("Content-Type: text/x\\r\n\\r\nhi\\r\n--b--"), "{text}");
}
