//! The sentences of places: the function, lock, statement or peer that a factor comes from, and what could not be seen.

use crate::human::{percent, times};
use torr_gauge::verdict::Estimate;
use torr_gauge::verdict::place::{
    CodePosition, DOMINANT, Holder, Located, MissingIndex, NextLimit, Place, PlaceKind, Remedy, Unseen, UnseenReason,
};

/// Writes the sentences of places, and of what could not be seen.
pub fn located(mut located: Located) -> Located {
    for place in located.places.iter_mut().chain(&mut located.widest) {
        place.text = sentence(place);
    }
    for unseen in &mut located.unseen {
        unseen.text = not_visible(unseen);
    }
    located
}

/// Returns the lines of what was found: a word for what each is, and its sentence. The places that dominate come first; without one,
/// the widest are listed.
pub fn lines(located: &Located) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for place in &located.places {
        lines.push(("where", place.text.clone()));
        lines.extend(place.holder.as_ref().map(|holder| ("holder", held(holder))));
        lines.extend(place.missing_index.as_ref().map(|index| ("index", no_index(index))));
        lines.extend(blocker(place).map(|by| ("blocked", by)));
        lines.extend(place.gain.map(|gain| ("gain", halved(place, gain))));
    }
    if located.places.is_empty() && !located.widest.is_empty() {
        lines.push(("where", none_dominates(&located.widest)));
    }
    lines.extend(located.unseen.iter().map(|unseen| ("not seen", unseen.text.clone())));
    lines
}

fn sentence(place: &Place) -> String {
    let share = percent(place.share.value);
    let at = place.code.as_ref().map(position);
    let inner = place.inner.as_ref().map(|inner| code(&inner.function));
    let within = match (inner, &at) {
        (Some(inner), Some(at)) => format!("{inner}, called from {at}"),
        (Some(inner), None) => inner,
        (None, Some(at)) => at.clone(),
        (None, None) => "code without a name".to_owned(),
    };
    let caller = place.caller.as_ref().map(|caller| format!(", called from {}", position(caller)));
    let caller = caller.filter(|_| place.inner.is_none()).unwrap_or_default();
    match place.kind {
        PlaceKind::Cpu => format!("{share} of the CPU time is spent in {within}{caller}"),
        PlaceKind::Lock => {
            let lock = match place.lock.as_deref() {
                None => "a lock or a free slot of a pool".to_owned(),
                // An address says nothing to a reader. Results have it.
                Some(address) if address.starts_with("0x") => "a lock".to_owned(),
                Some(lock) => format!("the lock {}", code(lock)),
            };
            format!("{share} of the busy threads' time is spent waiting for {lock} in {within}{caller}")
        }
        PlaceKind::Wait => format!("{share} of the busy threads' time is spent waiting in {within}{caller}"),
        PlaceKind::Peer => {
            let peer = place.peer.as_deref().unwrap_or("a peer");
            format!("{share} of the busy threads' time is spent waiting for {peer} in {within}{caller}")
        }
        PlaceKind::Statement => {
            let statement = place.statement.as_deref().map_or_else(|| "a statement".to_owned(), code);
            let count = place.per_response.map(per_response).unwrap_or_default();
            format!("{share} of the time in {} is spent on {statement}{count}", database(&place.runtime))
        }
    }
}

fn per_response(count: f64) -> String {
    match count {
        count if count >= 10.0 => format!(", which runs {count:.0} times per response"),
        count if count >= 1.05 || count <= 0.95 => format!(", which runs {count:.1} times per response"),
        _ => ", which runs once per response".to_owned(),
    }
}

fn database(runtime: &str) -> &str {
    match runtime {
        "postgresql" => "PostgreSQL",
        "mysql" => "MySQL",
        "mariadb" => "MariaDB",
        "redis" => "Redis",
        _ => "the database",
    }
}

fn held(holder: &Holder) -> String {
    let at = position(&holder.code);
    let doing = match holder.wait.as_deref() {
        Some("a pause") => "sleeps".to_owned(),
        Some(wait) => format!("waits for {wait}"),
        None => "computes".to_owned(),
    };
    format!("in {} of the samples the thread that holds it {doing} in {at}", percent(holder.share))
}

