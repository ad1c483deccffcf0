//! The plan of a statement of PostgreSQL: a table that is read whole although a filter leaves few of its rows.

use super::super::condition::compared;
use super::super::observed::Raw;
use crate::statements::normalise::Dialect;
use crate::statements::place::MissingIndex;
use serde_json::Value;
use tokio_postgres::error::Error;
use tokio_postgres::{Client, SimpleQueryMessage};

/// The fewest rows of a table for which an index is worth while.
const ROWS: f64 = 2000.0;

/// The largest part of a table's rows that an index serves to find.
const SELECTED: f64 = 0.1;

/// The most parameters of a statement.
const PARAMETERS: usize = 1000;

/// The most nodes of a plan that are looked at.
const NODES: usize = 500;

/// A table that is read whole with a filter.
struct Scan {
    table: String,
    alias: String,
    filter: String,
    rows: f64,
}

/// Returns the table that a statement reads whole for want of an index. The statement is planned, never run.
pub(super) async fn missing_index(client: &Client, example: &Raw) -> Option<MissingIndex> {
    let plan = plan(client, &example.0).await.ok().flatten();
    for scan in scans(&plan?) {
        if let Ok(Some(index)) = index_for(client, &scan).await {
            return Some(index);
        }
    }
    None
}

/// Returns the plan that serves for all values of the parameters.
async fn plan(client: &Client, raw: &str) -> Result<Option<Value>, Error> {
    client.batch_execute("BEGIN READ ONLY; SET LOCAL plan_cache_mode = force_generic_plan").await?;
    // A prepared text is one statement at most, and only of a kind that has a plan.
    let prepared = client.execute(&format!("PREPARE torr_where AS {raw}"), &[]).await;
    let mut plan = None;
    if prepared.is_ok() {
        plan = explain(client).await.ok().flatten();
    }
    client.batch_execute("ROLLBACK").await?;
    if prepared.is_ok() {
        client.batch_execute("DEALLOCATE torr_where").await?;
    }
    Ok(plan)
}

async fn explain(client: &Client) -> Result<Option<Value>, Error> {
    let sql = "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'torr_where'";
    let number: i32 = client.query_one(sql, &[]).await?.try_get(0)?;
    let number = usize::try_from(number).unwrap_or(0).min(PARAMETERS);
    let values = if number == 0 { String::new() } else { format!("({})", vec!["NULL"; number].join(", ")) };
    let messages = client.simple_query(&format!("EXPLAIN (FORMAT JSON) EXECUTE torr_where{values}")).await?;
    let texts = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    Ok(serde_json::from_str(&texts.collect::<Vec<_>>().join("\n")).ok())
}

/// Returns the tables that a plan reads whole with a filter, that with the highest cost first.
fn scans(plan: &Value) -> Vec<Scan> {
    let mut scans = Vec::new();
    let mut nodes = vec![&plan[0]["Plan"]];
    let mut number = 0;
    while let Some(node) = nodes.pop().filter(|_| number < NODES) {
        number += 1;
        nodes.extend(node["Plans"].as_array().into_iter().flatten());
        let text = |name: &str| node[name].as_str().map(str::to_owned);
        if node["Node Type"] == "Seq Scan"
            && let (Some(table), Some(alias), Some(filter)) = (text("Relation Name"), text("Alias"), text("Filter"))
        {
            let rows = node["Plan Rows"].as_f64().unwrap_or(f64::MAX);
            scans.push((node["Total Cost"].as_f64().unwrap_or(0.0), Scan { table, alias, filter, rows }));
        }
    }
    scans.sort_by(|a, b| b.0.total_cmp(&a.0));
    scans.into_iter().map(|(_, scan)| scan).collect()
}

/// Returns the index that a scan lacks: a column that it compares, and that no index of the table begins with.
async fn index_for(client: &Client, scan: &Scan) -> Result<Option<MissingIndex>, Error> {
    let sql = "SELECT greatest(c.reltuples::float8, coalesce(s.n_live_tup, 0)::float8), \
        array(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped), \
        array(SELECT a.attname::text FROM pg_index i JOIN pg_attribute a \
        ON a.attrelid = c.oid AND a.attnum = i.indkey[0] WHERE i.indrelid = c.oid AND i.indisvalid) \
        FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid \
        WHERE c.relname = $1 AND c.relkind = 'r' AND pg_table_is_visible(c.oid)";
    let Some(row) = client.query_opt(sql, &[&scan.table]).await? else { return Ok(None) };
    let (rows, columns, indexed): (f64, Vec<String>, Vec<String>) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if rows < ROWS || scan.rows > rows * SELECTED {
        return Ok(None);
    }
    let compared = compared(&scan.filter, &scan.alias, Dialect::Postgres);
    let compared = compared.into_iter().filter(|compared| columns.contains(&compared.column));
    // Where one of them has an index, the planner has decided against it.
    let all: Vec<_> = compared.collect();
    if all.iter().any(|compared| indexed.contains(&compared.column)) {
        return Ok(None);
    }
    let column = all.into_iter().next().map(|compared| compared.column);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, at least 2000")]
    Ok(column.map(|column| MissingIndex { table: scan.table.clone(), column, rows: rows as u64 }))
}
