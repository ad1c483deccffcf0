//! Patterns of names of servers.

/// Returns whether a name matches a pattern, which may begin with `*`.
pub(super) fn is_matched(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => name.len() >= end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end),
        None => pattern.eq_ignore_ascii_case(name),
    }
}
