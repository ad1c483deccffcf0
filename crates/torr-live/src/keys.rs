//! What each key does.

use crate::wish::Wish;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use torr_press::Steerable;

/// What a key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A wish that concerns the run.
    Wish(Wish),
    /// To see what the keys do, or not any more.
    Help,
    /// To have the screen drawn anew.
    Redraw,
}

/// Returns what a key stands for. The terminal itself makes signals of Ctrl-C, Ctrl-Z and Ctrl-\.
pub fn meaning(key: KeyEvent, steerable: Steerable) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('l')).then_some(Key::Redraw);
    }
    match key.code {
        KeyCode::Char('p' | ' ') if steerable.has_pauses() => Some(Key::Wish(Wish::Pause)),
        KeyCode::Char('+' | '=') | KeyCode::Up if steerable.has_steps() => Some(Key::Wish(Wish::Raise)),
        KeyCode::Char('-') | KeyCode::Down if steerable.has_steps() => Some(Key::Wish(Wish::Lower)),
        KeyCode::Char('m') => Some(Key::Wish(Wish::Mark)),
        KeyCode::Char('q') => Some(Key::Wish(Wish::End)),
        KeyCode::Char('?' | 'h') => Some(Key::Help),
        _ => None,
    }
}

/// Returns the keys of a run with what they do, the most important first.
pub fn legend(steerable: Steerable, paused: bool) -> Vec<(&'static str, &'static str)> {
    let change = match steerable {
        Steerable::Rate(_) => Some(("+ -", "rate")),
        Steerable::Connections { .. } => Some(("+ -", "connections")),
        Steerable::Nothing | Steerable::Remote | Steerable::Script | Steerable::Times => None,
    };
    let pause = ("p", if paused { "continue" } else { "pause" });
    let pause = steerable.has_pauses().then_some(pause);
    let keys = [Some(("q", "end")), pause, change, Some(("m", "mark")), Some(("?", "help"))];
    keys.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_of_the_legend_does_something() {
        let connections = Steerable::Connections { planned: 1, least: 1, most: 2 };
        for steerable in [Steerable::Rate(None), connections, Steerable::Nothing, Steerable::Remote, Steerable::Script]
        {
            for (keys, _) in legend(steerable, false) {
                for key in keys.split(' ').map(|key| KeyCode::Char(key.chars().next().expect("a key has a name"))) {
                    assert!(
                        meaning(KeyEvent::new(key, KeyModifiers::NONE), steerable).is_some(),
                        "{key} of {steerable:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_is_raised_where_nothing_can_be() {
        let plus = KeyEvent::new(KeyCode::Char('+'), KeyModifiers::NONE);
        assert_eq!(meaning(plus, Steerable::Nothing), None);
        let [p, q] = ['p', 'q'].map(|key| KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
        assert_eq!(meaning(p, Steerable::Remote), None, "agents do not pause");
        assert_eq!(meaning(p, Steerable::Script), None, "scripts do not pause");
        assert_eq!(meaning(q, Steerable::Remote), Some(Key::Wish(Wish::End)));
        let ctrl_q = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::CONTROL);
        assert_eq!(meaning(ctrl_q, Steerable::Rate(None)), None, "a terminal's own key ends nothing");
    }
}
