//! State that is derived when it is needed: reflectors as they are reported, and findings.

use super::finding::{Finding, Known, find};
use super::observe::Observer;
use super::rows::ListRow;
use crate::reflector::{AtShutdown, ReflectorRow};

impl Observer {
    /// All reflectors now, or at the shutdown request.
    pub(super) fn rows(&self) -> Vec<ReflectorRow> {
        let mut reflectors = self.following.rows(self.now());
        if let Some(then) = &self.at_shutdown {
            then.restore(&mut reflectors);
        }
        for row in &mut reflectors {
            self.scopes.clarify(&mut row.shape);
        }
        reflectors
    }

    /// The findings in these rows.
    pub(super) fn findings(&self, reflectors: &[ReflectorRow], lists: &[ListRow]) -> Vec<Finding> {
        let limits = self.following.rate_limits();
        let at = self.at_shutdown.as_ref().map_or(self.now(), AtShutdown::at);
        let gets = self.following.get_pollers(at);
        let storms = self.following.storms(self.limits.rows);
        let errors = self.server_errors.rows(at);
        find(&Known {
            reflectors,
            at,
            lists,
            errors: &errors,
            limits: &limits,
            gets: &gets,
            storms: &storms,
            upstreams: &self.upstreams,
        })
    }
}
