//! Tests of injection.
