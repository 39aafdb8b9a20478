pub use llguidance::Matcher;
