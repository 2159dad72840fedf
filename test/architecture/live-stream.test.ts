/**
 * docs/reference/live-stream.md has every delta with every field. The compiler checks that the list
 * below is complete.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type {
  Delta,
  LiveBalancer,
  LiveCatalog,
  LiveClock,
  LiveChunk,
  LiveCollection,
  LiveFault,
  LiveMember,
  LiveMigration,
  LiveShard,
  LiveZone,
} from '@shardlab/dashboard'
import { findRoot } from './model/repository.js'

type FieldsOf<E> = Record<keyof E, true>
type Outer = { readonly [T in Delta['type']]: FieldsOf<Omit<Extract<Delta, { type: T }>, 'type'>> }

const deltas: Outer = {
  snapshot: { cluster: true, recordedSinceMs: true },
  ready: {},
  member: { member: true },
  'member-removed': { address: true },
  shard: { shard: true },
  'shard-removed': { id: true },
  collection: { collection: true },
  'collection-removed': { ns: true },
  chunks: { ns: true, from: true, to: true, chunks: true },
  migration: { migration: true },
  'migration-ended': { id: true },
  faults: { faults: true },
  balancer: { balancer: true },
  catalog: { catalog: true },
  clock: { clock: true },
  operations: { operations: true },
  event: { event: true },
}

const member: FieldsOf<LiveMember> = {
  ...({ address: true, set: true, role: true, state: true } as const),
  ...({ setState: true, endpoint: true, machine: true } as const),
}
const collection: FieldsOf<LiveCollection> = {
  ...({ ns: true, shardKey: true, unsplittable: true, balanced: true, zones: true } as const),
}
const zone: FieldsOf<LiveZone> = { zone: true, min: true, max: true, fromKey: true, toKey: true }
const chunk: FieldsOf<Required<LiveChunk>> = { key: true, min: true, shard: true, jumbo: true }
const migration: FieldsOf<LiveMigration> = {
  ...({ id: true, ns: true, from: true, to: true, min: true, max: true } as const),
  ...({ fromKey: true, toKey: true, stage: true, documents: true, bytes: true } as const),
}
const fault: FieldsOf<LiveFault> = {
  ...({ id: true, fault: true, verb: true, state: true } as const),
  ...({ members: true, beginsAtMs: true, healsAtMs: true } as const),
}
const shard: FieldsOf<LiveShard> = { id: true, draining: true, zones: true }
const balancer: FieldsOf<LiveBalancer> = { mode: true, activeWindow: true }
const catalog: FieldsOf<LiveCatalog> = { readAtMs: true, error: true }
const clock: FieldsOf<LiveClock> = { nowMs: true, speed: true, untilMs: true }

const inner: Readonly<Record<string, Readonly<Record<string, true>>>> = {
  member,
  shard,
  collection: { ...collection, ...zone },
  chunks: chunk,
  migration,
  faults: fault,
  balancer,
  catalog,
  clock,
}

t.test('the page of the live stream has every delta with every field', async (t) => {
  const page = readFileSync(join(findRoot(), 'docs/reference/live-stream.md'), 'utf8')
  const rows = new Map([...page.matchAll(/^\| `([a-z-]+)` \| (.*)$/gm)].map(([, type, text]) => [type!, text!]))
  for (const [type, fields] of Object.entries(deltas)) {
    const row = rows.get(type)
    t.ok(row, type)
    for (const field of Object.keys({ ...fields, ...inner[type] })) t.match(row, `\`${field}\``, `${type} has ${field}`)
  }
})
