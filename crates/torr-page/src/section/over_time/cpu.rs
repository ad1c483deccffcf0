//! The CPU time of server, generator and other programs over time, and what a hypervisor took, one on top of the other, of the CPUs that the machine has.

use super::point::Point;
use super::time::{Time, columns_of, ended, most};
use crate::fields::number;
use crate::plot::envelope::Column;
use crate::plot::line::{area, line};
use crate::plot::scale::Scale;
use crate::plot::tick::count_tick;
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::plural;

const HEIGHT: f64 = 120.0;

/// Returns the plot; nothing where no CPU time is known.
pub fn cpu(value: &Value, points: &[Point], time: &Time) -> Markup {
    let generator = columns_of(points, |point| point.generator);
    let server = columns_of(points, |point| point.server);
    if generator.len() + server.len() < 2 {
        return html! {};
    }
    match number(value, "host.cores").filter(|cores| *cores > 0.0) {
        // Where all is on one machine, the rest of what it uses is that of others.
        Some(cores) if points.iter().all(|point| point.machine.is_some() && point.server.is_some()) => {
            stacked(cores, points, time)
        }
        _ => {
            let y = Scale::from_zero(most(&generator).max(most(&server)));
            let lines = html! {
                (line(&generator, time.x, y, HEIGHT, "c")) (line(&server, time.x, y, HEIGHT, "d"))
            };
            let ends = ended("generator", "c", &generator).into_iter().chain(ended("server", "d", &server)).collect();
            time.plot(("CPU", "CPUs in use".into()), (y, count_tick), HEIGHT, &lines, ends)
        }
    }
}

fn stacked(cores: f64, points: &[Point], time: &Time) -> Markup {
    let y = Scale::Linear(0.0, cores);
    let zero = columns_of(points, |_| Some(0.0));
    let server = columns_of(points, |point| point.server);
    let both = columns_of(points, |point| Some(point.server? + point.generator.unwrap_or(0.0)));
    let machine = |point: &Point| {
        let known = point.server? + point.generator.unwrap_or(0.0);
        Some((point.machine? * cores).max(known).min(cores.max(known)))
    };
    let all = columns_of(points, machine);
    // What the hypervisor took is a part of what the machine used.
    let others = columns_of(points, |point| {
        let known = point.server? + point.generator.unwrap_or(0.0);
        Some((machine(point)? - point.stolen * cores).max(known))
    });
    let layers = [
        ("server", "d", &zero, &server),
        ("generator", "c", &server, &both),
        ("others", "f", &both, &others),
        ("stolen", "bad", &others, &all),
    ];
    let is_stolen = points.iter().any(|point| point.stolen > 0.0);
    let lines = html! {
        @for (_, class, below, above) in layers.iter().filter(|(name, ..)| *name != "stolen" || is_stolen) {
            (area(below, above, time.x, y, HEIGHT, class)) (line(above, time.x, y, HEIGHT, &format!("thin {class}")))
        }
    };
    // A label lies at the middle of its layer's end.
    let end = |(text, class, below, above): (&str, &'static str, &Vec<Column>, &Vec<Column>)| {
        let (low, high) = (below.last()?, above.last()?);
        let middle = [Column { x: high.x, least: low.most, most: high.most }];
        ended(text, class, &middle).filter(|_| most(above) - most(below) > 0.0)
    };
    let ends = layers.into_iter().filter_map(end).collect();
    let description = format!("CPUs in use of {}, one on top of the other", plural(cores as u64, "CPU"));
    time.plot(("CPU", description), (y, count_tick), HEIGHT, &lines, ends)
}
