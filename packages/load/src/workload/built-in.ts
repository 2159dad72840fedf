/**
 * YCSB's core workloads (`workloads/workloada` to `workloadf`), and one that covers every way to
 * route an operation.
 */
import type { OperationSource, WorkloadSource } from './schema.js'

export interface RecordShape {
  readonly fieldCount: number
  readonly fieldLength: number
}

const ycsbRecord = ({ fieldCount, fieldLength }: RecordShape): Record<string, unknown> => ({
  _id: { $keyName: {} },
  ...Object.fromEntries(Array.from({ length: fieldCount }, (_, i) => [`field${i}`, { $text: fieldLength }])),
})

const read: Omit<OperationSource, 'weight'> = { do: 'findOne', by: ['_id'] }
const update: Omit<OperationSource, 'weight'> = { do: 'update', by: ['_id'] }

const operationsOf: Readonly<Record<string, WorkloadSource['operations']>> = {
  a: { read: { ...read, weight: 50 }, update: { ...update, weight: 50 } },
  b: { read: { ...read, weight: 95 }, update: { ...update, weight: 5 } },
  c: { read: { ...read, weight: 100 } },
  d: { read: { ...read, weight: 95 }, insert: { do: 'insert', weight: 5 } },
  e: {
    scan: { do: 'find', range: { field: '_id' }, sort: { _id: 1 }, limit: [1, 100], weight: 95 },
    insert: { do: 'insert', weight: 5 },
  },
  f: { read: { ...read, weight: 50 }, readModifyWrite: { do: 'readModifyWrite', by: ['_id'], weight: 50 } },
}

const customers = 100_000
const regions = [
  'north',
  'north-east',
  'east',
  'south-east',
  'south',
  'south-west',
  'west',
  'north-west',
  'centre',
  'islands',
]

const routeMix: WorkloadSource['operations'] = {
  targeted: { do: 'findOne', by: ['customer', '_id'], weight: 35 },
  multi: { do: 'find', range: { field: 'customer', width: customers * 0.4 }, limit: 20, weight: 10 },
  broadcast: { do: 'find', by: ['region'], limit: 20, weight: 10 },
  byId: { do: 'findOne', by: ['_id'], weight: 15 },
  update: { do: 'update', by: ['customer', '_id'], weight: 15 },
  insert: { do: 'insert', weight: 5 },
  upsert: { do: 'upsert', weight: 5 },
  bulk: { do: 'bulkInsert', documents: 20, weight: 5 },
}

export const builtInWorkloads = [...Object.keys(operationsOf), 'route-mix'] as const

/** null: unknown name. YCSB's default shape is 10 fields of 100 bytes. */
export function builtInWorkload(name: string, shape: RecordShape): WorkloadSource | null {
  const common = { name, seed: 1, ns: 'shardlab_load.records', records: 1000 }
  const ycsb = operationsOf[name]
  if (ycsb !== undefined) {
    return {
      ...common,
      name: `ycsb-${name}`,
      shardKey: { _id: 'hashed' },
      record: ycsbRecord(shape),
      indexes: [],
      distribution: name === 'd' ? 'latest' : 'zipfian',
      operations: ycsb,
    }
  }
  if (name !== 'route-mix') return null
  return {
    ...common,
    shardKey: { customer: 1, _id: 1 },
    record: { ...ycsbRecord(shape), customer: { $int: [0, customers] }, region: { $oneOf: regions } },
    indexes: [{ region: 1 }],
    distribution: 'uniform',
    operations: routeMix,
  }
}
