import { CommandError, compareDocuments, DocumentWriter, findField } from '@shardlab/bson'
import { formatDocument, newestLanguage } from '@shardlab/query'
import { sameNameError, otherNameError } from './index-conflicts.js'
import { compareIndexSpecs, isIdKey, parseIndexSpec } from './index-spec.js'
import type { Index } from '../engine/types.js'
import { validateIndexSpec, type IndexRules } from './validate-index-spec.js'

/** The server's limit, `_id_` included. */
const maxIndexes = 64

function withCollation(asked: Uint8Array, document: Uint8Array, inherited: Uint8Array | null): Uint8Array {
  // Indexes of version 1 and those with an explicit collation inherit none.
  if (inherited === null || findField(asked, 'collation') !== undefined || findField(document, 'v')!.asNumber() === 1)
    return document
  return new DocumentWriter(document.length + inherited.length)
    .fields(document)
    .document('collation', inherited)
    .finish()
}

function sameCollation(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : compareDocuments(a, b) === 0
}

function collationText(collation: Uint8Array | null): string {
  return collation === null ? '{ locale: "simple" }' : formatDocument(collation)
}

/**
 * @returns the specification to build; null: the index exists
 * @throws CommandError IndexKeySpecsConflict, IndexOptionsConflict, CannotCreateIndex (too many)
 *   and the errors of {@link validateIndexSpec}. Server: index_catalog_impl.cpp.
 */
export function prepareIndex(
  collection: {
    readonly ns: string
    indexes(): readonly Pick<Index, 'spec'>[]
    /** For indexes that have none; absent: nothing to inherit. */
    readonly defaultCollation?: Uint8Array | null
  },
  spec: Uint8Array,
  rules: IndexRules = {},
): Uint8Array | null {
  const inherited = collection.defaultCollation ?? null
  const document = withCollation(spec, validateIndexSpec(spec, rules), inherited)
  const wanted = parseIndexSpec(document)
  if (isIdKey(wanted.key)) {
    if (collection.defaultCollation !== undefined && !sameCollation(wanted.collation, inherited))
      throw new CommandError(
        'BadValue',
        `The _id index must have the same collation as the collection. Index collation: ${collationText(wanted.collation)}, collection collation: ${collationText(inherited)}`,
      )
    return null
  }
  const { language = newestLanguage } = rules
  const existing = collection.indexes().map((index) => parseIndexSpec(index.spec))
  const sameName = existing.find(({ name }) => name === wanted.name)
  if (sameName !== undefined) {
    const comparison = compareIndexSpecs(wanted, sameName, language)
    if (comparison === 'identical') return null
    throw sameNameError(wanted, sameName, comparison, { ns: collection.ns, language })
  }
  for (const other of existing) {
    const comparison = compareIndexSpecs(wanted, other, language)
    if (comparison === 'different') continue
    if (comparison === 'identical' && language.indexConflicts !== 'compared') return null
    throw otherNameError(wanted, other, comparison, { ns: collection.ns, language })
  }
  if (existing.length >= maxIndexes)
    throw new CommandError(
      'CannotCreateIndex',
      `add index fails, too many indexes for ${collection.ns} key:${formatDocument(wanted.key)}`,
    )
  return document
}
