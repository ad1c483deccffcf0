//! An agent's part of a plan that a coordinator sends, and the reasons for which it is refused.

use crate::allow::AllowList;
use crate::load::LoadAndFiles;
use crate::message::{PlanMessage, Refusal};
use crate::role::Agent;
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use torr_net::Address;
use torr_press::Plan;

/// The time-out of the connection by which an agent finds whether it can reach the target.
const REACH: Duration = Duration::from_secs(5);

/// A part of a plan, or why it is refused: the kind of the reason, and the reason in one line.
pub(super) type Part = Result<Plan, (Refusal, String)>;

/// Makes an agent's part of a plan. May block. A plan that cannot even be made is refused like any other.
pub(super) fn part_of(
    agent: &dyn Agent,
    (allow, longest): (&AllowList, Duration),
    message: &PlanMessage,
    load: LoadAndFiles,
) -> Part {
    let made = catch_unwind(AssertUnwindSafe(|| make_plan(agent, (allow, longest), message, load)));
    made.unwrap_or_else(|_| Err((Refusal::Plan, "it panicked while preparing its part of the plan".into())))
}

/// Returns why one of these addresses may not be loaded.
fn not_allowed<'a>(allow: &AllowList, addresses: impl Iterator<Item = &'a Address>) -> Option<String> {
    let refused = allow.refused(addresses)?;
    let allowed = allow.shown().join(", ");
    Some(format!("it may not load {refused}, only {allowed}: add the target to --allow of 'torr fleet agent'"))
}

fn make_plan(
    agent: &dyn Agent,
    (allow, longest): (&AllowList, Duration),
    message: &PlanMessage,
    load: LoadAndFiles,
) -> Part {
    let plan = agent.plan(load).map_err(|why| (Refusal::Plan, why))?;
    if let Some(why) = not_allowed(allow, plan.all_addresses()) {
        return Err((Refusal::Target, why));
    }
    if plan.tunnel.is_some() || plan.further.iter().any(|server| server.tunnel.is_some()) {
        return Err((
            Refusal::Target,
            "proxies are not supported, as the agent could not check the target behind one".into(),
        ));
    }
    if let Some(learnt) = plan.work.users().and_then(|users| users.learnt()) {
        let allow = allow.clone();
        learnt.forbid(move |server| not_allowed(&allow, server.addresses.iter()));
    }
    if plan.length().is_none_or(|length| length > longest) {
        let shown = humantime::format_duration(longest);
        return Err((
            Refusal::Plan,
            format!("plans must not be longer than {shown}: raise --longest of 'torr fleet agent'"),
        ));
    }
    for address in plan.addresses.iter().filter_map(Address::tcp).take(1) {
        let unreachable =
            |error: std::io::Error| (Refusal::Unreachable, format!("it cannot connect to {address}: {error}"));
        TcpStream::connect_timeout(&address, REACH).map_err(unreachable)?;
    }
    Ok(plan.shared(&torr_press::Share {
        part: message.part,
        connections: message.connections,
        requests: message.requests,
        phase: message.phase,
        users_before: message.users_before,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{IfLost, LoadMessage};
    use crate::subject::FleetName;
    use torr_gauge::{RunResult, Verdict};

    /// An agent whose program fails at each plan.
    struct Failing;

    impl Agent for Failing {
        fn plan(&self, _: LoadAndFiles) -> Result<Plan, String> {
            panic!("no plan")
        }

        fn judge(&self, _: &RunResult) -> Option<Verdict> {
            None
        }

        fn note(&self, _: &str) {}
    }

    #[test]
    fn a_plan_that_panics_is_refused() {
        let message = PlanMessage {
            run: FleetName::of("a"),
            load: LoadMessage::default(),
            part: 1.0,
            connections: 1,
            requests: None,
            phase: 0.0,
            users_before: 0,
            if_lost: IfLost::Stop,
        };
        let refused = part_of(&Failing, (&AllowList::default(), Duration::MAX), &message, LoadAndFiles::default());
        assert!(matches!(refused, Err((Refusal::Plan, _))));
    }
}
