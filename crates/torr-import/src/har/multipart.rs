//! Multipart content as text (RFC 7578), which Chromium records as it was sent.

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) file_name: Option<String>,
    pub(super) content_type: Option<String>,
}

/// Returns the parts of content; `None` for text that is no such content.
pub(super) fn parts(media_type: &str, text: &str) -> Option<Vec<Part>> {
    let delimiter = match parameter(media_type, "boundary") {
        Some(boundary) => format!("--{boundary}"),
        // Some writers leave the type out.
        None if media_type.is_empty() && text.starts_with("--") => text.lines().next()?.to_owned(),
        None => return None,
    };
    let mut parts = Vec::new();
    let mut pieces = text.split(&delimiter);
    pieces.next()?;
    for piece in pieces {
        if piece.starts_with("--") {
            return Some(parts).filter(|parts| !parts.is_empty());
        }
        parts.push(part(piece)?);
    }
    None
}

fn part(piece: &str) -> Option<Part> {
    let piece = piece.trim_start_matches([' ', '\t']);
    let piece = piece.strip_prefix("\r\n").or_else(|| piece.strip_prefix('\n'))?;
    let (head, value) = piece.split_once("\r\n\r\n").or_else(|| piece.split_once("\n\n"))?;
    let value = value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n')).unwrap_or(value);
    let field = |wanted: &str| {
        let mut fields = head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim().to_owned())
    };
    let disposition = field("content-disposition")?;
    Some(Part {
        name: parameter(&disposition, "name")?,
        value: value.to_owned(),
        file_name: parameter(&disposition, "filename"),
        content_type: field("content-type"),
    })
}

/// Returns a parameter of a field's value, such as `boundary`.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(';').unwrap_or(after.len())),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value.trim().to_owned());
        }
        rest = after.trim_start_matches([' ', ';']);
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_read_as_they_were_sent() {
        let text = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--x\r\nContent-Disposition: form-data; name=\"f\"; \
            filename=\"c.png\"\r\nContent-Type: image/png\r\n\r\n\r\n--x--\r\n";
        let read = parts("multipart/form-data; boundary=x", text).expect("it has two parts");
        let read: Vec<_> =
            read.iter().map(|part| (part.name.as_str(), part.value.as_str(), part.file_name.as_deref())).collect();
        assert_eq!(read, [("a", "1\r\n2", None), ("f", "", Some("c.png"))]);
        assert_eq!(parts("", text).map(|parts| parts.len()), Some(2));
        for (kind, text) in [
            ("", "--"),
            ("multipart/form-data", text),
            ("multipart/form-data; boundary=y", text),
            ("multipart/form-data; boundary=x", "--x\r\n\r\n--x--"),
            ("multipart/form-data; boundary=x", "--x--"),
            ("multipart/form-data; boundary=x", ""),
        ] {
            assert_eq!(parts(kind, text), None, "{kind} {text}");
        }
    }
}
