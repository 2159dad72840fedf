/** Orphans: at the end a shard stores what it owns and nothing else. */
import { encode, type Document } from '@shardlab/bson'
import { finding, type Finding } from '../finding.js'
import { ownerOf, type CatalogTable } from '../watch/catalog-table.js'

/**
 * @param documents as stored on a shard
 * @param table null: unsharded, so all documents belong to `primary`
 */
export function misplaced(
  ns: string,
  shard: string,
  documents: readonly Document[],
  table: CatalogTable | null,
  primary: string | undefined,
): Finding[] {
  const wrong: Finding[] = []
  for (const document of documents) {
    const owner = table === null ? primary : ownerOfDocument(table, document)
    if (owner === shard) continue
    const sentence = `${shard} holds ${JSON.stringify(document)} of ${ns}, which is of ${owner}`
    wrong.push(finding(sentence, ns, document['_id']))
  }
  return wrong
}

function ownerOfDocument(table: CatalogTable, document: Document): string | undefined {
  const key = table.pattern.extract(encode(document))
  return typeof key === 'string' ? undefined : ownerOf(table, key.keyString)
}
