import type { EmulatedVersion } from '@shardlab/sharding'
import type { Document } from '@shardlab/bson'
import type { NodeRole } from '../../src/index.js'
import { NodeUnderTest } from './harness.js'

/** A node with documents in `test.c` whose operations give up their turn after every document. */
export async function yielding(
  count: number,
  version: EmulatedVersion = '7.0',
  role?: NodeRole,
): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version, ...(role === undefined ? {} : { role }) })
  await node.ok({ insert: 'c', documents: Array.from({ length: count }, (_, i) => ({ _id: i, a: i % 7, b: -i })) })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  await yieldAfter(node, 1)
  return node
}

export function yieldAfter(node: NodeUnderTest, works: number): Promise<Document> {
  return node.ok({ setParameter: 1, internalQueryExecYieldIterations: works }, { db: 'admin' })
}

/** Runs the work in the turn after so many others. */
export function inTurn(node: NodeUnderTest, turn: number, work: () => Promise<unknown>): void {
  let left = turn
  node.context.betweenTurns = async () => {
    if (--left !== 0) return
    node.context.betweenTurns = null
    await work()
  }
}
