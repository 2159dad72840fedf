/**
 * Values of scenario files that YAML has no words for: `{ $minKey: 1 }`, `{ $maxKey: 1 }`,
 * `{ $date: … }`, as Extended JSON.
 */
import { EJSON, type Document } from '@shardlab/bson'

export function boundOf(document: Readonly<Record<string, unknown>>): Document {
  // Not relaxed, or { $numberLong: "1" } would become an int.
  return EJSON.deserialize(document, { relaxed: false }) as Document
}
