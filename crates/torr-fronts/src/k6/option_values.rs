//! Values of options, from text to what a script would write.

use super::option_rows::{Form, OptionRow};
use serde_json::{Map, Value, json};

/// Sets an option to a value. What it was set to before is replaced, or extended where an option is repeatable. The error is the
/// rest of a sentence that begins with the option's name.
pub fn set(options: &mut Map<String, Value>, row: &OptionRow, text: &str) -> Result<(), String> {
    let value = match row.form {
        Form::Count => count(text)?,
        Form::Duration => duration(text)?.into(),
        Form::Text => text.into(),
        Form::Switch => switch(text)?.into(),
        Form::List => text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
        Form::Stages => {
            let more = text.split(',').map(|stage| self::stage(stage.trim())).collect::<Result<Vec<_>, _>>()?;
            return extend(options, row.key, more);
        }
        Form::Pairs => {
            let (name, value) =
                text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("must have the form name=value")?;
            let known = options.entry(row.key).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(known) = known {
                known.insert(name.to_owned(), value.into());
            }
            return Ok(());
        }
        Form::Fields => {
            let field = |field: &str| {
                let (name, value) = field.split_once('=').ok_or("must have the form name=value,name=value")?;
                Ok((name.trim().to_owned(), Value::from(value.trim())))
            };
            Value::Object(text.split(',').map(field).collect::<Result<_, String>>()?)
        }
        Form::Json => serde_json::from_str(text).map_err(|error| format!("must be JSON: {error}"))?,
        Form::Debug => if text.is_empty() { "headers" } else { text }.into(),
    };
    options.insert(row.key.to_owned(), value);
    Ok(())
}

/// Sets an option to the value of its variable, whose pairs are written as `name:value,name:value`.
pub fn set_variable(options: &mut Map<String, Value>, row: &OptionRow, text: &str) -> Result<(), String> {
    if row.form != Form::Pairs {
        return set(options, row, text);
    }
    let pair = |pair: &str| {
        let (name, value) = pair.trim().split_once([':', '=']).filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), Value::from(value)))
    };
    let pairs: Option<Map<_, _>> = text.split(',').map(pair).collect();
    options.insert(row.key.to_owned(), pairs.ok_or("must have the form name:value,name:value")?.into());
    Ok(())
}

fn extend(options: &mut Map<String, Value>, key: &str, more: Vec<Value>) -> Result<(), String> {
    match options.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(known) => known.extend(more),
        other => *other = Value::Array(more),
    }
    Ok(())
}

fn count(text: &str) -> Result<Value, String> {
    let number: i64 = text.parse().map_err(|_| format!("must be a whole number, found '{text}'"))?;
    Ok(number.into())
}

/// Returns a time as it stands. A number alone would be milliseconds in a script, and seconds to most people.
fn duration(text: &str) -> Result<&str, String> {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    match text {
        "0" => Ok(text),
        _ if !is_number => Err(format!("must be a time such as 30s or 1m30s, found '{text}'")),
        _ if text.ends_with(|last: char| last.is_ascii_digit()) => {
            Err(format!("needs a unit, as in {text}s, found '{text}'"))
        }
        _ => Ok(text),
    }
}

/// Returns whether a text says yes or no.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("must be true or false, found '{text}'")),
    }
}

fn stage(text: &str) -> Result<Value, String> {
    let wrong = || format!("must have the form 30s:10, found '{text}'");
    let (time, target) = text.split_once(':').ok_or_else(wrong)?;
    let mut stage = json!({});
    if !time.is_empty() {
        stage["duration"] = duration(time)?.into();
    }
    if !target.is_empty() {
        stage["target"] = count(target).map_err(|_| wrong())?;
    }
    Ok(stage)
}

#[cfg(test)]
mod tests {
    use super::super::option_rows::{OPTIONS, of_flag};
    use super::*;

    fn value(flag: &str, texts: &[&str]) -> Result<Value, String> {
        let mut options = Map::new();
        let row = of_flag(flag).expect("there is such a flag");
        texts.iter().try_for_each(|text| set(&mut options, row, text))?;
        Ok(options.remove(row.key).expect("the option was set"))
    }

    #[test]
    fn values_become_what_a_script_would_write() {
        for (flag, texts, expected) in [
            ("vus", &["10"][..], json!(10)),
            ("duration", &["1m30s"], json!("1m30s")),
            (
                "stage",
                &["5s:10", ":20,1m:"],
                json!([{"duration": "5s", "target": 10}, {"target": 20}, {"duration": "1m"}]),
            ),
            ("throw", &["true"], json!(true)),
            ("no-setup", &["false"], json!(false)),
            ("tag", &["a=b", "c=d=e"], json!({"a": "b", "c": "d=e"})),
            ("summary-trend-stats", &["avg, p(95)"], json!(["avg", "p(95)"])),
            ("dns", &["ttl=5m,select=first"], json!({"ttl": "5m", "select": "first"})),
            ("http-debug", &[""], json!("headers")),
            ("http-debug", &["full"], json!("full")),
        ] {
            assert_eq!(value(flag, texts), Ok(expected), "{flag}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (flag, text, what) in [
            ("vus", "ten", "must be a whole number, found 'ten'"),
            ("duration", "5", "needs a unit"),
            ("duration", "soon", "must be a time"),
            ("stage", "5s-10", "must have the form 30s:10"),
            ("stage", "5s:many", "must have the form 30s:10"),
            ("tag", "alone", "must have the form name=value"),
            ("throw", "maybe", "must be true or false"),
            ("dns", "ttl", "must have the form"),
        ] {
            let error = value(flag, &[text]).expect_err(flag);
            assert!(error.contains(what), "{flag}: {error}");
        }
        let mut variables: Vec<_> = OPTIONS.iter().map(|row| row.variable).collect();
        variables.sort_unstable();
        variables.dedup();
        assert_eq!(variables.len(), OPTIONS.len(), "each variable stands for one option");
    }
}
