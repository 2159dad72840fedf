/** Creates the empty collection, sharded as the workload says, with chunks on every shard. */
import { MinKey, MongoServerError, type Document } from 'mongodb'
import { messageOf, OptionError } from '../option-error.js'
import { keysMax } from '../data/text.js'
import type { Workload } from '../workload/workload.js'
import { nowUs, sleep } from './clock.js'
import type { Control } from './control.js'

const namespaceNotFound = 26
const conflictingOperation = 117

const patienceUs = 30e6
const pauseMs = 100

/**
 * @throws OptionError if the collection has documents and may not be dropped, or the server refuses
 * the shard key or an index
 */
export async function prepareCollection(control: Control, workload: Workload, drop: boolean): Promise<void> {
  const { client, isMongos } = control
  const { database, collection: name, ns, shardKey, indexes } = workload
  const collection = client.db(database).collection(name)
  const refused = (what: string) => (error: unknown) => {
    throw new OptionError(`${ns} ${what}: ${messageOf(error)}`)
  }
  if (drop) {
    await collection.drop().catch((error: unknown) => {
      if (!(error instanceof MongoServerError && error.code === namespaceNotFound)) refused('cannot be dropped')(error)
    })
  } else if ((await collection.findOne({}, { projection: { _id: 1 } }).catch(refused('cannot be read'))) !== null) {
    throw new OptionError(`${ns} holds documents: name another collection with --ns, or let it be dropped with --drop`)
  }
  if (isMongos && shardKey !== null) await shard(control, workload, shardKey)
  for (const key of indexes)
    await collection.createIndex(key).catch(refused(`cannot be indexed by ${JSON.stringify(key)}`))
}

async function shard({ client }: Control, workload: Workload, key: NonNullable<Workload['shardKey']>): Promise<void> {
  const admin = client.db('admin')
  try {
    await admin.command({ enableSharding: workload.database })
    await admin.command({ shardCollection: workload.ns, key })
  } catch (error) {
    throw new OptionError(
      `${workload.ns} cannot be sharded by ${JSON.stringify(key)}: ${messageOf(error)} (with --shard-key none it stays as it is)`,
    )
  }
  // shardCollection spreads chunks only for keys with a hashed prefix; a ranged key starts on one
  // shard.
  const [first, ...others] = Object.entries(key)
  if (first![1] === 'hashed') return
  const shards = await client
    .db('config')
    .collection<Document & { _id: string }>('shards')
    .find({})
    .sort({ _id: 1 })
    .toArray()
  const quantile = quantiles(workload, first![0])
  if (quantile === null || shards.length < 2) return
  const rest = Object.fromEntries(others.map(([field]) => [field, new MinKey()]))
  for (let i = 1; i < shards.length; i++) {
    const middle = { [first![0]]: quantile(i / shards.length), ...rest }
    await unlessBusy(workload, () => admin.command({ split: workload.ns, middle }))
  }
  for (const [i, { _id }] of shards.entries()) {
    const find = {
      [first![0]]: quantile((i + 0.5) / shards.length),
      ...Object.fromEntries(others.map(([field]) => [field, 0])),
    }
    await unlessBusy(workload, () => admin.command({ moveChunk: workload.ns, find, to: _id }))
  }
}

/**
 * Repeats the command while the balancer works on the same chunks or shards.
 * @throws OptionError the server refuses it for another reason, or for half a minute
 */
async function unlessBusy({ ns }: Workload, run: () => Promise<unknown>): Promise<void> {
  const untilUs = nowUs() + patienceUs
  for (;;) {
    try {
      await run()
      return
    } catch (error) {
      const isBusy = error instanceof MongoServerError && error.code === conflictingOperation
      if (!isBusy || nowUs() > untilUs)
        throw new OptionError(`the chunks of ${ns} cannot be spread over the shards: ${messageOf(error)}`)
    }
    await sleep(pauseMs)
  }
}

/** The value of a field below which this share of the records lies; null: unknown. */
function quantiles({ template, records }: Workload, field: string): ((share: number) => unknown) | null {
  const generator = template.generatorOf(field)
  switch (generator?.name) {
    case '$keyName':
      return (share) => `user${String(Math.floor(share * keysMax)).padStart(10, '0')}`
    case '$int': {
      const [from, to] = generator.argument as [number, number]
      return (share) => Math.floor(from + share * (to - from))
    }
    case '$key': {
      if (Object.keys(generator.argument ?? {}).length > 0) return null
      return (share) => Math.floor(share * records)
    }
    default:
      return null
  }
}
