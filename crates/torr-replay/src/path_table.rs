//! Requests by template of the path, learnt while the run goes on, in bounded memory.
//!
//! Paths are a tree of segments. Segments that look like identifiers are `{id}` at once; where one position has more
//! different segments than a set of names would have, all of them become `{id}`.

use crate::segment::is_identifier;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use torr_gauge::latency::is_known;
use torr_gauge::replay::ReplayedPath;

/// The number of different segments at one position from which on they are taken for identifiers.
const MOST_NAMES: usize = 50;
/// The number of templates; each has two histograms of 13 KB.
const MOST_ROWS: usize = 200;
/// The number of segments of a path that are looked at.
const DEEPEST: usize = 12;
/// The least number of different segments that are merged to stay within the bound.
const LEAST_MERGED: usize = 6;
/// The longest response time that a histogram tells from longer ones, in microseconds: an hour.
const LONGEST_US: u64 = 3_600_000_000;

const IDENTIFIER: &str = "{id}";
const OTHERS: &str = "others";

/// What is known of the requests of one template.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    requests: u64,
    failed: u64,
    changed: u64,
    then: Times,
    now: Times,
}

/// Response times in microseconds with two significant digits, which take no memory before there are some.
#[derive(Debug, Clone, Default)]
struct Times(Option<Histogram<u32>>);

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// The response time in the log, in nanoseconds.
    pub then: Option<u64>,
    /// The response time in the run; `None` if the request failed.
    pub now: Option<u64>,
    /// Whether the status is another one than in the log.
    pub is_changed: bool,
}

/// A position in the tree of segments.
#[derive(Debug, Default)]
struct Node {
    children: BTreeMap<String, Node>,
    /// Whether all segments here are identifiers.
    is_merged: bool,
    /// The requests whose paths end here, by method.
    rows: BTreeMap<String, Row>,
}

/// Requests by template of the path.
#[derive(Debug, Default)]
pub(crate) struct PathTable {
    root: Node,
    rows: usize,
    others: BTreeMap<String, Row>,
}

impl Times {
    fn record(&mut self, nanos: Option<u64>) {
        let Some(nanos) = nanos else { return };
        let new = || Histogram::new_with_bounds(1, LONGEST_US, 2).expect("hdrhistogram takes these constants");
        self.0.get_or_insert_with(new).saturating_record((nanos / 1000).max(1));
    }

    fn add(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (Some(own), Some(other)) => own.add(other).expect("both have the same bounds"),
            (None, other) => self.0 = other,
            (Some(_), None) => {}
        }
    }

    fn quantile(&self, share: f64) -> Option<u64> {
        self.0.as_ref().filter(|times| is_known(times.len(), share)).map(|times| times.value_at_quantile(share))
    }
}

impl Row {
    fn record(&mut self, ended: Ended) {
        self.requests += 1;
        self.failed += u64::from(ended.now.is_none());
        self.changed += u64::from(ended.is_changed);
        self.then.record(ended.then);
        self.now.record(ended.now);
    }

    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.changed += other.changed;
        self.then.add(other.then);
        self.now.add(other.now);
    }

    fn written(&self, method: &str, path: String) -> ReplayedPath {
        ReplayedPath {
            method: method.to_owned(),
            path,
            requests: self.requests,
            failed: self.failed,
            changed: self.changed,
            then_p50_us: self.then.quantile(0.5),
            now_p50_us: self.now.quantile(0.5),
            then_p99_us: self.then.quantile(0.99),
            now_p99_us: self.now.quantile(0.99),
        }
    }
}

impl Node {
    /// Returns the node of a path's segments, which may be new.
    fn descend<'s>(&mut self, mut segments: impl Iterator<Item = &'s str>) -> &mut Self {
        let Some(segment) = segments.next() else { return self };
        let mut name = self.name(segment);
        if !self.children.contains_key(name) {
            if name == segment && self.children.len() >= MOST_NAMES {
                self.merge_children();
                name = IDENTIFIER;
            }
            self.children.entry(name.to_owned()).or_default();
        }
        self.children.get_mut(name).expect("it is added where it was missing").descend(segments)
    }

    /// Returns the name of a segment among the children.
    fn name<'s>(&self, segment: &'s str) -> &'s str {
        if self.is_merged || is_identifier(segment) { IDENTIFIER } else { segment }
    }

    /// Takes all segments at this position for identifiers.
    fn merge_children(&mut self) {
        self.is_merged = true;
        let mut merged = Self::default();
        std::mem::take(&mut self.children).into_values().for_each(|child| merged.add(child));
        self.children.insert(IDENTIFIER.to_owned(), merged);
    }

    fn add(&mut self, other: Self) {
        for (method, row) in other.rows {
            self.rows.entry(method).or_default().add(row);
        }
        for (segment, child) in other.children {
            self.children.entry(segment).or_default().add(child);
        }
        self.is_merged |= other.is_merged;
        if self.is_merged || self.children.len() > MOST_NAMES {
            self.merge_children();
        }
    }

    /// Returns the number of rows from here on.
    fn count(&self) -> usize {
        self.rows.len() + self.children.values().map(Self::count).sum::<usize>()
    }

    /// Returns the greatest number of segments at one position.
    fn widest(&self) -> usize {
        self.children.values().map(Self::widest).chain([self.children.len()]).max().unwrap_or(0)
    }

    /// Merges the segments of the positions that have so many of them.
    fn merge_widest(&mut self, width: usize) {
        if self.children.len() >= width {
            self.merge_children();
        }
        self.children.values_mut().for_each(|child| child.merge_widest(width));
    }

    fn list(&self, path: &str, found: &mut Vec<ReplayedPath>) {
        let shown = if path.is_empty() { "/" } else { path };
        found.extend(self.rows.iter().map(|(method, row)| row.written(method, shown.to_owned())));
        for (segment, child) in &self.children {
            child.list(&format!("{path}/{segment}"), found);
        }
    }
}

