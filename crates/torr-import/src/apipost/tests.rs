//! Exports of Apipost 7 and 8, and what it exports in the formats of others.

use super::import;
use crate::made::checked;

fn imported(text: &str) -> (String, String) {
    checked(&import(text).expect("it is an export"))
}

#[test]
fn a_project_of_version_7() {
    let (file, summary) = imported(include_str!("../../samples/store-7.apipost.json"));
    let expected = "# left out: field X-Off (disabled in the collection)\n\
                    # left out: part of a test script (no exact counterpart: its lines are kept as a comment)\n\
                    # | apt.assert('response.raw.status==200');\n# name: Buy\n\
                    POST https://store.example/goods/42/buy?a=1\nX-City: {{city}}\n[Options]\n\
                    variable: city=\"Bern\"\nlocation: true\n[Multipart]\ncount: 2\nHTTP *\n[Captures]\n\
                    order: jsonpath \"$.id\"\n\n# name: Paid\nPUT https://pay.example/orders/{{order}}\n\
                    Authorization: Bearer {{token}}\n[Options]\nlocation: true\n\
                    {\"paid\": true, \"secret\": \"{{secret}}\"}\n";
    assert_eq!(file, expected);
    assert!(
        summary.contains("left out: websocket, 1 time (not HTTP requests)") && !summary.contains("tok-1"),
        "{summary}"
    );
}

#[test]
fn a_project_of_version_8() {
    let (file, summary) = imported(include_str!("../../samples/store-8.apipost.json"));
    assert!(
        file.contains("GET https://store.example/users/{{user}}?page=1\nCookie: {{cookie}}\nX-Key: {{x_key}}\n"),
        "{file}"
    );
    assert!(file.contains("variable: user=\"bea\"\n") && file.contains("HTTP 200\n"), "{file}");
    assert!(file.contains("# | {\"type\":\"assert\""), "{file}");
    assert!(summary.contains("left out: doc, 1 time (not HTTP requests)"), "{summary}");
}

#[test]
fn its_other_exports_are_read_as_what_they_are() {
    let (file, _) = imported(include_str!("../../samples/orders-3.0.yaml"));
    assert!(file.contains("# name: createOrder\n"), "{file}");
    let (file, _) = imported(include_str!("../../samples/echo-2.0.postman_collection.json"));
    assert!(file.contains("# name: Basic\n"), "{file}");
}

#[test]
fn what_is_no_export_is_refused_in_one_line() {
    for (text, message) in [
        ("{}", "not an Apipost export: 'apis' is missing"),
        (r#"{"apis": [{"target_type": "doc"}]}"#, "the project has no request"),
        ("{", "not a valid Apipost export: EOF"),
    ] {
        let error = import(text).expect_err(text).to_string();
        assert!(error.contains(message) && !error.contains('\n'), "{text}: {error}");
    }
}
