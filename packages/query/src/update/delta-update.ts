/**
 * An update as a difference of two documents: the form `$v: 2` of oplog entries. Server:
 * document_diff_serialization.cpp, document_diff_applier.cpp.
 */
import { BsonType, CommandError, FieldIterator, nullValue, typeName, type RawValue } from '@shardlab/bson'
import { formatField } from '../values/format.js'
import type { Update } from './compile.js'
import { TreeNode } from './document-tree.js'

type Section = readonly [name: string, value: RawValue]

/**
 * `{ d: { field: false }, u: { field: value }, i: { field: value }, s<field>: difference }`; of an
 * array `{ a: true, l: length, u<index>: value, s<index>: difference }`. A difference for a value
 * of another type changes nothing: entries can be applied again.
 * @throws CommandError 4770500 to 4770521 for a malformed difference, when it is applied
 */
export function compileDelta(diff: RawValue): Update {
  return {
    isReplacement: false,
    apply(document) {
      const root = TreeNode.ofDocument(document)
      return applyToObject(root, sectionsOf(diff)) ? root.toDocument() : null
    },
    difference: () => diff.slice(),
  }
}

function sectionsOf(diff: RawValue): readonly Section[] {
  const sections = fieldsOfValue(diff)
  if (sections.length === 0) throw new CommandError(4770500, 'Expected diff to be non-empty')
  return sections
}

function fieldsOfValue(value: RawValue): readonly Section[] {
  const fields: Section[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields.push([it.name(), it.value()])
  return fields
}

const sectionOrder = 'duis'

function applyToObject(node: TreeNode, sections: readonly Section[]): boolean {
  let changed = false
  let previous = -1
  for (const [name, value] of sections) {
    if (name === '') throw new CommandError(4770505, 'Expected sections field names in diff to be non-empty ')
    const kind = name[0]!
    const order = sectionOrder.indexOf(kind)
    if (order < previous || order < 0 || (order === previous && kind !== 's'))
      throw new CommandError(4770503, `Unexpected section: ${kind} in document diff`)
    previous = order
    checkSection(kind, value, BsonType.object)
    changed = (kind === 's' ? applyInside(node.get(name.slice(1)), value) : applyFields(node, kind, value)) || changed
  }
  if (changed) node.touch()
  return changed
}

function applyFields(node: TreeNode, kind: string, fields: RawValue): boolean {
  let changed = false
  for (const [field, value] of fieldsOfValue(fields)) {
    if (kind === 'd') {
      if (node.get(field) === undefined) continue
      node.remove(field)
    } else {
      // An inserted field becomes the last one.
      if (kind === 'i') node.remove(field)
      node.set(field, TreeNode.of(value))
    }
    changed = true
  }
  return changed
}

function applyToArray(node: TreeNode, sections: readonly Section[]): boolean {
  let changed = false
  for (const [at, [name, value]] of sections.entries()) {
    if (at === 0) {
      if (value.type !== BsonType.bool)
        throw new CommandError(4770519, `Expected array header to be bool but got ${formatField(name, value)}`)
      if (!value.isTruthy())
        throw new CommandError(4770520, `Expected array header to be value true but got ${formatField(name, value)}`)
    } else if (at === 1 && name === 'l') {
      checkSection(name, value, BsonType.int32)
      changed = node.resize(value.asNumber(), filler)
    } else {
      changed = applyToElement(node, name, value) || changed
    }
  }
  if (changed) node.touch()
  return changed
}

function applyToElement(node: TreeNode, name: string, value: RawValue): boolean {
  if (name.length < 2)
    throw new CommandError(4770521, `expected field name to be at least two characters long, but found: ${name}`)
  const text = name.slice(1)
  const index = /^\d+$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(index)) throw new CommandError(4770512, `Expected integer but got ${text}`)
  if (name[0] === 's') {
    if (value.type !== BsonType.object)
      throw new CommandError(4770501, `expected sub diff at index ${index} but got ${formatField(name, value)}`)
    return applyInside(node.at(index), value)
  }
  if (name[0] !== 'u')
    throw new CommandError(
      4770502,
      `Expected either 'u' (update) or 's' (sub diff) at index ${index} but got ${formatField(name, value)}`,
    )
  node.setAt(index, TreeNode.of(value), filler)
  return true
}

function applyInside(node: TreeNode | undefined, diff: RawValue): boolean {
  const sections = sectionsOf(diff)
  if (sections[0]![0] === 'a') return node?.isArray === true && applyToArray(node, sections)
  return node?.isObject === true && applyToObject(node, sections)
}

function checkSection(name: string, value: RawValue, type: number): void {
  if (value.type !== type) throw new CommandError(4770507, `Expected ${name} section to be type ${typeName(type)}`)
}

const filler = TreeNode.of(nullValue)
