import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { NodeUnderTest } from './harness.js'

/** A node with 20 documents `{ _id, a, b }` and an index on `a`. */
export async function filled(version: EmulatedVersion = '8.0'): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ insert: 'c', documents: Array.from({ length: 20 }, (_, i) => ({ _id: i, a: i % 5, b: i })) })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  return node
}

export const namesOf = (document: unknown) => Object.keys(document as Document)

export function stages(plan: Document): string[] {
  return [plan['stage'], ...(plan['inputStage'] === undefined ? [] : stages(plan['inputStage']))]
}
