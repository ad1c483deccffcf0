//! One module of a script: its source as QuickJS takes it, and its bytecode once compiled.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::access::Access;
use super::access::MAX_SOURCE;
use super::address::Address;
use super::compile;
use super::error::ModuleError;
use super::lines::{Lines, Position};
use super::lower::{self, Format, Import, Language};

/// How the runtime is to take a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A module with `import` and `export`.
    Module,
    /// A module with `require` and `module.exports`: `code` is a function of these.
    CommonJs,
    /// JSON: `code` is the text.
    Json,
}

/// A module of a script.
pub(super) struct Unit {
    /// Name inside QuickJS: a URL.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) code: String,
    pub(super) imports: Vec<Import>,
    /// Names that a CommonJS module exports as far as its text shows them.
    pub(super) exports: BTreeSet<String>,
    /// What QuickJS compiled `code` to, from the first runtime that did.
    pub(super) bytecode: OnceLock<Vec<u8>>,
    /// What QuickJS compiled the function of a CommonJS module to.
    pub(super) function: OnceLock<Vec<u8>>,
    lines: Option<Lines>,
}

impl Unit {
    /// Reads and lowers the module at `address`.
    pub(super) fn load(address: &Address, access: &Access) -> Result<Self, ModuleError> {
        let name = address.to_string();
        let (content, path) = match address {
            Address::File(path) => (access.read(path)?, path.to_string_lossy().into_owned()),
            Address::Remote(url) => {
                let content = match crate::jslib::source(url.as_str()) {
                    Some(own) => own.as_bytes().to_vec(),
                    None => access.fetch(url.as_str())?,
                };
                (content, url.path().to_owned())
            }
            Address::Builtin(name) => return Err(ModuleError::new(format!("'{name}' has no source"))),
        };
        Unit::of(name, &path, content)
    }

    /// Lowers the source of the module called `name`; the end of `path` tells its language.
    pub(super) fn of(name: String, path: &str, content: Vec<u8>) -> Result<Self, ModuleError> {
        if content.len() > MAX_SOURCE {
            return Err(ModuleError::new("a module larger than 16 MiB is not supported").at(&name, 0, 0));
        }
        let mut text =
            String::from_utf8(content).map_err(|_| ModuleError::new("the source is not UTF-8").at(&name, 0, 0))?;
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        if text.starts_with("#!") {
            text.replace_range(..2, "//");
        }
        if path.ends_with(".json") {
            return Ok(Unit {
                name,
                kind: Kind::Json,
                code: text,
                imports: Vec::new(),
                exports: BTreeSet::new(),
                bytecode: OnceLock::new(),
                function: OnceLock::new(),
                lines: None,
            });
        }
        let language = if path.ends_with(".ts") { Language::TypeScript } else { Language::JavaScript };
        let lowered = lower::lower(&name, &text, language)?;
        let (kind, code) = match lowered.format {
            Format::Module => (Kind::Module, lowered.code),
            Format::CommonJs => (Kind::CommonJs, compile::wrapped(&lowered.code)),
        };
        let compiled = lowered.compiled.map(OnceLock::from).unwrap_or_default();
        let (bytecode, function) = match kind {
            Kind::CommonJs => (OnceLock::new(), compiled),
            _ => (compiled, OnceLock::new()),
        };
        Ok(Unit {
            name,
            kind,
            code,
            imports: lowered.imports,
            exports: lowered.exports,
            bytecode,
            function,
            lines: lowered.lines,
        })
    }

    /// Returns the position in the source of a position in the code that QuickJS runs.
    pub(super) fn source(&self, position: Position) -> Position {
        self.lines.as_ref().and_then(|lines| lines.source(position)).unwrap_or(position)
    }
}
