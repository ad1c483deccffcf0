//! The histogram of response times: bars on a logarithmic axis of time, with the median and the 99th percentile marked.

use super::WIDTH;
use super::frame::Frame;
use super::percentiles::Counts;
use super::scale::Scale;
use super::tick::{percent_tick, time_tick};
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write;
use torr_report::human::count;

const HEIGHT: f64 = 140.0;
/// The least height of a bar, so that a single slow request is visible.
const LEAST: f64 = 1.5;
/// The bars of a decade: of response times that lie close together, and of others.
const CLOSE: f64 = 20.0;
const WIDE: f64 = 10.0;
/// The widest range of times that has bars of the first kind, in decades.
const DECADES: f64 = 2.5;
/// The room that the name of a percentile needs on a phone, as a share of the width.
const NAME: f64 = 0.16;

/// Returns the histogram; `None` for fewer than two samples.
pub fn histogram(counts: &Counts) -> Option<Markup> {
    let samples = counts.total();
    if samples < 2.0 {
        return None;
    }
    let per_decade = if (counts.at(1.0) / counts.at(0.0)).log10() <= DECADES { CLOSE } else { WIDE };
    let bars = bars(counts, per_decade);
    let edge = |at: i32| 10f64.powf(f64::from(at) / per_decade);
    let (first, last) = (*bars.first_key_value()?.0, *bars.last_key_value()?.0);
    // A single bar would fill the plot.
    let (first, last) = (first.min(last - 2), last.max(first + 2));
    let x = Scale::Log(edge(first), edge(last + 1));
    // Times that lie close together may have no round one among them.
    let ticks = Some(x.ticks()).filter(|ticks| ticks.len() > 1).unwrap_or_else(|| vec![edge(first), edge(last + 1)]);
    let y = Scale::from_zero(bars.values().copied().fold(0.0, f64::max) / samples);
    let mut path = String::new();
    for (at, number) in &bars {
        let [left, right] = [edge(*at), edge(at + 1)].map(|time| x.share(time) * WIDTH);
        let height = (y.share(number / samples) * HEIGHT).max(LEAST);
        let _ = write!(path, "M{left:.1} {HEIGHT}v-{height:.1}H{right:.1}V{HEIGHT}z");
    }
    let bars = html! { path class="bars a" d=(path) {} };
    let frame = Frame {
        title: "Response times",
        description: format!("share of {} requests by response time, on a logarithmic scale", count(samples as u64)),
        height: HEIGHT,
        x,
        x_labels: ticks.into_iter().map(|time| (time, time_tick(time))).collect(),
        y,
        y_text: percent_tick,
        ends: Vec::new(),
        marks: marks(counts, x),
    };
    Some(frame.around(&bars, &html! {}))
}

/// Returns the number of requests of each bar, by its position in steps of a decade.
fn bars(counts: &Counts, per_decade: f64) -> BTreeMap<i32, f64> {
    let mut bars = BTreeMap::new();
    for (time, number) in counts.each() {
        // A time at an edge belongs to the bar that begins there.
        *bars.entry((time.log10() * per_decade + 1e-9).floor() as i32).or_insert(0.0) += number;
    }
    bars
}

/// Returns the percentiles that are marked. That which would lie over the one before has no name.
fn marks(counts: &Counts, x: Scale) -> Vec<(f64, String)> {
    let mut free = f64::NEG_INFINITY;
    let named = [("p50", 0.5), ("p99", 0.99)].map(|(name, share)| {
        let time = counts.at(share);
        let has_room = x.share(time) >= free;
        if has_room {
            free = x.share(time) + NAME;
        }
        (time, if has_room { name.to_owned() } else { String::new() })
    });
    named.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(words: &str) -> Counts {
        Counts::parse(words).expect("there are counts")
    }

    #[test]
    fn each_request_is_in_the_bar_of_its_time() {
        let bars = bars(&counts("100:5 112:2 113:1 999:7 1000:3"), CLOSE);
        assert_eq!(bars, [(40, 7.0), (41, 1.0), (59, 7.0), (60, 3.0)].into());
    }

    #[test]
    fn percentiles_are_marked_and_names_do_not_lie_over_each_other() {
        let x = Scale::Log(100.0, 100_000.0);
        let far = marks(&counts("200:900 20000:100"), x);
        assert_eq!(far, [(200.0, "p50".to_owned()), (20_000.0, "p99".to_owned())]);
        let near = marks(&counts("200:900 300:100"), x);
        assert_eq!(near, [(200.0, "p50".to_owned()), (300.0, String::new())]);
    }

    #[test]
    fn a_histogram_has_a_bar_for_each_step_and_few_samples_have_none() {
        let drawn = histogram(&counts("200:900 300:100 90000:1")).expect("it is drawn").into_string();
        assert_eq!(drawn.matches("v-").count(), 3, "{drawn}");
        assert!(drawn.contains("share of 1,001 requests") && drawn.contains(">p50</text>"), "{drawn}");
        assert!(histogram(&counts("200:900")).is_some(), "one bar");
        assert!(histogram(&counts("200:1")).is_none());
    }
}