fn blocker(place: &Place) -> Option<String> {
    match (&place.blocked_by, place.blocker_is_idle) {
        (Some(by), false) => Some(format!("by {}", code(by))),
        (Some(by), true) => {
            Some(format!("by {}, whose transaction stays open while its client does something else", code(by)))
        }
        (None, true) => Some("by a transaction that stays open while its client does something else".to_owned()),
        (None, false) => None,
    }
}

fn no_index(MissingIndex { table, columns }: &MissingIndex) -> String {
    format!(
        "the database reads all of {}: it has no index for {}",
        code(table),
        columns.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
    )
}

fn halved(place: &Place, gain: Estimate) -> String {
    let what = match place.kind {
        PlaceKind::Lock => "holding the lock half as long",
        PlaceKind::Statement => "halving the statement's time",
        _ => "halving its cost",
    };
    let Estimate { low, value, high } = gain;
    let raised = format!("{what} raises throughput {} ({} to {})", times(value), times(low), times(high));
    match place.next_limit {
        Some(next) => format!("{raised}; then {} is the limit", limit(next)),
        None => format!("{raised}, as far as nothing else limits"),
    }
}

/// Returns what limits throughput once a place is mended.
fn limit(next: NextLimit) -> &'static str {
    match next {
        NextLimit::Cpu => "the CPU of the server's machine",
        NextLimit::Quota => "the server's CPU quota",
        NextLimit::Thread => "the busiest thread of the server",
        NextLimit::Database => "the busiest thread of the database",
        NextLimit::Generator => "the load generator",
        NextLimit::Connections => "the number of connections",
        NextLimit::NullService => "what a service that does nothing reaches",
    }
}

/// Returns that no place dominates, or that none is proved to, with the widest places.
fn none_dominates(widest: &[Place]) -> String {
    let named = |place: &Place| {
        let name = place.code.as_ref().map(|code| &code.function).or(place.statement.as_ref());
        format!("{} {}", name.map_or("code without a name".to_owned(), |name| code(name)), percent(place.share.value))
    };
    let named: Vec<_> = widest.iter().map(named).collect();
    let is_unproved = widest.first().is_some_and(|place| place.share.value >= DOMINANT && place.share.low < DOMINANT);
    let why = if is_unproved { "the samples do not single out a place" } else { "no single place dominates" };
    format!("{why}; the widest are {}", named.join(", "))
}

