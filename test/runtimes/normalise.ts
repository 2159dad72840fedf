/** Replaces the values in replies that may differ between clusters, and no others. */
import { toExtendedJson } from '@shardlab/bson'
import type { MemberInfo } from '@shardlab/runtime'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/**
 * Replies of one cluster as canonical Extended JSON, so types and the order of fields count.
 * Generated values are numbered by first appearance (`<uuid 1>`), so that equal values stay equal.
 * The script's own documents hold no UUIDs, ObjectIds, dates or timestamps.
 */
export class Normaliser {
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #members: () => readonly MemberInfo[]

  /** `members` maps a `host:port` to its member. */
  constructor(members: () => readonly MemberInfo[]) {
    this.#members = members
  }

  text(reply: Uint8Array): string {
    return JSON.stringify(this.#value(JSON.parse(toExtendedJson(reply, { canonical: true })) as Json), null, 1)
  }

  #value(value: Json): Json {
    if (typeof value === 'string') return this.#withoutEndpoints(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return (value as readonly Json[]).map((each) => this.#value(each))
    return this.#object(value as { readonly [name: string]: Json })
  }

  #object(object: { readonly [name: string]: Json }): Json {
    const { $oid, $binary, $date, $timestamp } = object
    if (typeof $oid === 'string') return this.#named('id', $oid)
    if ($timestamp !== undefined) return '<timestamp>'
    if ($date !== undefined) return '<date>'
    if (isObject($binary) && $binary['subType'] === '04') return this.#named('uuid', String($binary['base64']))
    return Object.fromEntries(
      Object.entries(object).map(([name, value]) => [this.#withoutEndpoints(name), this.#field(name, value, object)]),
    )
  }

  #field(name: string, value: Json, of: { readonly [name: string]: Json }): Json {
    const number = isObject(value) ? (value['$numberLong'] ?? value['$numberInt']) : undefined
    // hello: the number of the client's connection.
    if (name === 'connectionId' && number !== undefined) return '<connection>'
    // explain's serverInfo has the host and the port in separate fields.
    if ('host' in of && 'port' in of && (name === 'host' || name === 'port')) return `<${name}>`
    if (name === 'id' && 'ns' in of && number !== undefined && number !== '0')
      return this.#named('cursor', String(number))
    return this.#value(value)
  }

  #named(kind: string, value: string): string {
    const key = `${kind} ${value}`
    let name = this.#names.get(key)
    if (name === undefined) {
      const count = (this.#counts.get(kind) ?? 0) + 1
      this.#counts.set(kind, count)
      name = `<${kind} ${count}>`
      this.#names.set(key, name)
    }
    return name
  }

  #withoutEndpoints(text: string): string {
    let result = text
    for (const { address, endpoint } of this.#members()) result = result.replaceAll(endpoint, `<${address}>`)
    return result
  }
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
