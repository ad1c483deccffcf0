//! What differs between the responses of two servers to the same request.

use crate::listed::Program;
use crate::response::Response;

/// Returns what a client sees differ, in words. Empty if the responses are the same but for what differs from one run to the next.
pub fn differences(program: &Program, axum: &Response, torr: &Response) -> Vec<String> {
    let mut found = Vec::new();
    let mut differs = |what: &str, axum: String, torr: String| {
        if axum != torr {
            found.push(format!("{what}: {axum} -> {torr}"));
        }
    };
    differs("status line", axum.status_line.clone(), torr.status_line.clone());
    differs("interim responses", format!("{:?}", axum.interim), format!("{:?}", torr.interim));
    differs("fault", format!("{:?}", axum.fault), format!("{:?}", torr.fault));
    differs("closed", axum.is_closed.to_string(), torr.is_closed.to_string());
    differs("trailers", format!("{:?}", axum.trailers), format!("{:?}", torr.trailers));
    let text = |body: &[u8]| steady(program, &String::from_utf8_lossy(body));
    differs("body", shown(&text(&axum.body)), shown(&text(&torr.body)));
    if text(&axum.body) != text(&torr.body) && shown(&text(&axum.body)) == shown(&text(&torr.body)) {
        differs("body", format!("{} bytes", axum.body.len()), format!("{} other bytes", torr.body.len()));
    }
    let messages =
        |response: &Response| response.messages.iter().map(|message| shown(&text(message))).collect::<Vec<_>>();
    differs("messages", format!("{:?}", messages(axum)), format!("{:?}", messages(torr)));
    found.extend(field_differences(&fields(program, axum), &fields(program, torr)));
    found
}

/// Returns field lines without what differs from one run to the next.
fn fields(program: &Program, response: &Response) -> Vec<String> {
    let line = |(name, value): &(String, String)| {
        let varies = name.eq_ignore_ascii_case("date")
            || program.varying_fields.iter().any(|varying| varying.eq_ignore_ascii_case(name));
        format!("{name}: {}", if varies { "*".to_owned() } else { steady(program, value) })
    };
    response.fields.iter().map(line).collect()
}

/// Returns the least difference between two header sections: none, the order, the case of names, or the lines.
fn field_differences(axum: &[String], torr: &[String]) -> Vec<String> {
    let sorted = |lines: &[String], name_of: fn(&str) -> String| {
        let mut lines: Vec<_> = lines.iter().map(|line| name_of(line)).collect();
        lines.sort();
        lines
    };
    let same: fn(&str) -> String = str::to_owned;
    let lower: fn(&str) -> String = |line| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        format!("{}:{value}", name.to_lowercase())
    };
    if axum == torr {
        return Vec::new();
    }
    if sorted(axum, same) == sorted(torr, same) {
        let names = |lines: &[String]| lines.iter().map(|line| name_of(line)).collect::<Vec<_>>().join(", ");
        return vec![format!("order of fields: {} -> {}", names(axum), names(torr))];
    }
    let (left, right) = (sorted(axum, lower), sorted(torr, lower));
    if left == right {
        return vec!["case of field names".to_owned()];
    }
    let lacks = left.iter().filter(|line| !right.contains(line)).map(|line| format!("lacks field {line}"));
    let adds = right.iter().filter(|line| !left.contains(line)).map(|line| format!("adds field {line}"));
    lacks.chain(adds).collect()
}

/// Returns the name of a field line.
fn name_of(line: &str) -> &str {
    line.split(':').next().unwrap_or(line)
}

/// Returns a text with `*` for each part that differs from one run to the next.
fn steady(program: &Program, text: &str) -> String {
    let mut text = text.to_owned();
    for [before, behind] in &program.varying {
        let mut steady = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(before.as_str()) {
            let (head, tail) = rest.split_at(at + before.len());
            steady += head;
            steady.push('*');
            rest = tail.find(behind.as_str()).map_or("", |end| &tail[end..]);
        }
        text = steady + rest;
    }
    text
}

/// Returns the beginning of a body, in one line.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    format!("{start:?}")
}

#[cfg(test)]
mod tests {
    use super::field_differences;

    fn lines(text: &str) -> Vec<String> {
        text.split('\n').map(str::to_owned).collect()
    }

    #[test]
    fn the_least_difference_of_fields_is_named() {
        let first = lines("a: 1\nb: 2");
        assert!(field_differences(&first, &first).is_empty());
        assert_eq!(field_differences(&first, &lines("b: 2\na: 1")), ["order of fields: a, b -> b, a"]);
        assert_eq!(field_differences(&first, &lines("A: 1\nb: 2")), ["case of field names"]);
        assert_eq!(field_differences(&first, &lines("a: 1\nb: 3")), ["lacks field b: 2", "adds field b: 3"]);
    }
}
