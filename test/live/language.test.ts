/** Each version accepts the features that it has, and refuses the others with its own error. */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { behavioursOf, emulatedVersions } from '@shardlab/sharding'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import type { Refusal } from './language/probe.js'
import { allProbes } from './language/probes.js'

const probes = allProbes()

const isRefused = (reply: Document, { code, message }: Refusal): boolean => {
  const error = (reply['writeErrors']?.[0] ?? reply) as { code?: number; errmsg?: string }
  return (error.code ?? 0) === code && message.test(error.errmsg ?? '')
}

const succeeds = (reply: Document): boolean => reply['ok'] === 1 && reply['writeErrors'] === undefined

for (const version of emulatedVersions) {
  t.test(`${version} has its own query language, through a router and on a shard`, async (t) => {
    const { language } = behavioursOf(version)
    const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate: version })
    const clients = await Promise.all(
      [cluster.uri, cluster.shards[0]!.uri].map((uri) => RawClient.connect(new URL(uri).host)),
    )
    t.teardown(async () => {
      for (const client of clients) client.close()
      await cluster.stop()
    })
    const run = (client: RawClient, command: Document) => client.command({ ...command, $db: 'app' })
    await run(clients[0]!, { insert: 'c', documents: [{ _id: 1, a: 1, l: [1, 2] }] })
    await run(clients[0]!, { insert: 'o', documents: [{ _id: 1 }] })
    // Only routers run $listClusterCatalog.
    for (const { kind, name, command, refusal } of probes) {
      const has =
        kind === 'field'
          ? language.hasField(...splitField(name))
          : kind === 'index'
            ? language.has('index', name)
            : language.has(kind, name)
      const expected = refusal(language)
      for (const [i, client] of clients.entries()) {
        const where = i === 0 ? 'router' : 'shard'
        const reply = await run(client, command)
        const text = `${kind} ${name} on a ${where}: ${JSON.stringify(reply).slice(0, 300)}`
        if (has && i === 1 && name === '$listClusterCatalog') continue
        if (has) t.notOk(isRefused(reply, expected), `present: ${text}`)
        else if (expected.code === null) t.ok(succeeds(reply), `without effect: ${text}`)
        else t.ok(isRefused(reply, expected), `absent: ${text}`)
        if (kind === 'index') await run(client, { drop: 'indexed' })
        if (kind === 'field') await run(client, { drop: 'created' })
      }
    }
  })
}

/** `update.updates.hint` is the field `hint` of `update.updates`. */
function splitField(name: string): [owner: string, field: string] {
  const at = name.lastIndexOf('.')
  return [name.slice(0, at), name.slice(at + 1)]
}

t.test('a router of 2.6 replies to an aggregate without a cursor with all results', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', emulate: '2.6' })
  const client = await RawClient.connect(new URL(cluster.uri).host)
  t.teardown(async () => {
    client.close()
    await cluster.stop()
  })
  const run = (command: Document, db = 'app') => client.command({ ...command, $db: db })
  await run({ enableSharding: 'app' }, 'admin')
  await run({ shardCollection: 'app.c', key: { _id: 'hashed' } }, 'admin')
  await run({ insert: 'c', documents: Array.from({ length: 300 }, (_, i) => ({ _id: i })) })
  const reply = await run({ aggregate: 'c', pipeline: [{ $match: { _id: { $gte: 50 } } }, { $sort: { _id: 1 } }] })
  t.same(
    (reply['result'] as Document[]).map(({ _id }) => _id as number),
    Array.from({ length: 250 }, (_, i) => i + 50),
  )
  t.equal(reply['cursor'], undefined)
  t.match(await run({ aggregate: 'missing', pipeline: [] }), { ok: 1, result: [] })
})
