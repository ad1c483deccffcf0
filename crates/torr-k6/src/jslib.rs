//! Modules that scripts import from jslib.k6.io, in writing of our own: they need no network.

/// Modules by the part of their URL between the host and `/index.js`; each version offers what a later one does.
const MODULES: [(&str, &[&str], &str); 6] = [
    ("k6-utils", &["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"], include_str!("jslib/k6-utils.js")),
    ("k6-summary", &["0.0.1", "0.0.2", "0.0.3", "0.0.4", "0.1.0", "0.1.1"], include_str!("jslib/k6-summary.js")),
    ("papaparse", &["5.1.1"], include_str!("jslib/papaparse.js")),
    ("url", &["1.0.0"], include_str!("jslib/url.js")),
    ("formdata", &["0.0.1", "0.0.2", "0.0.3", "0.0.4"], include_str!("jslib/formdata.js")),
    ("httpx", &["0.0.6", "0.1.0"], include_str!("jslib/httpx.js")),
];

/// The host whose modules these are. Only they may import what the name `torr:` begins.
pub const HOST: &str = "https://jslib.k6.io/";

/// Returns the source of the module at `url` if it is among those.
pub fn source(url: &str) -> Option<&'static str> {
    let (name, version) = url.strip_prefix(HOST)?.strip_suffix("/index.js")?.split_once('/')?;
    MODULES
        .iter()
        .find(|(known, versions, _)| *known == name && versions.contains(&version))
        .map(|(.., source)| *source)
}
