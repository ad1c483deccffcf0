//! The configuration of `torr serve`: file, environment and flags, and their order.

mod documentation;
mod effects;
mod mistakes;
mod scene;
mod signals;

use scene::{Line, OTHER, Scene, bare, flag, line, other_file, same_text, variable};
use std::fs;

#[test]
fn every_setting_can_be_set_in_each_source() {
    let by_file = Scene::new(other_file()).printed(&["--config", "torr.toml"]);
    let scene = OTHER.iter().fold(Scene::new(""), |scene, (key, value)| scene.variable(&variable(key), &bare(value)));
    let by_variable = scene.printed(&[]);
    let flags: Vec<_> = OTHER.iter().flat_map(|(key, value)| [flag(key), bare(value)]).collect();
    let by_flag = Scene::new("").printed(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    for (number, (key, value)) in OTHER.iter().enumerate() {
        for (lines, source) in [
            (&by_file, format!("file torr.toml, line {}", number + 1)),
            (&by_variable, format!("environment, {}", variable(key))),
            (&by_flag, format!("flag {}", flag(key))),
        ] {
            let line = line(lines, key);
            assert!(same_text(&line.value, value), "{key}: {line:?}");
            assert_eq!(line.source, source, "{key}");
        }
    }
    let known: Vec<_> = Scene::new("").printed(&[]).into_iter().map(|line| line.key).collect();
    assert_eq!(known, OTHER.iter().map(|(key, _)| *key).collect::<Vec<_>>(), "all settings are tested");
}

#[test]
fn users_and_passwords_are_left_out_with_a_note() {
    let lines = Scene::new("cache = \"redis://:secret@h/3\"").printed(&[
        "--config",
        "torr.toml",
        "--database",
        "mysql://a:b@h/d",
    ]);
    let note = "; *** hides a secret";
    for (key, value, source) in
        [("cache", "redis://***@h/3", "file torr.toml, line 1"), ("database", "mysql://***@h/d", "flag --database")]
    {
        let line = line(&lines, key);
        assert_eq!((line.value.trim_matches('"'), &*line.source), (value, &*format!("{source}{note}")), "{key}");
    }
}

#[test]
fn flags_are_stronger_than_variables_and_those_than_the_file() {
    let scene = Scene::new("max_head = 256\n\nmax_headers = 1\n# not this\nmax_body = 1\n");
    let scene = scene.variable("TORR_SERVE_MAX_HEADERS", "2").variable("TORR_SERVE_MAX_BODY", "2");
    let lines = scene.printed(&["--config", "torr.toml", "--max-body", "3"]);
    for (key, value, source) in [
        ("max_head", "256", "file torr.toml, line 1"),
        ("max_headers", "2", "environment, TORR_SERVE_MAX_HEADERS"),
        ("max_body", "3", "flag --max-body"),
        ("max_connections", "100000", "default"),
    ] {
        let line = line(&lines, key);
        assert_eq!((&*line.value, &*line.source), (value, source), "{key}");
    }
}

#[test]
fn what_is_printed_can_be_read_back() {
    for first in ["", &other_file()] {
        let scene = Scene::new(first);
        let printed = scene.run(&["--config", "torr.toml", "--print-config"]);
        fs::write(scene.file(), &printed.stdout).expect("a file can be written");
        let values = |lines: Vec<Line>| lines.into_iter().map(|line| (line.key, line.value)).collect::<Vec<_>>();
        let again = values(scene.printed(&["--config", "torr.toml"]));
        assert_eq!(again, values(printed.stdout.lines().map(Line::of).collect()));
    }
}

#[test]
fn a_variable_names_the_file_unless_a_flag_does() {
    let scene = Scene::new("workers = 7").variable("TORR_SERVE_CONFIG", "torr.toml");
    assert_eq!(line(&scene.printed(&[]), "workers").value, "7");
    fs::write(scene.folder.path().join("other.toml"), "workers = 8").expect("a file can be written");
    let lines = scene.printed(&["--config", "other.toml"]);
    assert_eq!((&*line(&lines, "workers").value, &*line(&lines, "workers").source), ("8", "file other.toml, line 1"));
}

#[test]
fn a_file_can_write_values_in_more_than_one_way() {
    let scene = Scene::new("\"workers\" = 0x1_0\r\nidle_timeout = 5\r\nhead_timeout = 0.25\r\nserver_name = 'a'\r\n");
    let lines = scene.printed(&["--config", "torr.toml"]);
    let values = ["workers", "idle_timeout", "head_timeout"].map(|key| line(&lines, key).value.clone());
    assert_eq!(values, ["16", "\"5s\"", "\"250ms\""]);
}

#[test]
fn the_name_of_a_file_cannot_break_what_is_printed() {
    let scene = Scene::new("");
    fs::write(scene.folder.path().join("a\nb"), "workers = 8\nx = 1").expect("a file can be written");
    let ended = scene.run(&["--config", "a\nb"]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{ended:?}");
    fs::write(scene.folder.path().join("a\nb"), "workers = 8").expect("a file can be written");
    assert_eq!(line(&scene.printed(&["--config", "a\nb"]), "workers").source, "file a?b, line 1");
}
