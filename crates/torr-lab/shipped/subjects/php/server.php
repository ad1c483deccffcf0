<?php
// The paths of `torr serve` by PHP alone, and by PDO: `php server.php ADDRESS [URL [PROCESSES]]`. The tables are there already.
//
// A host as Workerman is one: processes that stay, each with its event loop, its listener on the shared port, its connection and
// its prepared statements. PDO waits for each answer, so there is a process for each of the connections.

declare(strict_types=1);

require __DIR__ . '/database.php';

if ($argc < 2 || $argc > 4) {
    fail('usage: php server.php ADDRESS [URL [PROCESSES]]');
}
$address = $argv[1];
$url = $argv[2] ?? null;
// webman's default: four for each CPU.
$processes = $argv[3] ?? 4 * (int) (getenv('WORKERS') ?: 1);
$children = [];
for ($n = 0; $n < (int) $processes; $n++) {
    $child = pcntl_fork();
    if ($child === 0) {
        serve($address, $url === null ? null : new Database($url));
    }
    $children[] = $child;
}
// They end with this process.
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function () use ($children): never {
    end_all($children);
    exit(0);
}, false);
pcntl_wait($status);
end_all($children);
fail('a process has ended');

function end_all(array $children): void
{
    foreach ($children as $child) {
        posix_kill($child, SIGKILL);
    }
}

function fail(string $why): never
{
    fwrite(STDERR, $why . "\n");
    exit(1);
}

/** Answers requests until it is killed. */
function serve(string $address, ?Database $database): never
{
    $options = ['backlog' => 4096, 'so_reuseport' => true, 'tcp_nodelay' => true];
    $flags = STREAM_SERVER_BIND | STREAM_SERVER_LISTEN;
    $listener = stream_socket_server("tcp://$address", $code, $why, $flags, stream_context_create(['socket' => $options]));
    $listener !== false || fail("cannot listen on $address: $why");
    stream_set_blocking($listener, false);
    $sockets = [(int) $listener => $listener];
    $started = [];
    while (true) {
        $ready = $sockets;
        $none = null;
        stream_select($ready, $none, $none, null);
        foreach ($ready as $socket) {
            if ($socket === $listener) {
                $accepted = @stream_socket_accept($listener, 0);
                if ($accepted !== false) {
                    stream_set_blocking($accepted, false);
                    stream_set_read_buffer($accepted, 0);
                    $sockets[(int) $accepted] = $accepted;
                    $started[(int) $accepted] = '';
                }
                continue;
            }
            $id = (int) $socket;
            $got = fread($socket, 65536);
            if ($got === '' || $got === false) {
                fclose($socket);
                unset($sockets[$id], $started[$id]);
                continue;
            }
            $requests = explode("\r\n\r\n", $started[$id] . $got);
            $started[$id] = array_pop($requests);
            foreach ($requests as $request) {
                fwrite($socket, answer($request, $database));
            }
        }
    }
}

/** The answer to a request's head, as small as Workerman's. */
function answer(string $head, ?Database $database): string
{
    $target = parse_url(explode(' ', $head, 3)[1]);
    parse_str($target['query'] ?? '', $asked);
    $count = min(max((int) ($asked['queries'] ?? 1), 1), 500);
    $status = '200 OK';
    $type = 'application/json';
    try {
        $page = match ($target['path']) {
            '/' => '<p>Hello, world!</p>',
            '/plaintext' => 'Hello, World!',
            '/json' => json_encode(['message' => 'Hello, World!']),
            '/compute' => compute(1_000),
            '/wait' => wait(5_000),
            '/db' => json_encode($database?->worlds(1)[0]),
            '/db/raw' => json_encode($database?->item()),
            '/queries/raw' => json_encode($database?->worlds($count)),
            '/updates/raw' => json_encode($database?->update($count)),
            '/fortunes/raw' => $database === null ? 'null' : page($database->fortunes()),
            default => 'null',
        };
        $type = match ($target['path']) {
            '/', '/fortunes/raw' => 'text/html; charset=utf-8',
            '/plaintext' => 'text/plain',
            default => $type,
        };
        if ($page === 'null') {
            $status = '404 Not Found';
        }
    } catch (PDOException $e) {
        [$status, $page] = ['500 Internal Server Error', json_encode($e->getMessage())];
    }
    $length = strlen($page);
    $date = gmdate('D, d M Y H:i:s') . ' GMT';
    return "HTTP/1.1 $status\r\nServer: php\r\nDate: $date\r\nConnection: keep-alive\r\nContent-Type: $type\r\n"
        . "Content-Length: $length\r\n\r\n$page";
}

/** Computes for so many microseconds. */
function compute(int $us): string
{
    $until = hrtime(true) + 1_000 * $us;
    while (hrtime(true) < $until) {
    }
    return '"computed"';
}

/** Waits for so many microseconds, as for a database. */
function wait(int $us): string
{
    usleep($us);
    return '"waited"';
}

/** TechEmpower's page of fortunes. */
function page(array $rows): string
{
    $rows[] = ['id' => 0, 'message' => 'Additional fortune added at request time.'];
    usort($rows, static fn (array $a, array $b): int => strcmp($a['message'], $b['message']));
    $table = '';
    foreach ($rows as $row) {
        $table .= "<tr><td>{$row['id']}</td><td>" . htmlspecialchars($row['message']) . '</td></tr>';
    }
    return '<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>'
        . "<tr><th>id</th><th>message</th></tr>$table</table></body></html>";
}
