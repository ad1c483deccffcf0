//! Placements under a quota of CPU time.

use super::Environment;
use super::placement::Placement;
use torr_test_support::control_group::ControlGroup;
use torr_test_support::error::Error;

impl Environment {
    /// Returns a placement whose programs share `percent` of one CPU.
    ///
    /// # Errors
    /// If the control group cannot be created.
    pub fn quota(&mut self, percent: u32) -> Result<Placement, Error> {
        let group = ControlGroup::with_quota(percent)?;
        let placement = Placement::default().in_group(&group.joining());
        self.hold(group);
        Ok(placement)
    }
}
