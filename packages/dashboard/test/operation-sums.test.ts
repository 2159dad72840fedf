import type { OperationShape, OperationsEvent, RoutedOperation } from '@shardlab/actor'
import t from 'tap'
import { meansOf, operationsByShard, ratesOf, samplesOf, shapesSince } from '../src/page/operation-sums.js'

function operation(opId: number, atMs: number, durationMs = 1): RoutedOperation {
  return { opId, atMs, durationMs, ns: 'app.rows', command: 'find', kind: 'targeted' } as RoutedOperation
}

function shape(fields: Partial<OperationShape>): OperationShape {
  return {
    ...{ ns: 'app.rows', command: 'find', shape: '', kind: 'targeted', operations: 1, failed: 0, durationMs: 1 },
    ...{ slowest: operation(1, 0), ...fields },
  }
}

function event(fromMs: number, atMs: number, shapes: readonly OperationShape[]): OperationsEvent {
  return { type: 'operations', fromMs, atMs, mongos: 'mongos01', shapes, shards: [], chunks: [], samples: [] }
}

t.test('operations are spread over the seconds in which they ran', async (t) => {
  const events = [
    event(0, 500, [shape({ operations: 900 })]),
    event(10_500, 11_500, [shape({ operations: 100, failed: 10 }), shape({ kind: 'broadcast', operations: 4 })]),
    event(12_000, 12_000, [shape({ kind: null, operations: 3, failed: 3 })]),
  ]
  const { targeted, multi, broadcast, failed } = ratesOf(events, 13_000, 4)
  t.same(targeted, [0, 50, 50, 0], 'the seconds end at 10, 11, 12 and 13')
  t.same(multi, [0, 0, 0, 0])
  t.same(broadcast, [0, 2, 2, 0])
  t.same(failed, [0, 5, 8, 0])
  t.same(ratesOf([event(7000, 11_000, [shape({ operations: 40 })])], 11_000, 2).targeted, [10, 10])
})

t.test('shapes of all routers are summed up, the slowest first', async (t) => {
  const slow = operation(7, 0, 80)
  const events = [
    event(0, 900, [shape({ operations: 5, durationMs: 5000 })]),
    event(1000, 1500, [shape({ operations: 9, durationMs: 18, slowest: operation(6, 0, 3) })]),
    event(1000, 1600, [
      shape({ operations: 1, durationMs: 80, failed: 1, slowest: slow }),
      shape({ command: 'count' }),
    ]),
    event(1600, 2000, [shape({ kind: 'broadcast', operations: 2, durationMs: 100 })]),
  ]
  const shapes = shapesSince(events, 1000)
  t.match(shapes, [
    { kind: 'broadcast', operations: 2 },
    { kind: 'targeted', operations: 10, durationMs: 98, failed: 1, slowest: slow },
    { command: 'count', operations: 1 },
  ])
  t.equal(shapes.length, 3)
})

t.test('samples are those of the last events, newest first', async (t) => {
  const events = [
    { ...event(0, 10, []), samples: [operation(1, 1), operation(2, 9)] },
    { ...event(0, 20, []), samples: [operation(3, 12), operation(4, 12)] },
  ]
  t.same(
    samplesOf(events, 3).map(({ opId }) => opId),
    [4, 3, 2],
  )
})

t.test('shards have the operations of the last ten seconds', async (t) => {
  const events = [
    { ...event(0, 1000, []), shards: [['shard01', 100]] },
    { ...event(0, 5000, []), shards: [['shard01', 3]] },
    {
      ...event(0, 12_000, []),
      shards: [
        ['shard01', 4],
        ['shard02', 1],
      ],
    },
  ] as unknown as OperationsEvent[]
  t.same(
    new Map([
      ['shard01', 7],
      ['shard02', 1],
    ]),
    operationsByShard(events, 13_000),
  )
})

t.test('means are those of the time that is known', async (t) => {
  const events = [event(10_000, 12_000, [shape({ operations: 100 })])]
  t.equal(meansOf(events, 12_000, { seconds: 5, sinceMs: 0 }).targeted, 20)
  t.equal(meansOf(events, 12_000, { seconds: 5, sinceMs: 10_000 }).targeted, 50)
  t.equal(meansOf(events, 12_000, { seconds: 5, sinceMs: 11_900 }).targeted, 100, 'at least a second')
})
