//! The way to the service, and what is expected of its responses.

use crate::field::{Field, all_parsed, file, parsed, switch, text, texts};
use crate::parts::transport::resolved;
use crate::setting::{Fleet, Kind, Part, Reads, Secret, Setting, Times, setting};
use crate::values::{depth, tls_max, tls_resumption};

/// What HTTP/3 is not served with.
const NOT_OVER_HTTP3: [&str; 10] = [
    "http2",
    "http2-prior-knowledge",
    "unix-socket",
    "proxy",
    "pipeline",
    "follow",
    "digest",
    "listen",
    "timestamps",
    "quick-ack",
];
/// Why early data has no requests whose methods are not known before the run.
const SAFE_ONLY: &str = "early data has requests of a URL only, whose method is known to be safe";
const ASSERTS: &str = "use 'HTTP 200' and [Asserts] in the file instead";

pub const ROWS: &[Setting] = &[
    setting(Part::Transport, "bind", Kind::Text("ADDR"), Field {
        set: |load, text| {
            load.transport.bind.extend(text.split(',').map(str::to_owned));
            Ok(())
        },
        get: |load| load.transport.bind.chunks(usize::MAX).map(|all| all.join(",")).collect(),
    })
    .times(Times::Many)
    .help(
        "Connect from these addresses of this machine, or from networks such as 10.0.0.0/24, in turn; each address has its \
         own local ports",
    )
    .fleet(Fleet::OneMachine),
    setting(Part::Transport, "resolve", Kind::Text("HOST:PORT:ADDR"), all_parsed!(transport.resolve, resolved))
    .times(Times::Many)
    .help("Connect to this address for a host and port instead of resolving the name; can be repeated"),
    setting(Part::Transport, "unix-socket", Kind::Path("PATH"), file!(transport.unix_socket))
        .help("Connect to this Unix socket; the URL still gives the host and the path")
        .excludes(&["bind", "resolve", "proxy"])
        .fleet(Fleet::OneMachine),
    setting(Part::Transport, "proxy", Kind::Text("PROXY"), text!(transport.proxy))
        .short('x')
        .help("Connect through this HTTP proxy with CONNECT: [http://][USER:PASSWORD@]HOST:PORT")
        .secret(Secret::Url)
        .fleet(Fleet::OneMachine),
    setting(Part::Transport, "proxy-user", Kind::Text("NAME:PASSWORD"), text!(transport.proxy_user))
        .help("Authenticate to the proxy with this name and password, instead of those in its URL")
        .needs(&[&["proxy"]])
        .secret(Secret::Whole("TORR_PROXY_USER"))
        .fleet(Fleet::OneMachine),
    setting(Part::Transport, "http2", Kind::Switch, switch!(transport.http2.http2))
        .help("Use HTTP/2, negotiated in the TLS handshake (ALPN)")
        .excludes(&["http2-prior-knowledge"]),
    setting(Part::Transport, "http2-prior-knowledge", Kind::Switch, switch!(transport.http2.http2_prior_knowledge))
        .help("Use HTTP/2 without negotiation, with or without TLS"),
    setting(Part::Transport, "http3", Kind::Switch, switch!(transport.http3))
        .help("Use HTTP/3 over QUIC")
        .excludes(&NOT_OVER_HTTP3),
    setting(Part::Transport, "alt-svc", Kind::Switch, switch!(transport.alt_svc))
        .help(
            "Use HTTP/3 where the server offers it (Alt-Svc), which one HEAD request before the run finds out; otherwise HTTP/1.1, or \
             HTTP/2 with --http2",
        )
        .excludes(&[
            "http3",
            "http2-prior-knowledge",
            "unix-socket",
            "proxy",
            "pipeline",
            "follow",
            "digest",
            "listen",
            "timestamps",
            "quick-ack",
            "script",
        ])
        .not_for_sessions("use --http3 instead"),
    setting(Part::Transport, "streams", Kind::Number("N"), parsed!(transport.http2.streams, depth))
        .help("Keep this many requests in flight on each HTTP/2 or HTTP/3 connection [default: 1]")
        .needs(&[&["http2", "http2-prior-knowledge", "http3", "alt-svc"]])
        .not_for_sessions("a virtual user has one request in flight"),
    setting(Part::Tls, "cacert", Kind::Path("FILE"), file!(transport.tls.cacert))
        .help("Trust the certificates in this PEM file instead of the system's")
        .reads(Reads::File)
        .excludes(&["insecure"]),
    setting(Part::Tls, "insecure", Kind::Switch, switch!(transport.tls.insecure))
        .short('k')
        .brief("Do not check the server's certificate")
        .help("Do not check the server's certificate"),
    setting(Part::Tls, "cert", Kind::Path("FILE"), file!(transport.tls.cert))
        .help("Authenticate with the client certificate in this PEM file")
        .reads(Reads::File)
        .fleet(Fleet::OneMachine),
    setting(Part::Tls, "key", Kind::Path("FILE"), file!(transport.tls.key))
        .help("Read the private key of --cert from this file")
        .reads(Reads::File)
        .needs(&[&["cert"]])
        .fleet(Fleet::OneMachine),
    setting(Part::Tls, "sni", Kind::Text("NAME"), text!(transport.tls.sni))
        .help("Expect this server name in the certificate, and send it as SNI [default: the URL's host]"),
    setting(Part::Tls, "tlsv1.2", Kind::Switch, switch!(transport.tls.tlsv1_2)).help("Use TLS 1.2 or later"),
    setting(Part::Tls, "tlsv1.3", Kind::Switch, switch!(transport.tls.tlsv1_3))
        .help("Use TLS 1.3 or later")
        .excludes(&["tls-max"]),
    setting(Part::Tls, "tls-max", Kind::Choice("VERSION", &["1.2", "1.3"]), parsed!(transport.tls.tls_max, tls_max))
        .help("Use this TLS version or earlier"),
    setting(
        Part::Tls,
        "tls-resumption",
        Kind::Choice("HOW", &["on", "off", "full"]),
        parsed!(transport.tls.tls_resumption, tls_resumption),
    )
    .help(
        "Resume TLS sessions on later connections, as browsers do (on); request no tickets (off); or request tickets and make a \
         full handshake each time, as new visitors do (full)",
    )
    .default("on"),
    setting(Part::Tls, "tls-earlydata", Kind::Switch, switch!(transport.tls.tls_earlydata))
        .help(
            "Send requests over HTTP/3 with the first datagrams of connections that resume a session (0-RTT), where the server permits \
             it; needs safe methods, such as GET",
        )
        .needs(&[&["http3"]])
        .not_for_sessions(SAFE_ONLY)
        .not_for_scripts(SAFE_ONLY),
    setting(Part::Checks, "expect-status", Kind::Text("CODES"), texts!(checks.expect_status))
        .times(Times::Many)
        .help("Expect one of these status codes, such as 200, 2xx or 200-204,301")
        .not_for_sessions(ASSERTS),
    setting(Part::Checks, "expect-header", Kind::Text("HEADER"), texts!(checks.expect_header))
        .times(Times::Many)
        .help("Expect a header field to be present, 'Name', to have a value, 'Name: value', or to match, 'Name: ~regex'")
        .not_for_sessions(ASSERTS),
    setting(Part::Checks, "expect-body", Kind::Text("TEXT"), texts!(checks.expect_body))
        .times(Times::Many)
        .help(
            "Expect the body to contain a text, to match '~regex', or to equal the content of '@FILE'; \
                compressed bodies are decoded first",
        )
        .reads(Reads::AfterAt)
        .not_for_sessions(ASSERTS),
    setting(Part::Checks, "follow", Kind::Switch, switch!(checks.follow))
        .short('L')
        .alias("location")
        .help("Follow redirects to the same scheme, host and port, and count only the last response")
        .excludes(&["pipeline"])
        .not_for_sessions("use 'location: true' in [Options] of the file instead"),
];
