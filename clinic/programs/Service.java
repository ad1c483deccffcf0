// An HTTP server of Java with a thread for each request: java Service.java HOST PORT KIND NUMBER
// KIND is what a request does: compute, compute-locked (one at a time), or pool (wait for one of NUMBER permits, then sleep).
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

public class Service {
    static volatile long sink;

    // About 1 ms.
    static void compute() {
        long state = 1;
        for (int round = 0; round < 1_000_000; round++) state = state * 6364136223846793005L + round;
        sink = state;
    }

    static synchronized void computeLocked() {
        compute();
    }

    public static void main(String[] words) throws Exception {
        String kind = words[2];
        Semaphore permits = new Semaphore(Integer.parseInt(words[3]));
        // Compiled before the first request, as a service is that has been up for a while.
        for (int round = 0; round < 200; round++) computeLocked();
        byte[] page = "<p>Hello, world!</p>".getBytes(StandardCharsets.UTF_8);
        HttpServer server = HttpServer.create(new InetSocketAddress(words[0], Integer.parseInt(words[1])), 4096);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            switch (kind) {
                case "compute" -> compute();
                case "compute-locked" -> computeLocked();
                default -> {
                    permits.acquireUninterruptibly();
                    try {
                        Thread.sleep(15);
                    } catch (InterruptedException e) {
                        throw new RuntimeException(e);
                    } finally {
                        permits.release();
                    }
                }
            }
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
    }
}
