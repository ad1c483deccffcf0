//! The parts of a hurl file.

use super::Position;

/// A hurl file: entries that run in order.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// The entries, in the file's order.
    pub entries: Vec<Entry>,
}

/// One exchange: a request, and what its response must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name that a comment `# name: NAME` directly before the request gives the entry.
    pub name: Option<String>,
    /// The request.
    pub request: Request,
    /// The expected response; without one, every response passes.
    pub response: Option<Response>,
}

/// A request as the file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method, in capital letters.
    pub method: String,
    /// The URL.
    pub url: Template,
    /// The field lines.
    pub headers: Vec<KeyValue>,
    /// The parts of `[Options]`.
    pub options: Vec<EntryOption>,
    /// The parts of `[Query]`, to be percent-encoded.
    pub query: Vec<KeyValue>,
    /// The parts of `[Form]`, to be percent-encoded.
    pub form: Vec<KeyValue>,
    /// The parts of `[Multipart]`.
    pub multipart: Vec<MultipartPart>,
    /// The parts of `[Cookies]`, sent with this request only.
    pub cookies: Vec<KeyValue>,
    /// User and password of `[BasicAuth]`.
    pub basic_auth: Option<KeyValue>,
    /// The content.
    pub body: Option<Body>,
    /// The place of the method.
    pub at: Position,
}

impl Request {
    /// Returns a request of a method and a URL alone.
    pub fn new(method: impl Into<String>, url: Template, at: Position) -> Self {
        Self {
            method: method.into(),
            url,
            headers: Vec::new(),
            options: Vec::new(),
            query: Vec::new(),
            form: Vec::new(),
            multipart: Vec::new(),
            cookies: Vec::new(),
            basic_auth: None,
            body: None,
            at,
        }
    }
}

/// What a response must be, and what is taken from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The version that the status line demands; `None` for `HTTP` and `HTTP/*`.
    pub version: Option<Version>,
    /// The status code that the status line demands; `None` for `*`.
    pub status: Option<u16>,
    /// Field lines that the response must have.
    pub headers: Vec<KeyValue>,
    /// The parts of `[Captures]`.
    pub captures: Vec<Capture>,
    /// The parts of `[Asserts]`.
    pub asserts: Vec<Assert>,
    /// The content that the response must have.
    pub body: Option<Body>,
    /// The place of the status line.
    pub at: Position,
}

/// A version of HTTP in a status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
    /// HTTP/3
    Http3,
}

/// A name and a value.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyValue {
    /// The name.
    pub name: Template,
    /// The value.
    pub value: Template,
    /// The place of the name.
    pub at: Position,
}

/// A part of a multipart form (RFC 7578).
#[derive(Debug, Clone, PartialEq)]
pub enum MultipartPart {
    /// A field.
    Field(KeyValue),
    /// A file.
    File {
        /// The field's name.
        name: Template,
        /// The file's name, relative to the hurl file.
        file: Template,
        /// The file's media type; `None` leaves it to the file's extension.
        content_type: Option<Template>,
        /// The place of the name.
        at: Position,
    },
}

/// A value of the response that becomes a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The variable's name.
    pub name: Template,
    /// What is taken.
    pub query: Query,
    /// What is done to the value, in order.
    pub filters: Vec<Filter>,
    /// Whether the value is a secret, to be shown in no output.
    pub redact: bool,
    /// The place of the name.
    pub at: Position,
}

/// A condition on the response.
#[derive(Debug, Clone, PartialEq)]
pub struct Assert {
    /// What is looked at.
    pub query: Query,
    /// What is done to the value, in order.
    pub filters: Vec<Filter>,
    /// Whether the predicate must not hold.
    pub not: bool,
    /// What the value must be.
    pub predicate: Predicate,
    /// The place of the query.
    pub at: Position,
}

/// Text with placeholders, such as `Bearer {{token}}`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template(pub Vec<Piece>);

/// A piece of a [`Template`].
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text, escapes decoded.
    Text(String),
    /// The value of an expression.
    Placeholder(Expression),
}

