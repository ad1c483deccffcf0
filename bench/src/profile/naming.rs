//! Which part a function belongs to, by its name and the file that it is in.

use super::parts::{self, Part};

/// Crates and modules that all others use: a function there is the part's that it was compiled for.
/// `torr_data::model` has the rows' types and Diesel's tables, on which others' traits are implemented.
const SHARED: [&str; 3] = ["core::", "std::", "torr_data::model::"];
/// What is named after the crate that reserves memory is memory's, unless it is a trait of another crate.
const ALLOC: &str = "alloc::";

/// The C library's functions for memory. Its inner ones have no names in a stripped library.
const MEMORY: [&str; 12] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "cfree",
    "posix_memalign",
    "aligned_alloc",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
];
/// How the C library's inner functions for memory start, where it has their names.
const MEMORY_INNER: [&str; 8] =
    ["_int_", "__libc_malloc", "__libc_free", "__mem", "__bcmp", "malloc", "tcache", "unlink_chunk"];
/// The C library's functions that call the kernel, without the underlines and marks before their names.
const CALLS: [&str; 12] = [
    "send",
    "sendmsg",
    "recv",
    "recvmsg",
    "read",
    "write",
    "writev",
    "epoll_wait",
    "epoll_ctl",
    "syscall",
    "pthread_enable_asynccancel",
    "pthread_disable_asynccancel",
];
/// The C library's locks. Rust has its own, so who locks these is SQLite.
const LOCKS: &str = "pthread_mutex_";
/// How the functions of C and assembly that are in `torr`, and are not SQLite's, start: those of ring, the linker and Rust itself.
const NOT_SQLITE: [&str; 9] = ["ring_core_", "OPENSSL_", "aes_", "bn_", "_start", "_init", "main", "rust_", "__"];

/// The part of one function: `file` is the program or library that it is in, `symbol` its name there, as the linker has it.
pub fn part(file: &str, in_kernel: bool, symbol: &str) -> Part {
    if in_kernel || file == "[vdso]" {
        return Part::Kernel;
    }
    if let Some(name) = rust_name(symbol) {
        return of_rust(&name);
    }
    let name = symbol.split(['@', '.']).next().unwrap_or_default(); // as `free@plt` or `walExpand.isra.0`
    let unnamed = symbol.starts_with("0x");
    let in_libc = file.starts_with("libc.so") || file.starts_with("libc-");
    if MEMORY.contains(&name)
        || name.starts_with("__rust_")
        || name.starts_with("__rdl_")
        || in_libc && (unnamed || MEMORY_INNER.iter().any(|start| name.starts_with(start)))
    {
        return Part::Memory;
    }
    if in_libc {
        let call =
            ["__GI_", "__libc_"].iter().fold(name, |name, mark| name.trim_start_matches(mark)).trim_start_matches('_');
        return match call {
            _ if CALLS.contains(&call) => Part::Kernel,
            _ if call.starts_with(LOCKS) => Part::Sqlite,
            _ => Part::Rest,
        };
    }
    let in_torr = !file.contains(".so") && !file.starts_with('[');
    match in_torr && !unnamed && !NOT_SQLITE.iter().any(|start| name.starts_with(start)) {
        true => Part::Sqlite,
        false => Part::Rest,
    }
}

/// A function's name for people.
pub fn readable(symbol: &str) -> String {
    rust_name(symbol).unwrap_or_else(|| symbol.to_owned())
}

/// The name of a function of Rust's, in either of its ways to write them; none if it is another language's.
fn rust_name(symbol: &str) -> Option<String> {
    Some(format!("{:#}", rustc_demangle::try_demangle(symbol).ok()?))
}

/// The part of a function of Rust's. `<a::B as c::D>::f` is a's, unless a is shared: then it is c's, and if that is shared too,
/// it is of the first of the other types in the name, such as the dropped type in the name of drop glue.
fn of_rust(name: &str) -> Part {
    let is = |path: &&str, crates: &[&str]| crates.iter().any(|start| path.starts_with(start));
    let (of, by) = head(name);
    let named: Vec<&str> = [of, by].into_iter().flatten().filter_map(|text| paths(text).next()).collect();
    let own = named.iter().find(|path| !is(path, &SHARED) && !is(path, &[ALLOC]));
    if let Some(own) = own {
        return parts::of_path(own).unwrap_or(Part::Rest);
    }
    if named.iter().any(|path| is(path, &[ALLOC])) {
        return Part::Memory;
    }
    paths(name).find(|path| !is(path, &SHARED)).and_then(parts::of_path).unwrap_or(Part::Rest)
}

/// `a::B` and `c::D` of `<a::B as c::D>::f`; the whole of any other name.
fn head(name: &str) -> (Option<&str>, Option<&str>) {
    let Some(inner) = name.strip_prefix('<') else { return (Some(name), None) };
    let (mut depth, mut middle, mut before) = (0, None, ' ');
    for (at, c) in inner.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {} // of an arrow
            '>' if depth == 0 => {
                let middle: Option<usize> = middle;
                let by = middle.map(|middle| &inner[middle + " as ".len()..at]);
                return (Some(&inner[..middle.unwrap_or(at)]), by);
            }
            '>' | ')' | ']' => depth -= 1,
            ' ' if depth == 0 && inner[at..].starts_with(" as ") => middle = Some(at),
            _ => {}
        }
        before = c;
    }
    (Some(name), None)
}

