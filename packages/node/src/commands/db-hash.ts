import type { CommandRow } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  emptyDocument,
  Md5,
  noCode,
  type RawValue,
} from '@shardlab/bson'
import { compileFilter, parseSort } from '@shardlab/query'
import { executePlan, planQuery, type Collection } from '@shardlab/storage'
import { catchUpKeys } from '../read/catch-up-keys.js'
import { readInTurns, type SteppedWork } from '../read/in-turns.js'
import type { NodeInvocation } from '../host/node-host.js'
import { onDatabase } from '@shardlab/member'

/** Server: dbhash.cpp. */
export const dbHash: CommandRow<NodeInvocation> = {
  name: 'dbHash',
  aliases: ['dbhash'],
  routing: 'local',
  access: 'read',
  privileges: onDatabase('dbHash'),
  manual: 'reference/command/dbHash',
  status: 'full',
  summary:
    'Returns an MD5 hash of each collection of a database, over its documents in the order of their _id, and one of the database. Not on routers.',
  fields: { collections: 'any' },
  async run(invocation) {
    const { host, db, args, operation } = invocation
    for (const collection of host.engine.collections(db)) await catchUpKeys(host, operation, collection)
    const startedMs = host.context.now()
    const wanted = wantedCollections(args.value('collections'))
    const collections = host.engine
      .collections(db)
      .map((collection) => ({ name: collection.ns.slice(db.length + 1), collection: collection.snapshot() }))
      .filter(({ name }) => db !== 'local' && name !== 'system.profile' && !name.startsWith('tmp.mr.'))
      .filter(({ name }) => wanted.size === 0 || wanted.has(name))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const writer = new DocumentWriter(512).string('host', host.context.endpoint).startDocument('collections')
    const all = new Md5()
    for (const { name, collection } of collections) {
      const hash = await readInTurns(invocation, hashOf(collection))
      writer.string(name, hash)
      all.add(Buffer.from(hash, 'latin1'))
    }
    writer.end().startArray('capped')
    const capped = collections.filter(({ collection }) => collection.capped !== null)
    capped.forEach(({ name }, i) => writer.string(String(i), name))
    writer.end().startDocument('uuids')
    for (const { name, collection } of collections) writer.binary(name, 4, collection.uuid)
    writer.end().string('md5', all.text())
    return writer.integer('timeMillis', host.context.now() - startedMs)
  },
}

function wantedCollections(value: RawValue | undefined): ReadonlySet<string> {
  if (value?.type !== BsonType.array) return new Set()
  return new Set(
    elementsOf(value).map((each) => {
      if (each.type !== BsonType.string) throw new CommandError(noCode, 'collections entries have to be strings')
      return each.asString()
    }),
  )
}

function* hashOf(collection: Collection): SteppedWork<string> {
  const filter = compileFilter(emptyDocument, { now: () => 0, random: () => 0 })
  const sort = parseSort(new DocumentWriter(16).int32('_id', 1).finish())
  const rows = executePlan(planQuery(collection, { filter, sort, skip: 0, limit: 0 }))
  const hash = new Md5()
  for (let row = rows.next(); row !== null; row = rows.next()) {
    hash.add(row.document)
    yield
  }
  return hash.text()
}
