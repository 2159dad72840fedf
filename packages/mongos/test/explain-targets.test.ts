/**
 * Explain shows the owners of what a command would read or write, and fails as the command would.
 * The write itself may go to all shards.
 */
import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { RealCluster } from './support/real-cluster.js'

/** `c` with a range on each shard, `two` on the first two shards only. */
async function filled(emulate: EmulatedVersion): Promise<RealCluster> {
  const cluster = await RealCluster.create({ emulate })
  await cluster.shard({ ns: 'test.two', field: 'x', splits: [0, 100] }, ['shard01', 'shard02', 'shard02'])
  await cluster.run({ insert: 'c', documents: [-5, 5, 500].map((x, _id) => ({ _id, x })) })
  await cluster.run({ insert: 'two', documents: [-5, 5].map((x, _id) => ({ _id, x })) })
  return cluster
}

interface RouterPlan {
  stage: string
  shards: { shardName: string }[]
  inputStage?: { winningPlan: RouterPlan }
}

/** `SHARD_MERGE shard01 shard02`, followed by `over` and the stage below, or the error's code. */
async function targetsOf(cluster: RealCluster, command: Document): Promise<string> {
  const reply = await cluster.run({ explain: command, verbosity: 'queryPlanner' })
  if (reply['ok'] !== 1) return `error ${reply['code']}`
  return shown(reply['queryPlanner'].winningPlan as RouterPlan)
}

function shown({ stage, shards, inputStage }: RouterPlan): string {
  const own = [stage, ...shards.map(({ shardName }) => shardName)].join(' ')
  return inputStage === undefined ? own : `${own} over ${shown(inputStage.winningPlan)}`
}

const searched = 'SHARD_WRITE shard03 over SHARD_MERGE shard01 shard02 shard03'

const u = { $set: { a: 1 } }
const update = (collection: string, q: Document, rest: Document = {}): Document => ({
  update: collection,
  updates: [{ q, u, ...rest }],
})
const remove = (q: Document, limit: number): Document => ({ delete: 'c', deletes: [{ q, limit }] })
const modify = (query: Document): Document => ({ findAndModify: 'c', query, update: u })

const always: readonly [Document, string][] = [
  [{ find: 'c', filter: { x: 5 } }, 'SINGLE_SHARD shard02'],
  [{ find: 'c', filter: { x: 5 }, sort: { y: 1 } }, 'SINGLE_SHARD shard02'],
  [{ find: 'c', filter: { x: { $gt: 5 } } }, 'SHARD_MERGE shard02 shard03'],
  [{ find: 'c', sort: { y: 1 } }, 'SHARD_MERGE_SORT shard01 shard02 shard03'],
  [{ find: 'plain', sort: { y: 1 } }, 'SINGLE_SHARD shard01'],
  [{ count: 'c', query: { x: 5 } }, 'SINGLE_SHARD shard02'],
  [{ count: 'c' }, 'SHARD_MERGE shard01 shard02 shard03'],
  [{ distinct: 'c', key: 'x' }, 'SHARD_MERGE shard01 shard02 shard03'],
  [update('c', { x: 5 }), 'SHARD_WRITE shard02'],
  [update('plain', { x: 5 }), 'SHARD_WRITE shard01'],
  [update('c', { x: { $gt: 5 } }, { multi: true }), 'SHARD_WRITE shard02 shard03'],
  [update('two', { a: 1 }, { multi: true }), 'SHARD_WRITE shard01 shard02'],
  [update('c', { _id: 1 }), 'SHARD_WRITE shard01 shard02 shard03'],
  [remove({ x: { $lt: -1 } }, 0), 'SHARD_WRITE shard01'],
  [remove({ x: { $lt: 0 } }, 0), 'SHARD_WRITE shard01 shard02'],
  [remove({ x: 5 }, 0), 'SHARD_WRITE shard02'],
  [remove({ x: 5 }, 1), 'SHARD_WRITE shard02'],
  [remove({ a: 1 }, 0), 'SHARD_WRITE shard01 shard02 shard03'],
  [modify({ x: 5 }), 'SINGLE_SHARD shard02'],
]

const byVersion: readonly {
  readonly command: Document
  readonly targets: Readonly<Partial<Record<EmulatedVersion, string>>>
}[] = [
  {
    command: update('c', { a: 1 }),
    targets: { '4.0': 'error 61', '4.4': 'error 72', '6.0': 'error 72', '7.0': 'error 72', '8.0': searched },
  },
  {
    command: update('c', { x: { $gt: 5, $lt: 6 } }),
    targets: { '4.0': 'error 61', '4.4': 'SHARD_WRITE shard02', '8.0': 'SHARD_WRITE shard02' },
  },
  { command: update('c', { a: 1 }, { upsert: true }), targets: { '4.4': 'error 61', '7.0': 'error 61' } },
  {
    command: remove({ a: 1 }, 1),
    targets: { '4.0': 'error 61', '4.4': 'error 61', '7.0': 'error 61', '8.0': searched },
  },
  { command: modify({ a: 1 }), targets: { '4.0': 'error 61', '6.0': 'error 61', '7.0': 'error 61', '8.0': searched } },
  {
    command: { find: 'c', filter: { x: { $in: [] } } },
    targets: { '7.0': 'SINGLE_SHARD shard01', '8.0': 'SHARD_MERGE shard01 shard02 shard03' },
  },
]

for (const emulate of ['4.0', '4.4', '6.0', '7.0', '8.0'] as const) {
  t.test(emulate, async (t) => {
    const cluster = await filled(emulate)
    for (const [command, targets] of always)
      t.equal(await targetsOf(cluster, command), targets, JSON.stringify(command))
    for (const { command, targets } of byVersion) {
      const wanted = targets[emulate]
      if (wanted !== undefined) t.equal(await targetsOf(cluster, command), wanted, JSON.stringify(command))
    }
    t.match(await cluster.run({ explain: { update: 'c', updates: [] } }), { code: 16 })
  })
}