/// All paths in a text that have two names at least, each with the rest of the text behind it.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let starts = text.char_indices().filter(move |&(at, c)| {
        let before = text[..at].chars().next_back();
        is_name(c) && !before.is_some_and(|before| is_name(before) || before == ':')
    });
    starts.map(|(at, _)| &text[at..]).filter(move |rest| rest.trim_start_matches(is_name).starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_rust_belong_to_whose_crate_they_are_in_or_are_compiled_for() {
        for (name, part) in [
            ("torr_serve::worker::connection::Connection::answer", Part::Http),
            ("<torr_net::tcp::Stream as tokio::io::async_read::AsyncRead>::poll_read", Part::Http),
            ("tokio::runtime::scheduler::current_thread::Context::run_task", Part::Tokio),
            ("<tokio::time::timeout::Timeout<T> as core::future::future::Future>::poll", Part::Pool),
            ("torr_data::network::source::ConnectionSource<C>::lease::{{closure}}", Part::Pool),
            ("tokio_postgres::connection::Connection<S,T>::poll_message", Part::Driver),
            (
                "<sea_query::backend::postgres::PostgresQueryBuilder as sea_query::backend::QueryBuilder>::placeholder",
                Part::Builder,
            ),
            ("<&mut W as core::fmt::Write>::write_str", Part::Rest),
            ("<T as diesel::query_builder::QueryFragment<DB>>::to_sql", Part::Model),
            ("<(T0,T1,T2) as diesel::row::FromStaticSqlRow<(ST0,ST1,ST2),DB>>::build_from_row", Part::Model),
            (
                "<torr_data::model::item::columns::id as diesel::query_builder::QueryFragment<DB>>::walk_ast",
                Part::Model,
            ),
            (
                "torr_data::model::_::<impl serde_core::ser::Serialize for torr_data::model::Item>::serialize",
                Part::Json,
            ),
            ("<alloc::vec::Vec<u8> as serde_json::io::Write>::write_all", Part::Json),
            ("<alloc::string::String as core::fmt::Write>::write_str", Part::Memory),
            ("alloc::raw_vec::RawVecInner<A>::reserve::do_reserve_and_handle", Part::Memory),
            ("core::ptr::drop_in_place<diesel_async::pg::AsyncPgConnection::load::{{closure}}>", Part::Model),
            ("core::ptr::drop_in_place<core::option::Option<alloc::string::String>>", Part::Memory),
            ("core::fmt::num::imp::<impl core::fmt::Display for i32>::fmt", Part::Rest),
            ("torr::service::data::item::{{closure}}", Part::Rest),
        ] {
            assert_eq!(of_rust(name), part, "{name}");
        }
    }

    #[test]
    fn a_name_is_read_as_the_linker_has_it() {
        let old = "_ZN9sea_query7backend13query_builder12QueryBuilder24prepare_select_statement17h0123456789abcdefE";
        let new = "_RNvNtCs1234_7matchit6router2at";
        assert_eq!(readable(old), "sea_query::backend::query_builder::QueryBuilder::prepare_select_statement");
        assert_eq!((part("torr", false, old), part("torr", false, new)), (Part::Builder, Part::Http));
        assert_eq!(part("torr", false, "_RNvCs1234_7___rustc12___rust_alloc"), Part::Memory);
    }

    #[test]
    fn what_is_in_c_is_sqlite_memory_or_the_rest() {
        for (file, symbol, part_of) in [
            ("torr", "sqlite3VdbeExec", Part::Sqlite),
            ("torr", "moveToRoot", Part::Sqlite),
            ("torr", "memdbRead", Part::Sqlite),
            ("torr", "freePage2.isra.0", Part::Sqlite),
            ("torr", "ring_core_0_17_14__sha256_block_data_order", Part::Rest),
            ("torr", "free@plt", Part::Memory),
            ("torr", "0x00000000000a1b2c", Part::Rest),
            ("libc.so.6", "malloc", Part::Memory),
            ("libc.so.6", "0x000000000009a1b2", Part::Memory),
            ("libc.so.6", "__memmove_avx_unaligned_erms", Part::Memory),
            ("libc.so.6", "cfree@GLIBC_2.2.5", Part::Memory),
            ("libc.so.6", "epoll_wait", Part::Kernel),
            ("libc.so.6", "__libc_recv", Part::Kernel),
            ("libc.so.6", "__GI___pthread_disable_asynccancel", Part::Kernel),
            ("libc.so.6", "__GI___pthread_mutex_unlock_usercnt", Part::Sqlite),
            ("libc.so.6", "getenv", Part::Rest),
            ("[vdso]", "__vdso_clock_gettime", Part::Kernel),
        ] {
            assert_eq!(part(file, false, symbol), part_of, "{symbol} in {file}");
        }
        assert_eq!(part("[kernel.kallsyms]", true, "tcp_sendmsg"), Part::Kernel);
    }
}
