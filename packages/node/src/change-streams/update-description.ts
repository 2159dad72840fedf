/**
 * updateDescription of an update event, from the difference in its log entry. Server:
 * change_stream_document_diff_parser.cpp; until 4.4 the modifiers of the entry.
 */
import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

type Rules = Pick<Behaviours, 'changeStreamTruncatedArrays' | 'changeStreamDisambiguatedPaths'>

/** A field name, or an index of an array. */
type PathPart = string | number

interface Change {
  readonly path: readonly PathPart[]
  readonly dotted: string
}

interface Description {
  readonly updated: (Change & { readonly value: RawValue })[]
  readonly removed: Change[]
  readonly truncated: (Change & { readonly newSize: RawValue })[]
  /** All of them in the order in which they were found. */
  readonly all: Change[]
}

/** @param difference `diff` of a `$v: 2` entry */
export function updateDescription(difference: RawValue, rules: Rules, showExpandedEvents: boolean): Uint8Array {
  const found: Description = { updated: [], removed: [], truncated: [], all: [] }
  addDocument(difference, [], found)
  const { updated, removed, truncated } = found
  if (!rules.changeStreamTruncatedArrays) for (const changes of [updated, removed]) changes.sort(comparePaths)
  const writer = new DocumentWriter(difference.end - difference.start + 128).startDocument('updatedFields')
  for (const { dotted, value } of updated) writer.value(dotted, value)
  writer.end().startArray('removedFields')
  removed.forEach(({ dotted }, i) => writer.string(String(i), dotted))
  writer.end()
  if (!rules.changeStreamTruncatedArrays) return writer.finish()
  writer.startArray('truncatedArrays')
  truncated.forEach(({ dotted, newSize }, i) =>
    writer.startDocument(String(i)).string('field', dotted).value('newSize', newSize).end(),
  )
  writer.end()
  if (rules.changeStreamDisambiguatedPaths && showExpandedEvents) writeAmbiguous(writer, found.all)
  return writer.finish()
}

/** Fields that were removed come after those that were set, and changes of inner values last. */
function addDocument({ bytes, start }: RawValue, path: readonly PathPart[], found: Description): void {
  const sections = new Map<string, RawValue>()
  const inner: [string, RawValue][] = []
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const name = it.name()
    if (name.startsWith('s')) inner.push([name.slice(1), it.value()])
    else sections.set(name, it.value())
  }
  for (const name of ['u', 'i'])
    for (const [field, value] of fieldsIn(sections.get(name)))
      add(found.updated, { ...at([...path, field]), value }, found)
  for (const [field] of fieldsIn(sections.get('d'))) add(found.removed, at([...path, field]), found)
  for (const [field, value] of inner) addInner(value, [...path, field], found)
}

function addInner(value: RawValue, path: readonly PathPart[], found: Description): void {
  const isArray = new FieldIterator(value.bytes, value.start)
  if (isArray.next() && isArray.name() === 'a') addArray(value, path, found)
  else addDocument(value, path, found)
}

function addArray({ bytes, start }: RawValue, path: readonly PathPart[], found: Description): void {
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const [name, value] = [it.name(), it.value()]
    if (name === 'l') add(found.truncated, { ...at(path), newSize: value }, found)
    else if (name.startsWith('u')) add(found.updated, { ...at([...path, Number(name.slice(1))]), value }, found)
    else if (name.startsWith('s')) addInner(value, [...path, Number(name.slice(1))], found)
  }
}

const at = (path: readonly PathPart[]): Change => ({ path, dotted: path.join('.') })

function add<T extends Change>(list: T[], change: T, { all }: Description): void {
  list.push(change)
  all.push(change)
}

function* fieldsIn(section: RawValue | undefined): Generator<readonly [string, RawValue]> {
  if (section === undefined) return
  for (const it = new FieldIterator(section.bytes, section.start); it.next();) yield [it.name(), it.value()]
}

/** Paths with a name that is a number, except at the beginning, or that has a dot. */
function writeAmbiguous(writer: DocumentWriter, changes: readonly Change[]): void {
  writer.startDocument('disambiguatedPaths')
  for (const { path, dotted } of changes) {
    const isAmbiguous = path.some(
      (part, i) => typeof part === 'string' && (part.includes('.') || (i > 0 && /^(0|[1-9]\d*)$/.test(part))),
    )
    if (!isAmbiguous) continue
    writer.startArray(dotted)
    path.forEach((part, i) =>
      typeof part === 'number' ? writer.int32(String(i), part) : writer.string(String(i), part),
    )
    writer.end()
  }
  writer.end()
}

function comparePaths({ path: a }: Change, { path: b }: Change): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [left, right] = [String(a[i]), String(b[i])]
    if (left !== right) return left < right ? -1 : 1
  }
  return a.length - b.length
}
