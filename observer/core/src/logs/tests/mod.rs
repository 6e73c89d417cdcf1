//! Lines as real programs wrote them, shortened. Those without a source are built as the code of that version builds them.

mod aks_table;
mod cache_lines;
mod client_requests;
mod etcd_line;
mod gke;
mod hostile;
mod klog;
mod legacy_audit;
mod reading;
mod records;
mod reflector_lines;
mod request_log;
mod texts;
mod trace;
mod usual_event;
mod watch_started;
