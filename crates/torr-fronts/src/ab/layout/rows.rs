//! The rows that the page of ApacheBench and its HTML table share.

use crate::ab::args::Args;
use crate::figures::{failed, mean};
use torr_gauge::collector::Measurement;
use torr_gauge::result::Tls;
use torr_gauge::{FailureKind, redact};
use torr_press::Target;

/// A label and its value, as on the page.
pub(super) type Row = (&'static str, String);

/// Returns the rows of the first block: server and document.
pub(super) fn service(measured: &Measurement, args: &Args, target: &Target) -> Vec<Row> {
    let software = measured.first.as_ref().and_then(|first| first.header("server")).unwrap_or_default();
    let length = match args.variable_length {
        true => "Variable".into(),
        false => format!("{} bytes", document_length(measured)),
    };
    let mut rows = vec![
        // ApacheBench prints the first word of the field.
        ("Server Software:", redact::printable(software.split_whitespace().next().unwrap_or_default()).into_owned()),
        ("Server Hostname:", target.host.clone()),
        ("Server Port:", target.port.to_string()),
    ];
    if let Some(tls) = &measured.result.tls {
        rows.push(("SSL/TLS Protocol:", protocol(tls)));
        rows.extend(tls.group.as_deref().map(|group| ("Server Temp Key:", temporary_key(group))));
        rows.extend((!args.tls.no_sni).then(|| ("TLS Server Name:", target.host.clone())));
    }
    rows.extend([("Document Path:", redact::url(target.path()).into_owned()), ("Document Length:", length)]);
    rows
}

/// Returns the protocol version, OpenSSL's name of the cipher suite, the bits of the certificate's key, which are unknown,
/// and the bits of the cipher's key.
fn protocol(tls: &Tls) -> String {
    let cipher = match tls.cipher.strip_prefix("TLS13_") {
        Some(rest) => format!("TLS_{rest}"),
        None => {
            let name = tls.cipher.trim_start_matches("TLS_").replace("_WITH_", "_").replace("AES_", "AES");
            name.replace('_', "-").replace("-POLY1305-SHA256", "-POLY1305")
        }
    };
    let bits = if tls.cipher.contains("AES_128") { 128 } else { 256 };
    format!("{},{cipher},-,{bits}", tls.version)
}

fn temporary_key(group: &str) -> String {
    match group {
        "X25519" => "X25519 253 bits".into(),
        "secp256r1" => "ECDH prime256v1 256 bits".into(),
        "secp384r1" => "ECDH secp384r1 384 bits".into(),
        other => other.to_owned(),
    }
}

/// Returns the rows of the second block: counts.
pub(super) fn counts(measured: &Measurement, args: &Args) -> Vec<Row> {
    let result = &measured.result;
    let of = |kinds: &[FailureKind]| measured.total.failures.of_any(kinds);
    let mut rows = vec![
        ("Concurrency Level:", args.concurrency.to_string()),
        ("Time taken for tests:", format!("{:.3} seconds", result.duration_s)),
        ("Complete requests:", result.requests.to_string()),
        ("Failed requests:", failed(measured).to_string()),
    ];
    if failed(measured) > 0 {
        let connect = of(&[FailureKind::Connect, FailureKind::Tls, FailureKind::Ports]);
        let (receive, exceptions) = (of(&[FailureKind::Read, FailureKind::Protocol]), of(&[FailureKind::Timeout]));
        let kinds = format!("Connect: {connect}, Receive: {receive}, Length: 0, Exceptions: {exceptions}");
        rows.push(("", kinds));
    }
    let mut others = |label, n: u64| {
        if n > 0 {
            rows.push((label, n.to_string()));
        }
    };
    others("Write errors:", of(&[FailureKind::Write]));
    others("Non-2xx responses:", result.status.iter().filter(|(code, _)| **code / 100 != 2).map(|(_, n)| n).sum());
    if args.keep_alive {
        rows.push(("Keep-Alive requests:", kept(measured).to_string()));
    }
    rows.push(("Total transferred:", format!("{} bytes", result.bytes.received)));
    if args.body.is_some() {
        rows.push(("Total body sent:", result.bytes.sent.to_string()));
    }
    rows.push(("HTML transferred:", format!("{} bytes", result.bytes.body)));
    rows
}

/// Returns the number of responses after which the connection could be reused.
fn kept(measured: &Measurement) -> u64 {
    measured.result.requests.saturating_sub(measured.result.connections.closed_by_server)
}

/// Returns the content length of the first response, or the mean if that is unknown.
pub(super) fn document_length(measured: &Measurement) -> u64 {
    let mean = || mean(measured.result.bytes.body, measured.result.requests);
    measured.first.as_ref().map_or_else(mean, |first| first.body)
}
