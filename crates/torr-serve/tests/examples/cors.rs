//! `examples/cors.rs`.

use crate::program::{ClientResponse, Example};

const SHOP: &str = "https://shop.example";
const OTHER: &str = "https://other.example";

fn preflight(cors: &Example, path: &str, origin: &str, method: &str) -> ClientResponse {
    cors.ask(&format!("OPTIONS {path}"), &[("Origin", origin), ("Access-Control-Request-Method", method)])
}

fn allowed(response: &ClientResponse) -> Option<&str> {
    response.field("Access-Control-Allow-Origin")
}

#[test]
fn a_trusted_origin_may_call_with_credentials() {
    let cors = Example::start("cors", &[]);
    let preflight_response = preflight(&cors, "/basket", SHOP, "PUT");
    assert_eq!((preflight_response.status, allowed(&preflight_response)), (200, Some(SHOP)));
    assert_eq!(preflight_response.field("Access-Control-Allow-Methods"), Some("GET,PUT"));
    assert_eq!(preflight_response.field("Access-Control-Allow-Headers"), Some("content-type"));
    assert_eq!(preflight_response.field("Access-Control-Allow-Credentials"), Some("true"));
    assert_eq!(preflight_response.field("Access-Control-Max-Age"), Some("600"));

    let put = cors.send("PUT /basket", &[("Origin", "https://staging.shop.example")], "");
    assert_eq!(put.status_and_text(), (200, "changed\n"));
    assert_eq!(allowed(&put), Some("https://staging.shop.example"));
    assert_eq!(put.field("Access-Control-Expose-Headers"), Some("etag"));
    // A cache must not give one origin the response that was for another.
    let varies = put.field("Vary").expect("it varies");
    assert!(varies.to_lowercase().contains("origin"), "{varies}");
    cors.leaves();
}

#[test]
fn other_origins_may_only_read_what_is_public() {
    let cors = Example::start("cors", &[]);
    assert_eq!(allowed(&preflight(&cors, "/basket", OTHER, "PUT")), None);
    assert_eq!(allowed(&cors.ask("GET /basket", &[("Origin", OTHER)])), None);
    assert_eq!(allowed(&cors.ask("GET /internal", &[("Origin", SHOP)])), None);
    let prices = cors.ask("GET /prices", &[("Origin", OTHER)]);
    assert_eq!((prices.status_and_text(), allowed(&prices)), ((200, "tea: 3.50\n"), Some("*")));
    assert_eq!(prices.field("Access-Control-Allow-Credentials"), None);
    let preflight_response = preflight(&cors, "/prices", OTHER, "PUT");
    assert_eq!(preflight_response.field("Access-Control-Allow-Methods"), Some("GET"));
    cors.leaves();
}
