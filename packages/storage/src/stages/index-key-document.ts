import { DocumentWriter, findField, nullValue, type RawValue } from '@shardlab/bson'
import type { KeyTuple } from '../indexes/index-keys.js'
import type { IndexEntry } from '../plans/plan-stage.js'

/**
 * `{ path: value, … }` in the order of the index, null for missing fields.
 * @param key may end in a record id
 */
export function indexKeyDocument({ index, pattern }: IndexEntry, document: Uint8Array, key: string): Uint8Array {
  const tuples = index.tuplesOf(document)
  const tuple = tuples.length === 1 ? tuples[0]! : tuples.find((candidate) => key.startsWith(index.encode(candidate)))!
  const writer = new DocumentWriter(64)
  pattern.forEach(({ path }, i) => writer.value(path, tuple[i] ?? nullValue))
  return writer.finish()
}

/**
 * The fields of the index, dotted ones nested. Only for entries without arrays, none of whose
 * fields is within another.
 */
export function coveredDocument({ index, pattern, wildcardPath }: IndexEntry, document: Uint8Array): Uint8Array {
  if (wildcardPath === null && pattern.every(({ path }) => !path.includes('.')))
    return topLevelFields(pattern, document)
  const tuples = index.tuplesOf(document)
  const tuple = wildcardPath === null ? tuples[0]! : tuples.find(([path]) => path!.asString() === wildcardPath)!
  return documentOf(pattern, tuple)
}

function topLevelFields(pattern: IndexEntry['pattern'], document: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(64)
  for (const { path, direction } of pattern)
    if (direction !== 'hashed') writer.value(path, findField(document, path) ?? nullValue)
  return writer.finish()
}

interface Branch {
  readonly children: Map<string, Branch | RawValue>
}

function documentOf(pattern: IndexEntry['pattern'], tuple: KeyTuple): Uint8Array {
  const root: Branch = { children: new Map() }
  pattern.forEach(({ path, direction }, i) => {
    if (path === '$_path' || direction === 'hashed') return
    const parts = path.split('.')
    const last = parts.pop()!
    let branch = root
    for (const part of parts) {
      let child = branch.children.get(part)
      if (child === undefined || !('children' in child)) {
        child = { children: new Map() }
        branch.children.set(part, child)
      }
      branch = child
    }
    branch.children.set(last, tuple[i] ?? nullValue)
  })
  const writer = new DocumentWriter(64)
  writeBranch(writer, root)
  return writer.finish()
}

function writeBranch(writer: DocumentWriter, branch: Branch): void {
  for (const [name, child] of branch.children) {
    if (!('children' in child)) writer.value(name, child)
    else {
      writer.startDocument(name)
      writeBranch(writer, child)
      writer.end()
    }
  }
}
