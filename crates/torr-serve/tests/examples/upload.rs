//! `examples/upload.rs`.

use crate::program::{ClientResponse, Example};

const BOUNDARY: &str = "a-boundary";

/// A part of a form: the attributes of its disposition, further fields, content.
type Part<'a> = (&'a str, &'a str, &'a [u8]);

fn send(upload: &Example, parts: &[Part]) -> ClientResponse {
    let mut body = Vec::new();
    for (disposition, fields, content) in parts {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n{fields}\r\n");
        body.extend([head.as_bytes(), content, b"\r\n"].concat());
    }
    body.extend(format!("--{BOUNDARY}--\r\n").as_bytes());
    upload.send("POST /", &[("Content-Type", &format!("multipart/form-data; boundary={BOUNDARY}"))], body)
}

#[test]
fn parts_of_a_form_arrive_whole() {
    let upload = Example::start("upload", &[]);
    assert!(upload.get("/").text().contains("multipart/form-data"));
    // Larger than what the server and axum take by themselves, with ends of lines and almost a boundary in it.
    let photo = b"\r\n--a-boundar\0\xff".repeat(200_000);
    let jpeg = "Content-Type: image/jpeg\r\n";
    let parts: [Part; 3] = [
        ("name=\"title\"", "", b"Tea"),
        ("name=\"photo\"; filename=\"../tea.jpg\"", jpeg, &photo),
        ("name=\"note\"", "", b""),
    ];
    let response = send(&upload, &parts);
    assert_eq!(response.status, 200, "{response:?}");
    let shown: serde_json::Value = serde_json::from_slice(&response.body).expect("it is JSON");
    let expected = serde_json::json!([
        { "name": "title", "file": null, "content_type": null, "bytes": 3 },
        { "name": "photo", "file": "../tea.jpg", "content_type": "image/jpeg", "bytes": photo.len() },
        { "name": "note", "file": null, "content_type": null, "bytes": 0 },
    ]);
    assert_eq!(shown, expected);
    upload.leaves();
}

#[test]
fn what_is_no_form_or_too_large_is_refused() {
    let upload = Example::start("upload", &[]);
    assert_eq!(upload.send("POST /", &[("Content-Type", "text/plain")], "tea").status, 400);
    let multipart = ("Content-Type", "multipart/form-data; boundary=a-boundary");
    let cut = "--a-boundary\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nTe";
    assert_eq!(upload.send("POST /", &[multipart], cut).status, 400);
    let mut client = upload.client();
    client.send(format!(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n",
        multipart.1,
        16 * 1024 * 1024 + 1
    ));
    assert_eq!(client.response().status, 413);
    drop(client);
    upload.leaves();
}
