//! The house rules, as tests: one file a rule, each a pure function over text with examples of what it catches, and one test over
//! the real tree whose message says what to do.

mod cargo_tree;
mod references;
mod tokens;
mod tree;
mod violation;

mod canary;
mod cited_tests;
mod core_dependencies;
mod core_purity;
mod demo_decides_alone;
mod file_shape;
mod floors;
mod injected_faults;
mod machine_names;
mod module_names;
mod other_systems;
mod printing;
mod rule_book;
mod security_claims;
mod taps_and_views;
mod test_command;
mod unfinished;
mod unsafe_code;
mod xtask_dependencies;
