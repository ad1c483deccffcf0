//! Which code is the user's own, and which a library, a runtime or a standard library.

use super::object_file::ObjectFile;
use object::{Object, ObjectSymbol, SymbolKind};

/// The most symbols among which `main` is searched.
const SYMBOLS: usize = 1_000_000;

/// Folders of the system's libraries.
const SYSTEM: [&str; 7] = ["/lib/", "/lib64/", "/lib32/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/nix/store/"];
/// Parts of the paths of source files that are not the user's own: registries, standard libraries, vendored packages.
const FOREIGN_SOURCES: [&str; 16] = [
    "/rustc/",
    "/library/std/",
    "/library/core/",
    "/library/alloc/",
    "/.cargo/registry/",
    "/cargo/registry/",
    "/.cargo/git/",
    "/cargo/git/",
    "/.rustup/",
    "/usr/include/",
    "/usr/src/",
    "/usr/lib/",
    "/pkg/mod/",
    "/vendor/",
    "/site-packages/",
    "/node_modules/",
];
/// Crates and namespaces of standard libraries and of common libraries, for code without source files.
const FOREIGN_MODULES: [&str; 40] = [
    "std",
    "core",
    "alloc",
    "__gnu_cxx",
    "boost",
    "tokio",
    "hyper",
    "hyper_util",
    "h2",
    "http",
    "axum",
    "axum_core",
    "tower",
    "tower_service",
    "futures_util",
    "futures_core",
    "futures_channel",
    "parking_lot",
    "parking_lot_core",
    "lock_api",
    "crossbeam",
    "crossbeam_channel",
    "crossbeam_epoch",
    "rayon",
    "rayon_core",
    "serde",
    "serde_json",
    "serde_core",
    "regex",
    "regex_automata",
    "hashbrown",
    "mio",
    "rustls",
    "ring",
    "bytes",
    "memchr",
    "actix_web",
    "actix_rt",
    "tracing",
    "fmt",
];
/// Begins of the names of C functions of runtimes that are linked into programs.
const FOREIGN_FUNCTIONS: [&str; 14] = [
    "_start",
    "__",
    "_dl_",
    "_IO_",
    "pthread_",
    "start_thread",
    "clone",
    "malloc",
    "free",
    "calloc",
    "realloc",
    "mem",
    "str",
    "rust_",
];

/// Names of C functions of the standard library that are linked into programs.
const FOREIGN_NAMES: [&str; 24] = [
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "poll",
    "select",
    "read",
    "write",
    "recv",
    "send",
    "accept",
    "accept4",
    "epoll_wait",
    "futex",
    "sem_wait",
    "qsort",
    "printf",
    "fprintf",
    "snprintf",
    "vfprintf",
    "atoi",
    "abort",
    "exit",
    "syscall",
];

/// What is known of an object's code as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Traits {
    /// Whether the function `main` has a source file, so that all own code should have one.
    pub has_lines: bool,
    /// The crate that defines `main`, if it is a Rust program.
    pub main_crate: Option<String>,
}

impl Traits {
    /// Returns the traits of an object, given whether the address of its function `main` has a line.
    pub fn of(object: &ObjectFile, has_line: impl FnOnce(u64) -> bool) -> Self {
        let found = object.parse(|file| {
            let (mut main, mut main_crate) = (None, None);
            for symbol in file.symbols().take(SYMBOLS).filter(|symbol| symbol.kind() == SymbolKind::Text) {
                let Ok(name) = symbol.name() else { continue };
                if name == "main" {
                    main = Some(symbol.address());
                } else if main_crate.is_none() && name.starts_with("_") && name.contains("4main") {
                    let demangled = format!("{:#}", rustc_demangle::demangle(name));
                    main_crate =
                        demangled.strip_suffix("::main").filter(|name| !name.contains("::")).map(str::to_owned);
                }
            }
            (main, main_crate)
        });
        let (main, main_crate) = found.unwrap_or_default();
        Self { has_lines: main.is_some_and(has_line), main_crate }
    }
}

/// Returns whether code is the user's own, by its object, its tidy name, module and source file.
pub fn is_own(object: &ObjectFile, traits: &Traits, function: &str, module: &str, file: Option<&str>) -> bool {
    let is_system = !object.is_program
        && (SYSTEM.iter().any(|folder| object.path.starts_with(folder)) || !object.path.starts_with('/'));
    if is_system {
        return false;
    }
    if object.is_go {
        return is_own_go(module, file);
    }
    if let Some(file) = file
        && FOREIGN_SOURCES.iter().any(|part| file.contains(part))
    {
        return false;
    }
    let subject = function.trim_start_matches(['<', '&', '*']);
    if let Some((first, _)) = subject.split_once("::") {
        // `<shop::Cache as core::ops::Drop>::drop` is of `shop`, `<alloc::vec::Vec as shop::Write>::put` as well.
        let of_trait = subject.split_once(" as ").and_then(|(_, rest)| rest.split_once("::")).map(|(first, _)| first);
        return [Some(first), of_trait].into_iter().flatten().any(|name| match (&traits.main_crate, file) {
            (Some(main), None) => name == main,
            _ => !FOREIGN_MODULES.contains(&name),
        });
    }
    // With debug information of the program a function that has none was linked in; without any, names have to do.
    file.is_some() || (!traits.has_lines && !is_foreign(function))
}

/// Returns whether a C function without a source file is one of a runtime.
fn is_foreign(function: &str) -> bool {
    FOREIGN_FUNCTIONS.iter().any(|begin| function.starts_with(begin)) || FOREIGN_NAMES.contains(&function)
}

/// First parts of the packages of Go's standard library.
const GO: [&str; 46] = [
    "archive",
    "bufio",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "syscall",
    "text",
    "time",
    "unicode",
    "unique",
];

/// Returns whether a package of Go is the user's own: `main`, or one outside of the standard library, module caches and vendored packages.
fn is_own_go(package: &str, file: Option<&str>) -> bool {
    // A program built with `-trimpath` has a library's path with its version.
    let is_library = |file: &str| {
        file.contains('@') || FOREIGN_SOURCES.iter().any(|part| file.contains(part)) || file.starts_with("_cgo")
    };
    if package.is_empty() || file.is_some_and(is_library) {
        return false;
    }
    let first = package.split('/').next().unwrap_or(package);
    package == "main" || !(GO.contains(&first) || ["type", "go:", "vendor", "weak"].contains(&first))
}
