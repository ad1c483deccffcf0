<?php
// One connection by PDO, with statements that are prepared by the database itself and kept.

declare(strict_types=1);

final class Database
{
    private PDO $pdo;
    private PDOStatement $item;
    private PDOStatement $world;
    private ?PDOStatement $fortunes = null;
    /** @var array<int, PDOStatement> by the number of rows that they write */
    private array $writes = [];
    private bool $postgres;

    public function __construct(string $url)
    {
        $parts = parse_url($url);
        $this->postgres = $parts['scheme'] !== 'mysql';
        $driver = $this->postgres ? 'pgsql' : 'mysql';
        if (!in_array($driver, PDO::getAvailableDrivers(), true)) {
            fail("PDO has no driver for $driver: apt-get install php-$driver");
        }
        $source = "$driver:host={$parts['host']};port={$parts['port']};dbname=" . ltrim($parts['path'], '/');
        $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => false];
        $options[PDO::ATTR_DEFAULT_FETCH_MODE] = PDO::FETCH_ASSOC;
        $this->pdo = new PDO($source, $parts['user'], rawurldecode($parts['pass']), $options);
        $this->item = $this->pdo->prepare('SELECT id, name, number FROM item WHERE id = ?');
        $this->world = $this->pdo->prepare('SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = ?');
    }

    /** A random row of the table of 100,000. */
    public function item(): array
    {
        $this->item->execute([mt_rand(1, 100_000)]);
        return $this->item->fetch();
    }

    /** So many random rows of World, each by a query of its own. */
    public function worlds(int $count): array
    {
        $worlds = [];
        while ($count-- > 0) {
            $this->world->execute([mt_rand(1, 10_000)]);
            $worlds[] = $this->world->fetch();
        }
        return $worlds;
    }

    /** All fortunes. */
    public function fortunes(): array
    {
        $this->fortunes ??= $this->pdo->prepare('SELECT id, message FROM fortune');
        $this->fortunes->execute();
        return $this->fortunes->fetchAll();
    }

    /** The same, with new numbers that are written back. */
    public function update(int $count): array
    {
        $worlds = $this->worlds($count);
        $numbers = [];
        foreach ($worlds as &$world) {
            $world['randomNumber'] = mt_rand(1, 10_000);
            $numbers[$world['id']] = $world['randomNumber'];
        }
        // All write in this order, so that nobody waits for somebody who waits for him.
        ksort($numbers);
        $this->write($numbers);
        return $worlds;
    }

    /** All rows in one statement. PostgreSQL's takes arrays, of MariaDB's there is one for each number of rows. */
    private function write(array $numbers): void
    {
        $rows = count($numbers);
        $ids = array_keys($numbers);
        if ($this->postgres) {
            $this->writes[0] ??= $this->pdo->prepare(
                'UPDATE world SET randomnumber = new.number FROM (SELECT world.id, given.number
                FROM unnest(?::int4[], ?::int4[]) AS given (id, number)
                JOIN world ON world.id = given.id ORDER BY world.id FOR UPDATE OF world) AS new WHERE world.id = new.id'
            );
            $this->writes[0]->execute(['{' . implode(',', $ids) . '}', '{' . implode(',', $numbers) . '}']);
            return;
        }
        $this->writes[$rows] ??= $this->pdo->prepare(
            'UPDATE world SET randomnumber = CASE id' . str_repeat(' WHEN ? THEN ?', $rows)
            . ' ELSE randomnumber END WHERE id IN (' . implode(', ', array_fill(0, $rows, '?')) . ')'
        );
        $values = [];
        foreach ($numbers as $id => $number) {
            array_push($values, $id, $number);
        }
        $this->writes[$rows]->execute([...$values, ...$ids]);
    }
}
