//! Values of TOML files as texts.

use toml::de::DeValue;

/// Returns the text of a single value, as it would stand on a command line.
pub fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        // A larger number is too large for every setting.
        DeValue::Integer(number) => {
            Some(i128::from_str_radix(number.as_str(), number.radix()).unwrap_or(i128::MAX).to_string())
        }
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(on) => Some(on.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// Returns the beginning of a text, within one line.
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let short: String = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() { format!("{short}...") } else { short }
}