impl PathTable {
    /// Records the end of a request for a target, whose query does not matter.
    pub fn record(&mut self, method: &str, target: &str, ended: Ended) {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        // What follows a semicolon is a parameter, such as the identifier of a session.
        let segments = || {
            let all = path.split('/').skip(1).map(|segment| segment.split(';').next().unwrap_or_default());
            all.take(DEEPEST).filter(|segment| !segment.is_empty())
        };
        if self.rows >= MOST_ROWS && !self.has(method, segments()) && !self.make_room() {
            let known = self.others.contains_key(method) || self.others.len() < MOST_NAMES;
            return self.others.entry(if known { method } else { OTHERS }.to_owned()).or_default().record(ended);
        }
        let rows = &mut self.root.descend(segments()).rows;
        if let Some(row) = rows.get_mut(method) {
            return row.record(ended);
        }
        rows.entry(method.to_owned()).or_default().record(ended);
        self.rows += 1;
    }

    /// Returns whether there is a row for a path.
    fn has<'s>(&self, method: &str, segments: impl Iterator<Item = &'s str>) -> bool {
        let mut node = &self.root;
        for segment in segments {
            match node.children.get(node.name(segment)) {
                Some(child) => node = child,
                None => return false,
            }
        }
        node.rows.contains_key(method)
    }

    /// Merges segments where most of them are. Returns whether there is room for a row then.
    fn make_room(&mut self) -> bool {
        let width = self.root.widest();
        // Positions may have been merged since the rows were counted.
        if self.root.count() >= MOST_ROWS && width >= LEAST_MERGED {
            self.root.merge_widest(width);
        }
        self.rows = self.root.count();
        self.rows < MOST_ROWS
    }

    /// Returns the rows, those with the most requests first.
    pub fn paths(&self) -> Vec<ReplayedPath> {
        let mut found = Vec::new();
        self.root.list("", &mut found);
        found.extend(self.others.iter().map(|(method, row)| row.written(method, OTHERS.to_owned())));
        found.sort_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.path.cmp(&b.path)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDED: Ended = Ended { then: Some(1_000_000), now: Some(2_000_000), is_changed: false };

    fn shown(table: &PathTable) -> Vec<(String, u64)> {
        table.paths().into_iter().map(|row| (format!("{} {}", row.method, row.path), row.requests)).collect()
    }

    #[test]
    fn templates_are_learnt() {
        let mut table = PathTable::default();
        for number in 0..200 {
            table.record("GET", &format!("/orders/{number}?token=x"), ENDED);
            table.record("GET", &format!("/shop/{}/price", slug(number)), ENDED);
        }
        table.record("GET", "/", ENDED);
        table.record("HEAD", "/a;jsessionid=55/b/", ENDED);
        let expected = [("GET /orders/{id}", 200), ("GET /shop/{id}/price", 200), ("GET /", 1), ("HEAD /a/b", 1)];
        assert_eq!(shown(&table), expected.map(|(path, count)| (path.to_owned(), count)));
        let first = &table.paths()[0];
        let near = |us: Option<u64>, expected: f64| us.is_some_and(|us| (us as f64 / expected - 1.0).abs() < 0.02);
        assert!(near(first.then_p50_us, 1000.0) && near(first.now_p50_us, 2000.0), "{first:?}");
        assert_eq!(first.now_p99_us, None, "200 samples are too few");
    }

    /// A word without digits.
    fn slug(number: u32) -> String {
        let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
        format!("item-{}{}", letter(number / 26), letter(number))
    }

    #[test]
    fn the_table_is_bounded_and_loses_no_request() {
        let mut table = PathTable::default();
        for number in 0..27_000_u32 {
            let (a, b, c) = (number % 30, number / 30 % 30, number / 900);
            table.record("GET", &format!("/{}/{}/{}", slug(a), slug(b), slug(c)), ENDED);
        }
        for number in 0..1000 {
            table.record(&format!("M{number}"), "/x", ENDED);
        }
        let paths = table.paths();
        assert!(paths.len() <= MOST_ROWS + MOST_NAMES + 1, "{} rows", paths.len());
        assert_eq!(paths.iter().map(|row| row.requests).sum::<u64>(), 28_000);
    }
}
