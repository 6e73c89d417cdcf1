//! Which request belongs to which reflector.
