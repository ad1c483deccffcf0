//! The plan of a statement of MySQL or MariaDB: a table that is read whole although a condition compares one of its columns.

use super::super::condition::{compared, table_of};
use super::super::observed::Raw;
use crate::statements::normalise::Dialect;
use crate::statements::place::MissingIndex;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Params, Value as Parameter};
use serde_json::Value;

/// The fewest rows of a table for which an index is worth while.
const ROWS: u64 = 2000;

/// The statements that have a plan.
const VERBS: [&str; 5] = ["select", "update", "delete", "with", "insert"];

/// The most nodes of a plan that are looked at.
const NODES: usize = 5000;

/// A table that is read whole with a condition.
struct Scan {
    alias: String,
    condition: String,
    rows: u64,
}

/// Returns the table that a statement reads whole for want of an index. The statement is planned, never run.
pub(super) async fn missing_index(conn: &mut Conn, example: &Raw) -> Option<MissingIndex> {
    let raw = example.0.trim_start();
    let is_planned = VERBS.iter().any(|verb| raw.get(..verb.len()).is_some_and(|word| word.eq_ignore_ascii_case(verb)));
    if !is_planned {
        return None;
    }
    let plan = plan(conn, raw).await.ok().flatten()?;
    for scan in scans(&plan) {
        if let Ok(Some(index)) = index_for(conn, &scan, raw).await {
            return Some(index);
        }
    }
    None
}

async fn plan(conn: &mut Conn, raw: &str) -> Result<Option<Value>, Error> {
    conn.query_drop("START TRANSACTION READ ONLY").await?;
    // A prepared text is one statement at most.
    let statement = conn.prep(format!("EXPLAIN FORMAT=JSON {raw}")).await;
    let mut plan = None;
    if let Ok(statement) = statement {
        // A number serves for a limit as well as in a comparison.
        let values = vec![Parameter::Int(1); statement.num_params().into()];
        let values = if values.is_empty() { Params::Empty } else { Params::Positional(values) };
        let text: Result<Option<String>, _> = conn.exec_first(&statement, values).await;
        plan = text.ok().flatten().and_then(|text| serde_json::from_str(&text).ok());
        conn.close(statement).await?;
    }
    conn.query_drop("ROLLBACK").await?;
    Ok(plan)
}

/// Returns the tables that a plan reads whole with a condition, that with the most rows first.
fn scans(plan: &Value) -> Vec<Scan> {
    let mut scans = Vec::new();
    let mut nodes = vec![plan];
    let mut number = 0;
    while let Some(node) = nodes.pop().filter(|_| number < NODES) {
        number += 1;
        match node {
            Value::Object(fields) => nodes.extend(fields.values()),
            Value::Array(items) => nodes.extend(items),
            _ => {}
        }
        let text = |name: &str| node[name].as_str().map(str::to_owned);
        if node["access_type"] == "ALL"
            && let (Some(alias), Some(condition)) = (text("table_name"), text("attached_condition"))
        {
            let rows = ["rows_examined_per_scan", "rows"].iter().find_map(|name| node[*name].as_u64());
            scans.push(Scan { alias, condition, rows: rows.unwrap_or(0) });
        }
    }
    scans.sort_by_key(|scan| std::cmp::Reverse(scan.rows));
    scans
}

/// Returns the index that a scan lacks: a column that it compares for equality, and that no index of the table begins with.
async fn index_for(conn: &mut Conn, scan: &Scan, raw: &str) -> Result<Option<MissingIndex>, Error> {
    if scan.rows < ROWS {
        return Ok(None);
    }
    let table = table_of(&scan.alias, raw, Dialect::MySql);
    let columns =
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?";
    let columns: Vec<String> = conn.exec(columns, (&table,)).await?;
    let indexed = "SELECT DISTINCT COLUMN_NAME FROM information_schema.STATISTICS \
        WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND SEQ_IN_INDEX = 1";
    let indexed: Vec<String> = conn.exec(indexed, (&table,)).await?;
    let has = |names: &[String], column: &str| names.iter().any(|name| name.eq_ignore_ascii_case(column));
    let all: Vec<_> = compared(&scan.condition, &scan.alias, Dialect::MySql)
        .into_iter()
        .filter(|compared| compared.is_equality && has(&columns, &compared.column))
        .collect();
    // Where one of them has an index, the optimiser has decided against it.
    if all.iter().any(|compared| has(&indexed, &compared.column)) {
        return Ok(None);
    }
    let column = all.into_iter().next().map(|compared| compared.column);
    Ok(column.map(|column| MissingIndex { table, column, rows: scan.rows }))
}
