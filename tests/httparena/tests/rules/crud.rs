//! The profile crud.

use crate::application::Application;
use crate::curl::{Got, curl, get};
use crate::database;
use serde_json::{Value, json};
use torr_test_support::wait_until;

fn send(method: &str, url: &str, item: &Value) -> Got {
    curl(&["-X", method, "-H", "Content-Type: application/json", "-d", &item.to_string()], url)
}

/// Reads an item twice, the second time from the cache. On a busy machine more than 200 ms may be between the two.
fn is_cached(application: &Application, id: &str) {
    let url = application.http(&format!("/crud/items/{id}"));
    wait_until("a HIT right after a MISS", || {
        let (first, second) = (get(&url), get(&url));
        let from = |got: &Got| got.field("x-cache").map(str::to_owned).expect("each item tells where it is from");
        let item = (first.json(), second.json());
        assert_eq!(item.0, item.1);
        (from(&first) == "MISS" && from(&second) == "HIT").then_some(())
    });
}

/// Checks all operations, the cache and its age, and numbers of fixed width.
pub fn check() {
    let application = database::start();
    database::ranges(&application);
    let item = |id: &str| application.http(&format!("/crud/items/{id}"));
    let list = |query: &str| get(&application.http(&format!("/crud/items{query}"))).json();

    let page = list("?category=electronics&page=1&limit=5");
    let ids: Vec<_> = page["items"].as_array().expect("it is a list").iter().map(|item| &item["id"]).collect();
    assert_eq!(ids, [4, 8, 12, 16, 20]);
    assert_eq!((&page["total"], &page["page"], &page["limit"]), (&json!(5), &json!(1), &json!(5)));
    let page = list("?category=office&page=07&limit=10");
    assert_eq!((&page["items"][0]["id"], &page["page"], &page["total"]), (&json!(241), &json!(7), &json!(10)));
    assert_eq!(list(""), list("?category=electronics&page=1&limit=10"));
    assert_eq!(list("?limit=1000")["limit"], json!(50));
    assert_eq!(list("?category=nothing")["total"], json!(0));
    assert_eq!(get(&application.http("/crud/items?page=x")).status, 400);

    let one = get(&item("1")).json();
    assert_eq!((&one["id"], &one["rating"]), (&json!(1), &json!({ "score": 2, "count": 1 })));
    assert_eq!(get(&item("00042")).json()["id"], json!(42));
    is_cached(&application, "42");
    is_cached(&application, "00042");
    assert_eq!(get(&item("999999")).status, 404);
    assert_eq!(get(&item("x")).status, 404);

    // With prices that no other test asks for, since all share the table.
    let fields = json!({ "name": "New", "category": "toys", "price": 490, "quantity": 3 });
    let with_id = |id: i64| {
        let mut item = fields.clone();
        item["id"] = json!(id);
        item
    };
    for _ in 0..2 {
        // The second one is an upsert.
        let added = send("POST", &application.http("/crud/items"), &with_id(200_001));
        assert_eq!((added.status, added.media_type()), (201, "application/json"), "{added:?}");
        let read = get(&item("200001")).json();
        for (name, value) in with_id(200_001).as_object().expect("it is an object") {
            assert_eq!(read[name], *value);
        }
        assert!(
            read["tags"].is_array() && read["active"].is_boolean() && read["rating"]["score"].is_number(),
            "{read}"
        );
    }

    is_cached(&application, "498");
    let changed = send("PUT", &item("00498"), &fields);
    assert_eq!(changed.json(), with_id(498));
    let read = get(&item("498"));
    assert_eq!(read.field("x-cache"), Some("MISS"), "a change removes the entry");
    assert_eq!((&read.json()["name"], &read.json()["rating"]["count"]), (&json!("New"), &json!(498)));
    assert_eq!(send("PUT", &item("999999"), &fields).status, 404);
    assert_eq!(send("PUT", &item("44"), &json!({ "name": "only" })).status, 400);
    assert_eq!(send("POST", &application.http("/crud/items"), &json!([])).status, 400);

    // The age is absolute: an item that is requested all the time is read again too.
    is_cached(&application, "45");
    wait_until("the entry is too old", || (get(&item("45")).field("x-cache") == Some("MISS")).then_some(()));
}
