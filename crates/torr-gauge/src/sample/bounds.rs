//! The bounds of a sample of another machine.

use super::{Carried, Failures, MAX_DISTINCT, MAX_GAPS, Sample};
use crate::Failure;
use crate::bounds::{Bounded, LONGEST_NS, MOST_IN_A_RUN, OutOfBounds, at_most, most_units, no_longer, text};

/// The limit of checks of a response, each of which is a bit.
const MAX_CHECKS: usize = u32::BITS as usize;

impl Bounded for Sample {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        // Each field is named, so that the compiler reports a new one.
        let Self {
            answered,
            unanswered,
            first_apart,
            last_apart,
            processing,
            waiting,
            connect,
            tls,
            lag,
            full_handshakes,
            resumed_handshakes,
            early_handshakes,
            failed_checks,
            gaps,
            status,
            expected_statuses,
            failures,
            error_times,
            carried,
            unfinished,
            redirects,
            sessions,
            streams,
            websocket,
            datagrams,
            sent,
            received,
            body,
            opened,
            closed_by_server,
            ended_idle,
            idle_closes,
            sockets,
            idle,
            // Any bits are times.
            activity: _,
            open,
        } = self;
        for (field, latency) in [
            ("answered", &*answered),
            ("first_apart", first_apart),
            ("last_apart", last_apart),
            ("processing", processing),
            ("waiting", waiting),
            ("connect", connect),
            ("tls", tls),
            ("lag", lag),
        ] {
            at_most(field, latency.counts().map(|(_, count)| count), most)?;
        }
        // At the end of a run these count what is left of a schedule, which may be more than a machine can send.
        at_most("unanswered", unanswered.counts().map(|(_, count)| count), MOST_IN_A_RUN)?;
        at_most("unfinished", [*unfinished], MOST_IN_A_RUN)?;
        if !answered.contains(last_apart) {
            return Err(OutOfBounds { field: "last_apart", must: "must be a part of the responses".into() });
        }
        for (field, count) in [
            ("full_handshakes", *full_handshakes),
            ("resumed_handshakes", *resumed_handshakes),
            ("early_handshakes", *early_handshakes),
            ("expected_statuses", *expected_statuses),
            ("redirects", *redirects),
            ("opened", *opened),
            ("closed_by_server", *closed_by_server),
            ("open", *open),
            ("idle_closes", idle_closes.requests),
        ] {
            at_most(field, [count], most)?;
        }
        for (field, bytes) in [("sent", *sent), ("received", *received), ("body", *body)] {
            at_most(field, [bytes], most_units(most))?;
        }
        no_longer("failed_checks", failed_checks.len(), MAX_CHECKS)?;
        at_most("failed_checks", failed_checks.iter().copied().max(), most)?;
        no_longer("gaps", gaps.len(), MAX_GAPS)?;
        at_most("gaps", gaps.iter().copied().max(), LONGEST_NS)?;
        at_most("ended_idle", *ended_idle, LONGEST_NS)?;
        at_most("idle_closes", [idle_closes.shortest_ms, idle_closes.longest_ms], LONGEST_NS)?;
        at_most("idle", [*idle], LONGEST_NS)?;
        status.bound(most)?;
        failures.bound(most)?;
        error_times.bound(most)?;
        carried.bound(most)?;
        sessions.bound(most)?;
        streams.as_mut().map_or(Ok(()), |streams| streams.bound(most))?;
        websocket.as_mut().map_or(Ok(()), |websocket| websocket.bound(most))?;
        // A request may take several datagrams.
        datagrams.bound(most_units(most))?;
        sockets.bound(most)
    }
}

impl Bounded for Carried {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let &mut Self { answered, response_errors, failed, received } = self;
        at_most("carried", [answered], most)?;
        at_most("carried", [response_errors], most)?;
        at_most("carried", [failed], most)?;
        at_most("carried", [received], most_units(most))
    }
}

impl Bounded for Failures {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { kinds, causes } = self;
        at_most("failures", kinds.values().copied(), most)?;
        at_most("failures", causes.values().copied(), most)?;
        no_longer("causes", causes.len(), MAX_DISTINCT)?;
        for (kind, &count) in &*kinds {
            let with_cause = causes.iter().filter(|(cause, _)| cause.kind == *kind);
            at_most("causes", with_cause.map(|(_, count)| *count), count)?;
        }
        if causes.keys().any(|cause| !kinds.contains_key(&cause.kind)) {
            return Err(OutOfBounds { field: "causes", must: "must be of kinds that are counted".into() });
        }
        let printable = |(Failure { kind, side, what }, count)| {
            let mut what = std::borrow::Cow::into_owned(what);
            text(&mut what);
            (Failure::new(kind, side, what), count)
        };
        *causes = std::mem::take(causes).into_iter().map(printable).collect();
        Ok(())
    }
}
