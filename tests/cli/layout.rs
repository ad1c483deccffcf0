//! Comparing what programs print: the same structure, whatever the figures.

/// Checks that a line fits a template, in which each `%d` stands for a whole number and `%.3f` for one with so many
/// decimals, and gives the numbers. `%0` before a digit count, as in `%03d`, asks for leading zeros.
///
/// # Panics
/// If it does not fit.
pub fn numbers(line: &str, template: &str) -> Vec<f64> {
    let (mut rest, mut form, mut found) = (line, template, Vec::new());
    let unfit = |at: &str| -> ! { panic!("{line:?} does not fit {template:?} from {at:?}") };
    while let Some((before, placeholder)) = form.split_once('%') {
        rest = rest.strip_prefix(before).unwrap_or_else(|| unfit(rest));
        let end = placeholder.find(['d', 'f']).expect("a placeholder ends with d or f");
        let (spec, kind) = (&placeholder[..end], &placeholder[end..=end]);
        let len = rest.find(|c: char| !(c.is_ascii_digit() || kind == "f" && c == '.')).unwrap_or(rest.len());
        let number = &rest[..len];
        let fits = match (kind, spec.strip_prefix('0')) {
            ("d", Some(digits)) => number.len().to_string() == digits,
            ("d", None) => !number.is_empty(),
            _ => number.split_once('.').is_some_and(|(_, decimals)| format!(".{}", decimals.len()) == spec),
        };
        let value = number.parse().ok().filter(|_| fits);
        found.push(value.unwrap_or_else(|| unfit(rest)));
        (rest, form) = (&rest[len..], &placeholder[end + 1..]);
    }
    if rest != form {
        unfit(rest);
    }
    found
}

/// A text with every figure replaced: lines with the same words and the same number of figures become the same.
pub fn structure(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")).collect()
}

fn word(word: &str) -> String {
    let units = ["us", "ms", "s", "m", "k", "M", "G", "K", "KB", "MB", "GB", "B", "%"];
    let bare = word.trim_end_matches(',');
    let number = units.iter().find_map(|unit| bare.strip_suffix(unit).filter(|n| n.parse::<f64>().is_ok()));
    let is_number = bare.parse::<f64>().is_ok();
    let percent = bare.ends_with('%');
    match number.or(is_number.then_some(bare)) {
        Some(_) => format!("#{}{}", if percent { "%" } else { "" }, &word[bare.len()..]),
        None => word.to_owned(),
    }
}

/// The figure behind a label.
///
/// # Panics
/// If it is not there.
pub fn value<'t>(text: &'t str, label: &str) -> &'t str {
    let line =
        text.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_else(|| panic!("no {label:?} in {text}"));
    line.trim()
}
