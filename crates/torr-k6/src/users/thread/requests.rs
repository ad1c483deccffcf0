//! The requests of a thread's virtual users: their servers, their lanes, and their outcomes.

use super::ThreadVus;
use crate::user::Woken;
use crate::user::exchange::Outcome;
use crate::users::exchange::Sending;
use crate::users::layout::Place;
use crate::users::refusal;
use crate::users::slot::{Resumption, State};
use std::time::Duration;
use torr_press::learnt::{self, Lookup};
use torr_press::users::{Step, Wake};

impl ThreadVus<'_> {
    /// Gives requests that wait to lanes that are free.
    pub(super) fn fill_lanes(&mut self, at: usize) {
        if self.slot(at).is_none_or(|slot| slot.queue.is_empty()) {
            return;
        }
        let (now, layout) = (self.now(), self.load.layout);
        let settings = self.load.run.http_settings();
        let Some(slot) = self.slots[at].as_deref_mut() else { return };
        while !slot.queue.is_empty()
            && let Some((lane, outgoing)) = slot.next_for_lane(settings.batch, settings.batch_per_host)
        {
            slot.lanes[lane] = Some(Sending::new(outgoing, now));
            self.wakes.push_back(Wake::Next(layout.lane(at, lane)));
        }
    }

    /// Returns the request of a slot or lane.
    pub(super) fn sending(&mut self, place: Place) -> Option<&mut Sending> {
        match place {
            Place::Slot(at) => self.slot(at)?.own.as_mut(),
            Place::Lane(at, lane) => self.slot(at)?.lanes[lane].as_mut(),
        }
    }

    /// Finds the server of a request that is not sent yet. Returns the step that follows, `None` if the script goes on at once.
    pub(super) fn route(&mut self, place: Place) -> Option<Step> {
        let Some(sending) = self.sending(place) else { return Some(Step::Park) };
        if sending.is_sent {
            return Some(Step::Park);
        }
        if sending.is_limited
            && let Some(rate) = &self.load.rate
        {
            let due = rate.take(self.now());
            // The clock of a request begins when it may be sent.
            let sending = self.sending(place)?;
            (sending.is_limited, sending.requested) = (false, due);
        }
        let now = self.now();
        let sending = self.sending(place)?;
        if sending.requested > now {
            return Some(Step::Pause(Duration::from_nanos(sending.requested - now)));
        }
        let origin = sending.outgoing.origin.clone();
        let server = match self.servers.get(&origin) {
            Some(server) => *server,
            None => match self.load.servers.look_up(&origin) {
                Lookup::Server(server) => {
                    self.servers.insert(origin, server);
                    server
                }
                Lookup::Pending => {
                    let sending = self.sending(place)?;
                    sending.look_ups += 1;
                    return Some(Step::LookUp(learnt::pause(sending.look_ups)));
                }
                Lookup::Refused(why) => {
                    self.settle(place, |sending| sending.refused(refusal::of_look_up(why)));
                    return matches!(place, Place::Lane(..)).then_some(Step::Park);
                }
            },
        };
        let sending = self.sending(place)?;
        (sending.server, sending.is_sent) = (server, true);
        if let Place::Slot(at) = place
            && let Some(slot) = self.slot(at)
        {
            slot.state = State::InFlight;
        }
        Some(Step::Send(0))
    }

    /// Hands the outcome of a request to the script that waits for it.
    pub(super) fn settle(&mut self, place: Place, outcome: impl FnOnce(Sending) -> Outcome) {
        match place {
            Place::Slot(at) => {
                let Some(slot) = self.slot(at) else { return };
                let Some(sending) = slot.own.take() else { return };
                let outcome = sending.settled(outcome);
                slot.state = State::Ready(Resumption::Woken(Woken::Exchanged(Box::new(outcome))));
            }
            Place::Lane(at, lane) => {
                let Some(slot) = self.slot(at) else { return };
                let Some(sending) = slot.lanes[lane].take() else { return };
                let outcome = sending.settled(outcome);
                slot.machine.vu.events.arrived.borrow_mut().push(outcome);
                if matches!(slot.state, State::Event) {
                    slot.state = State::Ready(Resumption::Woken(Woken::Now));
                    self.wakes.push_back(Wake::Next(at));
                }
                self.fill_lanes(at);
            }
        }
    }

    /// Gives up the requests that go on beside the script.
    pub(super) fn give_up_lanes(&mut self, at: usize) {
        let layout = self.load.layout;
        let Some(slot) = self.slots[at].as_deref_mut() else { return };
        slot.queue.clear();
        for (lane, sending) in slot.lanes.iter_mut().enumerate() {
            if sending.take().is_some_and(|sending| sending.is_sent) {
                self.wakes.push_back(Wake::Abandon(layout.lane(at, lane)));
            }
        }
    }
}
