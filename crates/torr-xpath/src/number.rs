//! Numbers: how they are read, written and rounded (XPath 1.0, sections 4.2 and 4.4).

/// Whether a character is white space of XML.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Returns the number that a string is; NaN for anything else, such as a sign `+` or an exponent.
pub fn parse(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_digit = |c: char| c.is_ascii_digit();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    if has_digits && whole.chars().all(is_digit) && fraction.chars().all(is_digit) {
        // Rust's numbers include these.
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// Returns a number as a string: no exponent, and only as many decimals as tell it from its neighbours.
pub fn format(number: f64) -> String {
    if number == 0.0 {
        // There is a negative zero, which is written like the other.
        "0".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        number.to_string()
    }
}

/// Returns the nearest integer; of two, the greater.
pub fn round(number: f64) -> f64 {
    let floor = number.floor();
    let rounded = if number - floor >= 0.5 { floor + 1.0 } else { floor };
    // Between -0.5 and 0 the result is negative zero, which division tells from zero.
    if rounded == 0.0 { rounded.copysign(number) } else { rounded }
}
