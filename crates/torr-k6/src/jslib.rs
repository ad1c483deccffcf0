//! Libraries of jslib.k6.io that scripts import, in our own writing.
