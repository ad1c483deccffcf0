//! A strict reader of Prometheus' text format (version 0.0.4), which takes nothing that a scraper might refuse.

use std::collections::BTreeMap;

/// All samples, by name with labels as they stand there.
#[derive(Debug, Clone)]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    /// A server's own.
    ///
    /// # Panics
    /// If the text breaks any rule, or its histogram makes no sense.
    pub fn parse(text: &str) -> Self {
        let metrics = Self::of_any(text);
        metrics.check_histogram(text, "torr_http_request_duration_seconds");
        metrics
    }

    /// # Panics
    /// If the text breaks any rule.
    pub fn of_any(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end");
        let (mut samples, mut seen) = (BTreeMap::new(), Vec::<String>::new());
        // The family whose samples may stand here: its name, and its type once that is known.
        let mut family: Option<(String, Option<String>)> = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap_or_else(|| panic!("no help: {line}"));
                assert!(is_name(name) && !help.is_empty() && !help.contains('\\'), "{line}");
                assert!(!seen.contains(&name.to_owned()), "{name} comes twice");
                seen.push(name.to_owned());
                family = Some((name.to_owned(), None));
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("no type: {line}"));
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(kind != "counter" || name.ends_with("_total"), "{line}");
                assert!(kind == "counter" || !name.ends_with("_total"), "{line}");
                assert_eq!(family, Some((name.to_owned(), None)), "{line}");
                family = Some((name.to_owned(), Some(kind.to_owned())));
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
                let value: f64 = value.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
                assert!(value.is_finite() && value >= 0.0, "{line}");
                let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
                assert!(is_name(name), "{line}");
                let labels = labels.strip_suffix('}').unwrap_or_else(|| panic!("{line}"));
                labels
                    .split(',')
                    .filter(|label| !label.is_empty())
                    .for_each(|label| assert!(is_label(label), "{line}"));
                let Some((of, Some(kind))) = &family else { panic!("nothing is said of {line}") };
                let part = name.strip_prefix(of.as_str()).unwrap_or_else(|| panic!("{line} among those of {of}"));
                let parts: &[&str] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
                assert!(parts.contains(&part), "{line}");
                assert_eq!(part == "_bucket", labels.starts_with("le=\""), "{line}");
                assert_eq!(samples.insert(series.to_owned(), value), None, "{series} comes twice");
            }
        }
        Self(samples)
    }

    /// Buckets go up, in their bounds and in their counts, to the count of all.
    fn check_histogram(&self, text: &str, name: &str) {
        let (mut bounds, mut counts) = (Vec::new(), Vec::new());
        for line in text.lines() {
            if let Some((bound, count)) =
                line.strip_prefix(&format!("{name}_bucket{{le=\"")).and_then(|l| l.split_once("\"} "))
            {
                bounds.push(if bound == "+Inf" { f64::INFINITY } else { bound.parse().expect("a bound is a number") });
                counts.push(count.parse::<f64>().expect("a count is a number"));
            }
        }
        assert!(bounds.len() > 5 && bounds.windows(2).all(|pair| pair[0] < pair[1]), "{bounds:?}");
        assert_eq!(bounds.last(), Some(&f64::INFINITY));
        assert!(counts.windows(2).all(|pair| pair[0] <= pair[1]), "{counts:?}");
        assert_eq!(counts.last(), Some(&self.of(&format!("{name}_count"))));
    }

    /// A sample, by name and labels.
    pub fn of(&self, series: &str) -> f64 {
        *self.0.get(series).unwrap_or_else(|| panic!("no {series} in {:?}", self.0))
    }

    /// Returns the value, 0 if there is none.
    pub fn or_none(&self, series: &str) -> f64 {
        self.0.get(series).copied().unwrap_or(0.0)
    }

    /// The sum of all samples of this name.
    pub fn sum(&self, name: &str) -> f64 {
        self.0.iter().filter(|(series, _)| series.split('{').next() == Some(name)).map(|(_, value)| value).sum()
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_label(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else { return false };
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    is_name(name) && value.is_some_and(|value| !value.contains(['"', '\\']))
}