impl Template {
    /// Returns the text of a template without placeholders.
    pub fn literal(&self) -> Option<&str> {
        match &self.0[..] {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A piece of JSON content: JSON text whose placeholders know whether they stand inside a string.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonPiece {
    /// JSON text as it stands in the file.
    Text(String),
    /// A placeholder within a JSON string: its value is escaped as JSON.
    InString(Expression),
    /// A placeholder in a value's position: its value is written as JSON.
    Value(Expression),
}

/// What stands between `{{` and `}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// What is evaluated.
    pub source: Source,
    /// What is done to the value, in order.
    pub filters: Vec<Filter>,
    /// The place of the expression.
    pub at: Position,
}

/// The beginning of an [`Expression`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A variable, by name.
    Variable(String),
    /// `newUuid`: a random UUID (RFC 9562, version 4).
    NewUuid,
    /// `newDate`: the current date and time in UTC.
    NewDate,
    /// `getEnv "NAME"`: a variable of the process's environment.
    Environment(String),
}

/// What is taken from a response.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// `status`: the status code, an integer.
    Status,
    /// `version`: `1.0`, `1.1` or `2`, a string.
    Version,
    /// `url`: the URL of the last request, redirects followed.
    Url,
    /// `redirects`: the list of redirects that were followed.
    Redirects,
    /// `ip`: the address that the connection went to.
    Ip,
    /// `header NAME`: the values of a field.
    Header(Template),
    /// `cookie "NAME"` or `cookie "NAME[Attribute]"`.
    Cookie {
        /// The cookie's name.
        name: Template,
        /// The attribute, such as `Expires`; `None` for the cookie's value.
        attribute: Option<CookieAttribute>,
    },
    /// `body`: the content as text.
    Body,
    /// `bytes`: the content as bytes, content codings removed.
    Bytes,
    /// `rawbytes`: the content as bytes, as received.
    RawBytes,
    /// `jsonpath EXPRESSION` on the content.
    JsonPath(Template),
    /// `xpath EXPRESSION` on the content.
    XPath(Template),
    /// `regex PATTERN` on the content: the first group.
    Regex(Pattern),
    /// `variable NAME`.
    Variable(Template),
    /// `duration`: the response time in milliseconds.
    Duration,
    /// `sha256` of the content.
    Sha256,
    /// `md5` of the content.
    Md5,
    /// `certificate ATTRIBUTE` of the server.
    Certificate(CertificateAttribute),
}

/// An attribute of a cookie (RFC 6265, section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CookieAttribute {
    Value,
    Expires,
    MaxAge,
    Domain,
    Path,
    Secure,
    HttpOnly,
    SameSite,
}

/// An attribute of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CertificateAttribute {
    Subject,
    Issuer,
    StartDate,
    ExpireDate,
    SerialNumber,
    SubjectAltName,
    Value,
}

/// A regular expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// A quoted string, which may have placeholders.
    Template(Template),
    /// `/PATTERN/`, without placeholders.
    Literal(String),
}

/// A step from one value to another.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Filter {
    Base64Decode,
    Base64Encode,
    Base64UrlSafeDecode,
    Base64UrlSafeEncode,
    Count,
    /// The format of a date, in the notation of `strftime`.
    DateFormat(Template),
    DaysAfterNow,
    DaysBeforeNow,
    /// The name of a character encoding. Files call it `charsetDecode`, earlier ones `decode`.
    Decode(Template),
    First,
    HtmlEscape,
    HtmlUnescape,
    JsonPath(Template),
    Last,
    Location,
    /// An index from 0; negative ones count from the end.
    Nth(Index),
    Regex(Pattern),
    /// Old and new text.
    Replace(Template, Template),
    /// Pattern and new text.
    ReplaceRegex(Pattern, Template),
    /// A separator.
    Split(Template),
    /// The format of a date, in the notation of `strftime`.
    ToDate(Template),
    ToFloat,
    ToHex,
    ToInt,
    ToText,
    UrlDecode,
    UrlEncode,
    /// The name of a query parameter.
    UrlQueryParameter(Template),
    Utf8Decode,
    Utf8Encode,
    XPath(Template),
}

