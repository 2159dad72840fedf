import type { Document } from '@shardlab/bson'
import { aggregate } from './helpers.js'

const documents: Document[] = [
  { _id: 1, g: 'a', t: 1, v: 10 },
  { _id: 2, g: 'b', t: 1, v: 1 },
  { _id: 3, g: 'a', t: 3, v: 20 },
  { _id: 4, g: 'a', t: 2, v: 5 },
  { _id: 5, g: 'b', t: 5, v: null },
  { _id: 6, g: 'b', t: 2, v: 3 },
]

/** The output field of every document by `_id`, in the order of the stage. */
export function column(
  output: Document,
  input: Document[] = documents,
  rest: Document = { partitionBy: '$g', sortBy: { t: 1 } },
): Document {
  const results = aggregate([{ $setWindowFields: { ...rest, output: { r: output } } }], input)
  return Object.fromEntries(results.map((result) => [`#${result._id}`, result.r]))
}

/** In January 2020. */
export const day = (number: number, hour = 0) => new Date(Date.UTC(2020, 0, number, hour))
