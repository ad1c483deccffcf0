import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/** A service with known places: a function that computes, a monitor, a lock, a pool. */
public class Service {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final BlockingQueue<String> POOL = new ArrayBlockingQueue<>(1);

    static long hot() {
        long total = 0;
        for (int number = 0; number < 2_000_000; number++) {
            total += (long) number * number % 7;
        }
        return total;
    }

    static void hold() throws InterruptedException {
        Thread.sleep(20);
    }

    static void monitor() throws InterruptedException {
        synchronized (MONITOR) {
            hold();
        }
    }

    static void locked() throws InterruptedException {
        LOCK.lock();
        try {
            hold();
        } finally {
            LOCK.unlock();
        }
    }

    static void pooled() throws InterruptedException {
        String connection = POOL.take();
        try {
            hold();
        } finally {
            POOL.put(connection);
        }
    }

    public static void main(String[] arguments) throws Exception {
        POOL.put("connection");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 64);
        server.createContext("/", exchange -> {
            byte[] content = "ok".getBytes();
            try {
                switch (exchange.getRequestURI().getPath()) {
                    case "/hot" -> { if (hot() == 1) System.err.println("1"); }
                    case "/monitor" -> monitor();
                    case "/locked" -> locked();
                    case "/pooled" -> pooled();
                }
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
            exchange.sendResponseHeaders(200, content.length);
            exchange.getResponseBody().write(content);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println(server.getAddress().getPort());
    }
}
