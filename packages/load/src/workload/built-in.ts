/**
 * YCSB's core workloads (`workloads/workloada` to `workloadf`), one that covers every way to route
 * an operation, and transactions on one shard and on several.
 */
import type { OperationSource, WorkloadSource } from './schema.js'

export interface RecordShape {
  readonly fieldCount: number
  readonly fieldLength: number
  /** Of a transaction; default 2. */
  readonly reads?: number
  readonly writes?: number
}

const ycsbRecord = ({
  fieldCount,
  fieldLength,
}: Pick<RecordShape, 'fieldCount' | 'fieldLength'>): Record<string, unknown> => ({
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

/** Records with one value of the shard key. */
const groupRecords = 16

/** Weights of transactions within one group, and over any records. */
const transactionWeights: Readonly<Record<string, readonly [oneShard: number, acrossShards: number]>> = {
  transactions: [50, 50],
  'transactions-one-shard': [100, 0],
  'transactions-across-shards': [0, 100],
}
export const transactionWorkloads: readonly string[] = Object.keys(transactionWeights)

export const builtInWorkloads = [...Object.keys(operationsOf), 'route-mix', ...transactionWorkloads] as const

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
  const weights = transactionWeights[name]
  if (weights !== undefined) return { ...common, name, ...transactions(shape, weights) }
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

function transactions(
  shape: RecordShape,
  [oneShard, acrossShards]: readonly [number, number],
): Pick<WorkloadSource, 'shardKey' | 'record' | 'indexes' | 'distribution' | 'operations'> {
  const { reads = 2, writes = 2 } = shape
  const within = Math.max(groupRecords, reads + writes)
  const transaction = { do: 'transaction' as const, by: ['group', '_id'], reads, writes }
  return {
    shardKey: { group: 'hashed' },
    record: { ...ycsbRecord(shape), group: { $key: { div: within } } },
    indexes: [],
    distribution: 'uniform',
    operations: {
      ...(oneShard === 0 ? {} : { oneShard: { ...transaction, within, weight: oneShard } }),
      ...(acrossShards === 0 ? {} : { acrossShards: { ...transaction, weight: acrossShards } }),
    },
  }
}
