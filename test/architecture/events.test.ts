/**
 * docs/reference/events.md has every event with every field. The compiler checks that the lists
 * below are complete.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { ClusterEvent, ClusterEvents } from '@shardlab/cluster'
import { findRoot } from './model/repository.js'

type FieldsOf<E> = Record<Exclude<keyof E, 'type' | 'atMs'>, true>

const events: { readonly [T in keyof ClusterEvents]: FieldsOf<Required<Extract<ClusterEvent, { type: T }>>> } = {
  routed: {
    mongos: true,
    opId: true,
    connectionId: true,
    ns: true,
    command: true,
    shardKey: true,
    kind: true,
    shards: true,
    chunks: true,
    bounds: true,
    durationMs: true,
  },
  operations: { mongos: true, fromMs: true, shapes: true, shards: true, chunks: true, samples: true },
  catalog: { change: true, ns: true },
  split: { ns: true, shard: true, min: true, max: true, points: true },
  merge: { ns: true, shard: true, min: true, max: true, chunks: true },
  migration: {
    id: true,
    ns: true,
    from: true,
    to: true,
    min: true,
    max: true,
    stage: true,
    documents: true,
    bytes: true,
    durationMs: true,
  },
  'range-deleted': { shard: true, ns: true, documents: true, bytes: true, durationMs: true },
  resharding: { ns: true, key: true, state: true, durationMs: true },
  'collection-size': { shard: true, ns: true, documents: true, bytes: true, ownedBytes: true, orphans: true },
  'balancer-round': {
    round: true,
    skipped: true,
    splits: true,
    migrations: true,
    blocked: true,
    defragmenting: true,
    durationMs: true,
  },
  'fault-applied': { id: true, fault: true, members: true },
  'fault-struck': { id: true, fault: true, member: true, step: true },
  'fault-healed': { id: true, fault: true, members: true },
  jumbo: { ns: true, shard: true, min: true, max: true },
  member: { member: true, state: true, error: true },
  limit: { member: true, limit: true, value: true },
  'member-state': { member: true, set: true, from: true, to: true },
  election: {
    member: true,
    set: true,
    outcome: true,
    dryRun: true,
    reason: true,
    term: true,
    votes: true,
    votesNeeded: true,
    refusals: true,
  },
  'step-down': { member: true, set: true, term: true, reason: true },
  rollback: { member: true, set: true, to: true, entries: true, namespaces: true },
  'rollback-failed': { member: true, set: true, source: true },
  'replication-lag': { member: true, set: true, primary: true, state: true, lagMs: true, commitLagMs: true },
  log: { member: true, level: true, message: true, fields: true },
}

t.test('the page of events has every event with every field', (t) => {
  const page = readFileSync(join(findRoot(), 'docs/reference/events.md'), 'utf8')
  const sections = new Map(
    [...page.matchAll(/^### `(.+?)`$([^]*?)(?=^### |(?![^]))/gm)].map(([, name, text]) => [name!, text!]),
  )
  t.same([...sections.keys()].toSorted(), Object.keys(events).toSorted())
  for (const [name, fields] of Object.entries(events)) {
    const cells = [...sections.get(name)!.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`(.+?)`/g)].map(([, field]) => field!),
    )
    t.same(cells.toSorted(), Object.keys(fields).toSorted(), name)
  }
  t.end()
})
