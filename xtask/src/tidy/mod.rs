//! The house rules, as tests: one file per rule. Each rule is a pure function on text, and some tests have examples of violations.
//! Another test applies the rule to this repository, and its failure message states the remedy.

mod cargo_tree;
mod references;
mod tokens;
mod tree;
mod violation;

mod canary;
mod chart;
mod cited_paths;
mod cited_tests;
mod core_dependencies;
mod core_purity;
mod demo_decides_alone;
mod file_shape;
mod floors;
mod injected_faults;
mod machine_names;
mod metrics;
mod module_names;
mod other_systems;
mod printing;
mod prose;
mod rule_book;
mod security_claims;
mod taps_and_views;
mod test_command;
mod test_filters;
mod thresholds;
mod unfinished;
mod unsafe_code;
mod xtask_dependencies;