/// A position in a list.
#[derive(Debug, Clone, PartialEq)]
pub enum Index {
    /// A number of the file.
    Number(i64),
    /// An expression that gives the number when the filter is applied.
    Placeholder(Expression),
}

/// What a value must be.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Predicate {
    Equal(Value),
    NotEqual(Value),
    Greater(Value),
    GreaterOrEqual(Value),
    Less(Value),
    LessOrEqual(Value),
    StartsWith(Value),
    EndsWith(Value),
    Contains(Value),
    /// Whether a list has the value.
    Includes(Value),
    Matches(Pattern),
    Exists,
    IsBoolean,
    IsCollection,
    IsDate,
    IsEmpty,
    IsFloat,
    IsInteger,
    IsIpv4,
    IsIpv6,
    IsIsoDate,
    IsList,
    IsNumber,
    IsObject,
    IsString,
    IsUuid,
}

/// A value that a predicate compares with.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Template),
    /// Bytes from `hex,...;` or `base64,...;`.
    Bytes(Vec<u8>),
    /// The content of `file,NAME;`.
    File(Template),
    /// Content as text: a GraphQL request, whose text is JSON.
    Content(Box<Body>),
    /// An expression, whose value keeps its type.
    Placeholder(Expression),
}

impl Value {
    /// Returns the name of the value's type with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) | Self::Content(_) => "a string",
            Self::Bytes(_) => "bytes",
            Self::File(_) => "a file",
            Self::Placeholder(_) => "a placeholder",
        }
    }
}

/// A number.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// An integer of 64 bits.
    Integer(i64),
    /// An integer that 64 bits cannot hold, as it stands in the file.
    Large(String),
    /// Any other number.
    Float(f64),
}

/// Content.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// JSON, sent as `application/json`.
    Json(Vec<JsonPiece>),
    /// XML as it stands in the file.
    Xml(String),
    /// Text, sent with the media type of its hint.
    Text {
        /// The text.
        text: Template,
        /// The word after the opening backticks.
        hint: TextHint,
    },
    /// A GraphQL request, sent as JSON.
    GraphQl {
        /// The query.
        query: Template,
        /// The object after `variables`.
        variables: Option<Vec<JsonPiece>>,
    },
    /// Bytes from `hex,...;` or `base64,...;`.
    Bytes(Vec<u8>),
    /// The content of `file,NAME;`, relative to the hurl file.
    File(Template),
}

/// What a text is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextHint {
    /// Nothing is said.
    Plain,
    /// JSON.
    Json,
    /// XML.
    Xml,
}

/// An option of one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryOption {
    /// The option.
    pub name: OptionName,
    /// Its value.
    pub value: OptionValue,
    /// The place of its name.
    pub at: Position,
}

/// The name of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum OptionName {
    AwsSigV4,
    CaCertificate,
    ClientCertificate,
    ClientKey,
    Compressed,
    ConnectTimeout,
    ConnectTo,
    Delay,
    Digest,
    FailWithBody,
    Header,
    Http10,
    Http11,
    Http2,
    Http2PriorKnowledge,
    Http3,
    Insecure,
    Ipv4,
    Ipv6,
    LimitRate,
    Location,
    LocationTrusted,
    MaxRedirects,
    MaxTime,
    Negotiate,
    Netrc,
    NetrcFile,
    NetrcOptional,
    NoCookieStore,
    NoHeader,
    NoJsonPathCoercion,
    Ntlm,
    Output,
    PathAsIs,
    PinnedPublicKey,
    Proxy,
    Repeat,
    Resolve,
    Retry,
    RetryInterval,
    Skip,
    TlsMax,
    TlsMin,
    UnixSocket,
    User,
    Variable,
    Verbose,
    Verbosity,
    VeryVerbose,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// `true` or `false`.
    Boolean(bool),
    /// A count; `None` for -1, without end.
    Count(Option<u64>),
    /// A time in milliseconds.
    Milliseconds(u64),
    /// Text.
    Text(Template),
    /// A variable's definition, `NAME=VALUE`.
    Definition {
        /// The variable's name.
        name: String,
        /// The variable's value.
        value: Value,
    },
    /// An expression that gives the value when the entry runs.
    Placeholder(Expression),
}
