//! Options of an entry: what works under load, what has no meaning there, and what is not supported.

use crate::error::EvaluationError;
use crate::files::{self, Files};
use crate::hurl::ast::{EntryOption, OptionName, OptionValue};
use crate::hurl::{ParseError, Position, option_name};
use crate::netrc::Netrc;
use crate::operand::Operand;
use crate::scope::{Names, Variables};
use crate::template::{Expression, Template};
use crate::value::Value;
use std::time::Duration;

/// The redirects that are followed at most, unless the file says otherwise.
const MAX_REDIRECTS: u64 = 50;
/// The pause before a retry, unless the file says otherwise.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A setting: a value, or an expression that gives it when the entry runs.
#[derive(Debug, Clone)]
pub enum Setting<T> {
    /// A value that is known before the run.
    Value(T),
    /// An expression.
    Expression(Expression),
}

/// The options of an entry, compiled.
#[derive(Debug, Clone)]
pub struct Options {
    /// The variables that the entry defines, by number.
    pub definitions: Vec<(usize, Operand)>,
    /// Whether the entry is left out.
    pub skip: Setting<bool>,
    /// How many times the entry runs; `None` without end.
    pub repeat: Setting<Option<u64>>,
    /// The pause before each request of the entry.
    pub delay: Setting<Duration>,
    /// How many times a request is sent again whose response did not meet the expectations; `None` without end.
    pub retry: Setting<Option<u64>>,
    /// The pause before a request is sent again.
    pub retry_interval: Setting<Duration>,
    /// Whether redirects are followed.
    pub location: Setting<bool>,
    /// Whether redirects are followed with credentials, to other hosts too.
    pub location_trusted: Setting<bool>,
    /// The redirects that are followed at most; `None` without a limit.
    pub max_redirects: Setting<Option<u64>>,
    /// Whether content codings are asked for.
    pub compressed: Setting<bool>,
    /// Whether the path is sent with its dots, as the file has it.
    pub path_as_is: Setting<bool>,
    /// Whether requests are of HTTP/1.0.
    pub http10: Setting<bool>,
    /// User and password for basic authentication, as `user:password`.
    pub user: Option<Template>,
    /// What requests are signed for, with `user` as the key.
    pub aws_sigv4: Option<Template>,
    /// Whether the credentials of `user` are of digest authentication.
    pub digest: Setting<bool>,
    /// The credentials of a file, for requests without others.
    pub netrc: Option<Netrc>,
    /// Field lines, as `Name: value`.
    pub headers: Vec<Template>,
    /// Names of fields that the request is to be without.
    pub no_headers: Vec<Template>,
    /// Whether the entry neither sends nor stores cookies.
    pub no_cookie_store: Setting<bool>,
    /// Options that are the connection's, in their order.
    pub transport: Vec<(OptionName, TransportValue, Position)>,
}

/// The value of an option that is the connection's.
#[derive(Debug, Clone)]
pub enum TransportValue {
    /// A truth value.
    Boolean(Setting<bool>),
    /// Text.
    Text(Template),
}

impl TransportValue {
    /// Whether the option is off, as it is where it is not given.
    pub fn is_false(&self) -> bool {
        matches!(self, Self::Boolean(Setting::Value(false)))
    }

    /// Returns the value as text.
    ///
    /// # Errors
    /// If a variable has no value before the run, or a value of another kind.
    pub fn text(&self, variables: &Variables) -> Result<String, EvaluationError> {
        Ok(match self {
            Self::Boolean(setting) => setting.get(variables)?.to_string(),
            Self::Text(template) => template.render(variables)?.into_owned(),
        })
    }
}

