/**
 * Clients that are not written in JavaScript, from Debian's packages, and mongosh. `scripts/install-clients.sh` installs them;
 * one that is missing is skipped by name.
 */
import t, { type Test } from 'tap'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ShardedCluster } from 'shardlab'
import { run, up } from '../support/up.js'

const mongosh = fileURLToPath(new URL('../../clients/node_modules/.bin/mongosh', import.meta.url))

function skipped(t: Test, why: string): void {
  t.pass(`skipped: ${why}`, { skip: why })
}

async function has(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    ({ code }) => code === 0,
    () => false,
  )
}

t.test('PyMongo', async (t) => {
  if (!(await has('/usr/bin/python3', '-c', 'import pymongo'))) return skipped(t, 'python3-pymongo is not installed')
  const cluster = await ShardedCluster.start({ shards: 2 })
  t.teardown(() => cluster.stop())
  const script = `
import sys, pymongo
client = pymongo.MongoClient(sys.argv[1])
client.admin.command('shardCollection', 'py.things', key={'_id': 'hashed'})
things = client.py.things
things.insert_many([{'_id': i, 'n': i % 7} for i in range(200)])
things.insert_one({'_id': 1000, 'n': 1.5, 'text': 'grüße'})
assert things.find_one({'_id': 1000})['text'] == 'grüße'
assert things.count_documents({}) == 201
assert things.count_documents({'n': 3}) == 29, things.count_documents({'n': 3})
assert len(list(things.find({}, batch_size=10))) == 201
assert things.update_many({'n': 3}, {'$inc': {'n': 100}}).modified_count == 29
assert things.delete_one({'_id': 1000}).deleted_count == 1
try:
    things.insert_one({'_id': 5})
    assert False
except pymongo.errors.DuplicateKeyError:
    pass
print('fine')
`
  const { code, stdout, stderr } = await run('/usr/bin/python3', ['-', cluster.uri], { input: script })
  t.equal(code, 0, stderr)
  t.equal(stdout.trim(), 'fine')
})

t.test('PHP (libmongoc)', async (t) => {
  if (!(await has('php', '-r', 'exit(extension_loaded("mongodb") ? 0 : 1);')))
    return skipped(t, 'php-cli with php-mongodb is not installed')
  const cluster = await ShardedCluster.start({ shards: 2 })
  t.teardown(() => cluster.stop())
  const script = `<?php
$manager = new MongoDB\\Driver\\Manager(getenv('SHARDLAB_URI'));
$manager->executeCommand('admin', new MongoDB\\Driver\\Command(['shardCollection' => 'php.things', 'key' => ['_id' => 'hashed']]));
$bulk = new MongoDB\\Driver\\BulkWrite();
for ($i = 0; $i < 200; $i++) $bulk->insert(['_id' => $i, 'n' => $i % 7]);
$result = $manager->executeBulkWrite('php.things', $bulk);
if ($result->getInsertedCount() !== 200) exit(1);
$count = 0;
foreach ($manager->executeQuery('php.things', new MongoDB\\Driver\\Query([], ['batchSize' => 10])) as $document) $count++;
if ($count !== 200) exit(2);
$found = $manager->executeQuery('php.things', new MongoDB\\Driver\\Query(['_id' => 7]))->toArray();
if (count($found) !== 1 || $found[0]->n !== 0) exit(3);
echo "fine";
`
  const { code, stdout, stderr } = await run('php', [], { input: script, env: { ...process.env, SHARDLAB_URI: cluster.uri } })
  t.equal(code, 0, stderr)
  t.equal(stdout.trim(), 'fine')
})

t.test('mongosh', async (t) => {
  if (!existsSync(mongosh)) return skipped(t, 'mongosh is not installed in test/clients')
  const running = await up('--port', '0', '--shards', '3')
  t.teardown(() => running.stop())
  const home = mkdtempSync(join(tmpdir(), 'shardlab-mongosh-'))
  const config = join(home, 'mongosh.conf')
  writeFileSync(config, 'mongosh:\n  enableTelemetry: false\n  updateURL: ""\n')
  const env = { ...process.env, HOME: home, MONGOSH_GLOBAL_CONFIG_FILE_FOR_TESTING: config }
  const evaluate = (code: string) => run(mongosh, [running.ready.uri, '--quiet', '--eval', code], { env })

  const status = await evaluate('sh.status()')
  t.equal(status.code, 0, status.stderr)
  for (const shard of ['shard01', 'shard02', 'shard03']) t.match(status.stdout, shard)

  const session = await evaluate(`
    sh.enableSharding("shop")
    sh.shardCollection("shop.orders", { customer: "hashed" })
    db.getSiblingDB("shop").orders.insertMany(Array.from({ length: 100 }, (_, i) => ({ customer: i })))
    print(JSON.stringify({
      count: db.getSiblingDB("shop").orders.countDocuments(),
      chunks: db.getSiblingDB("config").chunks.countDocuments(),
      balancer: sh.getBalancerState(),
      shards: sh.listShards ? sh.listShards().length : 3,
      databases: db.adminCommand({ listDatabases: 1 }).databases.map(each => each.name).sort(),
    }))`)
  t.equal(session.code, 0, session.stderr)
  t.same(JSON.parse(session.stdout.trim().split('\n').at(-1)!), {
    count: 100,
    chunks: 6,
    balancer: true,
    shards: 3,
    databases: ['admin', 'config', 'shop'],
  })
  const after = await evaluate('sh.status()')
  t.match(after.stdout, 'shop.orders')
  t.match(after.stdout, /customer: 'hashed'/)
})
