import type { OperationsEvent } from '@shardlab/actor'
import t from 'tap'
import type { StreamedEvent } from '../src/index.js'
import { errorLaneOf, lanesOf } from '../src/page/views/timeline-lanes.js'

const migration = (atMs: number, id: string, stage: 'started' | 'cloned' | 'committed' | 'aborted'): StreamedEvent => ({
  ...{ type: 'migration', atMs, id, ns: 'a.b', from: 'shard01', to: 'shard02', min: '{}', max: '{}', stage },
  ...{ documents: 0, bytes: 0, durationMs: 0 },
})

t.test('a fault or migration that has ended is one bar, and one that has not ended is open', async (t) => {
  const lanes = lanesOf([
    { type: 'fault-applied', atMs: 10, id: 'f1', fault: 'crash shard02', members: ['shard02'] },
    { type: 'member', atMs: 11, member: 'shard02', state: 'crashed' },
    migration(12, 'm1', 'started'),
    migration(13, 'm1', 'cloned'),
    { type: 'fault-applied', atMs: 14, id: 'f2', fault: 'slow disk of shard01 by 20ms', members: ['shard01'] },
    migration(15, 'm1', 'aborted'),
    { type: 'fault-healed', atMs: 20, id: 'f1', fault: 'crash shard02', members: ['shard02'] },
    { type: 'member', atMs: 21, member: 'shard02', state: 'started' },
    migration(22, 'm2', 'cloned'),
  ])
  t.strictSame(lanes, [
    {
      name: 'faults',
      items: [
        { fromMs: 10, toMs: 20, text: 'crash shard02', tone: 'warn' },
        { fromMs: 14, toMs: null, text: 'slow disk of shard01 by 20ms', tone: 'warn' },
      ],
    },
    { name: 'members', items: [{ fromMs: 11, toMs: 21, text: 'shard02 crashed', tone: 'bad' }] },
    {
      name: 'migrations',
      items: [
        { fromMs: 12, toMs: 15, text: 'a.b: shard01 → shard02', tone: 'bad' },
        { fromMs: 22, toMs: null, text: 'a.b: shard01 → shard02', tone: 'fine' },
      ],
    },
  ])
})

t.test('events without a beginning in the history make no bar, and elections are marks', async (t) => {
  const lanes = lanesOf([
    { type: 'fault-healed', atMs: 1, id: 'f0', fault: 'crash shard01', members: [] },
    { type: 'member', atMs: 2, member: 'shard01', state: 'started' },
    migration(3, 'm0', 'committed'),
    { type: 'step-down', atMs: 4, member: 's-1', set: 's', term: 1, reason: 'command' },
  ])
  t.strictSame(lanes, [{ name: 'elections', items: [{ fromMs: 4, toMs: 4, text: 's-1 stepped down', tone: 'warn' }] }])
})

t.test('failed operations are bars of their seconds, as high as their rate', async (t) => {
  const event = (fromMs: number, atMs: number, failed: number) =>
    ({ fromMs, atMs, shapes: [{ kind: 'targeted', operations: 9, failed }] }) as unknown as OperationsEvent
  const second = { tone: 'bad' as const }
  t.strictSame(errorLaneOf([event(200_000, 200_500, 4), event(201_000, 203_000, 4)], 204_000), {
    name: 'errors',
    items: [
      { fromMs: 200_000, toMs: 201_000, text: '4.0 failed operations a second', ...second, share: 1 },
      { fromMs: 201_000, toMs: 202_000, text: '2.0 failed operations a second', ...second, share: 0.5 },
      { fromMs: 202_000, toMs: 203_000, text: '2.0 failed operations a second', ...second, share: 0.5 },
    ],
  })
  t.equal(errorLaneOf([event(200_000, 200_500, 0)], 204_000), null)
})
