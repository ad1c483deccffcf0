//! The agents of a run over a fleet: a row for each, and what makes its figures doubtful.
//!
//! Names and reasons are those of other machines, and are shown as printable text.

use crate::human::{count, micros, percent, printable, rate};
use crate::sentence;
use crate::style::{BAD, FAINT, paint};
use crate::table::align_within;
use torr_gauge::fleet::{AgentState, Fleet, FleetAgent};
use torr_gauge::verdict::Fact;

/// Returns a line for each agent that has not ended as planned, and for the part of the run that the result covers.
pub(crate) fn cautions(fleet: &Fleet) -> String {
    sentence::fleet::shortcomings(fleet).iter().map(|line| caution(line)).collect()
}

fn caution(line: &str) -> String {
    format!("{}      {}\n", paint(BAD, "caution"), printable(line))
}

/// Returns a table of the agents, and a line for each that was itself the limit.
pub(crate) fn section(fleet: &Fleet, width: usize) -> String {
    let names = ["agent", "share", "connections", "requests/s", "errors", "busy", "p99 send lag", "began", ""];
    let mut rows = vec![names.map(|name| paint(FAINT, name)).to_vec()];
    rows.extend(fleet.agents.iter().map(row));
    let mut text = align_within(&rows, width);
    let limits = fleet.agents.iter().filter(|agent| agent.was_limit);
    let limit = |agent: &FleetAgent| sentence::fact(&Fact::AgentLimit { agent: agent.name.clone() });
    limits.for_each(|agent| text.push_str(&caution(&limit(agent))));
    text
}

fn row(agent: &FleetAgent) -> Vec<String> {
    let known = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let state = match agent.state {
        AgentState::Ended => String::new(),
        AgentState::Stopped => "stopped".into(),
        AgentState::Failed => paint(BAD, "failed"),
        AgentState::Lost => paint(BAD, "lost"),
    };
    let late = |us: i64| format!("{}{}", if us < 0 { "-" } else { "+" }, micros(us.unsigned_abs() as f64));
    vec![
        printable(&agent.name).into_owned(),
        percent(agent.share),
        count(agent.connections as u64),
        rate(agent.rps),
        count(agent.errors),
        known(agent.busy_share.map(percent)),
        known(agent.send_lag_p99_us.map(|us| micros(us as f64))),
        known(agent.began_us.map(late)),
        state,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::fleet::{EarlyEnd, FleetCut};

    #[test]
    fn each_agent_has_a_row_and_what_went_wrong_is_named() {
        let agent = |name: &str| FleetAgent { name: name.into(), share: 0.5, connections: 5, ..FleetAgent::default() };
        let slow = FleetAgent { was_limit: true, began_us: Some(120), busy_share: Some(0.99), ..agent("a") };
        let lost = FleetAgent { state: AgentState::Lost, fact: Some(EarlyEnd::NoHeartbeat), ..agent("b") };
        let cut = Some(FleetCut { at_s: 2.0, ..FleetCut::default() });
        let fleet = Fleet { agents: vec![slow, lost], cut, ..Fleet::default() };
        let text = anstream::adapter::strip_str(&section(&fleet, 200)).to_string();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[1].starts_with('a') && lines[1].contains("+120 us") && lines[1].contains("99"), "{text}");
        assert!(lines[2].starts_with('b') && lines[2].ends_with("lost"), "{text}");
        assert_eq!(lines[3..], ["caution      agent a was itself the limit"], "{text}");
        let text = anstream::adapter::strip_str(&cautions(&fleet)).to_string();
        let lines = [
            "caution      agent b was lost: three heartbeats in a row did not arrive",
            "caution      the figures cover the first 2.00 s, with all agents",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn text_of_agents_does_nothing_to_the_terminal() {
        let hostile = "\u{1b}[2J\u{1b}]0;title\u{7}";
        let lost = FleetAgent {
            name: hostile.into(),
            state: AgentState::Lost,
            fact: Some(EarlyEnd::Failed { error: hostile.into() }),
            was_limit: true,
            ..FleetAgent::default()
        };
        let fleet = Fleet { agents: vec![lost], ..Fleet::default() };
        let text = section(&fleet, 200) + &cautions(&fleet);
        let shown = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(shown.matches("\\u{1b}[2J").count(), 4, "{shown}");
        assert!(!text.contains("\u{1b}[2J") && !text.contains('\u{7}'), "{text:?}");
    }
}
