/** Transactions of a simulated cluster, command by command. */
import { Long, UUID, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { ask } from '../two-shard-cluster.js'

export interface Txn {
  (command: Document, to?: string): Promise<Document>
  commit(to?: string, more?: Document): Promise<Document>
  abort(to?: string): Promise<Document>
  /** The recovery token of the last reply that had one. */
  token: Document | undefined
}

/** The first command starts the transaction. */
export function transaction(cluster: SimulatedCluster, byte: number, number = 1, first: Document = {}): Txn {
  const common = {
    lsid: { id: new UUID(Buffer.alloc(16, byte)) },
    txnNumber: Long.fromNumber(number),
    autocommit: false,
  }
  let isNew = true
  const send = async (command: Document, to = 'mongos01') => {
    const reply = await ask(cluster, command, to)
    txn.token = (reply['recoveryToken'] as Document | undefined) ?? txn.token
    return reply
  }
  const run = async (command: Document, to?: string) => {
    const starts = isNew ? { startTransaction: true, ...first } : {}
    isNew = false
    return send({ ...command, ...common, ...starts }, to)
  }
  const end = (name: string, to?: string, more: Document = {}) =>
    send({ [name]: 1, ...common, ...more, $db: 'admin' }, to)
  const txn: Txn = Object.assign(run, {
    commit: (to?: string, more?: Document) => end('commitTransaction', to, more),
    abort: (to?: string) => end('abortTransaction', to),
    token: undefined as Document | undefined,
  })
  return txn
}