impl Options {
    /// Compiles the options of an entry.
    ///
    /// # Errors
    /// For an option that is not supported.
    pub fn compile(
        options: &[EntryOption],
        names: &mut Names,
        files: &dyn Files,
        ignored: &mut Vec<(Position, String)>,
    ) -> Result<Self, ParseError> {
        let mut compiled = Self {
            definitions: Vec::new(),
            skip: Setting::Value(false),
            repeat: Setting::Value(Some(1)),
            delay: Setting::Value(Duration::ZERO),
            retry: Setting::Value(Some(0)),
            retry_interval: Setting::Value(RETRY_INTERVAL),
            location: Setting::Value(false),
            location_trusted: Setting::Value(false),
            max_redirects: Setting::Value(Some(MAX_REDIRECTS)),
            compressed: Setting::Value(false),
            path_as_is: Setting::Value(false),
            http10: Setting::Value(false),
            user: None,
            aws_sigv4: None,
            digest: Setting::Value(false),
            netrc: None,
            headers: Vec::new(),
            no_headers: Vec::new(),
            no_cookie_store: Setting::Value(false),
            transport: Vec::new(),
        };
        let is_named = options.iter().any(|option| option.name == OptionName::NetrcFile);
        let is_of_home = |option: &&EntryOption| matches!(option.name, OptionName::Netrc | OptionName::NetrcOptional);
        // As with curl, a file that is named replaces the user's own.
        for option in options.iter().filter(|option| !(is_named && is_of_home(option))) {
            compiled.add(option, names, files, ignored)?;
        }
        Ok(compiled)
    }

    fn add(
        &mut self,
        option: &EntryOption,
        names: &mut Names,
        files: &dyn Files,
        ignored: &mut Vec<(Position, String)>,
    ) -> Result<(), ParseError> {
        use OptionName as O;
        match option.name {
            O::Variable => {
                if let OptionValue::Definition { name, value } = &option.value {
                    let operand = Operand::compile(value, option.at, names, files)?;
                    self.definitions.push((names.assign(name), operand));
                }
            }
            O::Skip => self.skip = boolean(option, names)?,
            O::Repeat => self.repeat = count(option, names)?,
            O::Delay => self.delay = duration(option, names)?,
            O::Retry => self.retry = count(option, names)?,
            O::RetryInterval => self.retry_interval = duration(option, names)?,
            O::Location => self.location = boolean(option, names)?,
            O::LocationTrusted => self.location_trusted = boolean(option, names)?,
            O::Compressed => self.compressed = boolean(option, names)?,
            O::PathAsIs => self.path_as_is = boolean(option, names)?,
            O::Http10 => self.http10 = boolean(option, names)?,
            O::NoCookieStore => self.no_cookie_store = boolean(option, names)?,
            O::User => self.user = Some(text(option, names)?),
            O::Digest => self.digest = boolean(option, names)?,
            O::Netrc | O::NetrcFile | O::NetrcOptional => self.read_netrc(option, files)?,
            O::AwsSigV4 => self.aws_sigv4 = Some(text(option, names)?),
            O::Header => self.headers.push(text(option, names)?),
            O::NoHeader => self.no_headers.push(text(option, names)?),
            O::NoJsonPathCoercion => match boolean(option, names)? {
                Setting::Value(keeps) => names.keeps_json_lists = keeps,
                Setting::Expression(_) => {
                    let message = "'no-jsonpath-coercion' must be true or false, without a placeholder".to_owned();
                    return Err(ParseError { at: option.at, message });
                }
            },
            O::MaxRedirects => self.max_redirects = count(option, names)?,
            O::FailWithBody | O::Output | O::Verbose | O::Verbosity | O::VeryVerbose => {
                ignored.push((
                    option.at,
                    format!("'{}' is ignored: it has no effect under load", option_name(option.name)),
                ));
            }
            O::MaxTime | O::ConnectTimeout => {
                let name = option_name(option.name);
                ignored.push((
                    option.at,
                    format!("'{name}' is ignored: use --timeout instead, which limits every request"),
                ));
            }
            O::LimitRate | O::Negotiate | O::Ntlm | O::PinnedPublicKey | O::TlsMax | O::TlsMin => {
                return Err(ParseError {
                    at: option.at,
                    message: format!("'{}' is not supported", option_name(option.name)),
                });
            }
            O::CaCertificate
            | O::ClientCertificate
            | O::ClientKey
            | O::ConnectTo
            | O::Http11
            | O::Http2
            | O::Http2PriorKnowledge
            | O::Http3
            | O::Insecure
            | O::Ipv4
            | O::Ipv6
            | O::Proxy
            | O::Resolve
            | O::UnixSocket => {
                let value = match &option.value {
                    OptionValue::Text(text) => TransportValue::Text(Template::compile(text, names)?),
                    _ => TransportValue::Boolean(boolean(option, names)?),
                };
                self.transport.push((option.name, value, option.at));
            }
        }
        Ok(())
    }

