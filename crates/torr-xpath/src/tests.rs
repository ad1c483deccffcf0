mod documents;
mod expressions;
mod mistakes;
mod random;
