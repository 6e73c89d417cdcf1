//! Logs of the API server and of etcd, which show more about reads than counters do.

use std::thread::sleep;
use std::time::{Duration, Instant};

use observer_core::k8s::Resource;
use observer_core::logs::{AuditEvent, AuditId, EtcdRequest, RangeRead};
use observer_core::verification::Counters;

use super::failure::VerifyError;
use super::log_tail::LogTail;

/// The logs that the user passed.
#[derive(Debug, Default)]
pub struct Oracles {
    /// The API server's audit log, which shows other readers.
    pub audit_log: Option<LogTail>,
    /// etcd's log at level debug, which shows the keys that were read.
    pub etcd_log: Option<LogTail>,
}

/// Maximum delay of etcd's log: etcd logs a read after it has answered.
const LOG_LAG: Duration = Duration::from_secs(2);
const LOG_PAUSE: Duration = Duration::from_millis(50);

/// The end of each log at one time.
pub(super) struct Ends([Option<u64>; 2]);

impl Oracles {
    /// Returns the current end of each log.
    pub(super) fn ends(&self) -> Result<Ends, VerifyError> {
        let end = |log: &Option<LogTail>| log.as_ref().map(LogTail::end).transpose();
        Ok(Ends([end(&self.audit_log)?, end(&self.etcd_log)?]))
    }

    /// From now on, only lines after `ends` count.
    pub(super) fn begin_at(&mut self, ends: &Ends) {
        for (log, end) in [&mut self.audit_log, &mut self.etcd_log].into_iter().zip(ends.0) {
            if let (Some(log), Some(end)) = (log, end) {
                log.mark(end);
            }
        }
    }

    /// Adds the reads of `resource` in etcd's log to `moved`, the increase of the counters.
    pub(super) fn witnessed(&self, moved: Counters, resource: &Resource) -> Result<Counters, VerifyError> {
        Ok(moved.with_etcd_reads(resource, &self.etcd_reads()?))
    }

    /// Whether etcd's log has a read of the resource after `ends`; true without such a log.
    pub(super) fn logs_reads(&mut self, ends: &Ends, resource: &Resource) -> Result<bool, VerifyError> {
        if self.etcd_log.is_none() {
            return Ok(true);
        }
        let began = Instant::now();
        loop {
            self.begin_at(ends);
            if !Counters::default().with_etcd_reads(resource, &self.etcd_reads()?).is_still() {
                return Ok(true);
            }
            if began.elapsed() >= LOG_LAG {
                return Ok(false);
            }
            sleep(LOG_PAUSE);
        }
    }

    /// The error for an etcd log that does not show expected reads.
    pub(super) fn silent(&self) -> VerifyError {
        VerifyError::SilentLog { path: self.etcd_log.as_ref().map(LogTail::name).unwrap_or_default() }
    }

    fn etcd_reads(&self) -> Result<Vec<RangeRead>, VerifyError> {
        let mut reads: Vec<RangeRead> = Vec::new();
        if let Some(log) = &self.etcd_log {
            log.lines(&mut |line| {
                if let Some(EtcdRequest::Range(read)) = EtcdRequest::read(line) {
                    reads.push(read);
                }
            })?;
        }
        Ok(reads)
    }

    /// The number of requests for the resource in the audit log, without the one that has this audit ID. `None` if there is no
    /// audit log.
    pub(super) fn others(&self, resource: &Resource, audit_id: Option<&str>) -> Result<Option<usize>, VerifyError> {
        let Some(log) = &self.audit_log else { return Ok(None) };
        let (resource, own) = (resource.to_string(), audit_id.and_then(AuditId::of));
        let is_own = |event: &AuditEvent| own.is_some() && AuditId::of(&event.audit_id) == own;
        let mut others = 0;
        log.lines(&mut |line| {
            let is_other = |event: &AuditEvent| event.is_complete_for_resource() && event.resource == resource && !is_own(event);
            others += usize::from(AuditEvent::read(line).as_ref().is_some_and(is_other));
        })?;
        Ok(Some(others))
    }

    /// The names of the witnesses, for the report.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let etcd = self.etcd_log.is_some().then_some("etcd's log");
        let audit = self.audit_log.is_some().then_some("the API server's audit log");
        [Some("the API server's counters"), etcd, audit].into_iter().flatten().collect()
    }
}
