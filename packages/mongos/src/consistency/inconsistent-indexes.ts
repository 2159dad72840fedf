/** Server: metadata_consistency_util.cpp, checkIndexesConsistencyAcrossShards. */
import { unversioned } from '@shardlab/actor'
import { compareDocuments, DocumentWriter, ErrorCodes, FieldIterator, findField } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { documentsIn } from '../remote/command-reply.js'
import { readCursorReply } from '../cursors/cursor-reply.js'
import { scatter } from '../routing/scatter.js'

/** A collection has fewer indexes, so one batch holds them all. */
const wholeBatch = 1000

/** `{ type: 'InconsistentIndex', … }` for each differing index. @throws CommandError of a shard */
export async function inconsistentIndexes(
  invocation: MongosInvocation,
  ns: string,
  owners: readonly string[],
): Promise<Uint8Array[]> {
  const specs = await indexesOf(invocation, ns, owners)
  const shards = [...specs.keys()]
  const names = new Set([...specs.values()].flatMap((byName) => [...byName.keys()]))
  const found: Uint8Array[] = []
  for (const name of names) {
    const missing = shards.filter((shard) => !specs.get(shard)!.has(name))
    const differing = differingProperties(shards.flatMap((shard) => specs.get(shard)!.get(name) ?? []))
    if (missing.length > 0 || differing.length > 0) found.push(inconsistency(ns, name, missing, differing))
  }
  return found
}

/** By shard and name. Omits shards without the collection. */
async function indexesOf(
  invocation: MongosInvocation,
  ns: string,
  owners: readonly string[],
): Promise<Map<string, Map<string, Uint8Array>>> {
  const dot = ns.indexOf('.')
  const db = ns.slice(0, dot)
  const body = new DocumentWriter(128)
    .string('listIndexes', ns.slice(dot + 1))
    .startDocument('cursor')
    .int32('batchSize', wholeBatch)
    .end()
    .string('$db', db)
    .finish()
  const command = unversioned(db, body)
  const specs = new Map<string, Map<string, Uint8Array>>()
  for (const { member, error, body: reply } of await scatter(invocation, owners, () => command, true)) {
    if (error?.code === ErrorCodes.NamespaceNotFound) continue
    if (error !== null) throw error
    const indexes = documentsIn(readCursorReply(reply, 'firstBatch').cursor.slice(), 'firstBatch')
    specs.set(member, new Map(indexes.map((spec) => [findField(spec, 'name')!.asString(), spec])))
  }
  return specs
}

/** `{ k, v }` for each value. */
function differingProperties(specs: readonly Uint8Array[]): Uint8Array[] {
  const counts: { property: Uint8Array; count: number }[] = []
  for (const spec of specs) {
    for (const it = new FieldIterator(spec); it.next();) {
      const property = new DocumentWriter(64).string('k', it.name()).value('v', it.value()).finish()
      const known = counts.find((each) => compareDocuments(each.property, property) === 0)
      if (known === undefined) counts.push({ property, count: 1 })
      else known.count++
    }
  }
  return counts
    .filter(({ count }) => count < specs.length)
    .map(({ property }) => property)
    .sort(compareDocuments)
}

function inconsistency(
  ns: string,
  name: string,
  missing: readonly string[],
  differing: readonly Uint8Array[],
): Uint8Array {
  const writer = new DocumentWriter(512)
    .string('type', 'InconsistentIndex')
    .string('description', 'Found an index of a sharded collection that is inconsistent between different shards')
    .startDocument('details')
    .string('namespace', ns)
    .startDocument('info')
    .startArray('missingFromShards')
  missing.forEach((shard, i) => writer.string(String(i), shard))
  return writer.end().documents('inconsistentProperties', differing).string('indexName', name).end().end().finish()
}
