//! What the name of a module means: a built-in module, a file, or an https URL.

use std::fmt;
use std::path::{Path, PathBuf};

use url::Url;

use crate::jslib;

use super::access::Access;
use super::builtin::Builtins;
use super::error::ModuleError;
use super::normal_path::normal;

/// Extensions and index files that complete a name which names no file. k6 itself wants the whole name.
const COMPLETIONS: [&str; 5] = [".js", ".ts", "/index.js", "/index.ts", ".json"];

/// Where a module comes from. Its text is the module's name inside QuickJS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// A module that the program has built in.
    Builtin(String),
    /// A file, by its absolute path.
    File(PathBuf),
    /// A URL whose scheme is https.
    Remote(Url),
}

impl Address {
    /// Returns what `name` means in the module called `base`; an empty `base` stands for the host itself.
    pub(super) fn resolve(base: &str, name: &str, access: &Access, builtins: Builtins) -> Result<Self, ModuleError> {
        let fault = |reason: &str| ModuleError::new(format!("cannot import '{name}': {reason}"));
        let own = name.starts_with("torr:") && (base.is_empty() || base.starts_with(jslib::HOST));
        if name == "k6" || name.starts_with("k6/") || own {
            return builtin(name, builtins);
        }
        if name.starts_with("https://") {
            return Url::parse(name).map(Address::Remote).map_err(|error| fault(&error.to_string()));
        }
        if name.starts_with("http://") {
            return Err(fault("http is not supported; use https instead"));
        }
        let from_url = base.starts_with("https://");
        if name.starts_with("file://") {
            if from_url {
                return Err(fault("a remote module may not import a local file"));
            }
            let url = Url::parse(name).map_err(|error| fault(&error.to_string()))?;
            let path = url.to_file_path().map_err(|()| fault("not the URL of a local file"))?;
            return Ok(Address::File(completed(path, access)));
        }
        let relative = name.starts_with("./") || name.starts_with("../") || name == "." || name == "..";
        if from_url && (relative || name.starts_with('/')) {
            return Url::parse(base)
                .and_then(|base| base.join(name))
                .map(Address::Remote)
                .map_err(|error| fault(&error.to_string()));
        }
        if relative || name.starts_with('/') {
            let path = folder_of(base, access).join(name);
            return Ok(Address::File(completed(normal(&path), access)));
        }
        Err(fault(
            "not a built-in module; a file needs './', '../' or '/' before its name, and packages of npm are not supported",
        ))
    }
}

/// Returns the folder that relative names in the module `base` start at.
pub(super) fn folder_of(base: &str, access: &Access) -> PathBuf {
    Url::parse(base)
        .ok()
        .filter(|url| url.scheme() == "file")
        .and_then(|url| url.to_file_path().ok())
        .and_then(|path| path.parent().map(Path::to_path_buf))
        .unwrap_or_else(|| access.folder().to_path_buf())
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Builtin(name) => out.write_str(name),
            Address::File(path) => match Url::from_file_path(path) {
                Ok(url) => out.write_str(url.as_str()),
                Err(()) => write!(out, "file://{}", path.display()),
            },
            Address::Remote(url) => out.write_str(url.as_str()),
        }
    }
}

fn builtin(name: &str, builtins: Builtins) -> Result<Address, ModuleError> {
    if (builtins.has)(name) {
        return Ok(Address::Builtin(name.to_owned()));
    }
    let reason = if name.starts_with("k6/x/") {
        "this extension of k6 is not supported"
    } else if name == "k6/browser" || name.starts_with("k6/experimental/browser") {
        "the browser module is not supported"
    } else {
        "no such built-in module"
    };
    Err(ModuleError::new(format!("cannot import '{name}': {reason}")))
}

/// Returns `path`, or `path` with the extension or index file that makes it name a file.
fn completed(path: PathBuf, access: &Access) -> PathBuf {
    if access.is_file(&path) {
        return path;
    }
    for completion in COMPLETIONS {
        let mut longer = path.clone().into_os_string();
        longer.push(completion);
        let longer = PathBuf::from(longer);
        if access.is_file(&longer) {
            return longer;
        }
    }
    path
}
