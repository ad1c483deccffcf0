//! What must be true of Torr's HTTP and of the files that it reads, whatever bytes come: one check for each fuzz target.
//!
//! Each takes a fuzzer's input and panics if something is not as it must be. The fuzz targets call them with what the
//! fuzzer makes up, and the test with what is in `fuzz/seeds`.
#![forbid(unsafe_code)]

mod input;

pub mod body;
pub mod client_connection;
pub mod forwarded;
pub mod front_arguments;
pub mod hpack;
pub mod http2_client;
pub mod http3;
pub mod hurl_file;
pub mod imports;
pub mod multipart;
pub mod proxy_header;
pub mod request_head;
pub mod response;
pub mod server_connection;
pub mod tls_records;

/// A check of one input.
pub type Check = fn(&[u8]);

/// All checks, by the names of their targets.
pub const CHECKS: [(&str, Check); 24] = [
    ("request_head", request_head::check),
    ("response", response::check),
    ("body", body::check),
    ("server_connection", server_connection::check),
    ("client_connection", client_connection::check),
    ("hpack", hpack::check),
    ("http2_client", http2_client::check),
    ("http3", http3::check),
    ("tls_records", tls_records::check),
    ("proxy_header", proxy_header::check),
    ("forwarded", forwarded::check),
    ("multipart", multipart::check),
    ("front_arguments", front_arguments::check),
    ("hurl_file", hurl_file::check),
    ("import_curl", imports::curl),
    ("import_har", imports::har),
    ("import_openapi", imports::openapi),
    ("import_postman", imports::postman),
    ("import_apipost", imports::apipost),
    ("import_bruno", imports::bruno),
    ("import_insomnia", imports::insomnia),
    ("import_http", imports::http),
    ("import_jmeter", imports::jmeter),
    ("import_artillery", imports::artillery),
];
