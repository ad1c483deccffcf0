//! The runtime of a process, by the files that are mapped into it and the symbols of its program.

use crate::unseen::Runtime;
use object::{Object, ObjectSection, ObjectSymbol};
use std::fs;

/// The largest program whose symbols are looked at to tell its runtime.
const LARGEST: u64 = 1 << 30;

/// Returns the runtime of a process. A process that cannot be looked at, or has no known runtime, is machine code.
pub fn detect(process: i32) -> Runtime {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let program = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    let program = program.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| line[at..].trim_end_matches(" (deleted)")));
    by_files(&program, files).or_else(|| by_symbols(process)).unwrap_or(Runtime::Native)
}

/// Returns the runtime that a program's name and the names of its libraries tell.
fn by_files<'a>(program: &str, files: impl Iterator<Item = &'a str>) -> Option<Runtime> {
    let name = |path: &'a str| path.rsplit('/').next().unwrap_or(path);
    let program = program.rsplit('/').next().unwrap_or(program);
    let versioned = |prefix: &str| {
        let rest = program.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte)))
    };
    if program.starts_with("python") {
        return Some(Runtime::Python);
    }
    if versioned("node") || program == "nodejs" {
        return Some(Runtime::Node);
    }
    if versioned("php") || program.starts_with("php-") || program.starts_with("php") && program.contains("fpm") {
        return Some(Runtime::Php);
    }
    if versioned("ruby") {
        return Some(Runtime::Ruby);
    }
    if program == "beam.smp" {
        return Some(Runtime::Beam);
    }
    // A program that embeds a runtime has its library: uwsgi that of Python, Apache's that of PHP.
    files.map(name).find_map(|file| match file {
        "libjvm.so" => Some(Runtime::Jvm),
        "libcoreclr.so" => Some(Runtime::DotNet),
        _ if file.starts_with("libpython") => Some(Runtime::Python),
        _ if file.starts_with("libnode.so") => Some(Runtime::Node),
        _ if file.starts_with("libruby") && file.contains(".so") => Some(Runtime::Ruby),
        _ if file.starts_with("libphp") => Some(Runtime::Php),
        _ => None,
    })
}

/// Returns the runtime that is linked into the program itself.
fn by_symbols(process: i32) -> Option<Runtime> {
    let path = format!("/proc/{process}/exe");
    if fs::metadata(&path).ok()?.len() > LARGEST {
        return None;
    }
    let file = fs::File::open(path).ok()?;
    let cache = object::ReadCache::new(file);
    let program = object::File::parse(&cache).ok()?;
    if program.section_by_name(".go.buildinfo").is_some_and(|section| section.size() > 0)
        || program.section_by_name(".gopclntab").is_some()
    {
        return Some(Runtime::Go);
    }
    program.dynamic_symbols().filter(|symbol| symbol.is_definition()).find_map(|symbol| match symbol.name().ok()? {
        "_PyRuntime" => Some(Runtime::Python),
        "ruby_current_ec" | "ruby_init_stack" => Some(Runtime::Ruby),
        "zend_eval_string" => Some(Runtime::Php),
        "node_module_register" => Some(Runtime::Node),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_has_names() {
        let of = |program: &str, files: &[&str]| by_files(program, files.iter().copied());
        assert_eq!(of("/usr/bin/python3.11", &[]), Some(Runtime::Python));
        assert_eq!(
            of("/usr/bin/uwsgi-core", &["/usr/lib/libc.so.6", "/usr/lib/libpython3.11.so.1.0"]),
            Some(Runtime::Python)
        );
        assert_eq!(of("/opt/jdk/bin/java", &["/opt/jdk/lib/server/libjvm.so"]), Some(Runtime::Jvm));
        assert_eq!(of("/usr/bin/node", &[]), Some(Runtime::Node));
        assert_eq!(of("/usr/bin/node_exporter", &[]), None);
        assert_eq!(of("/usr/sbin/php-fpm8.2", &[]), Some(Runtime::Php));
        assert_eq!(of("/usr/bin/php8.2", &[]), Some(Runtime::Php));
        assert_eq!(of("/usr/bin/ruby3.1", &["/usr/lib/libruby-3.1.so.3.1"]), Some(Runtime::Ruby));
        assert_eq!(of("/app/service", &["/usr/share/dotnet/libcoreclr.so"]), Some(Runtime::DotNet));
        assert_eq!(of("/usr/sbin/nginx", &["/usr/lib/libc.so.6"]), None);
    }

    #[test]
    fn this_program_is_machine_code() {
        assert_eq!(detect(std::process::id() as i32), Runtime::Native);
        assert_eq!(detect(-1), Runtime::Native);
    }
}
