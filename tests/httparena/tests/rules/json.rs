//! The profiles json, json-comp and json-tls.

use crate::application::Application;
use crate::curl::{Got, curl, get};
use crate::data;
use serde_json::{Value, json};

/// Checks that a response has the first items of the data set, each with its total.
#[track_caller]
pub fn is_page(got: &Got, count: usize, factor: i64) {
    let mut items = data::items().as_array().expect("it is a list")[..count].to_vec();
    for item in &mut items {
        let number = |name: &str| item[name].as_i64().expect("it is a number");
        item["total"] = Value::from(number("price") * number("quantity") * factor);
    }
    assert_eq!(got.json(), json!({ "items": items, "count": count }));
}

/// Checks a pair without compression.
pub fn is_plain(application: &Application, pairs: &[(usize, i64)]) {
    for &(count, factor) in pairs {
        let got = get(&application.http(&format!("/json/{count}?m={factor}")));
        is_page(&got, count, factor);
        assert_eq!(got.field("content-encoding"), None, "{got:?}");
        assert_eq!(got.field("content-length"), Some(&*got.content.len().to_string()), "{got:?}");
    }
}

/// Checks the validation's pairs, those of the load, and the defaults.
pub fn plain() {
    let application = Application::start();
    is_plain(&application, &[(12, 3), (22, 7), (31, 2), (50, 5)]);
    is_plain(&application, &[(1, 3), (5, 7), (10, 2), (15, 5), (25, 4), (40, 8), (50, 6)]);
    is_page(&get(&application.http("/json/5")), 5, 1);
    is_page(&get(&application.http("/json/100?m=2")), 50, 2);
    assert_eq!(get(&application.http("/json/x?m=2")).status, 400);
    assert_eq!(get(&application.http("/json/5?m=x")).status, 400);
}

/// Checks encodings that the client accepts, one and both, and none without the field.
pub fn compressed() {
    let application = Application::start();
    is_plain(&application, &[(25, 3), (40, 7), (50, 2)]);
    for accepted in ["gzip, br", "gzip", "br"] {
        for (count, factor) in [(25, 3), (40, 7), (50, 2), (25, 4), (40, 8), (50, 6)] {
            let url = application.http(&format!("/json/{count}?m={factor}"));
            let got = curl(&["-H", &format!("Accept-Encoding: {accepted}")], &url);
            let encoding = got.field("content-encoding").expect("the client asked for it");
            assert!(accepted.split(", ").any(|known| known == encoding), "{accepted}: {got:?}");
            is_page(&got, count, factor);
        }
    }
}

/// Checks that the port speaks HTTP/1.1 even to clients that offer HTTP/2.
pub fn over_tls() {
    let application = Application::start();
    for offered in ["--http1.1", "--http2"] {
        for (count, factor) in [(7, 2), (23, 11), (50, 1)] {
            let got = curl(&[offered], &application.https(&format!("/json/{count}?m={factor}")));
            assert_eq!(got.version, "1.1");
            is_page(&got, count, factor);
        }
    }
}
