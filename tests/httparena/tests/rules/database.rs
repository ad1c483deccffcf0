//! The profile async-db, and the contest's tables.

use crate::application::Application;
use crate::curl::get;
use std::sync::OnceLock;
use torr_test_support::databases::{Make, Outside, shared};

/// The contest's schema with rows of our own.
const TABLES: &str = "
    CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price INTEGER NOT NULL,
        quantity INTEGER NOT NULL, active BOOLEAN NOT NULL, tags JSONB NOT NULL, rating_score INTEGER NOT NULL,
        rating_count INTEGER NOT NULL);
    INSERT INTO items SELECT id, 'Item ' || id, (ARRAY['electronics', 'office', 'garden', 'toys'])[id % 4 + 1],
        id % 499 + 1, id % 97, id % 3 > 0, '[\"fast\", \"new\"]', id % 5 + 1, id % 1000
        FROM generate_series(1, 100000) AS id;
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, plan TEXT NOT NULL);
    INSERT INTO users SELECT id, 'User ' || id, 'user' || id || '@example.test', 'free' FROM generate_series(42, 45) AS id";

/// Starts the application with a database that all tests share.
pub fn start() -> Application {
    static URL: OnceLock<String> = OnceLock::new();
    let url = URL.get_or_init(|| {
        let url = shared(Make::Postgres).new_database();
        Outside::new(&url).run(TABLES);
        url
    });
    Application::start_with(&[("DATABASE_URL", url), ("DATABASE_MAX_CONN", "16")])
}

/// Checks ranges with rows and one without.
pub fn ranges(application: &Application) {
    for (min, max, limit) in [(5, 80, 7), (20, 150, 18), (100, 400, 33), (10, 50, 50)] {
        let page = get(&application.http(&format!("/async-db?min={min}&max={max}&limit={limit}"))).json();
        let items = page["items"].as_array().expect("it is a list");
        assert_eq!((page["count"].as_u64(), items.len()), (Some(limit), limit as usize), "{page}");
        for item in items {
            let id = item["id"].as_i64().expect("it is a number");
            let price = id % 499 + 1;
            assert!((min..=max).contains(&price), "{item}");
            let category = ["electronics", "office", "garden", "toys"][id as usize % 4];
            let expected = serde_json::json!({
                "id": id, "name": format!("Item {id}"), "category": category, "price": price, "quantity": id % 97,
                "active": id % 3 > 0, "tags": ["fast", "new"],
                "rating": { "score": id % 5 + 1, "count": id % 1000 },
            });
            assert_eq!(*item, expected);
        }
    }
    let none = get(&application.http("/async-db?min=9999&max=9999&limit=50")).json();
    assert_eq!(none, serde_json::json!({ "items": [], "count": 0 }));
}

/// Checks ranges, defaults and bounds, and mistakes.
pub fn check() {
    let application = start();
    ranges(&application);
    let count = |query: &str| get(&application.http(&format!("/async-db{query}"))).json()["count"].as_u64();
    assert_eq!(count(""), Some(50));
    assert_eq!(count("?min=0010&max=0050&limit=0005"), Some(5));
    assert_eq!((count("?limit=0"), count("?limit=1000")), (Some(1), Some(50)));
    assert_eq!(get(&application.http("/async-db?min=x")).status, 400);
}
