//! The location that a diagnosis names, judged by the known one.

use crate::location::{Location, Visibility};
use serde::Serialize;
use serde_json::Value;
use torr_gauge::Gain;
use torr_gauge::verdict;
use torr_gauge::verdict::place::{CodePosition, Place, PlaceKind};

/// The judgement of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The true location is named, or none where none can be.
    Right,
    /// There is a location, and none is named.
    Silent,
    /// Another location is named.
    Wrong,
}

/// The location that a diagnosis names first, judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Located {
    /// The judgement.
    pub judgement: Judgement,
    /// The location. `None` if the diagnosis names none.
    pub named: Option<Place>,
}

impl Located {
    /// Judges the JSON of a diagnosis. `None` if the diagnosis did not look for a location, or cannot be read.
    pub fn judge(location: &Location, trail: &Value) -> Option<Self> {
        let found: Option<verdict::Located> = serde_json::from_value(trail["located"].clone()).ok()?;
        let named = found?.places.into_iter().next();
        let judgement = match (&named, location.visibility) {
            (None, Visibility::Dominant) => Judgement::Silent,
            (None, Visibility::None | Visibility::Invisible) => Judgement::Right,
            (Some(named), _) if is_at(named, location) => Judgement::Right,
            (Some(_), _) => Judgement::Wrong,
        };
        Some(Self { judgement, named })
    }

    /// Returns the judgement in a word.
    pub fn word(&self) -> &'static str {
        match self.judgement {
            Judgement::Right => "right",
            Judgement::Silent => "silent",
            Judgement::Wrong => "WRONG",
        }
    }

    /// Returns what is named, for a column of a table.
    pub fn name(&self) -> String {
        let Some(named) = &self.named else { return "-".into() };
        let function = named.code.as_ref().map(|code| &code.function);
        let name = named.statement.as_ref().or(named.lock.as_ref()).or(function).or(named.peer.as_ref());
        let name = name.map_or("?", String::as_str);
        let Some(CodePosition { file: Some(file), line, .. }) = &named.code else { return name.to_owned() };
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{name} ({}{line})", base(file))
    }

    /// Returns the promise of a location that is named rightly: what half of its cost brings.
    pub fn gain(&self) -> Option<Gain> {
        let gain = self.named.as_ref()?.gain.filter(|_| self.judgement == Judgement::Right)?;
        Some(Gain { low: Some(gain.low), high: Some(gain.high), reason: None, summary: String::new() })
    }
}

/// Whether a named location is the true one: its kind, its name, and the line if one is named.
fn is_at(named: &Place, location: &Location) -> bool {
    let holder = named.holder.as_ref().map(|holder| &holder.code);
    let is_function = |code: Option<&CodePosition>| {
        code.is_some_and(|code| words(&code.function).any(|name| location.functions.contains(&name)))
    };
    let is_lock = || named.lock.as_deref().is_some_and(|lock| words(lock).any(|name| Some(name) == location.lock));
    let is_statement = || {
        let (Some(named), Some(part)) = (&named.statement, location.statement) else { return false };
        normalised(named).contains(&normalised(part))
    };
    let is_it = match named.kind {
        PlaceKind::Statement => is_statement(),
        PlaceKind::Lock => is_lock() || is_function(named.code.as_ref()) || is_function(holder),
        PlaceKind::Cpu | PlaceKind::Wait => is_function(named.code.as_ref()),
        PlaceKind::Peer => false,
    };
    let is_in_lines = named.code.as_ref().is_none_or(|code| is_in_lines(code, location));
    location.kinds.contains(&named.kind) && is_it && is_in_lines
}

/// Whether a line is one of the location's. A file that is none of the service's, and a line that is not named, are no mistake.
fn is_in_lines(code: &CodePosition, location: &Location) -> bool {
    let CodePosition { file: Some(file), line: Some(line), .. } = code else { return true };
    let mut of_file = location.lines.iter().filter(|lines| base(file) == lines.file).peekable();
    of_file.peek().is_none() || of_file.any(|lines| (lines.first..=lines.last).contains(line))
}

