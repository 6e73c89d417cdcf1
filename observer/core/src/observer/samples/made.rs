//! Makes the samples.

use crate::observer::finding::is_muted;
use crate::observer::observe::Observer;
use crate::series::Samples;

impl Observer {
    /// The numbers of all metrics; independent of the tables of a [`Self::snapshot`], and as costly.
    pub fn samples(&self) -> Samples {
        self.samples_without(&[])
    }

    /// As [`Self::samples`], without the findings that [`super::super::Snapshot::without_findings`] removes.
    pub fn samples_without(&self, muted: &[String]) -> Samples {
        let mut series = self.series.clone();
        let rows = self.rows();
        let mut findings = self.findings(&rows, &self.tables.lists());
        findings.retain(|finding| !finding.is_over() && !is_muted(&finding.id, muted));
        self.add_reflectors(&rows, &mut series);
        self.add_findings(&findings, &mut series);
        self.add_storms(&mut series);
        self.add_servers(&mut series);
        self.add_losses(&mut series);
        Samples::new(series, self.started, self.now())
    }
}
