/** The parts of a scenario that say what an application does, with all defaults. */
import type { KeysSource, OperationSource, StatementSource } from './application-schema.js'
import type { CollectionSource, DataSource, ScenarioSource, WorkloadSource } from './schema.js'

/** `number`: of the document. `other`: one of 997 values. */
export type FieldSource = KeysSource | { readonly distribution: 'number' | 'other' }
/** By name, those of the shard key first. */
export type FieldSources = Readonly<Record<string, FieldSource>>

/** An operation, or a statement of a transaction. */
export type Statement = StatementSource

/** `expire`: the oldest document is deleted by its shard, not through a router. */
export type Shape = Omit<OperationSource, 'do' | 'statements' | 'same'> & {
  readonly do: OperationSource['do'] | 'expire'
  /** Of a transaction. */
  readonly statements?: readonly Statement[] | undefined
  readonly same?: readonly string[] | undefined
}

export interface DataSet extends DataSource {
  readonly fields: FieldSources
}

export interface Stream extends Omit<WorkloadSource, 'rate' | 'documentSize'> {
  /** Per second. */
  readonly rate: NonNullable<WorkloadSource['rate']>
  readonly documentSize: number
  readonly fields: FieldSources
  readonly shapes: readonly Shape[]
}

const defaultDocumentSize = 1024
const defaultRangeKeys = 100
/** Documents that the finds of a `mix` return at most; `findByKey` one. */
const findLimit = 20

export function dataSetsOf({ collections, data }: ScenarioSource): DataSet[] {
  return data.map((each) => ({ ...each, fields: fieldsOf(collectionOf(collections, each.ns), each.keys) }))
}

export function streamsOf({ collections, data, workload }: ScenarioSource): Stream[] {
  return workload.map((source): Stream => {
    const collection = collectionOf(collections, source.ns)
    const { growth, expiry } = source
    const documentSize =
      source.documentSize ?? data.find(({ ns }) => ns === source.ns)?.documentSize ?? defaultDocumentSize
    return {
      ...source,
      documentSize,
      rate: source.rate ?? (growth ?? expiry ?? 0) / documentSize,
      fields: fieldsOf(collection, source.keys),
      shapes: shapesOf(source, collection),
    }
  })
}

function collectionOf(collections: readonly CollectionSource[], wanted: string): CollectionSource {
  return collections.find(({ ns }) => ns === wanted)!
}

/** Without distributions of their own, the first field of the key has `keys`. */
function fieldsOf({ key, fields }: CollectionSource, keys: KeysSource | undefined): FieldSources {
  const number: FieldSource = { distribution: 'number' }
  const inKey = Object.keys(key).map((name, i): [string, FieldSource] => [
    name,
    fields?.[name] ?? (i === 0 && fields === undefined && keys !== undefined ? keys : number),
  ])
  return { ...Object.fromEntries(inKey), ...(fields ?? { other: { distribution: 'other' } }) }
}

function shapesOf(
  { mix, operations, growth, expiry, rangeKeys = defaultRangeKeys }: WorkloadSource,
  { key }: CollectionSource,
): Shape[] {
  if (operations !== undefined) return operations
  if (growth !== undefined) return [{ name: 'growth', do: 'insert', where: {}, share: 1, limit: findLimit }]
  if (expiry !== undefined) return [{ name: 'expiry', do: 'expire', where: {}, share: 1, limit: findLimit }]
  const [first] = Object.keys(key) as [string]
  // Queries on the first field do not have the others, so an update must be able to match several.
  const update = Object.keys(key).length > 1 ? 'updateMany' : 'updateOne'
  const shapes: readonly (Omit<Shape, 'share'> & { readonly name: keyof NonNullable<typeof mix> })[] = [
    { name: 'insert', do: 'insert', where: {}, limit: findLimit },
    { name: 'findByKey', do: 'find', where: { [first]: 'equal' }, limit: 1 },
    { name: 'findRange', do: 'find', where: { [first]: { range: rangeKeys } }, limit: findLimit },
    { name: 'findOther', do: 'find', where: { other: 'equal' }, limit: findLimit },
    { name: 'updateByKey', do: update, where: { [first]: 'equal' }, limit: findLimit },
  ]
  return shapes.map((shape) => ({ ...shape, share: mix![shape.name] })).filter(({ share }) => share > 0)
}
