/**
 * Errors about a requested index that exists, or whose name another index has. Server:
 * index_catalog_impl.cpp, _doesSpecConflictWithExisting.
 */
import { CommandError, compareDocuments, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { formatDocument, type Language } from '@shardlab/query'
import { isSet, type IndexComparison, type IndexSpec } from './index-spec.js'

type Conflict = Exclude<IndexComparison, 'identical'>

interface Surroundings {
  readonly ns: string
  readonly language: Language
}

export function sameNameError(
  wanted: IndexSpec,
  other: IndexSpec,
  comparison: Conflict,
  { ns, language: { indexConflicts } }: Surroundings,
): CommandError {
  const suffix = indexConflicts === 'named' ? ns : null
  const [requested, existing] = [catalogText(wanted, suffix), catalogText(other, suffix)]
  if (indexConflicts === 'compared')
    return comparison === 'equivalent'
      ? new CommandError(
          'IndexOptionsConflict',
          `An equivalent index already exists with the same name but different options. Requested index: ${requested}, existing index: ${existing}`,
        )
      : new CommandError(
          'IndexKeySpecsConflict',
          `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. Requested index: ${requested}, existing index: ${existing}`,
        )
  if (comparison === 'equivalent')
    return new CommandError(
      'IndexOptionsConflict',
      `Index with name: ${wanted.name} already exists with different options`,
    )
  if (indexConflicts === 'plain')
    return new CommandError(
      'IndexKeySpecsConflict',
      `Trying to create an index with same name ${wanted.name} with different key spec ${formatDocument(wanted.key)} vs existing spec ${formatDocument(other.key)}`,
    )
  return compareDocuments(wanted.key, other.key) === 0
    ? new CommandError(
        'IndexOptionsConflict',
        `An index with the same key pattern, but a different collation already exists with the same name.  Try again with a unique name. Existing index: ${existing} Requested index: ${requested}`,
      )
    : new CommandError(
        'IndexKeySpecsConflict',
        `Index must have unique name.The existing index: ${existing} has the same name as the requested index: ${requested}`,
      )
}

export function otherNameError(
  wanted: IndexSpec,
  other: IndexSpec,
  comparison: 'equivalent' | 'identical',
  { ns, language: { indexConflicts } }: Surroundings,
): CommandError {
  const fail = (message: string): CommandError => new CommandError('IndexOptionsConflict', message)
  if (comparison === 'identical') return fail(`Index already exists with a different name: ${other.name}`)
  switch (indexConflicts) {
    case 'plain':
      return fail(`Index with pattern: ${formatDocument(wanted.key)} already exists with different options`)
    case 'named':
      return fail(`Index: ${catalogText(wanted, ns)} already exists with different options: ${catalogText(other, ns)}`)
    case 'compared':
      return fail(
        `An equivalent index already exists with a different name and options. Requested index: ${catalogText(wanted, null)}, existing index: ${catalogText(other, null)}`,
      )
  }
}

/**
 * With the fields in the order of the server's catalog. Server: IndexCatalogImpl::_fixIndexSpec.
 * @param ns null: stored specifications do not have it
 */
function catalogText({ document }: IndexSpec, ns: string | null): string {
  const writer = new DocumentWriter(document.length).value('v', findField(document, 'v')!)
  const flags = ['unique', 'hidden', 'prepareUnique']
  for (const name of flags) if (isSet(document, name)) writer.bool(name, true)
  for (const it = new FieldIterator(document); it.next();)
    if (![...flags, 'v', 'dropDups'].includes(it.name())) writer.value(it.name(), it.value())
  if (ns !== null) writer.string('ns', ns)
  return formatDocument(writer.finish())
}
