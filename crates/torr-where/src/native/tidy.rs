//! Names of functions as people know them: without hashes, arguments, template noise and what compilers append.

/// The suffixes of copies of a function that compilers make.
const COPIES: [&str; 8] = [".constprop", ".isra", ".part", ".cold", ".llvm", ".lto_priv", ".clone", ".warm"];
/// The longest name that is kept, in bytes.
const LENGTH: usize = 300;

/// Returns the tidy name of a demangled symbol.
pub fn tidy(name: &str) -> String {
    let mut name = name;
    // A symbol's version, as in `pthread_cond_wait@@GLIBC_2.3.2`.
    if let Some((plain, _)) = name.split_once('@') {
        name = plain;
    }
    for copy in COPIES {
        if let Some(at) = name.find(copy)
            && name[at + copy.len()..].chars().next().is_none_or(|next| ['.', ' '].contains(&next))
        {
            name = &name[..at];
        }
    }
    // Aliases of the C library inside of itself.
    if let Some(at) = name.find("pthread_").filter(|&at| name[..at].bytes().all(|byte| byte == b'_')) {
        name = &name[at..];
    }
    let mut tidy = without_hash(name).to_owned();
    for noise in ["(anonymous namespace)::", "[abi:cxx11]", "::{{closure}}", " [clone]"] {
        tidy = tidy.replace(noise, "");
    }
    tidy = without_numbered(&tidy, "::{closure#");
    tidy = without_numbered(&tidy, "::{shim:vtable#");
    let is_go = tidy.contains("(*") || tidy.contains(".(") || tidy.contains("[...]");
    if !is_go {
        tidy = without_arguments(&tidy);
    }
    tidy = tidy.replace("[...]", "");
    // An inherent method: `<shop::Cache>::get`.
    if let Some((subject, method)) = tidy.strip_prefix('<').and_then(|rest| rest.split_once(">::"))
        && !subject.contains([' ', '<'])
    {
        tidy = format!("{subject}::{method}");
    }
    if tidy.len() > LENGTH {
        let end = (0..=LENGTH).rev().find(|&end| tidy.is_char_boundary(end)).unwrap_or(0);
        tidy.truncate(end);
    }
    tidy
}

/// Returns the tidy name of a variable, which may be mangled.
pub fn tidy_data(name: &str) -> String {
    tidy(&format!("{:#}", rustc_demangle::demangle(name)))
}

/// Removes the hash that ends a symbol of Rust's older kind.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((plain, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => plain,
        _ => name,
    }
}

/// Removes a mark with a number in it and its closing brace.
fn without_numbered(name: &str, mark: &str) -> String {
    let mut rest = name;
    let mut out = String::with_capacity(name.len());
    while let Some((before, after)) = rest.split_once(mark) {
        out.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// Removes the arguments of C++ functions, and the arguments of templates and generics. What is in angle brackets at the begin stays
/// (`<Type as Trait>::method`).
fn without_arguments(name: &str) -> String {
    // An operator's signs are no brackets.
    if name.contains("operator") {
        return name
            .split_once('(')
            .filter(|(before, _)| !before.ends_with("operator"))
            .map_or(name, |(before, _)| before)
            .to_owned();
    }
    let mut out = String::with_capacity(name.len());
    let (mut angle, mut round) = (0_u32, 0_u32);
    let mut previous = ' ';
    let keeps_first = name.starts_with('<');
    let mut first_is_open = keeps_first;
    for (at, sign) in name.char_indices() {
        match sign {
            '<' if at == 0 => out.push(sign),
            '<' => {
                angle += 1;
                // Rust writes `::<` before the generic arguments of a function.
                if out.ends_with("::") && angle == 1 && round == 0 {
                    out.truncate(out.len() - 2);
                }
            }
            '>' if previous == '-' => {}
            '>' if angle > 0 => angle -= 1,
            '>' if first_is_open => {
                first_is_open = false;
                out.push(sign);
            }
            '(' if angle == 0 && !first_is_open => round += 1,
            ')' if round > 0 => round -= 1,
            _ if angle == 0 && round == 0 => out.push(sign),
            _ => {}
        }
        previous = sign;
    }
    // The return type of a template function stands before its name.
    let out = out.trim().trim_end_matches(" const");
    if keeps_first { out.to_owned() } else { out.rsplit(' ').next().unwrap_or(out).to_owned() }
}

/// Returns the module, crate, namespace or package of a tidy name.
pub fn module(name: &str, is_go: bool) -> String {
    if is_go {
        // `net/http.(*conn).serve`: the package ends at the first dot after the last slash.
        let base = name.rfind('/').map_or(0, |slash| slash + 1);
        return name[base..].find('.').map_or(String::new(), |dot| name[..base + dot].to_owned());
    }
    let inner =
        name.strip_prefix('<').and_then(|rest| rest.split_once(['>', ' ']).map(|(first, _)| first)).unwrap_or(name);
    inner.trim_start_matches(['&', '*']).rsplit_once("::").map_or(String::new(), |(module, _)| module.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_hashes_arguments_and_copies() {
        for (given, tidied) in [
            ("shop::orders::list::h0123456789abcdef", "shop::orders::list"),
            ("shop::orders::list::{{closure}}::h0123456789abcdef", "shop::orders::list"),
            ("shop::main::{closure#0}", "shop::main"),
            ("<shop::Cache as core::ops::Drop>::drop", "<shop::Cache as core::ops::Drop>::drop"),
            ("<alloc::vec::Vec<u8> as shop::Write>::put", "<alloc::vec::Vec as shop::Write>::put"),
            ("serde_json::to_writer::<std::io::Sink, shop::Order>", "serde_json::to_writer"),
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"),
            ("void shop::render<int>(std::string const&)", "shop::render"),
            ("(anonymous namespace)::render(char const*)", "render"),
            ("shop::Cache::operator[](int)", "shop::Cache::operator[]"),
            ("hash_all.constprop.0", "hash_all"),
            ("hash_all.cold", "hash_all"),
            ("pthread_cond_wait@@GLIBC_2.3.2", "pthread_cond_wait"),
            ("main.(*Server).handle", "main.(*Server).handle"),
            ("main.handle.func1", "main.handle.func1"),
            ("slices.SortFunc[...]", "slices.SortFunc"),
            ("plain_c", "plain_c"),
            ("<shop::Cache>::get", "shop::Cache::get"),
            ("<shop::Cache<u8>>::get", "shop::Cache::get"),
            ("___pthread_mutex_lock", "pthread_mutex_lock"),
        ] {
            assert_eq!(tidy(given), tidied, "{given}");
        }
        assert_eq!(tidy(&"x".repeat(1000)).len(), LENGTH);
    }

    #[test]
    fn modules_are_crates_namespaces_and_packages() {
        assert_eq!(module("shop::orders::list", false), "shop::orders");
        assert_eq!(module("<shop::Cache as core::ops::Drop>::drop", false), "shop");
        assert_eq!(module("plain_c", false), "");
        assert_eq!(module("net/http.(*conn).serve", true), "net/http");
        assert_eq!(module("main.main", true), "main");
    }
}
