//! The report of a soak, as JSON and Markdown, and what is wrong in it.

use serde::Serialize;

use super::account::{Kind, Outcome, Window};
use super::others::Shares;
use super::trend::{Quantity, Trend, can_judge};
use crate::archive;
use crate::child::Server;
use crate::machine::Machine;
use crate::reload;
use crate::report::table;
use torr_test_support::error::Error;

/// Lines of unexplained failures in the report for people; the JSON has all.
const MOST_LINES: usize = 20;

/// What supervisors say of their reloads.
#[derive(Serialize)]
pub struct Reloads {
    pub done: usize,
    pub given_up: usize,
}

impl Reloads {
    /// Counts in what these servers have written so far.
    pub fn of(servers: &[&Server]) -> Result<Self, Error> {
        let said = servers.iter().map(|server| server.said()).collect::<Result<Vec<_>, _>>()?.concat();
        let count = |what| said.lines().filter(|line| line.contains(what)).count();
        Ok(Self { done: count(reload::DONE), given_up: count(reload::GIVEN_UP) })
    }
}

/// A report, as it is archived.
#[derive(Serialize)]
pub struct Report {
    pub schema: &'static str,
    pub started_at: String,
    pub seconds: u64,
    pub share_percent: u32,
    pub warm_up_seconds: f64,
    pub machine: Machine,
    pub loads: Vec<Outcome>,
    pub trends: Vec<Trend>,
    pub reloads: Reloads,
    pub disturbances: Vec<Window>,
    /// Who took the machine's CPU time, on average.
    pub shares: Shares,
    /// Disturbances that this run had not, each with the reason.
    pub left_out: Vec<&'static str>,
}

impl Report {
    /// What is wrong; nothing if the soak was good.
    pub fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        for o in self.loads.iter().filter(|outcome| !outcome.is_good()) {
            let (responses, unexplained, lost) = (o.responses, o.unexplained, o.lost());
            all.push(format!(
                "{}: {responses} responses, {unexplained} failures unexplained, {lost} requests lost",
                o.load
            ));
        }
        for t in self.trends.iter().filter(|trend| trend.grows) {
            all.push(format!("{}: {:?} grows by {:.1} an hour", t.process, t.quantity, t.per_hour));
        }
        if self.reloads.given_up > 0 || self.reloads.done == 0 {
            all.push(format!("{} reloads were done, {} given up", self.reloads.done, self.reloads.given_up));
        }
        all
    }

    /// The report for people.
    pub fn markdown(&self) -> String {
        let mut text = format!("# Soak, {}, revision {}\n\n", self.started_at, self.machine.revision);
        text += &format!(
            "`torr` pressed `torr serve --processes 2` for {} s at {}% of what a closed loop of the same mixture reached.\n\n",
            self.seconds, self.share_percent
        );
        text += &archive::on(&self.machine);
        let Shares { own, interrupts, hypervisor, others } = self.shares;
        let [own, interrupts, hypervisor, others] = [own, interrupts, hypervisor, others].map(|share| share * 100.0);
        text += &format!(
            "- this took {own:.0}% of the machine's CPU time, interrupts {interrupts:.0}%, the hypervisor {hypervisor:.0}%, other programs {others:.0}%\n"
        );
        text += &format!("- reloads done: {}, given up: {}\n", self.reloads.done, self.reloads.given_up);
        for kind in [Kind::Reload, Kind::DatabaseRestart, Kind::LinkCut, Kind::DiskFull] {
            let count = self.disturbances.iter().filter(|window| window.kind == kind).count();
            text += &format!("- {}: {count} times\n", kind.name());
        }
        for left_out in &self.left_out {
            text += &format!("- left out: {left_out}\n");
        }
        text += "\n";
        text += &table(&self.load_rows());
        let unexplained: Vec<_> =
            self.loads.iter().flat_map(|o| o.unexplained_at.iter().map(|at| format!("- {}: {at}\n", o.load))).collect();
        if !unexplained.is_empty() {
            text += &format!("\nUnexplained, the first {MOST_LINES} of {} seconds:\n\n", unexplained.len());
            text += &unexplained.iter().take(MOST_LINES).map(String::as_str).collect::<String>();
        }
        let warm_up = self.warm_up_seconds;
        text += &format!(
            "\nSlopes after {warm_up:.0} s of warm-up, with intervals of 95%; undisturbed samples only. Memory is Pss that no file backs:\n\n"
        );
        text += &table(&self.trend_rows());
        if !can_judge(self.seconds as f64) {
            text += "\nThe run is too short to judge growth: the series of results still fill.\n";
        }
        match self.complaints() {
            complaints if complaints.is_empty() => {
                text + "\nEvery request is accounted for, and nothing that was judged grows.\n"
            }
            complaints => text + &format!("\n**Not good:** {}.\n", complaints.join("; ")),
        }
    }

    fn load_rows(&self) -> Vec<Vec<String>> {
        let header = [
            "load",
            "limit/s",
            "rate/s",
            "requests",
            "responses",
            "failed",
            "unfinished",
            "lost",
            "failures by kind",
            "explained by",
            "unexplained",
        ];
        let row = |o: &Outcome| {
            let errors: Vec<_> = o.errors.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            let explained: Vec<_> = o.explained.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            let mut row = vec![o.load.to_owned(), format!("{:.0}", o.limit)];
            row.extend([o.rate, o.requests, o.responses, o.failed, o.unfinished].map(|n| n.to_string()));
            row.extend([o.lost().to_string(), errors.join(", "), explained.join(", "), o.unexplained.to_string()]);
            row
        };
        std::iter::once(header.map(str::to_owned).to_vec()).chain(self.loads.iter().map(row)).collect()
    }

    fn trend_rows(&self) -> Vec<Vec<String>> {
        let header = ["process", "of", "samples", "mean", "per hour", "interval", "grows"];
        let row = |t: &Trend| {
            let of = match t.quantity {
                Quantity::MemoryKib => "memory, KiB",
                Quantity::Descriptors => "descriptors",
            };
            let mut row = vec![t.process.clone(), of.to_owned(), t.samples.to_string()];
            row.extend([t.mean, t.per_hour].map(|value| format!("{value:.1}")));
            row.extend([format!("{:.1} to {:.1}", t.low, t.high), if t.grows { "yes" } else { "no" }.to_owned()]);
            row
        };
        std::iter::once(header.map(str::to_owned).to_vec()).chain(self.trends.iter().map(row)).collect()
    }
}
