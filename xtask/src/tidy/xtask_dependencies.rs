//! Rule: the tasks use no product crate, so that they build quickly and run even if the product does not build.

use super::cargo_tree::{Depth, dependencies};

const PRODUCT: &[&str] = &["observer", "observer-core", "observer-ebpf", "observer-tests", "observer-bench"];

#[test]
fn tasks_use_no_product_crate() {
    let found = dependencies("xtask", "normal,build,dev", Depth::Whole);
    assert!(found.contains("clap"), "the tree of xtask lacks its own dependencies: {found:?}");
    let product: Vec<_> = PRODUCT.iter().filter(|name| found.contains(**name)).collect();
    assert!(product.is_empty(), "xtask depends on {product:?}: start the built binary instead, or test it in `tests`");
}