/// Returns the name of a file without folders.
fn base(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// Returns the identifiers of a function's whole name: its modules, its types, and its own.
fn words(function: &str) -> impl Iterator<Item = &str> {
    function.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns a statement in lower case, with one blank between words, and each argument as `?`.
fn normalised(statement: &str) -> String {
    let words = statement.split_whitespace().map(|word| {
        let bare = word.trim_end_matches([',', ')', ';']);
        let is_argument = bare.strip_prefix('$').is_some_and(|number| number.parse::<u32>().is_ok());
        if is_argument { word.replace(bare, "?") } else { word.to_lowercase() }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Source;
    use serde_json::json;

    const SOURCE: Source =
        Source { file: "shop.go", text: "func a() {\n} // clinic: a\nfunc b() { // clinic: b\n} // clinic: b\n" };

    /// Returns a location as results hold it, with these fields.
    fn named(fields: Value) -> Value {
        let mut named = json!({"runtime": "go", "share": {"low": 0.4, "value": 0.5, "high": 0.6}, "samples": 90});
        let fields = fields.as_object().expect("it is an object").clone();
        named.as_object_mut().expect("it is an object").extend(fields);
        named
    }

    fn judged(location: &Location, fields: Value) -> Option<Judgement> {
        let trail = json!({"located": {"places": [named(fields)]}});
        Located::judge(location, &trail).map(|located| located.judgement)
    }

    #[test]
    fn functions_are_right_in_their_lines_only() {
        let location = Location::cpu(SOURCE, &["b"], "b");
        let at = |function: &str, line: u32| json!({"kind": "cpu", "function": function, "file": "/x/shop.go", "line": line});
        for (fields, judgement) in [
            (at("main.b", 3), Judgement::Right),
            (json!({"kind": "cpu", "function": "main.(*shop).b.func1"}), Judgement::Right),
            (at("main.b", 2), Judgement::Wrong),
            (at("main.a", 3), Judgement::Wrong),
            (json!({"kind": "lock", "function": "main.b"}), Judgement::Wrong),
        ] {
            assert_eq!(judged(&location, fields.clone()), Some(judgement), "{fields}");
        }
        let of = |located: Value| Located::judge(&location, &json!({ "located": located }));
        let silent = of(json!({"places": [], "widest": [named(at("main.b", 3))]}));
        assert_eq!(silent.map(|located| located.judgement), Some(Judgement::Silent));
        assert_eq!(of(Value::Null), None, "it did not look");
        assert_eq!(Located::judge(&location, &json!({})), None, "it does not know of locations");
    }

    #[test]
    fn locks_are_known_by_their_name_or_by_a_function() {
        let location = Location::lock(SOURCE, &["b"], &["b"]).named("stock_lock");
        let lock = |lock: &str, holder: &str| {
            let holder = json!({"function": holder, "share": 0.9});
            json!({"kind": "lock", "function": "c", "lock": lock, "holder": holder})
        };
        assert_eq!(judged(&location, lock("stock_lock", "c")), Some(Judgement::Right));
        assert_eq!(judged(&location, lock("0x7f00", "b")), Some(Judgement::Right));
        assert_eq!(judged(&location, lock("log_lock", "c")), Some(Judgement::Wrong));
    }

    #[test]
    fn statements_are_compared_without_their_arguments() {
        let location = Location::statement("FROM orders WHERE customer_id = ?", SOURCE, &["b"], &["b"]);
        let found = |statement: &str| json!({"kind": "statement", "statement": statement});
        let right = "select id,\n total from Orders where customer_id = $1 order by id";
        assert_eq!(judged(&location, found(right)), Some(Judgement::Right));
        assert_eq!(judged(&location, found("SELECT 1")), Some(Judgement::Wrong));
    }

    #[test]
    fn silence_is_right_where_no_location_can_be_named() {
        let invisible = Location::cpu(SOURCE, &["b"], "b").invisible();
        for location in [&Location::none(), &invisible] {
            let silent = Located::judge(location, &json!({"located": {"places": []}}));
            assert_eq!(silent.map(|located| located.judgement), Some(Judgement::Right));
            assert_eq!(judged(location, json!({"kind": "cpu", "function": "a"})), Some(Judgement::Wrong));
        }
        let seen = judged(&invisible, json!({"kind": "cpu", "function": "b"}));
        assert_eq!(seen, Some(Judgement::Right), "it can be seen after all");
    }

    #[test]
    fn what_half_the_cost_brings_is_a_promise_of_a_location_that_is_named_rightly() {
        let location = Location::cpu(SOURCE, &["b"], "b").or(PlaceKind::Lock);
        let gain = |kind: &str, function: &str| {
            let gain = json!({"low": 1.4, "value": 1.5, "high": 1.6});
            let named = named(json!({"kind": kind, "function": function, "gain": gain}));
            let located = Located::judge(&location, &json!({"located": {"places": [named]}})).expect("it looked");
            located.gain().map(|gain| (gain.low, gain.high))
        };
        assert_eq!(gain("cpu", "b"), Some((Some(1.4), Some(1.6))));
        assert_eq!(gain("cpu", "a"), None);
        assert_eq!(gain("lock", "b"), Some((Some(1.4), Some(1.6))));
        assert_eq!(gain("wait", "b"), None);
    }
}
