import type { PreviewedRoute } from '@shardlab/mongos'
import type { Shape, Statement } from '../file/application.js'

type ShardKey = Readonly<Record<string, 1 | 'hashed'>>

/** Why the router sends the operations of a shape where it does, as half a sentence. */
export function becauseOf(shape: Statement, key: ShardKey, route: PreviewedRoute): string {
  if (route.error !== null) return `${sentenceOf(route.error.message)} (code ${route.error.code})`
  if (shape.do === 'insert') return 'the document has the shard key'
  const fields = Object.entries(key)
  const bounded = fields.findIndex(([name, kind]) => !isBounded(shape, name, kind))
  const leading = fields.slice(0, bounded === -1 ? fields.length : bounded).map(([name]) => name)
  const [[first, firstKind]] = fields as [[string, 1 | 'hashed']]
  const searched = route.isSearched ? '; the router searches for one match, then writes it' : ''
  if (leading.length === 0) {
    const isRange = shape.where[first] !== undefined && firstKind === 'hashed'
    return isRange
      ? `${first} is hashed, so a range of its values is on all shards${searched}`
      : `the filter lacks ${first}, the first field of the key${searched}`
  }
  const isWhole = fields.every(([name]) => shape.where[name] === 'equal')
  if (isWhole) return 'the filter has the whole key'
  const has = `the filter has ${leading.join(' and ')}`
  const lacks = leading.length < fields.length ? `, not ${fields[leading.length]![0]}` : ''
  if (route.kind === 'targeted') return `${has}${lacks}, and one shard owns these keys`
  if (route.kind === 'broadcast')
    return `${has}${lacks}: a write of many documents on several shards goes to all${searched}`
  return `${has}${lacks}: several shards own these keys${searched}`
}

/** Hashes keep no order, so only equalities bound a hashed field. */
function isBounded({ where }: Pick<Shape, 'where'>, field: string, kind: 1 | 'hashed'): boolean {
  const condition = where[field]
  if (condition === undefined) return false
  return condition === 'equal' || kind === 1 || 'in' in condition
}

/** Without the statement that the server appends. */
function sentenceOf(message: string): string {
  return message.replace(/,? ?(but this update targeted .*|(Update|Delete) request: .*)$/s, '').replace(/\.$/, '')
}
