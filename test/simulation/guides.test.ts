/**
 * The guides about sharding: their commands give the replies and errors that they show.
 * The pages about migrations and transactions name every step.
 */
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { namedSteps } from '@shardlab/actor'
import { decode, encode } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import { migrationSteps } from './migration.js'
import { blocksOf, GuideError, GuideShell, shown } from '../support/guide-shell.js'

const page = (path: string) => readFile(new URL(`../../../docs/${path}.md`, import.meta.url), 'utf8')

/** Replaces times and ports, which differ each time. */
const comparable = (text: string) =>
  text.replace(/millis: \d+/g, 'millis: …').replace(/((?:shard|rs)\d+)\/[\w.]+:\d+/g, '$1/…')

async function play(
  t: Test,
  shell: GuideShell,
  { code, output }: { code: string; output: string | null },
): Promise<void> {
  const value = await shell.run(code).catch((error: Error) => error)
  if (output !== null)
    t.equal(comparable(value instanceof Error ? value.message : shown(value)), comparable(output), code)
  else if (value instanceof Error) throw value
}

/** Checks rows of a table: a command, code and name of its error, the reason. */
async function playErrors(t: Test, shell: GuideShell, text: string, count: number): Promise<void> {
  const rows = [...text.matchAll(/^\| `(.+?)` \| (?:(none)|(\d+)(?: (\w+))?) \|/gm)]
  t.equal(rows.length, count)
  for (const [, command = '', none, code, name] of rows) {
    const error = await shell.run(command).catch((thrown: unknown) => thrown)
    if (!(error instanceof GuideError)) throw new Error(`${command} gave ${shown(error)}`)
    t.equal(error.code, none === undefined ? Number(code) : undefined, command)
    // Errors of single writes have no name.
    if (error.codeName !== undefined) t.equal(error.codeName, name, command)
  }
}

t.test('the guide about sharding a collection shows the real replies', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 7, emulate: '7.0', shards: 3, mongos: 1 })
  const shell = new GuideShell(cluster, 'shop')
  const text = await page('guides/shard-a-collection')
  for (const block of blocksOf(text)) await play(t, shell, block)
  await shell.run(`sh.shardCollection('shop.visits', { country: 1, visitor: 'hashed' })`)
  await playErrors(t, shell, text, 15)
})

t.test('the guide about adding shards to an empty cluster shows the real replies', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 7, emulate: '7.0', shards: 0, standby: ['rs0', 'rs1'] })
  const shell = new GuideShell(cluster, 'shop')
  const [text] = (await page('guides/add-and-remove-shards')).split('\n## The cluster\n')
  const hosts = new Map(cluster.members().map(({ address, endpoint }) => [address, `'${address}/${endpoint}'`]))
  for (const { code, output } of blocksOf(text!))
    await play(t, shell, { code: code.replace(/'(rs\d)\/[\w.:]+'/, (_, set: string) => hosts.get(set)!), output })
})

t.test('the guide about adding and removing shards shows the real replies', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 7, emulate: '7.0', shards: 2, mongos: 1 })
  const shell = new GuideShell(cluster, 'shop')
  const text = await page('guides/add-and-remove-shards')
  let host = ''
  for (const { code, output } of blocksOf(text.slice(text.indexOf('\n## The cluster\n')))) {
    if (code.includes('config')) {
      t.equal(await cluster.addShard(), 'shard03')
      host = ((await shell.run(`db.getSiblingDB('config').shards.findOne({ _id: 'shard02' })`)) as { host: string })
        .host
    }
    if (code === 'sh.addShard(host)') {
      const reply = decode(await cluster.command(encode({ dropDatabase: 1, $db: 'shop' }), { to: 'shard02' }))
      t.match(reply, { dropped: 'shop', ok: 1 })
    }
    await play(t, shell, { code: code.replace(/'shard02\/[\w.:]+'/, `'${host}'`), output })
  }
  await playErrors(t, shell, text, 5)
})

t.test('the guide about the balancer shows the real output', async (t) => {
  const text = await page('guides/watch-the-balancer')
  const [because, answer] = [...text.matchAll(/^console\.log\(.+\)\n\/\/ (.+)$/gm)].map(([, line]) => line)
  await using cluster = await createSimulatedCluster({
    emulate: '7.0',
    chunkSize: '64KB',
    balancerRoundIntervalMs: 2 ** 31 - 1,
    seed: 7,
  })
  const shell = new GuideShell(cluster, 'shop')
  await shell.run(`sh.enableSharding('shop', 'shard01'); sh.shardCollection('shop.orders', { customer: 1 })`)
  // Inserts documents with an _id, a number, and a text of 512 bytes.
  await shell.run(`
    const text = 'x'.repeat(473)
    db.orders.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: i, customer: i, text })))`)
  const round = await cluster.balancer.runRound()
  t.equal(round.migrations[0]!.because, because)
  await cluster.balancer.settle({ rangeDeletion: true, timeoutMs: 3_600_000 })
  const why = await cluster.balancer.explain('shop.orders')
  t.match(why.answer.replaceAll(/\d+/g, 'N'), answer!.replaceAll(/\d+/g, 'N'))
})

t.test('the guide about faults shows the real replies', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 7, emulate: '7.0', shards: 2, mongos: 1 })
  const shell = new GuideShell(cluster, 'shop')
  for (const block of blocksOf(await page('guides/break-a-shard'))) await play(t, shell, block)
})

t.test('the pages about migrations and transactions name every step', async (t) => {
  const stepsIn = (text: string) =>
    [...text.matchAll(/^\| `([\w.-]+)` \| (?:donor|recipient|config server) \|/gm)].map(([, step]) => step)
  t.same(stepsIn(await page('internals/migrations')), migrationSteps)
  const commit = namedSteps.filter((step) => step.startsWith('shard.transaction.'))
  const named = [
    ...(await page('internals/transactions')).matchAll(/^\| `([\w-]+)` +\| (?:coordinator|participant) +\|/gm),
  ]
  t.same(named.map(([, step]) => `shard.transaction.${step}`).sort(), commit)
})
