/** Compares catalog, shards and routers. */
import { decode, encode, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { databaseNameOf } from '@shardlab/member'
import { databases, shards } from './commands.js'

export type Run = (command: Document, to?: string) => Promise<Document>

export function runner(cluster: SimulatedCluster): Run {
  return async (command, to = 'mongos01') =>
    decode(await cluster.command(encode(command), { to }), { promoteLongs: true })
}

export async function documents(run: Run, command: Document, to?: string): Promise<Document[]> {
  const reply = await run('find' in command ? { ...command, batchSize: 100_000 } : command, to)
  if (reply['ok'] !== 1) throw new Error(`${JSON.stringify(command)} on ${to}: ${reply['code']} ${reply['errmsg']}`)
  return reply['cursor'].firstBatch as Document[]
}

interface Local {
  readonly ns: string
  readonly shard: string
  readonly uuid: string
}

async function localCollections(run: Run): Promise<Local[]> {
  const found: Local[] = []
  for (const shard of shards) {
    for (const db of databases) {
      const reply = await run({ listCollections: 1, cursor: { batchSize: 1000 }, $db: db }, shard)
      for (const { name, info } of reply['cursor'].firstBatch as Document[])
        found.push({ ns: `${db}.${name}`, shard, uuid: String(info?.uuid) })
    }
  }
  return found
}

/** @returns what contradicts */
export async function contradictions(run: Run, hasConsistencyCheck: boolean): Promise<string[]> {
  const problems: string[] = []
  const entries = (
    await documents(run, { find: 'collections', filter: { dropped: { $ne: true } }, $db: 'config' })
  ).filter(({ _id }) => databases.some((db) => String(_id).startsWith(`${db}.`)))
  const primaries = new Map(
    (await documents(run, { find: 'databases', $db: 'config' })).map(({ _id, primary }) => [
      String(_id),
      String(primary),
    ]),
  )
  const chunks = await documents(run, { find: 'chunks', $db: 'config' })
  const local = await localCollections(run)
  const tracked = new Map(entries.map((entry) => [String(entry['_id']), entry]))
  for (const [ns, { uuid }] of tracked) {
    if (!primaries.has(databaseNameOf(ns))) problems.push(`${ns} is in the catalog, but not its database`)
    const owners = new Set(
      chunks.filter((chunk) => chunk['ns'] === ns || String(chunk['uuid']) === String(uuid)).map(({ shard }) => shard),
    )
    if (owners.size === 0) problems.push(`${ns} has no chunks`)
    for (const owner of owners)
      if (!local.some((each) => each.ns === ns && each.shard === owner))
        problems.push(`${ns} is not on its owner ${owner}`)
  }
  for (const { ns, shard, uuid } of local) {
    const entry = tracked.get(ns)
    const primary = primaries.get(databaseNameOf(ns))
    if (primary === undefined) problems.push(`${ns} on ${shard} is of a dropped database`)
    else if (ns.includes('.system.')) continue
    else if (entry === undefined && shard !== primary) problems.push(`${ns} is unsharded, but on ${shard}`)
    else if (
      entry !== undefined &&
      uuid !== 'undefined' &&
      entry['uuid'] !== undefined &&
      uuid !== String(entry['uuid'])
    )
      problems.push(`${ns} on ${shard} has another UUID than in the catalog`)
  }
  if (hasConsistencyCheck)
    for (const db of primaries.keys())
      for (const each of await documents(run, {
        checkMetadataConsistency: 1,
        cursor: {},
        $db: db,
        batchSize: undefined,
      }))
        // As on the server, an empty copy that a shard has kept does not change with collMod.
        if (each['type'] !== 'CollectionOptionsMismatch')
          problems.push(`${each['type']} ${JSON.stringify(each['details'])}`)
  return problems
}