    /// Reads the credentials of a file: of the user's own, or of one that the option names. As with curl, a file that is not required may
    /// be missing.
    fn read_netrc(&mut self, option: &EntryOption, files: &dyn Files) -> Result<(), ParseError> {
        let error = |message: String| ParseError { at: option.at, message };
        let (is_required, read) = match &option.value {
            OptionValue::Boolean(false) => return Ok(()),
            OptionValue::Boolean(true) => (option.name == OptionName::Netrc, files.netrc()),
            OptionValue::Text(name) => (true, Ok(files::read(name, option.at, files)?.1)),
            _ => return Err(error(format!("'{}' needs true or false", option_name(option.name)))),
        };
        let read = match read {
            Err(_) if !is_required => return Ok(()),
            read => read.map_err(error)?,
        };
        self.netrc = Some(Netrc::read(&read, is_required).map_err(error)?);
        Ok(())
    }
}

/// A value that an option takes from an expression.
pub trait SettingValue: Copy {
    /// What the expression must give, in words.
    const EXPECTED: &'static str;

    /// Returns the value; `None` for a value of another kind.
    fn of(value: &Value) -> Option<Self>;
}

impl SettingValue for bool {
    const EXPECTED: &'static str = "true or false";

    fn of(value: &Value) -> Option<Self> {
        if let Value::Boolean(boolean) = value { Some(*boolean) } else { None }
    }
}

/// A count; -1 is no end.
impl SettingValue for Option<u64> {
    const EXPECTED: &'static str = "a count";

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(-1) => Some(None),
            Value::Integer(count @ 0..) => Some(Some(*count as u64)),
            _ => None,
        }
    }
}

/// A time; a number counts in milliseconds.
impl SettingValue for Duration {
    const EXPECTED: &'static str = "a time in milliseconds";

    fn of(value: &Value) -> Option<Self> {
        if let Value::Integer(count @ 0..) = value { Some(Self::from_millis(*count as u64)) } else { None }
    }
}

impl<T: SettingValue> Setting<T> {
    /// Returns the value.
    ///
    /// # Errors
    /// If the expression has no value, or one of another kind.
    pub fn get(&self, variables: &Variables) -> Result<T, EvaluationError> {
        let expression = match self {
            Self::Value(value) => return Ok(*value),
            Self::Expression(expression) => expression,
        };
        let value = expression.evaluate(variables)?;
        let wrong = || EvaluationError(format!("expected {}, found {}", T::EXPECTED, value.describe()));
        T::of(&value).ok_or_else(wrong)
    }
}

fn boolean(option: &EntryOption, names: &mut Names) -> Result<Setting<bool>, ParseError> {
    setting(option, names, |value| if let OptionValue::Boolean(boolean) = value { Some(*boolean) } else { None })
}

fn count(option: &EntryOption, names: &mut Names) -> Result<Setting<Option<u64>>, ParseError> {
    setting(option, names, |value| if let OptionValue::Count(count) = value { Some(*count) } else { None })
}

fn duration(option: &EntryOption, names: &mut Names) -> Result<Setting<Duration>, ParseError> {
    let milliseconds = |value: &OptionValue| if let OptionValue::Milliseconds(ms) = value { Some(*ms) } else { None };
    setting(option, names, |value| milliseconds(value).map(Duration::from_millis))
}

fn text(option: &EntryOption, names: &mut Names) -> Result<Template, ParseError> {
    let wrong = || ParseError { at: option.at, message: "this option needs text".to_owned() };
    if let OptionValue::Text(text) = &option.value { Template::compile(text, names) } else { Err(wrong()) }
}

fn setting<T>(
    option: &EntryOption,
    names: &mut Names,
    literal: impl Fn(&OptionValue) -> Option<T>,
) -> Result<Setting<T>, ParseError> {
    if let OptionValue::Placeholder(expression) = &option.value {
        return Expression::compile(expression, names).map(Setting::Expression);
    }
    let wrong = || ParseError { at: option.at, message: "this option needs another type of value".to_owned() };
    literal(&option.value).map(Setting::Value).ok_or_else(wrong)
}
