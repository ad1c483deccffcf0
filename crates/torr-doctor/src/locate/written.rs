//! What a survey found, as results hold it.

use std::path::Path;
use torr_gauge::verdict::place::{self as result, PlaceKind};
use torr_gauge::verdict::{Estimate, Located, Place};
use torr_where::place::tree::StackNode;
use torr_where::statements::{Database, StatementPlace, Statements};
use torr_where::{Frame, Localisation, Runtime, Unseen, WaitKind};

/// Returns what a survey of processes found.
pub fn located(found: Localisation) -> Located {
    let places = |places: Vec<torr_where::Place>| places.into_iter().map(place).collect();
    Located {
        places: places(found.places),
        widest: places(found.widest),
        unseen: found.unseen.into_iter().map(unseen).collect(),
        stacks: found.stacks.map(node),
        kept: None,
    }
}

/// Returns what a watch of a database's statements found.
pub fn of_statements(found: Statements) -> Located {
    let statements = |places: Vec<StatementPlace>| places.into_iter().map(statement).collect();
    Located {
        places: statements(found.places),
        widest: statements(found.widest),
        unseen: found.unseen.into_iter().map(unseen).collect(),
        ..Located::default()
    }
}

fn place(found: torr_where::Place) -> Place {
    let torr_where::Place { kind, runtime, process, frame, leaf, caller, lock, holder, statement, peer, .. } = found;
    let is_inner = leaf != frame;
    Place {
        process: (process > 0).then_some(process),
        code: frame.as_deref().map(position),
        inner: leaf.as_deref().filter(|_| is_inner).map(position),
        caller: caller.as_deref().map(position),
        lock: lock.map(|lock| lock.name.unwrap_or_else(|| format!("{:#x}", lock.address))),
        holder: holder.map(|holder| result::Holder {
            code: position(&holder.frame),
            wait: holder.wait.as_ref().map(wait),
            share: holder.share.value,
        }),
        statement,
        peer,
        gain: found.gain,
        ..bare(kind, name_of(runtime), found.share, found.samples)
    }
}

fn statement(found: StatementPlace) -> Place {
    let database = match found.database {
        Database::Postgres => "postgresql",
        Database::MySql => "mysql",
        Database::Redis => "redis",
    };
    let samples = found.calls.unwrap_or(0);
    Place {
        statement: Some(found.statement),
        per_response: found.per_response,
        missing_index: found
            .missing_index
            .map(|index| result::MissingIndex { table: index.table, columns: vec![index.column] }),
        blocker_is_idle: found.blocked_by.as_ref().is_some_and(|blocker| blocker.is_idle_in_transaction),
        blocked_by: found.blocked_by.and_then(|blocker| blocker.statement),
        peer: Some(found.server),
        gain: Some(found.gain),
        ..bare(PlaceKind::Statement, database, found.share, samples)
    }
}

/// Returns a place with nothing but its kind and its share.
fn bare(kind: PlaceKind, runtime: &str, share: Estimate, samples: u64) -> Place {
    Place {
        kind,
        text: String::new(),
        runtime: runtime.to_owned(),
        process: None,
        code: None,
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
        gain: None,
        next_limit: None,
        samples,
    }
}

fn position(frame: &Frame) -> result::CodePosition {
    // A path from the file system's root is the build machine's; its end names the file.
    let short = |file: &str| {
        let path = Path::new(file);
        let parts: Vec<_> = path.components().rev().take(2).collect();
        let short: std::path::PathBuf = parts.into_iter().rev().collect();
        if path.is_absolute() { short.display().to_string() } else { file.to_owned() }
    };
    result::CodePosition { function: frame.function.clone(), file: frame.file.as_deref().map(short), line: frame.line }
}

fn node(found: StackNode) -> result::StackNode {
    result::StackNode {
        code: position(&found.frame),
        own: found.frame.is_own,
        weight: found.weight,
        calls: found.calls.into_iter().map(node).collect(),
    }
}

fn wait(wait: &WaitKind) -> String {
    match wait {
        WaitKind::Lock(lock) => match &lock.name {
            Some(name) => format!("the lock {name}"),
            None => "another lock".to_owned(),
        },
        WaitKind::Condition => "another thread".to_owned(),
        WaitKind::Idle => "work".to_owned(),
        WaitKind::Socket { .. } => "a peer".to_owned(),
        WaitKind::File => "a file".to_owned(),
        WaitKind::Sleep => "a pause".to_owned(),
        WaitKind::Process => "another process".to_owned(),
        WaitKind::Other => "something else".to_owned(),
    }
}

fn name_of(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Native => "native",
        Runtime::Go => "go",
        Runtime::Python => "python",
        Runtime::Jvm => "jvm",
        Runtime::Node => "node",
        Runtime::Php => "php",
        Runtime::Ruby => "ruby",
        Runtime::DotNet => "dot-net",
        Runtime::Beam => "beam",
        Runtime::Database => "database",
    }
}

fn unseen(Unseen { process, name, runtime, why, remedies }: Unseen) -> result::Unseen {
    result::Unseen {
        text: String::new(),
        name,
        process: (process > 0).then_some(process),
        runtime: name_of(runtime).to_owned(),
        why,
        remedies,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_where::statements::{Blocker, Source};

    #[test]
    fn a_transaction_that_blocks_a_statement_and_runs_none_is_reported() {
        let written = |statement: Option<&str>, is_idle_in_transaction| {
            let share = Estimate { low: 0.5, value: 0.9, high: 1.0 };
            let statement = statement.map(str::to_owned);
            let place = statement_place(Some(Blocker { statement, is_idle_in_transaction, share }));
            let place = super::statement(place);
            (place.blocked_by, place.blocker_is_idle)
        };
        assert_eq!(written(Some("UPDATE stock"), true), (Some("UPDATE stock".to_owned()), true));
        assert_eq!(written(Some("UPDATE stock"), false), (Some("UPDATE stock".to_owned()), false));
        // MariaDB does not say what the transaction ran before.
        assert_eq!(written(None, true), (None, true));
    }

    fn statement_place(blocked_by: Option<Blocker>) -> StatementPlace {
        StatementPlace {
            database: Database::MySql,
            server: "127.0.0.1:3306".to_owned(),
            source: Source::Login,
            statement: "DELETE FROM stock WHERE id = ?".to_owned(),
            calls: None,
            per_response: None,
            is_repeated: false,
            run: None,
            mean_us: None,
            rows_per_call: None,
            failed: 0,
            share: Estimate::default(),
            missing_index: None,
            blocked_by,
            gain: Estimate::default(),
        }
    }
}
