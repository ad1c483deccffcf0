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
    for name in ["t1", "t2", "t3", "t6", "t8"] {
        let text = std::fs::read_to_string(format!("/tmp/h2art/{name}.yml")).expect("there");
        let script = imported(&text);
        for of in script.scenarios {
            println!("=== {name} {} {}\n{}\n---\n{}", of.name, of.weight, of.draft.text(), of.draft.summary());
        }
        println!("{:?}", script.flags);
    }
}
