//! Lines of files of variables for the environment, such as `.env`.

/// A line with a variable.
pub(crate) struct Line<'l> {
    /// The name.
    pub(crate) name: &'l str,
    /// The value, without quotes around it and without a comment behind it.
    pub(crate) value: &'l str,
    /// Whether it stands in double quotes, within which `\n` is the end of a line.
    pub(crate) has_escapes: bool,
}

/// Reads a line; `None` for a comment, and for one that is no variable.
pub(crate) fn line(line: &str) -> Option<Line<'_>> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
    let (name, value) = (name.trim(), value.trim());
    let within = |quote: char| value.strip_prefix(quote)?.split_once(quote);
    Some(match ['"', '\'', '`'].into_iter().find_map(within) {
        Some((inner, _)) => Line { name, value: inner, has_escapes: value.starts_with('"') },
        None => Line { name, value: value.split('#').next().unwrap_or_default().trim_end(), has_escapes: false },
    })
}
