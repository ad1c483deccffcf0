//! `--alt-svc`: HTTP/3 where the server's `Alt-Svc` offers it (RFC 7838), which one request before the run finds out.

use crate::error::PlanError;
use crate::permit::Permit;
use crate::transport::route;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::collector::FirstResponse;
use torr_gauge::result::AltSvc;
use torr_load::{Http2Part, TransportPart};
use torr_press::request::{Options, Url};
use torr_press::{Inspection, Plan, Requests, Target};

/// The limit of the request before the run, unless the time-out of requests is shorter.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The limit of the length of an offer that is kept for the result, in characters.
const LONGEST: usize = 200;

/// Returns the way of a load after the server's offer, and the offer. `timeout` is that of requests.
///
/// # Errors
/// If the target has no TLS, if the server does not respond, and those of `permit`.
pub(crate) fn chosen(
    part: &TransportPart,
    target: &Target,
    timeout: Duration,
    permit: Permit<'_>,
) -> Result<(TransportPart, AltSvc), PlanError> {
    if !target.tls {
        return Err(PlanError::Usage(format!("--alt-svc needs an https:// URL, found {}", target.shown())));
    }
    let response = response(part, target, timeout.min(TIMEOUT), permit)?;
    let offer = offer(&response, &target.host);
    let http3_port = offer.port.filter(|_| part.tls.tls_max.as_deref() != Some(&"1.2"));
    let chosen = match http3_port {
        Some(_) => TransportPart { http3: true, http3_port, http2: without_version(&part.http2), ..part.clone() },
        None => part.clone(),
    };
    Ok((chosen, offer))
}

fn without_version(part: &Http2Part) -> Http2Part {
    Http2Part { http2: false, ..part.clone() }
}

/// Requests the header section of the target over HTTP/1.1. The method is safe, whatever that of the load is.
fn response(
    part: &TransportPart,
    target: &Target,
    timeout: Duration,
    permit: Permit<'_>,
) -> Result<FirstResponse, PlanError> {
    let part = TransportPart { http2: without_version(&part.http2), ..part.clone() };
    let route = route(&part, target)?;
    let options = Options { method: Some("HEAD".into()), ..Options::default() };
    let requests = Requests::new(&[Url::from(target.clone())], &options).map_err(PlanError::usage)?;
    let plan = Plan {
        sources: route.sources,
        protocol: route.protocol,
        inspection: Inspection { keep_first: true, ..Inspection::default() },
        connections: 1,
        threads: 1,
        requests: Some(1),
        timeout,
        watch_server: false,
        ..Plan::new(target.clone(), route.addresses, requests)
    };
    permit(&plan)?;
    let unreachable = |line: String| PlanError::Unreachable(format!("cannot request the server's Alt-Svc: {line}"));
    let run =
        torr_press::run(&plan, &AtomicBool::new(false), |_| ()).map_err(|error| unreachable(error.to_string()))?;
    run.first.ok_or_else(|| {
        let cause = run.result.causes.first().map_or("no response", |cause| &cause.what);
        unreachable(cause.to_owned())
    })
}

/// Returns the offer of HTTP/3 on the same host in a response.
fn offer(response: &FirstResponse, host: &str) -> AltSvc {
    let fields = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("alt-svc"));
    let values: Vec<_> = fields.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect();
    let value = values.join(", ");
    AltSvc { port: port(&value, host), offer: value.chars().take(LONGEST).collect() }
}

/// Returns the port of the first valid alternative that is HTTP/3 on this host.
fn port(value: &str, host: &str) -> Option<u16> {
    let alternative = |text: &str| {
        let mut parts = split(text, ';').map(str::trim);
        let (protocol, authority) = parts.next()?.split_once('=')?;
        let (other, port) = unquoted(authority)?.rsplit_once(':')?;
        let is_over = |part: &str| part.split_once('=').is_some_and(|(name, age)| name == "ma" && is_zero(age));
        let is_here = other.is_empty() || other.eq_ignore_ascii_case(host);
        let port = port.parse().ok().filter(|&port: &u16| port > 0)?;
        (protocol == "h3" && is_here && !parts.any(is_over)).then_some(port)
    };
    split(value, ',').map(str::trim).find_map(alternative)
}

/// Returns whether an age in seconds is 0: the alternative is no longer valid.
fn is_zero(age: &str) -> bool {
    unquoted(age).unwrap_or(age).parse() == Ok(0_u64)
}

fn unquoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
}

/// Splits a value at a separator that is not in a quoted string.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |letter| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match letter {
            '\\' if is_quoted && !was_escaped => is_escaped = true,
            '"' if !was_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        letter == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permit;

    #[test]
    fn the_first_alternative_of_http3_on_the_host_is_taken() {
        for (value, expected) in [
            (r#"h3=":443""#, Some(443)),
            (r#"h3=":8443"; ma=86400, h3-29=":443"; ma=86400"#, Some(8443)),
            (r#"h2=":444", h3="A.test:445"; persist=1"#, Some(445)),
            (r#"h3="other.test:1";ma=5,h3=":2""#, Some(2)),
            (r#"h3=":443"; ma=0"#, None),
            (r#"h3=":443"; ma="0""#, None),
            (r#"h3=":443"; x="a,\"h3"; ma=1"#, Some(443)),
            (r#"x=", h3=":1""#, None),
            ("clear", None),
            ("", None),
            ("h3=:443", None),
            (r#"h3=":0""#, None),
            (r#"h3=":70000""#, None),
            (r#"h3="443""#, None),
            (r#"h3-29=":443""#, None),
            (r#"h3":443"#, None),
        ] {
            assert_eq!(port(value, "a.test"), expected, "{value}");
        }
    }

    #[test]
    fn several_fields_are_one_list_and_what_is_kept_is_bounded() {
        let field = |value: &str| ("Alt-Svc".to_owned(), value.as_bytes().to_vec());
        let of = |headers| offer(&FirstResponse { status: 200, headers, body: 0 }, "a.test");
        let two = of(vec![field(r#"h2=":1""#), ("Date".into(), b"now".to_vec()), field(r#"h3=":2""#)]);
        assert_eq!((two.offer.as_str(), two.port), (r#"h2=":1", h3=":2""#, Some(2)));
        assert_eq!(of(vec![field(&"x".repeat(9000))]).offer.len(), LONGEST);
        assert_eq!(of(vec![]), AltSvc::default());
    }

    #[test]
    fn only_tls_has_alternatives() {
        let target = Target::parse("http://a.test/x").expect("it is a URL");
        let refused =
            chosen(&TransportPart::default(), &target, TIMEOUT, &permit::any).expect_err("it is refused").into_line();
        assert_eq!(refused, "--alt-svc needs an https:// URL, found http://a.test/x");
    }
}
