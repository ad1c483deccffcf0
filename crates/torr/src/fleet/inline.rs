//! Files of bodies become text of the plan, since agents read no files for it.

use crate::exit::CliError;
use crate::flags::given::GivenFlag;
use crate::flags::input::Input;

/// Returns a flag with the text of the file that it names, if it names one. Standard input, which can be read once only, stays
/// as it is.
///
/// # Errors
/// If the file cannot be read, or is no text.
pub fn inlined(flag: &GivenFlag) -> Result<GivenFlag, CliError> {
    let value = flag.value.as_deref().unwrap_or_default();
    let as_raw = |text: String| GivenFlag { id: "data_raw".into(), name: "--data-raw".into(), value: Some(text) };
    let as_it_is = |text: String| GivenFlag { value: Some(text), ..flag.clone() };
    Ok(match flag.id.as_str() {
        "data" if value.starts_with('@') => {
            text(&value[1..])?.map_or_else(|| flag.clone(), |text| as_raw(text.replace(['\r', '\n', '\0'], "")))
        }
        "data_binary" if value.starts_with('@') => text(&value[1..])?.map_or_else(|| flag.clone(), as_raw),
        "json_body" if value.starts_with('@') => text(&value[1..])?.map_or_else(|| flag.clone(), as_it_is),
        "data_urlencode" | "url_query" if !value.starts_with('+') => match value.find(['=', '@']) {
            Some(at) if value[at..].starts_with('@') => {
                let named = |text: String| as_it_is(format!("{}={text}", &value[..at]));
                text(&value[at + 1..])?.map_or_else(|| flag.clone(), named)
            }
            _ => flag.clone(),
        },
        _ => flag.clone(),
    })
}

/// Returns the text of a file; `None` for standard input.
fn text(path: &str) -> Result<Option<String>, CliError> {
    if path == "-" {
        return Ok(None);
    }
    Input::default().read_text(path, "the body").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_files_become_text() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("body");
        std::fs::write(&path, "a\nb=c").expect("there is room");
        let path = path.display().to_string();
        for (id, value, word) in [
            ("data", format!("@{path}"), "--data-raw=ab=c"),
            ("data_binary", format!("@{path}"), "--data-raw=a\nb=c"),
            ("json_body", format!("@{path}"), "--json-body=a\nb=c"),
            ("data_urlencode", format!("@{path}"), "--data-urlencode==a\nb=c"),
            ("data_urlencode", format!("n@{path}"), "--data-urlencode=n=a\nb=c"),
            ("url_query", format!("n@{path}"), "--url-query=n=a\nb=c"),
            ("url_query", "+n@x".into(), "--url-query=+n@x"),
            ("data", "@-".into(), "--data=@-"),
            ("data", "a@b".into(), "--data=a@b"),
        ] {
            let flag = GivenFlag { id: id.into(), name: format!("--{}", id.replace('_', "-")), value: Some(value) };
            assert_eq!(inlined(&flag).expect("the file is there").word(), word);
        }
        let missing = GivenFlag { id: "data".into(), name: "--data".into(), value: Some("@/no/such".into()) };
        assert!(matches!(inlined(&missing), Err(CliError::Usage(line)) if line.contains("/no/such")));
    }
}
