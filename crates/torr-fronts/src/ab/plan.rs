//! The load that a command line of ApacheBench means. Its requests are of HTTP/1.0, with fields of their own in an order of their
//! own.

use super::args::Args;
use crate::error::FrontError;
use crate::files;
use crate::load::FrontLoad;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use torr_gauge::machine::cpus;
use torr_press::{RequestError, Requests, Target};

/// Returns the load, and the bytes of its request.
pub fn load(args: &Args) -> Result<(FrontLoad, Vec<u8>), FrontError> {
    let target = Target::parse(&args.url).map_err(FrontError::usage)?;
    let (request, bytes) = request(args, &target)?;
    let load = FrontLoad {
        source: args.source,
        duration: args.duration,
        requests: Some(args.requests),
        keep_alive: args.keep_alive,
        tls: args.tls.clone(),
        proxy: args.proxy.clone(),
        proxy_user: args.proxy_authorization.clone(),
        detailed: true,
        // ApacheBench has only one thread, which limits it.
        ..FrontLoad::new(target, request, (args.concurrency, cpus() as u64), args.timeout)
    };
    Ok((load, bytes))
}

/// Builds the request.
fn request(args: &Args, target: &Target) -> Result<(Requests, Vec<u8>), FrontError> {
    let body = args.body.as_ref().map(|(path, _)| files::read(path)).transpose()?;
    let method = method(args);
    let (authority, path) = (target.authority(), target.path());
    // A proxy is sent the whole URL, unless it is only a tunnel.
    let path = if args.proxy.is_some() && !target.tls { format!("http://{authority}{path}") } else { path.to_owned() };
    let mut lines = vec![format!("{method} {path} HTTP/1.0")];
    let mut line = |name: &str, value: &str| lines.push(format!("{name}: {value}"));
    if args.keep_alive {
        line("Connection", "Keep-Alive");
    }
    if !args.cookies.is_empty() {
        line("Cookie", &args.cookies.join("; "));
    }
    // ApacheBench takes no URL with a user; its flag goes first here.
    let authorization = args.authorization.clone().or_else(|| target.credentials());
    // What is sent through a tunnel reaches the server, which must not see the proxy's credentials.
    let is_tunnel = args.proxy.is_some() && target.tls;
    let for_proxy = args.proxy_authorization.as_ref().filter(|_| !is_tunnel);
    for (name, user) in [("Authorization", authorization.as_ref()), ("Proxy-Authorization", for_proxy)] {
        if let Some(user) = user {
            line(name, &format!("Basic {}", STANDARD.encode(user)));
        }
    }
    let has = |name: &str| args.headers.iter().any(|header| is_named(header, name));
    if let Some(body) = &body {
        for own in ["Content-Length", "Transfer-Encoding"] {
            if args.headers.iter().any(|header| is_named(header, own)) {
                return Err(FrontError::usage(RequestError::OwnHeader(own.into())));
            }
        }
        line("Content-Length", &body.len().to_string());
        if args.content_type.is_some() || !has("Content-Type") {
            line("Content-Type", args.content_type.as_deref().unwrap_or("text/plain"));
        }
    }
    for header in args.headers.iter().enumerate() {
        let (name, value) = split(header).map_err(FrontError::usage)?;
        line(name, value);
    }
    let defaults = [("Host", authority), ("User-Agent", "ApacheBench/2.3"), ("Accept", "*/*")];
    for (name, value) in defaults.into_iter().filter(|(name, _)| !has(name)) {
        line(name, value);
    }
    if let Some(bad) = lines.iter().find(|line| line.contains(['\r', '\n'])) {
        return Err(FrontError::Usage(format!("'{}' must be one line", bad.escape_debug())));
    }
    let mut bytes = lines.join("\r\n").into_bytes();
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes.extend_from_slice(body.as_deref().unwrap_or_default());
    Ok((Requests::raw(target, method, bytes.clone()).map_err(FrontError::usage)?, bytes))
}

/// Returns the request's method.
pub fn method(args: &Args) -> &str {
    let of_body = args.body.as_ref().map_or("GET", |(_, method)| method);
    let otherwise = if args.head { "HEAD" } else { of_body };
    args.method.as_deref().unwrap_or(otherwise)
}

fn is_named(header: &str, name: &str) -> bool {
    header.split_once(':').is_some_and(|(of, _)| of.trim_end().eq_ignore_ascii_case(name))
}

/// Splits and checks one header line.
fn split((at, header): (usize, &String)) -> Result<(&str, &str), RequestError> {
    let bad = || RequestError::Header(at + 1);
    let (name, value) = header.split_once(':').ok_or_else(bad)?;
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
    HeaderValue::from_str(value.trim()).map_err(|_| RequestError::HeaderValue(name.to_owned()))?;
    Ok((name, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(args: &Args, url: &str) -> String {
        let (_, bytes) = request(args, &Target::parse(url).unwrap()).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn requests_have_the_fields_in_the_order_of_apachebench() {
        let args = Args {
            keep_alive: true,
            cookies: vec!["a=1".into(), "b=2".into()],
            headers: vec!["X: 1".into(), "X-2:2".into()],
            authorization: Some("u:p".into()),
            ..Args::default()
        };
        assert_eq!(
            sent(&args, "http://h:81/a?b#c"),
            "GET /a?b HTTP/1.0\r\nConnection: Keep-Alive\r\nCookie: a=1; b=2\r\nAuthorization: Basic dTpw\r\nX: 1\r\n\
             X-2: 2\r\nHost: h:81\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n"
        );
    }

    #[test]
    fn a_user_in_the_url_is_sent_unless_a_flag_gives_another() {
        let expected = |credentials| {
            format!(
                "GET / HTTP/1.0\r\nAuthorization: Basic {credentials}\r\nHost: h\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n"
            )
        };
        assert_eq!(sent(&Args::default(), "http://u:p%40@h/"), expected("dTpwQA=="));
        let flag = Args { authorization: Some("u:p".into()), ..Args::default() };
        assert_eq!(sent(&flag, "http://other:x@h/"), expected("dTpw"));
    }

    #[test]
    fn the_credentials_of_a_proxy_are_not_sent_through_a_tunnel() {
        let through = Some(("proxy".to_owned(), 1));
        let args = Args { proxy_authorization: Some("u:p".into()), proxy: through, ..Args::default() };
        assert!(sent(&args, "http://h/").contains("Proxy-Authorization: Basic dTpw\r\n"));
        assert!(!sent(&args, "https://h/").contains("Proxy-Authorization"));
    }

    #[test]
    fn own_fields_give_way_to_the_users() {
        let headers = ["host: other", "User-Agent: me", "ACCEPT: text/x"].map(str::to_owned).to_vec();
        let args = Args { headers, head: true, ..Args::default() };
        let expected = "HEAD / HTTP/1.0\r\nhost: other\r\nUser-Agent: me\r\nACCEPT: text/x\r\n\r\n";
        assert_eq!(sent(&args, "http://h/"), expected);
    }

    #[test]
    fn what_would_break_the_request_is_refused() {
        let target = Target::parse("http://h/").unwrap();
        let broken: [fn(&mut Args); 5] = [
            |args| args.headers.push("no colon".into()),
            |args| args.headers.push("X: a\r\nY: b".into()),
            |args| args.cookies.push("a\r\nX: b".into()),
            |args| args.method = Some("GE T".into()),
            |args| args.body = Some(("/no/such/file".into(), "POST")),
        ];
        for (number, make) in broken.iter().enumerate() {
            let mut args = Args::default();
            make(&mut args);
            assert!(request(&args, &target).is_err(), "case {number} was taken");
        }
    }
}
