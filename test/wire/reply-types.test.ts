/**
 * Types in replies are the server's: typed clients cast `ok` to a double, and read a cursor's id as
 * a 64-bit integer.
 */
import t from 'tap'
import { decode, encode, type Document } from '@shardlab/bson'
import { commandTable } from '@shardlab/mongos'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import { lastCursor, replyRows, type Types } from './reply-table.js'
import { typesOf } from './types-of.js'

const common: Types = {
  ok: 'double',
  operationTime: 'timestamp',
  $clusterTime: 'object',
  '$clusterTime.clusterTime': 'timestamp',
  '$clusterTime.signature': 'object',
  '$clusterTime.signature.hash': 'binData',
  '$clusterTime.signature.keyId': 'long',
}

/** The differences between the types of a reply and the expected types, one sentence each. */
function findings(found: Map<string, Set<string>>, expected: Types): string[] {
  const wrong: string[] = []
  const known = new Set<string>()
  for (const [pattern, types] of Object.entries({ ...common, ...expected })) {
    if (pattern.endsWith('.*')) continue
    const path = pattern.replace(/\?$/, '')
    known.add(path.split(/[.[]/)[0]!)
    const actual = found.get(path)
    const allowed = [types].flat()
    if (actual === undefined) {
      if (!pattern.endsWith('?')) wrong.push(`${path} is missing`)
    } else if ([...actual].some((type) => !allowed.includes(type)))
      wrong.push(`${path} is ${[...actual].join(' and ')}, not ${allowed.join(' or ')}`)
  }
  for (const path of found.keys()) if (!/[.[]/.test(path) && !known.has(path)) wrong.push(`${path} is not expected`)
  return wrong
}

t.test("every command's reply has the server's types", async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', emulate: '8.0' })
  const client = await RawClient.connect(cluster.mongos[0]!)
  t.teardown(() => client.close())
  let cursor: unknown
  const filledIn = (value: unknown): unknown =>
    value === lastCursor ? cursor : Array.isArray(value) ? value.map(filledIn) : value
  for (const { command, db = 'types', types } of replyRows) {
    const complete = Object.fromEntries(Object.entries(command).map(([name, value]) => [name, filledIn(value)]))
    const reply = await client.commandBytes(encode({ ...complete, $db: db }))
    t.same(findings(typesOf(reply), types), [], JSON.stringify(command).slice(0, 100))
    cursor = cursorIn(reply) ?? cursor
  }
})

/** The cursor id in the reply's bytes. */
function cursorIn(reply: Uint8Array): unknown {
  const document: Document = decode(reply)
  return (document['cursor'] as Document | undefined)?.['id']
}

t.test('every command of a mongos has a row', async (t) => {
  const tested = new Set(replyRows.map(({ command }) => Object.keys(command)[0]!))
  t.same(
    commandTable.rows.map(({ name }) => name).filter((name) => !tested.has(name)),
    [],
  )
})
