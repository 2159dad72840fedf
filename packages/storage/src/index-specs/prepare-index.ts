import { CommandError, compareDocuments, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { compareIndexSpecs, isIdKey, isSet, parseIndexSpec } from './index-spec.js'
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

/** The order of the fields in the server's catalog. Server: IndexCatalogImpl::_fixIndexSpec. */
function catalogForm(spec: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(spec.length).value('v', findField(spec, 'v')!)
  const flags = ['unique', 'hidden', 'prepareUnique']
  for (const name of flags) if (isSet(spec, name)) writer.bool(name, true)
  for (const it = new FieldIterator(spec); it.next();)
    if (![...flags, 'v', 'dropDups'].includes(it.name())) writer.value(it.name(), it.value())
  return writer.finish()
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
  const existing = collection.indexes().map((index) => parseIndexSpec(index.spec))
  const both = (other: { readonly document: Uint8Array }): string =>
    `Requested index: ${formatDocument(catalogForm(document))}, existing index: ${formatDocument(catalogForm(other.document))}`

  const sameName = existing.find(({ name }) => name === wanted.name)
  if (sameName !== undefined) {
    switch (compareIndexSpecs(wanted, sameName)) {
      case 'identical':
        return null
      case 'equivalent':
        throw new CommandError(
          'IndexOptionsConflict',
          `An equivalent index already exists with the same name but different options. ${both(sameName)}`,
        )
      case 'different':
        throw new CommandError(
          'IndexKeySpecsConflict',
          `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. ${both(sameName)}`,
        )
    }
  }
  for (const other of existing) {
    const comparison = compareIndexSpecs(wanted, other)
    if (comparison === 'identical')
      throw new CommandError('IndexOptionsConflict', `Index already exists with a different name: ${other.name}`)
    if (comparison === 'equivalent') {
      throw new CommandError(
        'IndexOptionsConflict',
        `An equivalent index already exists with a different name and options. ${both(other)}`,
      )
    }
  }
  if (existing.length >= maxIndexes)
    throw new CommandError(
      'CannotCreateIndex',
      `add index fails, too many indexes for ${collection.ns} key:${formatDocument(wanted.key)}`,
    )
  return document
}