/// Returns a function with its file and line.
fn position(CodePosition { function, file, line }: &CodePosition) -> String {
    let function = code(function);
    match (file, line) {
        (Some(file), Some(line)) => format!("{function} ({file}:{line})"),
        (Some(file), None) => format!("{function} ({file})"),
        _ => function,
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn not_visible(unseen: &Unseen) -> String {
    let Unseen { name, runtime, process, why, remedies, .. } = unseen;
    let process = process.map_or(String::new(), |process| format!(" (process {process})"));
    let what = match why {
        UnseenReason::Stripped => format!("{name}{process} has no symbols"),
        UnseenReason::CompiledAtRunTime => {
            format!("the code of {name}{process} is compiled at run time, without a map of its functions")
        }
        UnseenReason::Memory => format!("the memory of {name}{process} is not readable"),
        UnseenReason::PerformanceEvents => format!("the kernel permits no performance events of {name}{process}"),
        UnseenReason::Files => format!("the files of {name}{process} are not reachable"),
        UnseenReason::NeedsRequest => {
            format!("the {} code of {name}{process} is visible only if Torr may ask the process", language(runtime))
        }
        UnseenReason::Version(found) => format!("{} {found} of {name}{process} is not supported", language(runtime)),
        UnseenReason::NoReader => {
            format!("the functions of the {} code of {name}{process} are not visible to Torr", language(runtime))
        }
        UnseenReason::Encrypted => format!("the statements for {name} are encrypted"),
        UnseenReason::UnixSocket => {
            format!("the statements for {name} go over a Unix socket, where no packet shows them")
        }
        UnseenReason::Compressed => format!("the statements for {name} are compressed"),
        UnseenReason::Multiplexed => format!("the responses of {name} do not follow the order of its requests"),
        UnseenReason::PreparedBefore => {
            format!("most statements for {name} were prepared before Torr began to read them")
        }
        UnseenReason::NoLogin => format!("the statements of {name} need a login"),
        UnseenReason::Packets => format!("the packets for {name} are not readable"),
        UnseenReason::Ended => format!("{name}{process} ended while it was sampled"),
        UnseenReason::Tasks => format!("asynchronous tasks of {name}{process} wait in no thread"),
        UnseenReason::Unwinding => format!("the stacks of {name}{process} could not be followed"),
        UnseenReason::Failed(message) => format!("{name}{process} could not be sampled: {message}"),
    };
    let remedies: Vec<_> = remedies.iter().map(remedy).collect();
    match &remedies[..] {
        [] => what,
        remedies => format!("{what}; {}", remedies.join(", or ")),
    }
}

fn language(runtime: &str) -> &str {
    match runtime {
        "jvm" => "JVM's",
        "node" => "JavaScript",
        "python" => "Python",
        "php" => "PHP",
        "ruby" => "Ruby",
        "dot-net" => ".NET",
        "go" => "Go",
        _ => "program's",
    }
}

fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Sysctl { name, value } => format!("set {name} to {value} (sysctl)"),
        Remedy::Capability(name) => format!("run Torr as root or with {name}"),
        Remedy::SameUser => "run Torr as the user of the process".to_owned(),
        Remedy::Symbols => "build it with symbols".to_owned(),
        Remedy::RuntimeOption(option) => format!("start it with {option}"),
        Remedy::Ask => "add --ask".to_owned(),
        Remedy::Login => "add --database-url URL".to_owned(),
        Remedy::OnItsMachine => "run 'torr watch --where' on its machine".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: &str, line: u32) -> CodePosition {
        CodePosition { function: function.into(), file: Some("shop.c".into()), line: Some(line) }
    }

    fn place(kind: PlaceKind) -> Place {
        let share = Estimate { low: 0.35, value: 0.38, high: 0.41 };
        Place {
            kind,
            text: String::new(),
            runtime: "native".into(),
            process: Some(1),
            code: Some(at("list_orders", 88)),
            inner: None,
            caller: None,
            lock: None,
            holder: None,
            statement: None,
            per_response: None,
            missing_index: None,
            blocked_by: None,
            blocker_is_idle: false,
            peer: None,
            share,
            gain: Some(Estimate { low: 1.21, value: 1.23, high: 1.26 }),
            next_limit: None,
            samples: 1000,
        }
    }

    #[test]
    fn a_function_is_named_with_what_it_calls_and_what_halving_it_brings() {
        let inner = CodePosition { function: "to_writer".into(), file: None, line: None };
        let found = located(Located {
            places: vec![Place { inner: Some(inner), ..place(PlaceKind::Cpu) }],
            ..Located::default()
        });
        assert_eq!(
            lines(&found),
            [
                (
                    "where",
                    "38% of the CPU time is spent in `to_writer`, called from `list_orders` (shop.c:88)".to_owned()
                ),
                (
                    "gain",
                    "halving its cost raises throughput 1.23x (1.21x to 1.26x), as far as nothing else limits"
                        .to_owned()
                ),
            ]
        );
    }

    #[test]
    fn a_gain_that_the_next_limit_cuts_names_it() {
        let place = Place { next_limit: Some(NextLimit::Generator), ..place(PlaceKind::Statement) };
        let found = located(Located { places: vec![place], ..Located::default() });
        let said = "halving the statement's time raises throughput 1.23x (1.21x to 1.26x); then the load generator is the limit";
        assert_eq!(lines(&found)[1], ("gain", said.to_owned()));
    }

    #[test]
    fn a_lock_is_named_with_its_holder() {
        let holder = Holder { code: at("rebuild", 77), wait: Some("fsync".into()), share: 0.9 };
        let lock =
            Place { lock: Some("cache_lock".into()), holder: Some(holder), gain: None, ..place(PlaceKind::Lock) };
        assert_eq!(
            lines(&located(Located { places: vec![lock], ..Located::default() })),
            [
                (
                    "where",
                    "38% of the busy threads' time is spent waiting for the lock `cache_lock` in `list_orders` (shop.c:88)".to_owned()
                ),
                ("holder", "in 90% of the samples the thread that holds it waits for fsync in `rebuild` (shop.c:77)".to_owned()),
            ]
        );
    }

    #[test]
    fn a_lock_without_a_name_is_a_lock() {
        let lock = Place { lock: Some("0x562454048760".into()), gain: None, ..place(PlaceKind::Lock) };
        let said = "38% of the busy threads' time is spent waiting for a lock in `list_orders` (shop.c:88)".to_owned();
        assert_eq!(lines(&located(Located { places: vec![lock], ..Located::default() })), [("where", said)]);
    }

    #[test]
    fn a_statement_has_its_count_and_the_index_that_it_lacks() {
        let statement = Place {
            code: None,
            runtime: "postgresql".into(),
            statement: Some("SELECT * FROM orders WHERE user_id = ?".into()),
            per_response: Some(12.0),
            missing_index: Some(MissingIndex { table: "orders".into(), columns: vec!["user_id".into()] }),
            gain: None,
            ..place(PlaceKind::Statement)
        };
        assert_eq!(
            lines(&located(Located { places: vec![statement], ..Located::default() })),
            [
                (
                    "where",
                    "38% of the time in PostgreSQL is spent on `SELECT * FROM orders WHERE user_id = ?`, which runs 12 times per \
                     response"
                        .to_owned()
                ),
                ("index", "the database reads all of `orders`: it has no index for `user_id`".to_owned()),
            ]
        );
    }

    #[test]
    fn a_statement_has_what_blocks_it_and_whether_that_is_done() {
        let blocked = |by: Option<&str>, blocker_is_idle| {
            let statement = Some("DELETE FROM stock WHERE id = ?".into());
            let blocked_by = by.map(str::to_owned);
            let place =
                Place { statement, blocked_by, blocker_is_idle, gain: None, code: None, ..place(PlaceKind::Statement) };
            lines(&located(Located { places: vec![place], ..Located::default() })).into_iter().nth(1)
        };
        let said = |line: &str| Some(("blocked", line.to_owned()));
        let by = Some("UPDATE stock SET n = ?");
        assert_eq!(blocked(by, false), said("by `UPDATE stock SET n = ?`"));
        assert_eq!(
            blocked(by, true),
            said("by `UPDATE stock SET n = ?`, whose transaction stays open while its client does something else")
        );
        let idle = "by a transaction that stays open while its client does something else";
        assert_eq!((blocked(None, true), blocked(None, false)), (said(idle), None));
    }

    #[test]
    fn a_wide_place_that_the_samples_do_not_prove_is_not_said_to_be_narrow() {
        let share = Estimate { low: 0.0, value: 1.0, high: 1.0 };
        let found = Located { widest: vec![Place { share, ..place(PlaceKind::Lock) }], ..Located::default() };
        let said = "the samples do not single out a place; the widest are `list_orders` 100%".to_owned();
        assert_eq!(lines(&located(found)), [("where", said)]);
    }

    #[test]
    fn without_a_dominating_place_the_widest_are_listed_and_what_was_not_seen_has_its_remedy() {
        let unseen = Unseen {
            text: String::new(),
            name: "java".into(),
            process: Some(7),
            runtime: "jvm".into(),
            why: UnseenReason::NeedsRequest,
            remedies: vec![Remedy::Ask],
        };
        let found = Located { widest: vec![place(PlaceKind::Cpu)], unseen: vec![unseen], ..Located::default() };
        assert_eq!(
            lines(&located(found)),
            [
                ("where", "no single place dominates; the widest are `list_orders` 38%".to_owned()),
                (
                    "not seen",
                    "the JVM's code of java (process 7) is visible only if Torr may ask the process; add --ask"
                        .to_owned()
                ),
            ]
        );
    }
}
