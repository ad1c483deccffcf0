//! Which Java classes are the user's own, by their packages.

use super::dump::Method;

/// Packages of libraries and frameworks that services are made of. Classes of the JDK are in modules.
#[rustfmt::skip]
const LIBRARIES: [&str; 103] = [
    "akka.", "antlr.", "brave.", "ch.qos.logback.", "clojure.", "com.alibaba.druid.", "com.amazonaws.", "com.clickhouse.",
    "com.datastax.", "com.fasterxml.", "com.github.benmanes.", "com.google.common.", "com.google.gson.", "com.google.inject.",
    "com.google.protobuf.", "com.hazelcast.", "com.ibm.", "com.linecorp.armeria.", "com.mchange.", "com.microsoft.sqlserver.",
    "com.mongodb.", "com.mysql.", "com.netflix.", "com.sun.", "com.zaxxer.", "freemarker.", "gnu.", "graphql.", "groovy.", "io.dropwizard.",
    "io.ebean.", "io.grpc.", "io.helidon.", "io.javalin.", "io.jsonwebtoken.", "io.ktor.", "io.lettuce.", "io.micrometer.",
    "io.micronaut.", "io.netty.", "io.opentelemetry.", "io.quarkus.", "io.r2dbc.", "io.reactivex.", "io.smallrye.", "io.undertow.",
    "io.vertx.", "jakarta.", "java.", "javax.", "jdk.", "kotlin.", "kotlinx.", "net.bytebuddy.", "net.sf.", "ognl.", "okhttp3.", "okio.",
    "oracle.", "org.apache.", "org.aspectj.", "org.bouncycastle.", "org.codehaus.", "org.duckdb.", "org.eclipse.", "org.ehcache.",
    "org.elasticsearch.", "org.flywaydb.", "org.glassfish.", "org.h2.", "org.hibernate.", "org.hsqldb.", "org.http4s.", "org.infinispan.",
    "org.jboss.", "org.jdbi.", "org.jetbrains.", "org.joda.", "org.jooq.", "org.json.", "org.mariadb.", "org.mozilla.", "org.mybatis.",
    "org.objectweb.", "org.postgresql.", "org.quartz.", "org.reactivestreams.", "org.redisson.", "org.rocksdb.", "org.slf4j.",
    "org.springframework.", "org.sqlite.", "org.thymeleaf.", "org.typelevel.", "org.wildfly.", "org.xerial.", "org.xml.", "org.xnio.",
    "org.yaml.", "reactor.", "redis.clients.", "scala.", "sun.",
];

/// Returns whether a method is the user's own.
pub fn is_own(method: &Method) -> bool {
    method.module.is_empty() && !LIBRARIES.iter().any(|package| method.class.starts_with(package))
}

/// Returns whether a class was generated at run time, for a lambda or a proxy: its name tells nothing and may differ in the next run.
pub fn is_generated(method: &Method) -> bool {
    let is_proxy = method.class.contains("$$") || method.class.contains("$Proxy");
    is_proxy && method.line.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_classes_are_in_no_known_library() {
        let method =
            |class: &str, module: &str| Method { class: class.into(), module: module.into(), ..Method::default() };
        assert!(
            is_own(&method("shop.Orders", "")) && is_own(&method("org.shop.Orders", "")) && is_own(&method("Main", ""))
        );
        assert!(!is_own(&method("sun.net.httpserver.ServerImpl", "jdk.httpserver@17.0.15")));
        assert!(!is_own(&method("org.springframework.web.servlet.DispatcherServlet", "")));
        assert!(
            is_generated(&method("shop.Orders$$Lambda/0x000000005c158210", ""))
                && !is_generated(&method("shop.Orders$Item", ""))
        );
    }
}
