//! A history as CSV: a row for each run, a column for each metric.

use torr_lab::history::History;

/// Returns the text: the time and the file of each run, and its metrics by their names; an empty field is a metric that the run does not
/// have.
///
/// # Errors
/// A line, if the rows cannot be written.
pub fn text(history: &History) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let metrics = history.rows.iter().map(|row| row.metric.name());
    let mut written = writer.write_record(["time", "run"].into_iter().chain(metrics));
    for (at, build) in history.builds.iter().enumerate() {
        let value = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let values = history.rows.iter().map(|row| value(row.values.get(at).copied().flatten()));
        let record = [build.started_at.clone(), build.run.clone()].into_iter().chain(values);
        written = written.and_then(|()| writer.write_record(record));
    }
    written.map_err(|error| error.to_string())?;
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}
