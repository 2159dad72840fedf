/** Query settings by the hash of their query shape. Server: query_settings_manager.cpp. */
import { BsonType, DocumentWriter, documentsOf, FieldIterator, findField, type RawValue } from '@shardlab/bson'

export const querySettingsParameter = 'querySettings'

/** The settings of one query shape. */
export interface QuerySettings {
  /** As stored, and as explain shows them. */
  readonly document: Uint8Array
  readonly rejects: boolean
  /** Names and key patterns; undefined: the planner considers all indexes of the collection. */
  allowedIndexes(ns: string): readonly (string | Uint8Array)[] | undefined
}

export function querySettingsOf(document: Uint8Array): QuerySettings {
  const hints = findField(document, 'indexHints')
  return {
    document,
    rejects: findField(document, 'reject')?.isTruthy() === true,
    allowedIndexes: (ns) => (hints === undefined ? undefined : allowedIn(hints, ns)),
  }
}

/** One specification, or an array of them. */
export function hintSpecifications(hints: RawValue): Uint8Array[] {
  return hints.type === BsonType.object ? [hints.slice()] : documentsOf(hints)
}

function allowedIn(hints: RawValue, ns: string): (string | Uint8Array)[] | undefined {
  const own = hintSpecifications(hints).find((specification) => namespaceOfHint(specification) === ns)
  if (own === undefined) return undefined
  const allowed: (string | Uint8Array)[] = []
  const indexes = findField(own, 'allowedIndexes')!
  for (const it = new FieldIterator(indexes.bytes, indexes.start); it.next();)
    allowed.push(it.type === BsonType.string ? it.value().asString() : it.value().slice())
  return allowed
}

export function namespaceOfHint(specification: Uint8Array): string {
  const ns = findField(specification, 'ns')!
  const part = (name: string): string => findField(ns.bytes, name, ns.start)!.asString()
  return `${part('db')}.${part('coll')}`
}

export class QuerySettingsTable {
  /** Documents with queryShapeHash, settings and representativeQuery, which may be absent. */
  readonly configurations: readonly Uint8Array[]
  readonly #byHash = new Map<string, QuerySettings>()

  private constructor(configurations: readonly Uint8Array[]) {
    this.configurations = configurations
    for (const configuration of configurations)
      this.#byHash.set(
        findField(configuration, 'queryShapeHash')!.asString(),
        querySettingsOf(findField(configuration, 'settings')!.slice()),
      )
  }

  /**
   * @param parameter the document of config.clusterParameters; undefined: it was never set
   * @returns null: no query has settings
   */
  static of(parameter: Uint8Array | undefined): QuerySettingsTable | null {
    const array = parameter === undefined ? undefined : findField(parameter, 'settingsArray')
    // The parameter may be a view of a message.
    const configurations = array === undefined ? [] : documentsOf(array).map((document) => document.slice())
    return configurations.length === 0 ? null : new QuerySettingsTable(configurations)
  }

  find(hash: string): QuerySettings | null {
    return this.#byHash.get(hash) ?? null
  }
}

/** The body of a command to another member, with the settings that the router has found. */
export function withQuerySettings(body: Uint8Array, { document }: QuerySettings): Uint8Array {
  const writer = new DocumentWriter(body.length + document.length + 64)
  const explained = findField(body, 'explain')
  if (explained?.type !== BsonType.object) return writer.fields(body).document(field, document).finish()
  for (const it = new FieldIterator(body); it.next();) {
    if (it.name() !== 'explain') writer.value(it.name(), it.value())
    else writer.startDocument('explain').fields(explained.slice()).document(field, document).end()
  }
  return writer.finish()
}

const field = 'querySettings'

/** Null: the router has found none. */
export function passedQuerySettings(body: Uint8Array): QuerySettings | null {
  const explained = findField(body, 'explain')
  const given =
    explained?.type === BsonType.object ? findField(explained.bytes, field, explained.start) : findField(body, field)
  return given?.type === BsonType.object ? querySettingsOf(given.slice()) : null
}

export function withoutQuerySettings(command: Uint8Array): Uint8Array {
  if (findField(command, field) === undefined) return command
  const writer = new DocumentWriter(command.length)
  for (const it = new FieldIterator(command); it.next();) if (it.name() !== field) writer.value(it.name(), it.value())
  return writer.finish()
}
