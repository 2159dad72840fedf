/** Extended JSON for values that YAML lacks: `{ $minKey: 1 }`, `{ $maxKey: 1 }`, `{ $date: … }`. */
import { EJSON, type Document } from '@shardlab/bson'

export function boundOf(document: Readonly<Record<string, unknown>>): Document {
  // Relaxed parsing would turn { $numberLong: "1" } into an int.
  return EJSON.deserialize(document, { relaxed: false }) as Document
}
