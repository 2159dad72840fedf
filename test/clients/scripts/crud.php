<?php
// crud.php URI DATABASE: the script of the clients on PHP's extension (libmongoc).
[, $uri, $name] = $argv;
$manager = new MongoDB\Driver\Manager($uri);
$things = "$name.things";

function check(bool $holds, string $what): void {
    if ($holds) return;
    fwrite(STDERR, "$what\n");
    exit(1);
}
$command = fn(array $command, string $db) => $manager->executeCommand($db, new MongoDB\Driver\Command($command))->toArray();
$query = fn(string $ns, array $filter, array $options = []) =>
    $manager->executeQuery($ns, new MongoDB\Driver\Query($filter, $options))->toArray();
$write = function (string $ns, callable $fill) use ($manager) {
    $bulk = new MongoDB\Driver\BulkWrite();
    $fill($bulk);
    return $manager->executeBulkWrite($ns, $bulk);
};

$command(['dropDatabase' => 1], $name);
$command(['shardCollection' => $things, 'key' => ['_id' => 'hashed']], 'admin');
$result = $write($things, function ($bulk) {
    for ($i = 0; $i < 250; $i++) $bulk->insert(['_id' => $i, 'n' => $i % 7, 'text' => "grüße $i"]);
});
check($result->getInsertedCount() === 250, 'inserted');
check($query($things, ['_id' => 17])[0]->text === 'grüße 17', 'find by _id');

$found = $query($things, ['n' => 3], ['sort' => ['_id' => -1], 'limit' => 20, 'batchSize' => 5]);
check(array_map(fn($each) => $each->_id, $found) === array_map(fn($i) => 248 - 7 * $i, range(0, 19)), 'sort and limit');
check(count($query($things, [], ['batchSize' => 10])) === 250, 'getMore');

$result = $write($things, fn($bulk) => $bulk->update(['n' => 3], ['$inc' => ['n' => 100]], ['multi' => true]));
check($result->getModifiedCount() === 36, 'updateMany');
$modified = $command(['findAndModify' => 'things', 'query' => ['_id' => 5], 'update' => ['$set' => ['seen' => true]], 'new' => true], $name);
check($modified[0]->value->seen === true, 'findAndModify');

$groups = $command(['aggregate' => 'things', 'cursor' => new stdClass(), 'pipeline' => [
    ['$match' => ['n' => ['$lt' => 7]]],
    ['$group' => ['_id' => '$n', 'count' => ['$sum' => 1]]],
    ['$sort' => ['_id' => 1]],
]], $name);
check(count($groups) === 6 && $groups[0]->count === 36, 'aggregate');
check($command(['count' => 'things', 'query' => ['n' => 0]], $name)[0]->n === 36, 'count');
$values = $command(['distinct' => 'things', 'key' => 'n'], $name)[0]->values;
sort($values);
check($values === [0, 1, 2, 4, 5, 6, 103], 'distinct');

$command(['createIndexes' => 'people', 'indexes' => [['key' => ['email' => 1], 'name' => 'email_1', 'unique' => true]]], $name);
$insert = fn() => $write("$name.people", fn($bulk) => $bulk->insert(['email' => 'a@example.org']));
$insert();
try {
    $insert();
    check(false, 'the duplicate was inserted');
} catch (MongoDB\Driver\Exception\BulkWriteException $error) {
    check($error->getWriteResult()->getWriteErrors()[0]->getCode() === 11000, 'duplicate key');
}

check($write($things, fn($bulk) => $bulk->delete(['n' => 0]))->getDeletedCount() === 36, 'deleteMany');
check($write($things, fn($bulk) => $bulk->delete(['_id' => 1], ['limit' => 1]))->getDeletedCount() === 1, 'deleteOne');
$command(['drop' => 'things'], $name);
check(array_map(fn($each) => $each->name, $command(['listCollections' => 1], $name)) === ['people'], 'drop');
$command(['dropDatabase' => 1], $name);
echo "fine\n";
