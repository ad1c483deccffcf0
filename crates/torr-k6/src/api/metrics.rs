//! `k6/metrics`: Counter, Gauge, Rate, Trend.
