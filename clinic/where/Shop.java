// A shop: java Shop HOST PORT. Each path is a page with a fault of its own; the environment sets the sizes of its data.
//
// /table formats each row with String.format, /check compiles its patterns for each address, /rates asks the bank while it holds
// a lock, /tax divides with many digits, and /overview computes six figures, each as expensive as the others.
import com.sun.net.httpserver.HttpServer;
import java.math.BigDecimal;
import java.math.MathContext;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

public class Shop {
    record Article(int number, String name, double amount, double price, double weight, double volume, double deposit, double tax,
            double points) {}

    private final List<Article> articles = new ArrayList<>();
    private final Map<String, Double> rates = new HashMap<>();
    private final Object ratesLock = new Object();
    private final int rows = sizeOf("ROWS", 400);
    private final int checked = sizeOf("CHECKED", 300);
    private final int taxed = sizeOf("TAXED", 160);
    private final int rounds = sizeOf("ROUNDS", 300);
    private final int heldUs = sizeOf("HELD_US", 2000);

    Shop() {
        for (int number = 0; number < 500; number++) {
            double value = number % 97 + 0.25;
            articles.add(new Article(number, "Article " + number, number % 7 + 1, value, value + 1, value + 2, value + 3, value + 4,
                    value + 5));
        }
    }

    /** Returns a number of the environment, or the usual one. */
    static int sizeOf(String name, int usual) {
        String text = System.getenv(name);
        return text == null ? usual : Integer.parseInt(text);
    }

    /** Returns a row of the table. */
    String row(Article article) { // clinic: table
        return String.format("<tr><td>%05d</td><td>%s</td><td>%.2f</td></tr>\n", article.number, article.name, article.price);
    } // clinic: table

    String table() {
        StringBuilder page = new StringBuilder("<table>\n");
        for (Article article : articles.subList(0, rows)) page.append(row(article));
        return page.append("</table>\n").toString();
    }

    /** Returns whether an address looks like one: String.matches compiles the pattern each time. */
    boolean isAddress(String address) { // clinic: check
        return address.matches("[a-z0-9._%+-]+@(?:[a-z0-9-]+\\.)+(?:shop|example|test)");
    } // clinic: check

    String check() {
        int valid = 0;
        for (int at = 0; at < checked; at++) {
            if (isAddress("customer" + at + "@mail.example")) valid++;
        }
        return valid + " addresses are valid\n";
    }

    /** Asks the bank for a rate, which takes some milliseconds. */
    double askBank(String currency) {
        try {
            Thread.sleep(heldUs / 1000, heldUs % 1000 * 1000); // clinic: rates-held
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return currency.length() * 1.25;
    }

    String rate(String currency) {
        synchronized (ratesLock) { // clinic: rates
            rates.put(currency, askBank(currency)); // clinic: rates
            return rates.get(currency) + "\n";
        }
    }

    /** Returns the net price of an article, with many more digits than a price has. */
    BigDecimal net(Article article) { // clinic: tax
        BigDecimal percent = new BigDecimal(article.tax).add(new BigDecimal(100));
        return new BigDecimal(article.price).multiply(new BigDecimal(100)).divide(percent, new MathContext(160));
    } // clinic: tax

    String tax() {
        BigDecimal sum = BigDecimal.ZERO;
        for (Article article : articles.subList(0, taxed)) sum = sum.add(net(article));
        return sum.setScale(2, java.math.RoundingMode.HALF_UP) + "\n";
    }

    double totalPrice() {
        double sum = 0;
        for (int round = 0; round < rounds; round++) {
            for (Article article : articles) sum += article.price * article.amount;
        }
        return sum / rounds;
    }

    double totalWeight() {
        double sum = 0;
        for (int round = 0; round < rounds; round++) {
            for (Article article : articles) sum += article.weight * article.amount;
        }
        return sum / rounds;
    }

    double totalVolume() {
        double sum = 0;
        for (int round = 0; round < rounds; round++) {
            for (Article article : articles) sum += article.volume * article.amount;
        }
        return sum / rounds;
    }

    double totalDeposit() {
        double sum = 0;
        for (int round = 0; round < rounds; round++) {
            for (Article article : articles) sum += article.deposit * article.amount;
        }
        return sum / rounds;
    }

    double totalTax() {
        double sum = 0;
        for (int round = 0; round < rounds; round++) {
            for (Article article : articles) sum += article.tax * article.amount;
        }
        return sum / rounds;
    }

    double totalPoints() {
        double sum = 0;
        for (int round = 0; round < rounds; round++) {
            for (Article article : articles) sum += article.points * article.amount;
        }
        return sum / rounds;
    }

    String overview() {
        return String.join(" ", "" + totalPrice(), "" + totalWeight(), "" + totalVolume(), "" + totalDeposit(), "" + totalTax(),
                "" + totalPoints()) + "\n";
    }

    public static void main(String[] words) throws Exception {
        if (words.length != 2) {
            System.err.println("usage: java Shop HOST PORT");
            System.exit(2);
        }
        Shop shop = new Shop();
        Map<String, Supplier<String>> pages = Map.of("/", () -> "a shop\n", "/table", shop::table, "/check", shop::check,
                "/rates", () -> shop.rate("euro"), "/tax", shop::tax, "/overview", shop::overview);
        // Compiled before the first request, as the code of a shop is that has been open for a while.
        for (String path : List.of("/table", "/check", "/tax", "/overview")) {
            long end = System.nanoTime() + 1_000_000_000L;
            while (System.nanoTime() < end) pages.get(path).get();
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(words[0], Integer.parseInt(words[1])), 4096);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            Supplier<String> page = pages.get(exchange.getRequestURI().getPath());
            byte[] content = (page == null ? "not found\n" : page.get()).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(page == null ? 404 : 200, content.length);
            exchange.getResponseBody().write(content);
            exchange.close();
        });
        server.start();
    }
}
