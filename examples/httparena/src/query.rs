//! Parameters of a query component.

use percent_encoding::percent_decode_str;
use std::str::FromStr;

/// Returns the value of a parameter as it was sent, or `None` if there is no such parameter.
pub fn parameter<'q>(query: Option<&'q str>, name: &str) -> Option<&'q str> {
    query?.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// Returns the decoded value of a parameter.
pub fn text(query: Option<&str>, name: &str) -> Option<String> {
    let value = parameter(query, name)?.replace('+', " ");
    Some(percent_decode_str(&value).decode_utf8_lossy().into_owned())
}

/// Returns the number that is a parameter's value, or the default where the parameter is missing.
///
/// # Errors
/// In words, where the value is no number.
pub fn number<T: FromStr>(query: Option<&str>, name: &str, default: T) -> Result<T, String> {
    let Some(value) = parameter(query, name) else { return Ok(default) };
    value.parse().map_err(|_| format!("{name} must be a number\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_by_name_and_numbers_may_have_leading_zeros() {
        let query = Some("page=07&limit=x&category=a%20b+c&flag");
        assert_eq!(number(query, "page", 1), Ok(7));
        assert_eq!(number(query, "missing", 1), Ok(1));
        assert_eq!(number::<u32>(query, "limit", 1), Err("limit must be a number\n".to_owned()));
        assert_eq!(text(query, "category").as_deref(), Some("a b c"));
        assert_eq!(parameter(query, "flag"), None);
        assert_eq!(parameter(None, "page"), None);
    }
}
