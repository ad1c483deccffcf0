//! The help and the guide on the configuration.

use super::scene::{Line, Scene, flag, line, one_line, variable};
use std::collections::BTreeSet;
use torr_test_support::program::torr;

#[test]
fn the_help_and_the_guide_tell_every_setting() {
    let help = torr(&["serve", "--help-all"]).stdout;
    let guide = include_str!("../../../docs/serve/configuration.md");
    let rows: BTreeSet<_> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    for line in Scene::new("").printed(&[]) {
        let (flag, variable) = (flag(&line.key), variable(&line.key));
        // The value of a switch is optional.
        let forms = [format!("{flag} <"), format!("{flag} [<")];
        assert!(forms.iter().any(|form| help.contains(form)), "{flag}: {help}");
        let default = match line.source.strip_prefix("default, ") {
            Some(what) => what.to_owned(),
            None => format!("`{}`", line.value),
        };
        let row = format!("| `{}` | `{flag}` | `{variable}` | {default} | ", line.key);
        assert!(rows.iter().any(|known| known.starts_with(&row)), "docs/serve/configuration.md has no row {row}");
    }
}

/// Returns the code blocks of the page on configuration before the demo application, without the words behind their fences.
fn blocks() -> Vec<&'static str> {
    let page = include_str!("../../../docs/serve/configuration.md");
    let page = page.split("\n## The demo application").next().expect("a text has a first part");
    let page = page.split_once("\n## Configuration").expect("it has an example").1;
    let blocks = page.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').expect("a fence ends its line").1).collect()
}

#[test]
fn the_examples_of_the_guide_are_true() {
    let [command, file, printed, mistakes] = blocks()[..] else { panic!("other blocks: {:?}", blocks()) };
    assert_eq!(command, "TORR_SERVE_MAX_BODY=65536 torr serve --config torr.toml --workers 4");
    let scene = Scene::new(file).variable("TORR_SERVE_MAX_BODY", "65536");
    let lines = scene.printed(&["--config", "torr.toml", "--workers", "4"]);
    assert_eq!(printed.lines().map(Line::of).collect::<Vec<_>>(), lines[..6]);
    assert_eq!(line(&lines, "idle_timeout").source, "file torr.toml, line 4");

    let said = [("\nworkesr = 4", "1"), ("\n\nworkers = \"4\"", "1"), ("", "0")].map(|(file, workers)| {
        let ended = Scene::new(file).variable("TORR_SERVE_WORKERS", workers).run(&["--config", "torr.toml"]);
        one_line(&ended, file);
        ended.stderr
    });
    assert_eq!(said.concat().trim_end(), mistakes);
}
