//! What is sent. Names are curl's where curl has one.

use crate::field::{file, parsed, piece, switch, text, texts};
use crate::setting::{Fleet, Kind, Merge, Part, Reads, Secret, Setting, Times, setting};
use crate::values::order;

/// Where a hurl file says what a setting says of a URL.
const ENTRY: &str = "a hurl file has its own requests";
const HEADER: &str = "add a header line below the request in the file instead";
const FILES: &str = "pass several hurl files as targets, as in a.hurl=7 b.hurl=1";
const TOKEN: &str = "capture the token of a request in the file instead";
const WEBSOCKETS: &str = "WebSockets are loaded by their URL alone";
const ORDERS: &[&str] = &["random", "sequence"];
const BODIES: &[&str] = &["data", "data-raw", "data-binary", "data-urlencode", "json-body", "form"];

pub const ROWS: &[Setting] = &[
    setting(Part::Request, "header", Kind::Text("HEADER"), texts!(request.headers))
        .short('H')
        .times(Times::Many)
        .brief("Send this header field, as 'Name: value'")
        .help("Send this header field, as 'Name: value'; can be repeated")
        .secret(Secret::Field)
        .merge(Merge::Field)
        .not_for_sessions(HEADER),
    setting(Part::Request, "request", Kind::Text("METHOD"), text!(request.method))
        .short('X')
        .brief("Use this method")
        .help("Use this method [default: GET; POST with a body]")
        .not_for_sessions(ENTRY),
    body("data", piece!(Plain))
        .brief("Send this body; @FILE reads it from a file")
        .help(
            "Send this body; @FILE reads it from a file and drops line breaks, @- from standard input; '&' joins repeated values",
        )
        .reads(Reads::AfterAt)
        .secret(Secret::Parameters)
        .excludes(JSON_AND_FORM),
    body("data-raw", piece!(Raw))
        .help("Send this body like --data, but do not read files: '@' is part of the text")
        .secret(Secret::Parameters)
        .excludes(JSON_AND_FORM),
    body("data-binary", piece!(Binary))
        .help("Send this body like --data, but keep the line breaks of files")
        .reads(Reads::AfterAt)
        .secret(Secret::Parameters)
        .excludes(JSON_AND_FORM),
    body("data-urlencode", piece!(UrlEncode))
        .help("Send this body percent-encoded: content, =content, name=content, @FILE or name@FILE")
        .reads(Reads::Encoded)
        .secret(Secret::Parameters)
        .excludes(JSON_AND_FORM),
    body("json-body", texts!(request.json_body))
        .help("Send this JSON body, with its Content-Type and Accept; @FILE reads it from a file, @- from standard input")
        .reads(Reads::AfterAt)
        .secret(Secret::Json)
        .excludes(&["form"]),
    setting(Part::Request, "form", Kind::Text("PART"), texts!(request.form))
        .short('F')
        .times(Times::Many)
        .help("Send this part of a multipart form: name=value, name=@FILE or name=<FILE, then ;type=TYPE and ;filename=NAME; can be \
             repeated")
        .reads(Reads::FormPart)
        .secret(Secret::Parameters)
        .merge(Merge::Body)
        .not_for_sessions(ENTRY),
    setting(Part::Request, "get", Kind::Switch, switch!(request.get))
        .short('G')
        .help("Send the values of --data and its variants in the query instead of a body")
        .needs(&[BODIES])
        .excludes(JSON_AND_FORM)
        .not_for_sessions(ENTRY),
    setting(Part::Request, "head", Kind::Switch, switch!(request.head))
        .short('I')
        .help("Send HEAD, whose responses have no body")
        .excludes(&["request"])
        .not_for_sessions(ENTRY),
    setting(Part::Request, "url-query", Kind::Text("TEXT"), texts!(request.url_query))
        .times(Times::Many)
        .help("Add this to the query, percent-encoded like --data-urlencode; text after a '+' is sent unchanged")
        .reads(Reads::Query)
        .secret(Secret::Parameters)
        .not_for_sessions("use [Query] in the file instead"),
    setting(Part::Request, "user", Kind::Text("NAME:PASSWORD"), text!(request.user))
        .short('u')
        .help("Authenticate with this name and password (basic authentication)")
        .secret(Secret::Whole("TORR_USER"))
        .excludes(&["oauth2-bearer"])
        .not_for_sessions("use [BasicAuth] in the file instead"),
    setting(Part::Request, "digest", Kind::Switch, switch!(request.digest))
        .help("Authenticate with the name and password of --user by digest authentication, of HTTP/1.1")
        .needs(&[&["user"]])
        .excludes(&["aws-sigv4", "pipeline"])
        .not_for_sessions("use 'digest: true' in [Options] of the file instead")
        .not_for_scripts("its requests have credentials of their own"),
    setting(Part::Request, "oauth2-bearer", Kind::Text("TOKEN"), text!(request.oauth2_bearer))
        .help("Authenticate with this token (bearer authentication)")
        .secret(Secret::Whole("TORR_TOKEN"))
        .not_for_sessions(HEADER),
    setting(Part::Request, "oauth2-client", Kind::Text("ID:SECRET"), text!(request.oauth2_client))
        .help("Authenticate with a token by the client credentials grant of OAuth 2, renewed during the run before it ends")
        .secret(Secret::Whole("TORR_OAUTH2_CLIENT"))
        .needs(&[&["oauth2-token-url"]])
        .excludes(&["user", "oauth2-bearer"])
        .fleet(Fleet::OneMachine)
        .not_for_sessions(TOKEN)
        .not_for_scripts("its requests have fields of their own"),
    setting(Part::Request, "oauth2-token-url", Kind::Text("URL"), text!(request.oauth2_token_url))
        .help("Request the token of --oauth2-client here")
        .secret(Secret::Url)
        .needs(&[&["oauth2-client"]])
        .not_for_sessions(TOKEN),
    setting(Part::Request, "oauth2-scope", Kind::Text("SCOPE"), text!(request.oauth2_scope))
        .help("Request a token of this scope, several separated by spaces")
        .needs(&[&["oauth2-client"]])
        .not_for_sessions(TOKEN),
    setting(Part::Request, "oauth2-param", Kind::Text("NAME=VALUE"), texts!(request.oauth2_params))
        .times(Times::Many)
        .help("Add this parameter to the request for the token, such as audience=...; can be repeated")
        .secret(Secret::Parameters)
        .needs(&[&["oauth2-client"]])
        .not_for_sessions(TOKEN),
    setting(Part::Request, "aws-sigv4", Kind::Text("SCOPE"), text!(request.aws_sigv4))
        .help("Sign each request by AWS Signature Version 4 with the key of --user KEY:SECRET, for aws:amz:REGION:SERVICE")
        .excludes(&["oauth2-bearer"])
        .not_for_sessions("use the option aws-sigv4 in the file instead")
        .not_for_scripts("its requests are not signed"),
    setting(Part::Request, "cookie", Kind::Text("COOKIES"), texts!(request.cookies))
        .short('b')
        .times(Times::Many)
        .help("Send these cookies, as 'a=b; c=d'")
        .secret(Secret::Whole("TORR_COOKIE"))
        .not_for_sessions("use [Cookies] in the file instead"),
    setting(Part::Request, "user-agent", Kind::Text("NAME"), text!(request.user_agent))
        .short('A')
        .help("Send this User-Agent; an empty value sends none")
        .not_for_sessions(HEADER),
    setting(Part::Request, "referer", Kind::Text("URL"), text!(request.referer))
        .short('e')
        .help("Send this Referer")
        .secret(Secret::Url)
        .not_for_sessions(HEADER),
    setting(Part::Request, "range", Kind::Text("RANGE"), text!(request.range))
        .help("Request a part of the content in bytes, such as 0-99, 500- or -200 (Range)")
        .not_for_sessions(HEADER),
    setting(Part::Request, "compressed", Kind::Switch, switch!(request.compressed))
        .help("Request responses in gzip, brotli or zstd; on a WebSocket offer permessage-deflate, for messages in both directions")
        .not_for_sessions("use 'compressed: true' in [Options] of the file instead"),
    setting(Part::Request, "urls", Kind::Path("FILE"), file!(request.urls))
        .help("Load the URLs in this file too, one per line: '[weight] [METHOD] URL-or-path [body]'; '-' is standard input")
        .reads(Reads::File)
        .not_for_sessions(FILES),
    setting(Part::Request, "order", Kind::Choice("ORDER", ORDERS), parsed!(request.order, order))
        .help("Choose URLs in this order")
        .default("random")
        .needs(&[&["urls"]])
        .not_for_sessions(FILES),
    setting(Part::Request, "log", Kind::Path("FILE"), file!(request.log))
        .help(
            "Load the requests of this access log in its mix, over and over, at the pace of the load ('torr replay' has that of the log); \
             '-' is standard input",
        )
        .reads(Reads::File)
        .fleet(Fleet::OneMachine)
        .excludes(&NOT_WITH_A_LOG)
        .not_for_sessions(FILES)
        .not_for_scripts("it has its own requests"),
    setting(Part::Request, "log-format", Kind::Text("FORMAT"), text!(request.log_format))
        .help("Read lines of this log_format of nginx instead of recognising the format")
        .needs(&[&["log"]])
        .not_for_sessions(FILES),
    setting(Part::Request, "log-methods", Kind::Text("METHODS"), text!(request.log_methods))
        .help("Take requests with these methods from the log")
        .default("GET,HEAD,OPTIONS")
        .needs(&[&["log"]])
        .not_for_sessions(FILES),
    setting(Part::Request, "log-host", Kind::Text("NAME"), texts!(request.log_hosts))
        .times(Times::Many)
        .help("Take requests for this host as well as those for the URL's, where the log names hosts; '*' is any host")
        .needs(&[&["log"]])
        .not_for_sessions(FILES),
    setting(Part::Request, "feeder", Kind::Path("FILE"), file!(request.feeder))
        .help("Fill placeholders from the fields of the records in this file: .csv with a header line, or .jsonl")
        .reads(Reads::File)
        .excludes(&["no-template"]),
    setting(Part::Request, "feeder-order", Kind::Choice("FEEDER_ORDER", ORDERS), parsed!(request.feeder_order, order))
        .help("Choose records in this order")
        .default("sequence")
        .needs(&[&["feeder"]]),
    setting(Part::Request, "no-template", Kind::Switch, switch!(request.no_template))
        .help("Send '{{seq}}' and other placeholders unchanged")
        .not_for_sessions("a hurl file has variables, not placeholders"),
    setting(Part::Request, "binary", Kind::Switch, switch!(request.binary))
        .help("Send binary messages on a WebSocket (ws:// or wss://) instead of text")
        .not_for_sessions(WEBSOCKETS)
        .not_for_scripts(WEBSOCKETS),
    setting(Part::Request, "match", Kind::Text("RULE"), text!(request.matching))
        .help(
            "Find the response to each message of a WebSocket by a value that both have, such as 'jsonpath \"$.id\"'; without it \
             responses come in order",
        )
        .not_for_sessions(WEBSOCKETS)
        .not_for_scripts(WEBSOCKETS),
    setting(Part::Request, "subprotocol", Kind::Text("NAME"), texts!(request.subprotocols))
        .times(Times::Many)
        .help("Offer this subprotocol in the handshake of a WebSocket (Sec-WebSocket-Protocol)")
        .not_for_sessions(WEBSOCKETS)
        .not_for_scripts(WEBSOCKETS),
    setting(Part::Request, "no-context-takeover", Kind::Switch, switch!(request.no_context_takeover))
        .help("Compress each message of a WebSocket by itself, in both directions, which takes little memory per connection")
        .needs(&[&["compressed"]])
        .not_for_sessions(WEBSOCKETS)
        .not_for_scripts(WEBSOCKETS),
    setting(Part::Script, "script", Kind::Path("FILE"), file!(script))
        .help(
            "Generate the requests with this Lua script: a script of wrk, or one with a function session(user); its arguments follow \
             the URL and '--'",
        )
        .reads(Reads::File)
        .excludes(&["urls"])
        .not_for_sessions("a script needs a URL"),
];

/// What the requests of a log have themselves, and what only requests that were composed before the run have.
const NOT_WITH_A_LOG: [&str; 30] = [
    "request",
    "data",
    "data-raw",
    "data-binary",
    "data-urlencode",
    "json-body",
    "form",
    "get",
    "head",
    "url-query",
    "range",
    "digest",
    "aws-sigv4",
    "oauth2-client",
    "urls",
    "feeder",
    "script",
    "pipeline",
    "streams",
    "expect-status",
    "expect-header",
    "expect-body",
    "follow",
    "sse",
    "tokens",
    "listen",
    "until",
    "max-events",
    "idle-timeout",
    "binary",
];

const JSON_AND_FORM: &[&str] = &["json-body", "form"];

/// Returns a setting that is a body, or a piece of one.
const fn body(name: &'static str, field: crate::field::Field) -> Setting {
    setting(Part::Request, name, Kind::Text("TEXT"), field)
        .times(Times::Many)
        .merge(Merge::Body)
        .not_for_sessions(ENTRY)
}
