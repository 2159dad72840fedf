import type { Document } from '@shardlab/bson'
import { NodeUnderTest } from './harness.js'

/** The collection is `c`. */
export async function validated(validator: Document, options: Document = {}): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ create: 'c', validator, ...options })
  return node
}

export async function details(validator: Document, document: Document): Promise<unknown> {
  const node = await validated(validator)
  const reply = await node.run({ insert: 'c', documents: [{ _id: 1, ...document }] })
  const [error] = (reply['writeErrors'] ?? []) as Document[]
  if (error === undefined) throw new Error(`the document is valid: ${JSON.stringify(reply)}`)
  return (error['errInfo'] as Document)['details']
}
