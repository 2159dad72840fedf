import type { Document } from '@shardlab/bson'
import { createMemoryEngine, type Collection } from '../../src/index.js'
import { applyAll, createIndexOf, createOf, insertOf } from './log.js'

export type IndexChoice = readonly [key: Document, options?: Document]

export function collectionOf(documents: readonly Document[], indexes: readonly IndexChoice[]): Collection {
  const engine = createMemoryEngine()
  applyAll(engine, [
    createOf('db.c'),
    ...documents.map((document, i) => insertOf('db.c', { _id: i, ...document })),
    ...indexes.map(([key, options]) => createIndexOf('db.c', key, options)),
  ])
  return engine.collection('db.c')!
}

export const hundred = Array.from({ length: 100 }, (_, i) => ({ a: i % 10, b: i, c: `x${i % 3}` }))
