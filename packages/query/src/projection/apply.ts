/** Fields keep the document's order, computed ones follow. */
import { BsonType, DocumentWriter, documentValue, FieldIterator, type RawValue } from '@shardlab/bson'
import { arrayValue } from '../values/build.js'
import type { ProjectionMode, ProjectionNode } from './tree.js'

export function applyTree(node: ProjectionNode, mode: ProjectionMode, document: Uint8Array): Uint8Array {
  return projectObject(node, mode, document, 0, document)
}

function projectObject(
  node: ProjectionNode,
  mode: ProjectionMode,
  bytes: Uint8Array,
  start: number,
  root: Uint8Array,
): Uint8Array {
  const writer = new DocumentWriter(Math.min(1024, bytes.length))
  const written = node.hasComputed ? new Set<string>() : null
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const name = it.name()
    const value = projectField(node, mode, name, it, root)
    if (value === undefined) continue
    writer.value(name, value)
    written?.add(name)
  }
  if (written === null) return writer.finish()
  for (const name of node.computedNames) {
    if (written.has(name) && (mode === 'exclude' || node.children.has(name))) continue
    const leaf = node.leaves.get(name)
    const value = leaf?.kind === 'compute' ? leaf.compute(root) : computeBelow(node.children.get(name)!, root)
    if (value !== undefined) writer.value(name, value)
  }
  return writer.finish()
}

/** Undefined: the field is dropped. */
function projectField(
  node: ProjectionNode,
  mode: ProjectionMode,
  name: string,
  it: FieldIterator,
  root: Uint8Array,
): RawValue | undefined {
  const leaf = node.leaves.get(name)
  if (leaf !== undefined) {
    switch (leaf.kind) {
      case 'keep':
        return it.value()
      case 'drop':
        return undefined
      case 'transform':
        return leaf.transform(it.value())
      case 'compute':
        // $addFields replaces a field in place; an inclusion appends the computed field later.
        return mode === 'exclude' ? leaf.compute(root) : undefined
    }
  }
  const child = node.children.get(name)
  if (child === undefined) return (node.mode ?? mode) === 'exclude' ? it.value() : undefined
  return projectValue(child, mode, child.transform === null ? it.value() : child.transform(it.value()), root)
}

function projectValue(
  node: ProjectionNode,
  mode: ProjectionMode,
  value: RawValue,
  root: Uint8Array,
): RawValue | undefined {
  if (value.type === BsonType.object) return documentValue(projectObject(node, mode, value.bytes, value.start, root))
  if (value.type === BsonType.array) {
    const elements: RawValue[] = []
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
      const element = projectValue(node, mode, it.value(), root)
      if (element !== undefined) elements.push(element)
    }
    return arrayValue(elements)
  }
  if (node.hasComputed) return computeBelow(node, root)
  return (node.mode ?? mode) === 'exclude' ? value : undefined
}

/** For computed fields below a name that the document does not have. */
function computeBelow(node: ProjectionNode, root: Uint8Array): RawValue {
  const writer = new DocumentWriter()
  for (const name of node.computedNames) {
    const leaf = node.leaves.get(name)
    const value = leaf?.kind === 'compute' ? leaf.compute(root) : computeBelow(node.children.get(name)!, root)
    if (value !== undefined) writer.value(name, value)
  }
  return documentValue(writer.finish())
}
