/**
 * An update before 5.0: `{ $v: 1, $unset, $set }`. Server: log_builder.cpp of 4.4,
 * update_driver.cpp.
 */
import { BsonType, DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'

interface Modifier {
  readonly path: string
  /** Null: the field is removed. */
  readonly value: RawValue | null
}

/**
 * @param delta of a `$v: 2` entry
 * @param hasVersion false: without `$v`, until 2.6
 */
export function modifiersOfDelta(delta: RawValue, hasVersion: boolean): Uint8Array {
  const modifiers: Modifier[] = []
  addModifiers(delta, '', modifiers)
  modifiers.sort((a, b) => comparePaths(a.path, b.path))
  const writer = new DocumentWriter(256)
  if (hasVersion) writer.int32('$v', 1)
  // The first change by path determines the first operator.
  const names = modifiers[0]?.value === null ? (['$unset', '$set'] as const) : (['$set', '$unset'] as const)
  for (const name of names) {
    const chosen = modifiers.filter(({ value }) => (value === null) === (name === '$unset'))
    if (chosen.length === 0) continue
    writer.startDocument(name)
    for (const { path, value } of chosen)
      if (value === null) writer.bool(path, true)
      else writer.value(path, value)
    writer.end()
  }
  return writer.finish()
}

/** No array becomes shorter: only updates by pipelines tell that, and only since 5.0. */
function addModifiers(delta: RawValue, prefix: string, modifiers: Modifier[]): void {
  let isArray = false
  for (const it = new FieldIterator(delta.bytes, delta.start); it.next();) {
    const [name, value] = [it.name(), it.value()]
    const isSection = value.type === BsonType.object
    if (name === 'a' && !isSection) isArray = true
    else if (isArray && name.startsWith('u')) modifiers.push({ path: prefix + name.slice(1), value })
    else if (name.startsWith('s')) addModifiers(value, `${prefix}${name.slice(1)}.`, modifiers)
    else
      for (const fields = new FieldIterator(value.bytes, value.start); fields.next();)
        modifiers.push({ path: prefix + fields.name(), value: name === 'd' ? null : fields.value() })
  }
}

function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < left.length && i < right.length; i++)
    if (left[i] !== right[i]) return left[i]! < right[i]! ? -1 : 1
  return left.length - right.length
}
