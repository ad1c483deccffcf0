use super::*;

/// Imports a script, beside a file of records.
fn imported(text: &str) -> Script {
    let read = |name: &str| match name {
        "users.csv" => Ok(b"user,id\nann,1\nbob,2\n".to_vec()),
        other => Err(format!("cannot read '{other}'")),
    };
    import(text, &Options { environment: None, read: &read }).expect("it is a script")
}

#[test]
fn look() {
    let text = include_str!("../../samples/shop.artillery.yml");
    let script = imported(text);
    let all = script.scenarios.iter().map(|of| &of.draft).chain(&script.before).chain(&script.after);
    for draft in all {
        println!("{}\n---\n{}\n=====", draft.text(), draft.summary());
    }
    println!("{:?}", script.flags);
}
