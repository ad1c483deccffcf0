//! Options of entries that are the connection's: they hold for the whole run, so all entries have to agree.

use crate::error::PlanError;
use std::collections::BTreeMap;
use std::path::PathBuf;
use torr_load::{Family, Parsed, TransportPart, resolved};
use torr_session::Value;
use torr_session::users::SessionFile;

/// Returns the transport of the command line with what the files' options ask for. A flag wins over a file. Whatever stops files
/// from being run is found here, before anything is sent, so that `torr check` finds it as well.
///
/// # Errors
/// For an option that differs between entries, or whose value is of no use, and for a URL that is none, with its position.
pub fn with_options_of(
    files: &[SessionFile],
    values: &BTreeMap<String, Value>,
    flags: &TransportPart,
) -> Result<TransportPart, PlanError> {
    let mut transport = flags.clone();
    let mut seen: BTreeMap<&'static str, String> = BTreeMap::new();
    for file in files {
        let mut variables = torr_session::Variables::default();
        for (name, value) in values {
            if let Some(number) = file.session.names.find(name) {
                variables.set(number, value.clone());
            }
        }
        for entry in &file.session.entries {
            entry.define(&mut variables);
            entry
                .request
                .check_url(&variables)
                .map_err(|error| PlanError::Usage(format!("{}:{}: {error}", file.name, entry.at)))?;
            for (option, value, at) in &entry.options.transport {
                let name = torr_session::hurl::option_name(*option);
                let position = format!("{}:{at}", file.name);
                let value = value.text(&variables).map_err(|error| PlanError::Usage(format!("{position}: {error}")))?;
                // Several of these stand beside each other.
                let adds = matches!(name, "resolve" | "connect-to");
                if let Some(other) = seen.insert(name, value.clone()).filter(|other| *other != value && !adds) {
                    return Err(PlanError::Usage(format!(
                        "{position}: '{name}' is {value} here but {other} before: it applies to the whole run"
                    )));
                }
                let is_http1 = seen.get("http1.1").is_some_and(|value| value == "true");
                apply(&mut transport, flags, name, &value, is_http1)
                    .map_err(|message| PlanError::Usage(format!("{position}: '{name}' {message}")))?;
            }
            // A later entry has another value, which only the run knows.
            entry.expected.iter().flat_map(|expected| expected.captured()).for_each(|number| variables.forget(number));
        }
    }
    Ok(transport)
}

/// Refuses a way to the service that is one machine's: its files, sockets and proxies.
///
/// # Errors
/// With the option.
pub fn check_for_fleet(transport: &TransportPart) -> Result<(), PlanError> {
    let TransportPart { unix_socket, proxy, bind, tls, .. } = transport;
    let options = [
        ("cert", tls.cert.is_some()),
        ("key", tls.key.is_some()),
        ("unix-socket", unix_socket.is_some()),
        ("proxy", proxy.is_some()),
        ("bind", !bind.is_empty()),
    ];
    match options.iter().find(|(_, is_there)| *is_there) {
        Some((name, _)) => Err(PlanError::Usage(format!(
            "the option '{name}' of a hurl file is not supported in a fleet: it belongs to one machine"
        ))),
        None => Ok(()),
    }
}

/// Applies one option. `is_http1` tells whether an option before demands HTTP/1.1.
fn apply(
    transport: &mut TransportPart,
    flags: &TransportPart,
    name: &str,
    value: &str,
    is_http1: bool,
) -> Result<(), String> {
    let is_true = value == "true";
    let has_http2 = transport.http2.is_on();
    let path = || Some(PathBuf::from(value));
    match name {
        "insecure" => transport.tls.insecure |= is_true && flags.tls.cacert.is_none(),
        "cacert" if flags.tls.cacert.is_none() && !flags.tls.insecure => transport.tls.cacert = path(),
        "cert" if flags.tls.cert.is_none() => transport.tls.cert = path(),
        "key" if flags.tls.key.is_none() => transport.tls.key = path(),
        "proxy" if flags.proxy.is_none() => transport.proxy = Some(value.to_owned()),
        "unix-socket" if flags.unix_socket.is_none() => transport.unix_socket = path(),
        "http2" | "http2-prior-knowledge" | "http3" if is_true && is_http1 => {
            return Err("is true here, but 'http1.1' is true before: one protocol applies to the whole run".to_owned());
        }
        "http2" | "http2-prior-knowledge" if is_true && transport.http3 => return Err(other_protocol("HTTP/3")),
        "http3" if is_true && has_http2 => return Err(other_protocol("HTTP/2")),
        "http3" => transport.http3 |= is_true,
        "http2" => transport.http2.http2 |= is_true && !flags.http2.http2_prior_knowledge,
        "http2-prior-knowledge" => transport.http2.http2_prior_knowledge |= is_true && !flags.http2.http2,
        "resolve" => transport.resolve.push(Parsed::read(value, resolved)?),
        "connect-to" => transport.connect_to.push(value.parse()?),
        "ipv4" if is_true => transport.family = Some(Family::V4),
        "ipv6" if is_true => transport.family = Some(Family::V6),
        "cacert" | "cert" | "key" | "proxy" | "unix-socket" => {}
        "http1.1" if is_true && has_http2 => return Err(other_protocol("HTTP/2")),
        "http1.1" if is_true && transport.http3 => return Err(other_protocol("HTTP/3")),
        // What is there already.
        "http1.1" if is_true => {}
        _ if value == "false" => {}
        _ => return Err("is not supported in a run".to_owned()),
    }
    Ok(())
}

fn other_protocol(other: &str) -> String {
    format!("is true here, but the run uses {other}: one protocol applies to the whole run")
}
