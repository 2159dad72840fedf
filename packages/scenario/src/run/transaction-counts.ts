import { decode, encode, type Document } from '@shardlab/bson'
import type { TransactionOutcome } from '../client/index.js'
import type { TransactionsResult } from '../types.js'
import type { ScenarioWorld } from './world.js'

/** What the application sees of its transactions. */
export class TransactionCounts {
  committed = 0
  failed = 0
  readonly aborts: Record<string, number> = {}

  note({ committed, aborts }: TransactionOutcome): void {
    if (committed) this.committed++
    else this.failed++
    for (const [code, count] of Object.entries(aborts)) this.aborts[code] = (this.aborts[code] ?? 0) + count
  }
}

/** With the counters of the routers; null: the application runs none. */
export async function transactionsResult(
  { cluster, scenario }: ScenarioWorld,
  counts: TransactionCounts | null,
): Promise<TransactionsResult | null> {
  if (counts === null || !scenario.workload.some(({ shapes }) => shapes.some(({ do: kind }) => kind === 'transaction')))
    return null
  const commitPaths: Record<string, number> = {}
  let participants = 0
  let commits = 0
  for (const mongos of cluster.mongos) {
    const reply = decode(await cluster.command(encode({ serverStatus: 1, $db: 'admin' }), { to: mongos }))
    const transactions = reply['transactions'] as Document | undefined
    if (transactions === undefined) continue
    for (const [path, { successful }] of Object.entries<Document>(transactions['commitTypes'] as Document))
      if (Number(successful) > 0) {
        commitPaths[path] = (commitPaths[path] ?? 0) + Number(successful)
        commits += Number(successful)
      }
    participants += Number(transactions['totalParticipantsAtCommit'])
  }
  return {
    committed: counts.committed,
    failed: counts.failed,
    aborts: counts.aborts,
    commitPaths,
    participants: commits === 0 ? 0 : Number((participants / commits).toFixed(3)),
  }
}
