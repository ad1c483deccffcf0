//! The facts of a run that a script knows before anything is sent.

use crate::message;
use mlua::{Lua, Table};
use std::net::SocketAddr;
use torr_press::Target;

/// Where the text goes that a script prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Printing {
    /// To standard output, as with wrk.
    #[default]
    Stdout,
    /// To standard error, since standard output belongs to the result.
    Stderr,
    /// Line by line to a view of the run while there is one (see [`divert`](crate::divert)); before and after to standard error, or
    /// to standard output.
    Watched {
        /// Whether it is standard error.
        stderr: bool,
    },
}

/// The facts of a run, as far as scripts know them.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The URL as given.
    pub url: String,
    /// `http` or `https`.
    pub scheme: String,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port as it stands in the URL, if it does.
    pub port: Option<String>,
    /// Path and query.
    pub path: String,
    /// The method of the requests that the script does not write itself.
    pub method: String,
    /// Header fields in their order; the last of those with the same name wins.
    pub headers: Vec<(String, String)>,
    /// The content of the requests that the script does not write itself.
    pub body: Option<Vec<u8>>,
    /// The arguments of the script.
    pub arguments: Vec<String>,
    /// The addresses of the service, the first of which is used; none for a Unix socket.
    pub addresses: Vec<SocketAddr>,
    /// The number of load threads, at least 1.
    pub threads: usize,
    /// Scheme, host and port of the target, the port left out where it is the scheme's.
    pub origin: String,
    /// Host and port as they stand in the URL.
    pub authority: String,
    /// Whether requests go over HTTP/2.
    pub http2: bool,
    /// Whether requests go over HTTP/3.
    pub http3: bool,
    /// Variables with a value from the beginning, which only sessions have.
    pub variables: Vec<(String, String)>,
    /// Where the text goes that the script prints.
    pub printing: Printing,
}

impl Facts {
    /// Returns the facts of a run against a target, whose requests would be this one in HTTP/1.1 if the script said nothing.
    ///
    /// # Errors
    /// If the bytes are no request.
    pub fn new(url: &str, target: &Target, request: &[u8]) -> Result<Self, String> {
        let plain = message::read(request)?;
        // A script may change the host, so that the field is made after it has run.
        let is_own =
            |(name, value): &(String, String)| name.eq_ignore_ascii_case("host") && value == target.authority();
        Ok(Self {
            url: url.to_owned(),
            origin: format!("{}://{}", if target.tls { "https" } else { "http" }, target.authority()),
            authority: target.authority().to_owned(),
            scheme: if target.tls { "https" } else { "http" }.to_owned(),
            host: target.host.clone(),
            port: target.has_port().then(|| target.port.to_string()),
            path: plain.path,
            method: plain.method,
            headers: plain.fields.into_iter().filter(|field| !is_own(field)).collect(),
            body: (!plain.content.is_empty()).then_some(plain.content),
            ..Self::default()
        })
    }

    /// Returns the facts as a table, for the prelude.
    pub(crate) fn table(&self, lua: &Lua) -> mlua::Result<Table> {
        let facts = lua.create_table()?;
        facts.set("scheme", self.scheme.as_str())?;
        facts.set("host", self.host.as_str())?;
        facts.set("port", self.port.as_deref())?;
        facts.set("path", self.path.as_str())?;
        facts.set("method", self.method.as_str())?;
        let headers = lua.create_table()?;
        for (name, value) in &self.headers {
            headers.set(name.as_str(), value.as_str())?;
        }
        facts.set("headers", headers)?;
        facts.set("body", self.body.as_ref().map(|body| lua.create_string(body)).transpose()?)?;
        let output = match self.printing {
            Printing::Stdout => "stdout",
            Printing::Stderr => "stderr",
            Printing::Watched { .. } => "watched",
        };
        facts.set("output", output)?;
        let variables = lua.create_table()?;
        for (name, value) in &self.variables {
            variables.set(name.as_str(), value.as_str())?;
        }
        facts.set("variables", variables)?;
        facts.set("origin", self.origin.as_str())?;
        facts.set("authority", self.authority.as_str())?;
        let chooses_type = |(name, value): &(String, String)| name.eq_ignore_ascii_case("accept") && value != "*/*";
        facts.set("http2", self.http2)?;
        facts.set("http3", self.http3)?;
        facts.set("has_accept", self.headers.iter().any(chooses_type))?;
        facts.set("has_host", self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")))?;
        Ok(facts)
    }

    /// Returns the table that `init` is called with: the URL at 0, then the arguments.
    pub(crate) fn init_arguments(&self, lua: &Lua) -> mlua::Result<Table> {
        let arguments = lua.create_table()?;
        arguments.set(0, self.url.as_str())?;
        for (position, argument) in self.arguments.iter().enumerate() {
            arguments.set(position + 1, argument.as_str())?;
        }
        Ok(arguments)
    }
}
