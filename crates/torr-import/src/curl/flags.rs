//! The flags of curl that concern a request, and those that only concern curl's output.

use torr_session::hurl::ast::OptionName;

/// What a flag means for a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Flag {
    Url,
    Method,
    Header,
    Data,
    DataRaw,
    DataUrlencode,
    Json,
    Form,
    FormString,
    Get,
    Head,
    UrlQuery,
    Upload,
    User,
    Bearer,
    Cookie,
    UserAgent,
    Referer,
    Range,
    /// An option that is on.
    Switch(OptionName),
    /// An option with text.
    Text(OptionName),
    /// An option with a count.
    Count(OptionName),
    /// An option with a time in seconds.
    Seconds(OptionName),
    /// What concerns only what curl prints or writes.
    OfOutput,
    /// What is known and cannot be carried over, with the reason.
    Unsupported(&'static str),
    Unknown,
}

/// Whether a flag has a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Takes {
    Nothing,
    Value,
}

use Flag as F;
use OptionName as O;
use Takes::{Nothing, Value};

/// Returns a flag by its letter.
pub(super) fn short(letter: char) -> Option<(Flag, Takes)> {
    FLAGS.iter().find(|(short, ..)| *short == Some(letter)).map(|(_, _, flag, takes)| (*flag, *takes))
}

/// Returns a flag by its name.
pub(super) fn long(name: &str) -> Option<(Flag, Takes)> {
    FLAGS.iter().find(|(_, long, ..)| *long == name).map(|(_, _, flag, takes)| (*flag, *takes))
}

const AUTHENTICATION: Flag = F::Unsupported("this way of authentication is not supported");
const PROXY: Flag = F::Unsupported("a proxy is a setting of the run: torr --proxy");
const NETWORK: Flag = F::Unsupported("a setting of the run, not of a request");

/// Letter, name, meaning, value.
const FLAGS: &[(Option<char>, &str, Flag, Takes)] = &[
    (None, "url", F::Url, Value),
    (Some('X'), "request", F::Method, Value),
    (Some('H'), "header", F::Header, Value),
    (Some('d'), "data", F::Data, Value),
    (None, "data-ascii", F::Data, Value),
    (None, "data-binary", F::Data, Value),
    (None, "data-raw", F::DataRaw, Value),
    (None, "data-urlencode", F::DataUrlencode, Value),
    (None, "json", F::Json, Value),
    (Some('F'), "form", F::Form, Value),
    (None, "form-string", F::FormString, Value),
    (Some('G'), "get", F::Get, Nothing),
    (Some('I'), "head", F::Head, Nothing),
    (None, "url-query", F::UrlQuery, Value),
    (Some('T'), "upload-file", F::Upload, Value),
    (Some('u'), "user", F::User, Value),
    (None, "oauth2-bearer", F::Bearer, Value),
    (None, "basic", F::OfOutput, Nothing),
    (Some('b'), "cookie", F::Cookie, Value),
    (Some('A'), "user-agent", F::UserAgent, Value),
    (Some('e'), "referer", F::Referer, Value),
    (Some('r'), "range", F::Range, Value),
    (Some('k'), "insecure", F::Switch(O::Insecure), Nothing),
    (Some('L'), "location", F::Switch(O::Location), Nothing),
    (None, "location-trusted", F::Switch(O::LocationTrusted), Nothing),
    (None, "max-redirs", F::Count(O::MaxRedirects), Value),
    (None, "compressed", F::Switch(O::Compressed), Nothing),
    (Some('0'), "http1.0", F::Switch(O::Http10), Nothing),
    (None, "http1.1", F::Switch(O::Http11), Nothing),
    (None, "http2", F::Switch(O::Http2), Nothing),
    (None, "http2-prior-knowledge", F::Switch(O::Http2), Nothing),
    (Some('4'), "ipv4", F::Switch(O::Ipv4), Nothing),
    (Some('6'), "ipv6", F::Switch(O::Ipv6), Nothing),
    (None, "path-as-is", F::Switch(O::PathAsIs), Nothing),
    (None, "cacert", F::Text(O::CaCertificate), Value),
    (Some('E'), "cert", F::Text(O::ClientCertificate), Value),
    (None, "key", F::Text(O::ClientKey), Value),
    (None, "resolve", F::Text(O::Resolve), Value),
    (None, "connect-to", F::Text(O::ConnectTo), Value),
    (None, "unix-socket", F::Text(O::UnixSocket), Value),
    (Some('m'), "max-time", F::Seconds(O::MaxTime), Value),
    (None, "connect-timeout", F::Seconds(O::ConnectTimeout), Value),
    (None, "retry", F::Count(O::Retry), Value),
    (None, "retry-delay", F::Seconds(O::RetryInterval), Value),
    (None, "digest", AUTHENTICATION, Nothing),
    (None, "ntlm", AUTHENTICATION, Nothing),
    (None, "negotiate", AUTHENTICATION, Nothing),
    (None, "anyauth", AUTHENTICATION, Nothing),
    (None, "aws-sigv4", AUTHENTICATION, Value),
    (Some('n'), "netrc", AUTHENTICATION, Nothing),
    (None, "netrc-file", AUTHENTICATION, Value),
    (Some('x'), "proxy", PROXY, Value),
    (Some('U'), "proxy-user", PROXY, Value),
    (None, "socks5", PROXY, Value),
    (None, "socks5-hostname", PROXY, Value),
    (None, "interface", NETWORK, Value),
    (None, "local-port", NETWORK, Value),
    (None, "limit-rate", NETWORK, Value),
    (None, "http3", F::Unsupported("HTTP/3 is not supported"), Nothing),
    (Some('K'), "config", F::Unsupported("a file of flags"), Value),
    (Some('c'), "cookie-jar", F::OfOutput, Value),
    (Some('o'), "output", F::OfOutput, Value),
    (Some('O'), "remote-name", F::OfOutput, Nothing),
    (Some('J'), "remote-header-name", F::OfOutput, Nothing),
    (Some('D'), "dump-header", F::OfOutput, Value),
    (Some('w'), "write-out", F::OfOutput, Value),
    (None, "stderr", F::OfOutput, Value),
    (None, "trace", F::OfOutput, Value),
    (None, "trace-ascii", F::OfOutput, Value),
    (Some('s'), "silent", F::OfOutput, Nothing),
    (Some('S'), "show-error", F::OfOutput, Nothing),
    (Some('v'), "verbose", F::OfOutput, Nothing),
    (Some('i'), "include", F::OfOutput, Nothing),
    (Some('i'), "show-headers", F::OfOutput, Nothing),
    (Some('f'), "fail", F::OfOutput, Nothing),
    (None, "fail-with-body", F::OfOutput, Nothing),
    (Some('N'), "no-buffer", F::OfOutput, Nothing),
    (Some('#'), "progress-bar", F::OfOutput, Nothing),
    (None, "no-progress-meter", F::OfOutput, Nothing),
    (Some('g'), "globoff", F::OfOutput, Nothing),
    (Some('q'), "disable", F::OfOutput, Nothing),
    (None, "create-dirs", F::OfOutput, Nothing),
    (None, "no-keepalive", NETWORK, Nothing),
    (None, "tcp-nodelay", F::OfOutput, Nothing),
];
